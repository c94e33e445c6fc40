"""Between the caller's row-major arrays and lanes, in which an entry of W states lies side by side.

Tiles of W rows by C columns are transposed in registers by log₂ C steps of two-input shuffles. Inputs go through a loop
over tiles, shared by all ports of the same tile width. Outputs are stored from the registers where they are computed:
stores spread over the computation overlap with it.

W rows are written at once, a few bytes of each in turn, and long rows are not in the cache. The processor's own
prefetchers do not recognise W short interleaved streams, so each store would wait for its line in turn: measured on an
Intel machine, such rows left at a quarter of the speed of a fill, and with prefetches they leave at its speed.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kinetree.backends.llvm.ir import Body, Lanes, function, table
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.graph import Program
from kinetree.lowering.build import work
from kinetree.lowering.plan import Area, Region, Tile

MAX_COLUMNS = 4  # wider tiles need more shuffles that cross 256-bit halves; narrower ones more loads and stores


def tile_columns(size: int, lanes: int) -> int:
    """Return the columns of a tile for a port of this size: a power of two, at most the size and the lanes."""
    return 1 << (min(size, MAX_COLUMNS, lanes).bit_length() - 1)


class Transpose:
    """Transposes of tiles in the body of a function: W rows of C entries to C vectors of W lanes, and back."""

    def __init__(self, body: Body, lanes: Lanes, columns: int) -> None:
        self.body, self.lanes, self.columns = body, lanes, columns

    @property
    def row(self) -> str:
        """The LLVM type of a row."""
        return self.kind(self.columns) if self.lanes.count > 1 else self.lanes.type

    def kind(self, width: int) -> str:
        """Return the LLVM type of a vector of this width."""
        return f"<{width} x {self.lanes.scalar}>"

    def to_lanes(self, rows: list[str]) -> list[str]:
        """Return the C vectors of W rows."""
        return self._transposed(self._joined(rows))

    def to_rows(self, vectors: list[str]) -> list[str]:
        """Return the W rows of C vectors."""
        return self._split(self._transposed(vectors))

    def constant_rows(self, values: Sequence[float]) -> list[str]:
        """Return W equal rows of constants."""
        scalar = Lanes(self.lanes.dtype, 1)
        entries = [f"{scalar.type} {scalar.constant(x)}" for x in values]
        row = f"<{', '.join(entries)}>" if self.lanes.count > 1 else scalar.constant(values[0])
        return [row] * self.lanes.count

    def _shuffle(self, width: int, x: str, y: str, indices: Iterable[int]) -> str:
        """Return a vector of these entries of x and y, each `width` wide."""
        mask = [f"i32 {i}" for i in indices]
        kind = self.kind(width)
        return self.body(f"shufflevector {kind} {x}, {kind} {y}, <{len(mask)} x i32> <{', '.join(mask)}>")

    def _transposed(self, tile: list[str]) -> list[str]:
        """Transpose every C × C block of the C vectors, by butterflies at doubling distances."""
        width = self.lanes.count
        d = 1
        while d < len(tile):
            low = [j if not j & d else width + j - d for j in range(width)]
            high = [j + d if not j & d else width + j for j in range(width)]
            step = list(tile)
            for i in range(len(tile)):
                if not i & d:
                    step[i] = self._shuffle(width, tile[i], tile[i + d], low)
                    step[i + d] = self._shuffle(width, tile[i], tile[i + d], high)
            tile = step
            d *= 2
        return tile

    def _joined(self, rows: list[str]) -> list[str]:
        """Return, for every i below C, the rows i, i + C, i + 2C, … one after another in a vector."""
        width, columns = self.columns, self.columns
        while len(rows) > columns:
            groups = [rows[g : g + columns] for g in range(0, len(rows), columns)]
            rows = [
                self._shuffle(width, x, y, range(2 * width))
                for first, second in zip(groups[::2], groups[1::2], strict=True)
                for x, y in zip(first, second, strict=True)
            ]
            width *= 2
        return rows

    def _split(self, tile: list[str]) -> list[str]:
        """Return the rows, the inverse of `_joined`."""
        if self.lanes.count == self.columns:
            return tile
        return [
            self._shuffle(self.lanes.count, tile[r % self.columns], "poison", range(first, first + self.columns))
            for r in range(self.lanes.count)
            for first in [r // self.columns * self.columns]
        ]


def rows_to_lanes(lanes: Lanes, columns: int) -> str:
    """Return IR of ``void @rows_to_lanes_C(ptr rows, ptr cells, i64 size)``.

    Each column of W rows goes to one of `size` neighbouring cells; the last tile may overlap the previous one.
    """
    b = Body()
    transpose = Transpose(b, lanes, columns)
    rows = row_pointers(b, lanes, "%rows")
    last = b(f"sub i64 %size, {columns}")
    with b.loop(columns, "%size"):
        column = b(f"call i64 @llvm.umin.i64(i64 %i, i64 {last})")
        block = b(f"getelementptr {lanes.type}, ptr %cells, i64 {column}")
        sources = [b(f"getelementptr {lanes.scalar}, ptr {row}, i64 {column}") for row in rows]
        tile = [b(f"load {transpose.row}, ptr {p}, align {lanes.item}") for p in sources]
        for c, vector in enumerate(transpose.to_lanes(tile)):
            cell = b(f"getelementptr {lanes.type}, ptr {block}, i64 {c}")
            b.line(f"store {lanes.type} {vector}, ptr {cell}, align {lanes.alignment}")
    return function(f"void @rows_to_lanes_{columns}(ptr noalias %rows, ptr noalias %cells, i64 %size)", b)


def gather_rows(lanes: Lanes, columns: int) -> str:
    """Return IR of ``void @gather_rows_C(ptr rows, ptr places, ptr scratch, i64 size)``.

    `rows` is a table of W rows; `places` are the offsets in the scratch of the columns' cells: i32, in bytes. Each
    iteration writes a cache line of every row, and prefetches one further on or, at the end, of the next block.
    """
    b = Body()
    transpose = Transpose(b, lanes, columns)
    rows = row_pointers(b, lanes, "%rows")
    last = b(f"sub i64 %size, {columns}")
    line = CACHE_LINE // lanes.item
    wrap = b(f"sub i64 {block_bytes(b, rows)}, {b(f'mul i64 %size, {lanes.item}')}")
    with b.loop(line, "%size"):
        column = b(f"add i64 %i, {LINES_AHEAD * line}")
        distance = b(f"mul i64 {column}, {lanes.item}")
        inside = b(f"icmp ult i64 {column}, %size")
        prefetch(b, rows, b(f"select i1 {inside}, i64 {distance}, i64 {b(f'add i64 {distance}, {wrap}')}"))
        for k in range(0, line, columns):
            column = b(f"call i64 @llvm.umin.i64(i64 {b(f'add i64 %i, {k}')}, i64 {last})")
            first = b(f"getelementptr i32, ptr %places, i64 {column}")
            vectors = []
            for c in range(columns):
                place = b(f"load i32, ptr {b(f'getelementptr i32, ptr {first}, i64 {c}')}, align 4")
                cell = b(f"getelementptr i8, ptr %scratch, i64 {b(f'zext i32 {place} to i64')}")
                vectors.append(b(f"load {lanes.type}, ptr {cell}, align {lanes.alignment}"))
            for value, row in zip(transpose.to_rows(vectors), rows, strict=True):
                target = b(f"getelementptr {lanes.scalar}, ptr {row}, i64 {column}")
                b.line(f"store {transpose.row} {value}, ptr {target}, align {lanes.item}")
    signature = "(ptr noalias %rows, ptr noalias %places, ptr noalias %scratch, i64 %size)"
    return function(f"void @gather_rows_{columns}{signature}", b)


def row_pointers(b: Body, lanes: Lanes, table: str) -> list[str]:
    """Return pointers to the W rows of a table: their distances from the first, and a pointer to that."""
    places = [b(f"getelementptr i64, ptr {table}, i64 {r}") for r in range(lanes.count + 1)]
    first = b(f"load ptr, ptr {places.pop()}, align 8")
    distances = [b(f"load i64, ptr {place}, align 8") for place in places]
    return [b(f"getelementptr i8, ptr {first}, i64 {distance}") for distance in distances]


class Rows:
    """The rows of an input or output in the body of kt_batch; `index` is its index in the strides.

    A `table` in the scratch has the distance in bytes of each of the W rows of a block from the first one, and last a
    pointer `offset` bytes into that one of the block at hand. (W pointers would be stored as a vector and loaded
    one by one for every block. Such loads wait until the vector has left the store buffer, behind all work before it.)
    """

    def __init__(self, lanes: Lanes, table: int, area: Area, index: int, offset: int = 0) -> None:
        self._count = lanes.count
        self._kind, self._k, self._index, self._offset = *area, index, offset
        self._rows = table

    def measure(self, b: Body) -> None:
        """Fill the table of distances, once for all blocks."""
        b.line(f"call void @distances(ptr {self.table(b)}, i64 {self._stride(b)}, i64 %n)")

    def point(self, b: Body, first: str, ahead: str | None = None) -> None:
        """Point the rows at the block that begins with this state, so many bytes ahead."""
        base = b(f"load ptr, ptr {b(f'getelementptr ptr, ptr %{self._kind}, i64 {self._k}')}, align 8")
        distance = b(f"add i64 {b(f'mul i64 {first}, {self._stride(b)}')}, {self._offset}")
        distance = distance if ahead is None else b(f"add i64 {distance}, {ahead}")
        row = b(f"getelementptr i8, ptr {base}, i64 {distance}")
        b.line(f"store ptr {row}, ptr {b(f'getelementptr ptr, ptr {self.table(b)}, i64 {self._count}')}, align 8")

    def table(self, b: Body) -> str:
        """Return a pointer to the table of the rows."""
        return b(f"getelementptr i8, ptr %s, i64 {self._rows}")

    def _stride(self, b: Body) -> str:
        """Return the bytes from one state to the next."""
        return b(f"load i64, ptr {b(f'getelementptr i64, ptr %strides, i64 {self._index}')}, align 8")


def distances(count: int) -> str:
    """Return IR that fills a table of distances for n states; if n is less than W, the last row is repeated."""
    b = Body()
    last = b("sub i64 %n, 1")
    for r in range(count):
        distance = b(f"mul i64 {b(f'call i64 @llvm.umin.i64(i64 {r}, i64 {last})')}, %stride")
        b.line(f"store i64 {distance}, ptr {b(f'getelementptr i64, ptr %table, i64 {r}')}, align 8")
    return function("void @distances(ptr %table, i64 %stride, i64 %n)", b)


class Input(Rows):
    """Input k, of whose entries so many from `first` on are transposed into cells of lanes."""

    def __init__(self, lanes: Lanes, table: int, k: int, first: int, size: int, cells: int) -> None:
        super().__init__(lanes, table, ("in", k), k, first * lanes.item)
        self._size, self._cells = size, cells
        self.columns = tile_columns(size, lanes.count)

    def move(self, b: Body) -> None:
        """Transpose the block that the rows point to into lanes."""
        cells = b(f"getelementptr i8, ptr %s, i64 {self._cells}")
        b.line(f"call void @rows_to_lanes_{self.columns}(ptr {self.table(b)}, ptr {cells}, i64 {self._size})")


class Output(Rows):
    """Output k, with the offsets of the cells of its entries, if they are copied."""

    def __init__(self, lanes: Lanes, table: int, k: int, index: int, cells: Sequence[int]) -> None:
        super().__init__(lanes, table, ("out", k), index)
        self._name, self._places = f"@columns{k}", cells
        self.columns = tile_columns(len(cells), lanes.count) if cells else 0

    def places(self) -> str:
        """Return the definition of the table of the cells' offsets."""
        return table(self._name, self._places)

    def copy(self, b: Body) -> None:
        """Copy the cells to the rows."""
        rows = f"ptr {self.table(b)}, ptr {self._name}, ptr %s, i64 {len(self._places)}"
        b.line(f"call void @gather_rows_{self.columns}({rows})")


def row_functions(lanes: Lanes, inputs: Sequence[Input], outputs: Sequence[Output]) -> list[str]:
    """Return the definitions of what the rows of these inputs, and of outputs that are copied, need."""
    return [
        *(output.places() for output in outputs),
        distances(lanes.count),
        *(rows_to_lanes(lanes, columns) for columns in sorted({port.columns for port in inputs})),
        *(gather_rows(lanes, columns) for columns in sorted({port.columns for port in outputs})),
    ]


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
