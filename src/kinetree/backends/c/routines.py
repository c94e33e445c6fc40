"""What array calls run: array kernels and array operations, each defined once in a file."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.backends.c.emitted import Emitted, Routine
from kinetree.backends.c.kernels import ARRAY_KERNELS
from kinetree.backends.c.loops import emit_map, emit_repeat
from kinetree.backends.c.spelling import SPELLING
from kinetree.graph.array_operations import ArrayOperation
from kinetree.graph.ops import OPS

OPERATIONS: dict[str, Callable[[ArrayOperation, str, int], Emitted]] = {"repeat": emit_repeat, "map": emit_map}
"""Emitters of the array operations, by the operation's name: from it, the dtype and the most operations in a region to
the definition of ``static void kt_NAME_IDENTITY(const kt_value *part, …, kt_value *results)``, which takes each part of
the arguments."""


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", "call", "get", *OPERATIONS, *SPELLING, *arrays])


def with_routines(emitted: Emitted, dtype: str, region_operations: int) -> list[Emitted]:
    """Return the routines that it needs, each after those that it needs in turn, and itself last."""
    parts: dict[Routine, Emitted] = {}

    def add(key: Routine, part: Emitted) -> None:
        for routine in part.routines:
            if routine in parts:
                continue
            if isinstance(routine, ArrayOperation):
                add(routine, OPERATIONS[routine.name](routine, dtype, region_operations))
            else:
                add(routine, ARRAY_KERNELS[routine](dtype))
        parts[key] = part

    add("", emitted)
    return list(parts.values())
