"""Kernels over arrays of values, written in LLVM IR."""

from collections.abc import Callable

from kinetree.backends.llvm.kernels.sincos import emit_sincos

ARRAY_KERNELS: dict[str, Callable[[str, int], str]] = {"sincos": emit_sincos}
"""Emitters of the array operations: from the dtype and the width of a vector of float64 to the definition of
``void @NAME(ptr input, …, ptr output, …, i64 count)``, which may write whole vectors beyond the end of an output."""
