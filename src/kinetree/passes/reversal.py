"""Adjoints of array operations: loops in the opposite order.

A loop that carries values is run again to record them, every k-th state first, and then, segment by segment from the
last one, each state of a segment: with k the root of the number of iterations, two roots of states are held, and each
is computed twice more. Records are stacks that move by one state at each step: values that a loop carries.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from kinetree.graph import Graph, Port, Program, fold
from kinetree.graph.array_operations import ArrayOperation, Declared, Map, Repeat, call
from kinetree.graph.graph import Node
from kinetree.graph.ops import OPS
from kinetree.tracing.condition import choice
from kinetree.tracing.expr import Expr
from kinetree.tracing.loops import repeat_while_positive

ProgramAdjoint = Callable[[Program], Program]
Adjoint = Callable[[Graph, ArrayOperation, Sequence[int], Sequence[int], ProgramAdjoint], Sequence[int]]

MOST_RECORDED = 20_000
"""Most numbers that the adjoint of a loop records of one state."""


def recorded(program: Program, graph: Graph, entry: Callable[[int, int], int], *, exact: bool = False) -> list[int]:
    """Return the nodes of a program's results in this graph; ``entry(port, k)`` is the node of an input's entry.

    With `exact` they keep the bits that the program has, whatever else is computed of them.
    """

    def operation(node: Node, given: list[int]) -> int:
        op, args = OPS[node.op], tuple(given)
        return op.exact_node(graph, args) if exact else op.node(graph, args, node.payload)

    return program.evaluated(graph.const, entry, operation, lambda payload, given: call(graph, payload, given))


def of_map(
    graph: Graph, loop: ArrayOperation, arguments: Sequence[int], weights: Sequence[int], adjoint: ProgramAdjoint
) -> Sequence[int]:
    """Return the adjoints of the arguments of a `Map`, by a map over the columns and their weights.

    What each column gives to the captured values is summed in the order of the columns.
    """
    assert isinstance(loop, Map)
    back, zero, own = adjoint(loop.body), graph.const(0.0), loop.captured
    used = [k for k, node in enumerate(back.results[0][:own]) if node != back.graph.const(0.0)]
    results = (*back.results[0][own:], *(back.results[0][k] for k in used))
    body = Program(back.graph, back.inputs, (Port("result", (len(results),)),), (results,))
    found = call(graph, Map(body, loop.count), (*arguments, *weights))
    columns, parts = found[: loop.arity - own], found[loop.arity - own :]
    captured = [zero] * own
    for k, start in zip(used, range(0, len(parts), loop.count), strict=True):
        captured[k] = functools.reduce(functools.partial(fold.add, graph), parts[start : start + loop.count])
    return [*captured, *columns]


def of_repeat(
    graph: Graph,
    loop: ArrayOperation,
    arguments: Sequence[int],
    weights: Sequence[int],
    adjoint: ProgramAdjoint,
    spacing: int | None = None,
) -> Sequence[int]:
    """Return the adjoints of the arguments of a `Repeat`, with checkpoints; they are the same for every spacing.

    Where the loop ends by its condition, that many iterations are gone back.
    """
    assert isinstance(loop, Repeat)
    n, spacing = loop.results, spacing or _spacing(loop.most)
    values = [Expr(graph, i) for i in arguments]
    captured, first = values[: loop.captured], values[loop.captured :]
    back = adjoint(loop.body)
    used = [k for k, node in enumerate(back.results[0][: loop.captured]) if node != back.graph.const(0.0)]
    segments, room = -(-loop.most // spacing), spacing * n
    like = first[0]

    def run(program: Program, *parts: Sequence[Expr]) -> list[Expr]:
        here = like.here().graph
        zero = Expr(here, here.const(0.0))
        return [Expr(here, i) for i in recorded(program, here, lambda port, k: zero.node(parts[port][k]))]

    def goes_on(x: list[Expr], count: Expr) -> Expr:
        [number] = run(loop.condition, captured, x)
        return choice(count < float(loop.most), number, 0.0)  # type: ignore[no-any-return]

    def segment(x: list[Expr], count: Expr | float, room: int) -> list[Expr]:
        """Return the state after a segment, those before it, the last one first, as far as there is room, the count."""

        def step(s: list[Expr]) -> list[Expr]:
            return [*run(loop.body, captured, s[:n]), *s[: n + room][:room], s[-1] + 1.0]

        return repeat_while_positive(like, step, [*x, *[0.0] * room, count], lambda s: goes_on(s[:n], s[-1]), spacing)

    def checkpoint(s: list[Expr]) -> list[Expr]:
        end = segment(s[:n], s[-2], 0)
        return [*end[:n], *s[:-2][: n * segments], end[-1], s[-1] + 1.0]

    def backward(s: list[Expr]) -> list[Expr]:
        """Go back over the segment that begins with the first state of the stack."""
        start = float(spacing) * (s[stack] - 1.0)
        *before, end = segment(s[:n], start, room)
        tape = [*before[n:], end - start, *s[stack + 1 :]]
        tape = repeat_while_positive(like, backward_step, tape, lambda s: s[room], spacing)
        return [*s[n:stack], *s[:n], s[stack] - 1.0, *tape[room + 1 :]]

    def backward_step(s: list[Expr]) -> list[Expr]:
        weights, sums = s[room + 1 : room + 1 + n], s[room + 1 + n :]
        found = run(back, captured, [*s[:n], *weights])
        added = [x + found[k] for x, k in zip(sums, used, strict=True)]
        return [*s[n:room], *s[:n], s[room] - 1.0, *found[loop.captured :], *added]

    bars = [*(Expr(graph, i) for i in weights), *[Expr(graph, graph.const(0.0))] * len(used)]
    stack, one = n * segments, Expr(graph, graph.const(1.0))
    if segments == 1:
        found = backward([*first, one, *bars])
    else:
        states: list[Any] = [*first, *[0.0] * stack, 0.0, 0.0]

        states = repeat_while_positive(like, checkpoint, states, lambda s: goes_on(s[:n], s[-2]), segments)
        found = repeat_while_positive(like, backward, [*states[n:-2], states[-1], *bars], lambda s: s[stack], segments)
    zero = graph.const(0.0)
    sums = dict(zip(used, found[stack + 1 + n :], strict=True))
    return [*(sums[k].id if k in sums else zero for k in range(loop.captured)), *(x.id for x in found[stack + 1 :][:n])]


def _spacing(most: int) -> int:
    """Return the number of iterations between two recorded states: the root of their number, rounded up."""
    return math.isqrt(most - 1) + 1


ADJOINTS: dict[str, Adjoint] = {"map": of_map, "repeat": of_repeat}
"""``adjoint(graph, operation, arguments, weights, of_program)`` of an array operation, by its name: the nodes of the
adjoints of its arguments, given those of its results; ``of_program`` gives the adjoints of its programs."""


def why_not_reversible(operation: ArrayOperation) -> str:
    """Return why an array operation has no adjoint, nothing if it has one."""
    if isinstance(operation, Declared):
        return ""
    if operation.name not in ADJOINTS:
        return f"the array operation {operation.name!r} cannot be differentiated backwards"
    if isinstance(operation, Repeat) and 2 * _spacing(operation.most) * operation.results > MOST_RECORDED:
        return f"a loop of up to {operation.most} iterations is too long to be differentiated backwards"
    nested = (node.payload for program in operation.programs for node in program.graph.nodes if node.op == "call")
    return next(filter(None, map(why_not_reversible, nested)), "")
