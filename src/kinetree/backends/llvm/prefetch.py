"""Prefetches of the cache lines that a block's rows will be written to.

W rows are written at once, a few bytes of each in turn, and long rows are not in the cache. The processor's own
prefetchers do not recognise W short interleaved streams, so each store would wait for its line in turn: measured on an
Intel machine, such rows left at a quarter of the speed of a fill, and with these prefetches they leave at its speed.
"""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.backends.llvm.ir import Body
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.graph import Program
from kinetree.lowering.plan import Region, Tile
from kinetree.lowering.regions import work

CACHE_LINE = 64

LINES_AHEAD = 8
"""Where results are copied from scratch, a line is prefetched when the line so many before it is begun: far enough for
the memory's latency, and few enough to be in the first-level cache until then."""

DISTANCE = 150
"""Where results leave from registers, a line is prefetched at least so many operations before it is begun."""


class Line(NamedTuple):
    """The cache line `offset` bytes into each row of output `port`, of this block or of the next."""

    port: int
    offset: int
    next_block: bool


def lines_ahead(regions: Sequence[Region], program: Program, layout: ScratchLayout) -> list[dict[int, list[Line]]]:
    """Return, for each region, the lines to prefetch with each of its items, by the item's index.

    They are those of all tiles, in the order in which they are first written to, at equal intervals: tiles come in
    bursts, which the memory is slower than, and between them it would have nothing to do. Those that are due before
    the block begins are prefetched by the block before it. Rows shorter than a line share lines with their neighbours,
    which the processor prefetches.
    """
    item = layout.lanes.item
    begun: dict[tuple[int, int], int] = {}  # when a line is first written to
    places: list[tuple[int, int]] = []  # the region and index of each item
    ends: list[int] = []  # the work up to its end
    done = 0
    for r, region in enumerate(regions):
        for now, tile in enumerate(region.items):
            if isinstance(tile, Tile) and layout.row_bytes["out", tile.port] >= CACHE_LINE:
                for entry in range(tile.first, tile.first + len(tile.nodes)):
                    begun.setdefault((tile.port, entry * item // CACHE_LINE * CACHE_LINE), done)
            done += work(tile, program)
            places.append((r, now))
            ends.append(done)
    ahead: list[dict[int, list[Line]]] = [{} for _ in regions]
    if begun:
        interval = done / len(begun)
        start = min(time - n * interval for n, time in enumerate(begun.values())) - DISTANCE
        for n, line in enumerate(begun):
            blocks, time = divmod(start + n * interval, done)
            r, now = places[min(bisect.bisect_right(ends, time), len(places) - 1)]  # divmod may round up to `done`
            ahead[r].setdefault(now, []).append(Line(*line, blocks < 0))
    return ahead


def prefetch(b: Body, rows: Sequence[str], distance: str) -> None:
    """Prefetch, for writing, the lines this many bytes from the rows."""
    for row in rows:
        place = b(f"getelementptr i8, ptr {row}, i64 {distance}")
        b.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")


def block_bytes(b: Body, rows: Sequence[str]) -> str:
    """Return the bytes from these rows to those of the next block; 0 for one row, whose distance they do not tell."""
    if len(rows) == 1:
        return "0"
    first, second = (b(f"ptrtoint ptr {row} to i64") for row in rows[:2])
    return b(f"mul i64 {b(f'sub i64 {second}, {first}')}, {len(rows)}")
