"""CPU code through LLVM: a program to object code, and object code to addresses that can be called."""

from kinetree.backends.llvm.compile import Code, compile_batch, compile_single
from kinetree.backends.llvm.load import Loaded, load
from kinetree.backends.llvm.target import Target

__all__ = ["Code", "Loaded", "Target", "compile_batch", "compile_single", "load"]
