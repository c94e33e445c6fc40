"""`Plan`: what is executed in which order, and where values are in memory.

A plan alternates array calls and regions. An *array call* evaluates all sines and cosines of one depth at once. A
*region* is a bounded run of straight-line operations and becomes one function of the object code.

Nothing here knows LLVM, lanes or bytes: memory is counted in cells of one value each.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kinetree.graph import Program
from kinetree.graph.array_operations import ArrayOperation

Area = tuple[str, int]
"""A block of memory: ``("in", k)`` or ``("out", k)`` for a port, ``("args", n)`` and ``("results", n)`` for operands of
array calls, ``("slots", 0)`` for values that live across regions, ``("deferred", k)`` for a deferred output."""


MANY_INPUTS = 200
"""Inputs among the arguments or results of an operation above which a loop over a table moves them."""


class Cell(NamedTuple):
    """Memory for one value: its area, and the offset in it."""

    area: Area
    offset: int


Moves = Iterable[tuple[Cell, Cell]]
"""Cells to be copied, and where to."""


def by_areas(moves: Moves) -> dict[tuple[Area, Area], list[tuple[Cell, Cell]]]:
    """Return the moves from each area to each other one."""
    found: dict[tuple[Area, Area], list[tuple[Cell, Cell]]] = {}
    for source, place in moves:
        found.setdefault((source.area, place.area), []).append((source, place))
    return found


def in_pieces(moves: Moves, most: int) -> tuple[int, list[tuple[Cell, Cell]]]:
    """Return the moves between two areas as moves of the first of so many neighbouring cells; some may move twice.

    Examples
    --------
    >>> a, b = ("results", 0), ("out", 0)
    >>> size, moves = in_pieces([(Cell(a, k), Cell(b, k + 2 * (k > 4))) for k in range(8)], most=4)
    >>> size, [(source.offset, place.offset) for source, place in moves]
    (3, [(0, 0), (2, 2), (5, 7)])
    """
    runs: list[list[tuple[Cell, Cell]]] = []
    for source, place in moves:
        before = source._replace(offset=source.offset - 1), place._replace(offset=place.offset - 1)
        if not runs or runs[-1][-1] != before:
            runs.append([])
        runs[-1].append((source, place))
    size = min(most, *map(len, runs))
    return size, [run[min(k, len(run) - size)] for run in runs for k in range(0, len(run), size)]


class Tile(NamedTuple):
    """Neighbouring entries of output `port`, from `first` on, that are stored together."""

    port: int
    first: int
    nodes: tuple[int, ...]


@dataclass
class Region:
    """Straight-line code: nodes to compute (or to load and copy) and tiles to store, in order."""

    items: Sequence[int | Tile]


@dataclass
class ArrayCall:
    """A call of an array kernel on `count` elements, or of an array operation.

    Each operand (of an array operation, each part of its arguments) and each result is contiguous from a cell on.
    `moves` are cells to be copied to others before it.
    """

    kernel: str | ArrayOperation
    inputs: tuple[Cell, ...]
    outputs: tuple[Cell, ...]
    count: int
    moves: Sequence[tuple[Cell, Cell]] = ()


@dataclass
class Plan:
    """The steps of a program, and the memory of its values.

    Attributes
    ----------
    program : Program
    steps : list of Region or ArrayCall
        In execution order.
    location : dict of int to Cell
        The cell that later regions load the value of a node from.
    copies : dict of int to list of Cell
        The cells that the value of a node is stored to when it is computed: slot, output entries, operands of calls.
    deferred : dict of int to list of Cell
        For each deferred output, the cells that its entries are finally copied from.
    moves : list of (int, Cell)
        Results of array operations and inputs that are output entries, and the cells that they are finally copied to.
    constants : list of (Cell, float)
        Constants that must be in memory; those in tiles are not among them.
    areas : dict
        Size of each area, in cells.
    shared : dict of tuple to tuple of int
        The nodes that areas of arguments of array operations hold.
    """

    program: Program
    steps: list[Region | ArrayCall] = field(default_factory=list)
    location: dict[int, Cell] = field(default_factory=dict)
    copies: dict[int, list[Cell]] = field(default_factory=dict)
    deferred: dict[int, list[Cell]] = field(default_factory=dict)
    moves: list[tuple[int, Cell]] = field(default_factory=list)
    constants: list[tuple[Cell, float]] = field(default_factory=list)
    areas: dict[Area, int] = field(default_factory=dict)
    shared: dict[Area, tuple[int, ...]] = field(default_factory=dict)

    def new_area(self, kind: str, size: int) -> Cell:
        """Return the first cell of one more area of this kind."""
        area = kind, sum(known == kind for known, _ in self.areas)
        self.areas[area] = size
        return Cell(area, 0)

    def moved(self, nodes: Sequence[int]) -> Sequence[str]:
        """Return the kinds of nodes that a loop brings to these places: results of operations, inputs where many."""
        many = sum(self.program.graph[i].op == "input" for i in nodes) > MANY_INPUTS
        return ("get", "input") if many else ("get",)

    def runs(self) -> Iterator[tuple[Cell, float, int]]:
        """Yield the first cell, the value and the length of every run of equal constants in neighbouring cells."""

        def run(item: tuple[int, tuple[Cell, float]]) -> tuple[Area, int, str]:
            n, (cell, value) = item
            return cell.area, cell.offset - n, value.hex()

        for _, items in itertools.groupby(enumerate(self.constants), run):
            (_, (first, value)), *others = items
            yield first, value, 1 + len(others)

    def copy(self, node: int, cell: Cell) -> None:
        """Have the value of this node stored in one more cell."""
        kind, _, payload = self.program.graph[node]
        if kind == "const":
            self.constants.append((cell, payload))
        else:
            self.copies.setdefault(node, []).append(cell)
