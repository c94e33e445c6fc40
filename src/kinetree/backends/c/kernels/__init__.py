"""Kernels over arrays of values, written in C."""

from collections.abc import Callable

from kinetree.backends.c.emitted import Emitted
from kinetree.backends.c.kernels.sincos import emit_sincos

ARRAY_KERNELS: dict[str, Callable[[str], Emitted]] = {"sincos": emit_sincos}
"""Emitters of the array operations: from the dtype to the definition of
``static void kt_NAME(const kt_value *input, …, kt_value *output, …, size_t count)``; `program.elementwise` makes one of
the program of an element."""
