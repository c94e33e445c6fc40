"""Kernels over arrays of values, written in C."""

from collections.abc import Callable
from functools import partial

from kinetree.backends.c.emitted import Emitted
from kinetree.backends.c.kernels.elementwise import emit_elementwise
from kinetree.backends.c.kernels.sincos import emit_sincos
from kinetree.graph import elementary


def _emit(name: str, dtype: str) -> Emitted:
    return emit_elementwise(name, elementary.program(name), elementary.rare(name), dtype)


ARRAY_KERNELS: dict[str, Callable[[str], Emitted]] = {
    "sincos": emit_sincos,
    **{name: partial(_emit, name) for name in elementary.FUNCTIONS},
}
"""Emitters of the array operations: from the dtype to the definition of
``static void kt_NAME(const kt_value *input, …, kt_value *output, …, size_t count)``; `emit_elementwise` makes one of
the program of an element."""
