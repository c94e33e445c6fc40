"""Prefetches of the cache lines that a block's rows will be written to.

W rows are written at once, a few bytes of each in turn, and long rows are not in the cache. The processor's own
prefetchers do not recognise W short interleaved streams, so each store would wait for its line in turn: measured on an
Intel machine, such rows left at a quarter of the speed of a fill, and with these prefetches they leave at its speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.backends.llvm.ir import Body
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.lowering.plan import Region, Tile

CACHE_LINE = 64

LINES_AHEAD = 8
"""A line is prefetched when the line so many before it is begun: far enough for the memory's latency, and few enough to
be in the first-level cache until then."""


class Line(NamedTuple):
    """The cache line `offset` bytes into each row of output `port`, of this block or of the next."""

    port: int
    offset: int
    next_block: bool


def lines_ahead(regions: Sequence[Region], layout: ScratchLayout) -> list[dict[int, list[Line]]]:
    """Return, for each region, the lines to prefetch with each of its tiles, by the tile's index in the items.

    The lines are those of all tiles in the order in which they are first written to; at the end come the first ones of
    the next block. Rows shorter than a line share lines with their neighbours, which the processor prefetches.
    """
    item = layout.lanes.item
    begun: dict[tuple[int, int], tuple[int, int]] = {}  # where a line is first written to: region, index
    for r, region in enumerate(regions):
        for now, tile in enumerate(region.items):
            if isinstance(tile, Tile) and layout.row_bytes["out", tile.port] >= CACHE_LINE:
                for entry in range(tile.first, tile.first + len(tile.nodes)):
                    begun.setdefault((tile.port, entry * item // CACHE_LINE * CACHE_LINE), (r, now))
    lines = list(begun)
    ahead: list[dict[int, list[Line]]] = [{} for _ in regions]
    for n, (r, now) in enumerate(begun.values(), start=LINES_AHEAD):
        ahead[r].setdefault(now, []).append(Line(*lines[n % len(lines)], n >= len(lines)))
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
