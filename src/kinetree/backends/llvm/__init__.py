"""CPU code through LLVM: a program to object code, and object code to addresses that can be called."""

from typing import TYPE_CHECKING, Any

from kinetree.backends.base import Code
from kinetree.backends.llvm.load import Loaded, load
from kinetree.backends.llvm.target import Target

if TYPE_CHECKING:
    from kinetree.backends.llvm.compile import compile_batch, compile_single

__all__ = ["Code", "Loaded", "Target", "compile_batch", "compile_single", "load"]


def __getattr__(name: str) -> Any:
    """Return what belongs to the compiler, imported only now: loading cached code does not need it."""
    if name not in ("compile_batch", "compile_single"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kinetree.backends.llvm import compile

    return getattr(compile, name)
