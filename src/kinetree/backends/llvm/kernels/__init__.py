"""Kernels over arrays of values, written in LLVM IR."""

from collections.abc import Callable
from functools import partial

from kinetree.backends.llvm.kernels.elementwise import emit_elementwise
from kinetree.backends.llvm.kernels.sincos import emit_sincos
from kinetree.graph import elementary


def _emit(name: str, dtype: str, width: int) -> str:
    return emit_elementwise(elementary.program(name), elementary.rare(name), dtype, width)


ARRAY_KERNELS: dict[str, Callable[[str, int], str]] = {
    "sincos": emit_sincos,
    **{name: partial(_emit, name) for name in elementary.FUNCTIONS},
}
"""Emitters of the array operations: from the dtype and the width of a vector of float64 to the definition of
``void @NAME(ptr input, …, ptr output, …, i64 count)``, which may write whole vectors beyond the end of an output."""
