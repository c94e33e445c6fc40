"""How outputs leave a program: as cells, in tiles, or deferred to the end.

With one state, output entries are cells. With states side by side in lanes, an output leaves its region in tiles of
neighbouring entries, which are transposed in registers. Long rows would be hundreds of tiles: such outputs are
deferred, that is, staged in cells (equal entries share one) and copied last.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetree.graph import Program
from kinetree.lowering.plan import Cell, Plan, Tile


def place_entries(plan: Plan) -> None:
    """Make the entries of all outputs cells. Those that are in memory, often very many, are moved there last."""
    for k, entries in enumerate(plan.program.results):
        moved = plan.moved(entries)
        for j, i in enumerate(entries):
            cell = Cell(("out", k), j)
            if plan.program.graph[i].op in moved:
                plan.moves.append((i, cell))
            else:
                plan.copy(i, cell)


def place_deferred(plan: Plan, ports: Iterable[int]) -> None:
    """Give each value of these outputs one cell, if it is not in memory yet; regions load it from there, too."""
    nodes = plan.program.graph.nodes
    for k in ports:
        cells: dict[int, Cell] = {}
        size = 0
        for i in dict.fromkeys(plan.program.results[k]):
            if i in plan.location:
                cells[i] = plan.location[i]
                continue
            cells[i] = Cell(("deferred", k), size)
            size += 1
            if nodes[i].op != "const":
                plan.location[i] = cells[i]
            plan.copy(i, cells[i])
        if size:
            plan.areas["deferred", k] = size
        plan.deferred[k] = [cells[i] for i in plan.program.results[k]]


def with_tiles(program: Program, computed: Sequence[int], widths: Sequence[int]) -> list[int | Tile]:
    """Return these nodes with the tiles of the outputs between them.

    A tile follows the last of its values; a tile of constants follows the tile before it.
    """
    rank = {i: n for n, i in enumerate(computed, start=1)}
    ready: list[list[Tile]] = [[] for _ in range(len(computed) + 1)]
    for k, (entries, width) in enumerate(zip(program.results, widths, strict=True)):
        last = 0
        for start in range(0, len(entries) if width else 0, width or 1):
            first = min(start, len(entries) - width)
            tile = Tile(k, first, tuple(entries[first : first + width]))
            if any(program.graph.nodes[i].op != "const" for i in tile.nodes):
                last = max(rank.get(i, 0) for i in tile.nodes)
            ready[last].append(tile)
    items: list[int | Tile] = [*ready[0]]
    for i, tiles in zip(computed, ready[1:], strict=True):
        items += [i, *tiles]
    return items
