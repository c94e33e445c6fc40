"""From a program to a plan: what is computed in which piece of code, and what is kept in memory between pieces.

A plan alternates stages and pieces. A *stage* evaluates all sines and cosines of one depth at once, as arrays. A
*piece* is a bounded run of straight-line operations, one function of the object code. What a piece computes and a
later one needs waits in a slot; inputs and the results of stages are in memory anyway.

Outputs lie in cells like everything else. Or they leave the pieces in *tiles* of neighbouring entries: for many
states side by side, a tile is what one can transpose in registers. Or they are gathered in the end, where there are so
many entries that tiles written here and there would be slow: equal entries then have one cell.

Nothing here knows LLVM, lanes or bytes: memory is counted in cells, one value each.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from kinetree.graph import Program
from kinetree.graph.ops import OPS

COLUMN_OPERATIONS = 4
"""About as many instructions go into a column of a tile: shuffles and stores."""

Area = tuple[str, int]


class Cell(NamedTuple):
    """A place in memory for one value: the offset in an area.

    The area is ``("in", k)`` or ``("out", k)`` for a port, ``("args", n)``, ``("sin", n)`` or ``("cos", n)`` for a
    stage, ``("slots", 0)``, and ``("kept", k)`` for the values of an output that is gathered.
    """

    area: Area
    offset: int


class Tile(NamedTuple):
    """Neighbouring entries of output `port`, from `first` on, that are written together."""

    port: int
    first: int
    nodes: tuple[int, ...]


@dataclass
class Piece:
    """Straight-line code: the nodes whose values are made (or read from memory) and the tiles written, in order."""

    items: Sequence[int | Tile]


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
    gathered : dict of int to list of Cell
        Where the entries of an output are in the end, if it is gathered.
    constants : list of (Cell, float)
        What does not depend on the inputs and must be in these cells; constants in tiles are left out.
    areas : dict
        Size of each area, in cells.
    """

    program: Program
    steps: list[Piece | Stage] = field(default_factory=list)
    home: dict[int, Cell] = field(default_factory=dict)
    stores: dict[int, list[Cell]] = field(default_factory=dict)
    gathered: dict[int, list[Cell]] = field(default_factory=dict)
    constants: list[tuple[Cell, float]] = field(default_factory=list)
    areas: dict[Area, int] = field(default_factory=dict)


def make_plan(program: Program, piece_size: int, *, widths: Sequence[int] | None = None, in_place: float = 2.0) -> Plan:
    """Return a plan with at most `piece_size` operations in a piece, but for what one tile is more.

    Parameters
    ----------
    program : Program
    piece_size : int
        A column of a tile counts as `COLUMN_OPERATIONS`.
    widths : sequence of int, optional
        For each output the width of its tiles, 0 if it is to be gathered. Without, all outputs are cells.
    in_place : float
        A stage may read an input in place if this makes it at most so many times longer.
    """
    plan = Plan(program)
    order = program.schedule()
    nodes = program.graph.nodes
    for kind, ports in (("in", program.inputs), ("out", program.outputs)):
        plan.areas.update({(kind, k): port.size for k, port in enumerate(ports)})
    for i in order:
        if nodes[i].op == "input":
            port, entry = cast("tuple[int, int]", nodes[i].payload)
            plan.home[i] = Cell(("in", port), entry)
    if widths is None:
        _place_outputs(plan)
    pending = set(order)
    for staged in _staged_by_depth(program, order):
        arguments = sorted({nodes[i].args[0] for i in staged})
        stage = _place_stage(plan, staged, arguments, in_place)
        if stage.first.area[0] == "args":
            needed = _ancestors(program, arguments, pending)
            _cut(plan, [i for i in order if i in needed], piece_size)
            pending -= needed
        plan.steps.append(stage)
    if widths is not None:
        _place_gathered(plan, [k for k, width in enumerate(widths) if not width])
    made = [i for i in order if i in pending and (_computed(program, i) or plan.stores.get(i))]
    _cut(plan, made if widths is None else _with_tiles(program, made, widths), piece_size)
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


def _place_gathered(plan: Plan, ports: Iterable[int]) -> None:
    """Give every value of these outputs one cell, if it has none yet. Pieces, too, read it there."""
    nodes = plan.program.graph.nodes
    for k in ports:
        area = ("kept", k)
        cells: dict[int, Cell] = {}
        for i in dict.fromkeys(plan.program.results[k]):
            if i in plan.home:
                cells[i] = plan.home[i]
                continue
            cells[i] = Cell(area, plan.areas.setdefault(area, 0))
            plan.areas[area] += 1
            if nodes[i].op == "const":
                plan.constants.append((cells[i], cast("float", nodes[i].payload)))
            else:
                plan.home[i] = cells[i]
                plan.stores.setdefault(i, []).append(cells[i])
        plan.gathered[k] = [cells[i] for i in plan.program.results[k]]


def _with_tiles(program: Program, made: Sequence[int], widths: Sequence[int]) -> list[int | Tile]:
    """Return the nodes of the last pieces with the tiles of the outputs between them.

    A tile comes right after the last of its values is made; a tile of constants after the one before it.
    """
    rank = {i: n for n, i in enumerate(made, start=1)}
    ready: list[list[Tile]] = [[] for _ in range(len(made) + 1)]
    for k, (entries, width) in enumerate(zip(program.results, widths, strict=True)):
        last = 0
        for start in range(0, len(entries) if width else 0, width or 1):
            first = min(start, len(entries) - width)
            tile = Tile(k, first, tuple(entries[first : first + width]))
            if any(program.graph.nodes[i].op != "const" for i in tile.nodes):
                last = max(rank.get(i, 0) for i in tile.nodes)
            ready[last].append(tile)
    items: list[int | Tile] = [*ready[0]]
    for i, tiles in zip(made, ready[1:], strict=True):
        items += [i, *tiles]
    return items


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


def _place_stage(plan: Plan, staged: list[int], arguments: list[int], in_place: float) -> Stage:
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
    if not areas and area[0] == "in" and max(offsets) - min(offsets) < in_place * len(offsets):
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


def _cut(plan: Plan, items: Sequence[int | Tile], size: int) -> None:
    """Append pieces of about equal work, none above `size` by more than its first item."""
    if not items:
        return
    work = list(itertools.accumulate(_work(item) for item in items))
    pieces = -(-work[-1] // size)
    ends = [bisect.bisect_right(work, p * work[-1] // pieces) for p in range(pieces + 1)]
    plan.steps += [Piece(items[a:b]) for a, b in itertools.pairwise(ends) if a < b]


def _work(item: int | Tile) -> int:
    return COLUMN_OPERATIONS * len(item.nodes) if isinstance(item, Tile) else 1


def _assign_slots(plan: Plan) -> None:
    """Give a slot to every value that a later piece reads. A slot is free again after the last of these pieces."""
    nodes = plan.program.graph.nodes
    pieces = [s for s in plan.steps if isinstance(s, Piece)]
    last: dict[int, int] = {}  # the last piece that reads a node
    for p, piece in enumerate(pieces):
        for item in piece.items:
            last.update(dict.fromkeys(item.nodes if isinstance(item, Tile) else nodes[item].args, p))
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    count = 0
    for p, piece in enumerate(pieces):
        for i in piece.items:
            if not isinstance(i, Tile) and i not in plan.home and last.get(i, p) > p and nodes[i].op != "const":
                if free:
                    slot = free.pop()
                else:
                    slot, count = count, count + 1
                plan.home[i] = Cell(("slots", 0), slot)
                plan.stores.setdefault(i, []).append(plan.home[i])
                ending.setdefault(last[i], []).append(slot)
        free.extend(reversed(ending.get(p, ())))
    plan.areas["slots", 0] = count
