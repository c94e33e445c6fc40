"""Object code to addresses that can be called."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import llvmlite.binding as llvm

from kinetree.backends.llvm.compile import Code

_LOCK = threading.Lock()
_NUMBER = itertools.count()
_jit: Any = None


class Loaded:
    """Code in memory. It is freed with this object: keep it as long as anything may be called.

    Attributes
    ----------
    scratch : int
        Bytes of 64-byte aligned scratch that one running call needs.
    """

    def __init__(self, tracker: Any, addresses: dict[str, int], scratch: int) -> None:
        self._tracker = tracker
        self._addresses = addresses
        self.scratch = scratch

    def address(self, symbol: str) -> int:
        """Return the address of an entry point."""
        return self._addresses[symbol]


def load(code: Code) -> Loaded:
    """Bring code into memory.

    Parameters
    ----------
    code : Code
        Made in this process or another one. Its externals are looked up among those given to
        ``llvmlite.binding.add_symbol``, and in the C library.
    """
    with _LOCK:
        builder = llvm.JITLibraryBuilder().add_object_img(code.object_code)
        for name in code.externals:
            builder.import_symbol(name, _external(name))
        for name in code.symbols:
            builder.export_symbol(name)
        tracker = builder.link(_engine(), f"kinetree{next(_NUMBER)}")
        return Loaded(tracker, {name: tracker[name] for name in code.symbols}, code.scratch)


def _engine() -> Any:
    global _jit
    if _jit is None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        _jit = llvm.create_lljit_compiler(use_jit_link=True)
    return _jit


def _external(name: str) -> int:
    address = llvm.address_of_symbol(name)
    if not address:
        raise LookupError(f"the external symbol {name!r} is not registered")
    return int(address)
