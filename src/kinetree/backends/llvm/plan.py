"""From a program to a plan: what is computed in which piece of code, and what is kept in memory between pieces.

A plan alternates stages and pieces. A *stage* evaluates all sines and cosines of one depth at once, as arrays. A
*piece* is a bounded run of straight-line operations, one function of the object code. What a piece computes and a
later one needs waits in a slot; inputs and the results of stages are in memory anyway.

Nothing here knows LLVM, lanes or bytes: memory is counted in cells, one value each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from kinetree.expr import OPS, Program

Area = tuple[str, int]


class Cell(NamedTuple):
    """A place in memory for one value: the offset in an area.

    The area is ``("in", k)`` or ``("out", k)`` for a port, ``("args", n)``, ``("sin", n)`` or ``("cos", n)`` for a
    stage, and ``("slots", 0)``.
    """

    area: Area
    offset: int


@dataclass
class Piece:
    """Straight-line code: the nodes whose values are made (or read from memory), in order."""

    nodes: list[int]


@dataclass
class Stage:
    """One evaluation of sine and cosine: `count` arguments, from `first` on, into the areas of stage `number`."""

    number: int
    first: Cell
    count: int


@dataclass
class Plan:
    """What to do, in order, and where values are.

    Attributes
    ----------
    steps : list of Piece or Stage
        In the order of execution.
    home : dict of int to Cell
        Where a later piece finds the value of a node.
    stores : dict of int to list of Cell
        Where else the value of a node goes when it is made: output entries, arguments of stages.
    constants : list of (Cell, float)
        Output entries that do not depend on the inputs.
    areas : dict
        Size of each area, in cells.
    """

    program: Program
    steps: list[Piece | Stage] = field(default_factory=list)
    home: dict[int, Cell] = field(default_factory=dict)
    stores: dict[int, list[Cell]] = field(default_factory=dict)
    constants: list[tuple[Cell, float]] = field(default_factory=list)
    areas: dict[Area, int] = field(default_factory=dict)


def make_plan(program: Program, piece_size: int) -> Plan:
    """Return a plan with at most `piece_size` operations in a piece."""
    plan = Plan(program)
    order = program.schedule()
    nodes = program.graph.nodes
    for kind, ports in (("in", program.inputs), ("out", program.outputs)):
        plan.areas.update({(kind, k): port.size for k, port in enumerate(ports)})
    for i in order:
        if nodes[i].op == "input":
            port, entry = cast("tuple[int, int]", nodes[i].payload)
            plan.home[i] = Cell(("in", port), entry)
    _place_outputs(plan)
    pending = set(order)
    for staged in _staged_by_depth(program, order):
        arguments = sorted({nodes[i].args[0] for i in staged})
        stage = _place_stage(plan, staged, arguments)
        if stage.first.area[0] == "args":
            needed = _ancestors(program, arguments, pending)
            _cut(plan, [i for i in order if i in needed], piece_size)
            pending -= needed
        plan.steps.append(stage)
    made = [i for i in order if i in pending and (_computed(program, i) or plan.stores.get(i))]
    _cut(plan, made, piece_size)
    _assign_slots(plan)
    return plan


def _computed(program: Program, i: int) -> bool:
    """Tell whether this node is made by an instruction of a piece."""
    op = program.graph.nodes[i].op
    return op not in ("const", "input") and not OPS[op].staged


def _place_outputs(plan: Plan) -> None:
    nodes = plan.program.graph.nodes
    for k, entries in enumerate(plan.program.results):
        for j, i in enumerate(entries):
            if nodes[i].op == "const":
                plan.constants.append((Cell(("out", k), j), nodes[i].payload))  # type: ignore[arg-type]
            else:
                plan.stores.setdefault(i, []).append(Cell(("out", k), j))


def _staged_by_depth(program: Program, order: Sequence[int]) -> list[list[int]]:
    """Return the staged nodes, grouped by how many of them are on the longest way to each."""
    nodes = program.graph.nodes
    depth: dict[int, int] = {}
    groups: list[list[int]] = []
    for i in order:
        below = max((depth[a] for a in nodes[i].args), default=0)
        if OPS[nodes[i].op].staged:
            if below == len(groups):
                groups.append([])
            groups[below].append(i)
            below += 1
        depth[i] = below
    return groups


def _place_stage(plan: Plan, staged: list[int], arguments: list[int]) -> Stage:
    """Return the stage, with places for what it reads and makes.

    Arguments that are close together in one input are read in place:
    evaluating the entries of the input that lie between costs less than gathering the others.
    """
    nodes = plan.program.graph.nodes
    number = sum(isinstance(step, Stage) for step in plan.steps)
    cells = [plan.home.get(a) for a in arguments]
    offsets = [c.offset for c in cells if c is not None]
    areas = {c.area if c is not None else ("slots", 0) for c in cells}
    area = areas.pop()
    if not areas and area[0] == "in" and max(offsets) - min(offsets) < 2 * len(offsets):
        first = min(offsets)
        stage = Stage(number, Cell(area, first), max(offsets) - first + 1)
        position = {a: plan.home[a].offset - first for a in arguments}
    else:
        stage = Stage(number, Cell(("args", number), 0), len(arguments))
        position = {a: n for n, a in enumerate(arguments)}
        plan.areas["args", number] = stage.count
        for a, n in position.items():
            plan.stores.setdefault(a, []).append(Cell(("args", number), n))
    plan.areas["sin", number] = plan.areas["cos", number] = stage.count
    for i in staged:
        plan.home[i] = Cell((nodes[i].op, number), position[nodes[i].args[0]])
    return stage


def _ancestors(program: Program, roots: Iterable[int], pending: set[int]) -> set[int]:
    """Return the pending nodes that pieces must make for these roots, the roots included."""
    roots = set(roots)
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        i = stack.pop()
        if i in pending and i not in seen and (_computed(program, i) or i in roots):
            seen.add(i)
            if _computed(program, i):
                stack.extend(program.graph.nodes[i].args)
    return seen


def _cut(plan: Plan, nodes: list[int], size: int) -> None:
    """Append pieces of about equal length, none longer than `size`."""
    pieces = -(-len(nodes) // size)
    for p in range(pieces):
        plan.steps.append(Piece(nodes[p * len(nodes) // pieces : (p + 1) * len(nodes) // pieces]))


def _assign_slots(plan: Plan) -> None:
    """Give a slot to every value that a later piece reads. A slot is free again after the last of these pieces."""
    nodes = plan.program.graph.nodes
    pieces = [s for s in plan.steps if isinstance(s, Piece)]
    last: dict[int, int] = {}  # the last piece that reads a node
    for p, piece in enumerate(pieces):
        for i in piece.nodes:
            for a in nodes[i].args:
                last[a] = p
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    count = 0
    for p, piece in enumerate(pieces):
        for i in piece.nodes:
            if i not in plan.home and last.get(i, p) > p:
                if free:
                    slot = free.pop()
                else:
                    slot, count = count, count + 1
                plan.home[i] = Cell(("slots", 0), slot)
                plan.stores.setdefault(i, []).append(plan.home[i])
                ending.setdefault(last[i], []).append(slot)
        free.extend(reversed(ending.get(p, ())))
    plan.areas["slots", 0] = count
