"""What array calls run, each defined once in a file: array kernels, and loops (`kinetree.graph.array_operations`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.backends.c.kernels import ARRAY_KERNELS
from kinetree.backends.c.names import Emitted, Routine, routine_name
from kinetree.backends.c.program import emit_program
from kinetree.backends.c.spelling import SPELLING
from kinetree.backends.c.templates import filled
from kinetree.graph.array_operations import ArrayOperation, Map, Repeat
from kinetree.graph.ops import OPS

_REPEAT = """\
static void @NAME@(
    const kt_value *restrict kt_captured, const kt_value *restrict kt_own, kt_value *restrict kt_results)
{
    static KT_THREAD_LOCAL kt_value kt_next[@RESULTS@];
    kt_value kt_test[1];
    kt_truth kt_live = KT_TRUE;
    for (size_t kt_i = 0; kt_i < @RESULTS@; kt_i++)
        kt_results[kt_i] = kt_own[kt_i];
    for (size_t kt_k = 0; kt_k < @MOST@u; kt_k++) {
        @NAME@_condition(kt_captured, kt_results, kt_test);
        kt_live = kt_live & (kt_truth)(kt_test[0] > KT_C(0@F@));
        if (!kt_any(kt_live))
            break;
        @NAME@_body(kt_captured, kt_results, kt_next);
        for (size_t kt_i = 0; kt_i < @RESULTS@; kt_i++)
            kt_results[kt_i] = kt_select(kt_live, kt_next[kt_i], kt_results[kt_i]);
    }
}
"""

_MAP = """\
static void @NAME@(
    const kt_value *restrict kt_captured, const kt_value *restrict kt_own, kt_value *restrict kt_results)
{
    for (size_t kt_i = 0; kt_i < @COUNT@; kt_i++)
        @NAME@_body(kt_captured, kt_own + kt_i, kt_results + kt_i);
}
"""


def emit_repeat(operation: ArrayOperation, dtype: str, region_operations: int) -> Emitted:
    """Return the function of a `Repeat`: a lane that has stopped keeps its values; where all have, the loop ends."""
    assert isinstance(operation, Repeat)
    name = routine_name(operation)
    test = emit_program(f"{name}_condition", operation.condition, dtype, region_operations)
    body = emit_program(f"{name}_body", operation.body, dtype, region_operations)
    loop = filled(
        _REPEAT, NAME=name, RESULTS=operation.results, MOST=operation.most, F=".0" if dtype == "float64" else ".0f"
    )
    return Emitted(
        f"{test.text}\n{body.text}\n{loop}",
        test.cells + body.cells + operation.results,
        (*test.routines, *body.routines),
        (*test.helpers, *body.helpers, "select", "any"),
    )


def emit_map(operation: ArrayOperation, dtype: str, region_operations: int) -> Emitted:
    """Return the function of a `Map`, which computes one column after another."""
    assert isinstance(operation, Map)
    name, count = routine_name(operation), operation.count
    strides = {("in", 1): count, ("out", 0): count}
    body = emit_program(f"{name}_body", operation.body, dtype, region_operations, strides)
    loop = filled(_MAP, NAME=name, COUNT=count)
    return Emitted(f"{body.text}\n{loop}", body.cells, body.routines, body.helpers)


OPERATIONS: dict[str, Callable[[ArrayOperation, str, int], Emitted]] = {"repeat": emit_repeat, "map": emit_map}
"""Emitters of the array operations, by the operation's name: from it, the dtype and the most operations in a region to
the definition of ``static void kt_NAME_IDENTITY(const kt_value *part, …, kt_value *results)``, which takes each part of
the arguments."""


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", "call", "get", *OPERATIONS, *SPELLING, *arrays])


def with_routines(emitted: Sequence[Emitted], dtype: str, region_operations: int) -> list[Emitted]:
    """Return the routines that programs need, each after those that it needs in turn, and then the programs."""
    parts: dict[Routine | int, Emitted] = {}

    def add(key: Routine | int, part: Emitted) -> None:
        for routine in part.routines:
            if routine in parts:
                continue
            if isinstance(routine, ArrayOperation):
                add(routine, OPERATIONS[routine.name](routine, dtype, region_operations))
            else:
                add(routine, ARRAY_KERNELS[routine](dtype))
        parts[key] = part

    for k, part in enumerate(emitted):
        add(k, part)
    return list(parts.values())
