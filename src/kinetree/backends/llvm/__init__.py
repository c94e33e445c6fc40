"""CPU code through LLVM: a program to object code, and object code to addresses that can be called."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import llvmlite

from kinetree.backends.base import Backend, ObjectCode, Steps
from kinetree.backends.llvm.target import LoadedObject, Target, load
from kinetree.glue import entry
from kinetree.graph import Program

__all__ = ["LLVM", "LoadedObject", "Target", "load"]


class LLVM(Backend):
    """LLVM's code generator through llvmlite; imported in full only where something is compiled."""

    name: ClassVar[str] = "llvm"

    @property
    def legal(self) -> frozenset[str]:
        """The operations in the backend's tables."""
        from kinetree.backends.llvm.module import legal_operations

        return legal_operations()

    @property
    def target(self) -> str:
        """See `Backend.target`."""
        return repr((llvmlite.__version__, Target.host()))

    def lanes(self, dtype: str) -> int:
        """See `Backend.lanes`: as many as fill a vector."""
        return Target.host().lanes(dtype)

    def compile_single(self, program: Program, dtype: str) -> ObjectCode:
        """See `Backend.compile_single`; with the entries that bring their own scratch."""
        from kinetree.backends.llvm.compile import compile_single
        from kinetree.backends.llvm.polls import entries_ir

        return compile_single(program, dtype=dtype, target=Target.host(), entries=partial(entries_ir, program))

    def compile_batch(self, program: Program, dtype: str, lanes: int) -> ObjectCode:
        """See `Backend.compile_batch`."""
        from kinetree.backends.llvm.compile import compile_batch

        return compile_batch(program, dtype=dtype, target=Target.host(), lanes=lanes)

    def compile_scan(self, program: Program, dtype: str, lanes: int, steps: Steps) -> ObjectCode:
        """See `Backend.compile_scan`."""
        from kinetree.backends.llvm.compile import object_code
        from kinetree.backends.llvm.scan import scan_ir

        return object_code(*scan_ir(program, steps, dtype, Target.host(), lanes), Target.host())

    def compile_glue(self) -> ObjectCode | None:
        """See `Backend.compile_glue`."""
        from kinetree.backends.llvm.translate import compile_functions
        from kinetree.glue import code

        modules = code.sources()
        return None if modules is None else compile_functions(modules, Target.host())

    def load(self, code: ObjectCode) -> LoadedObject:
        """See `Backend.load`."""
        return load(code, entry.symbols())
