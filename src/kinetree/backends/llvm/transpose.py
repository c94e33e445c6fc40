"""Rows to lanes and lanes to rows: from the caller's row-major arrays to lane blocks and back.

A lane block of a port has the same entry of W states side by side. Tiles of W rows by C columns are transposed in
registers by log₂ C steps of two-input shuffles; the last tile overlaps the one before, so that no column is left over.
The code is a loop over tiles, shared by all ports of the same tile width.
"""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.text import Body, function

MAX_COLUMNS = 4  # wider tiles need more shuffles that cross 256-bit halves; narrower ones more loads and stores


def tile_columns(size: int, lanes: int) -> int:
    """Return the columns of a tile for a port of this size: a power of two, not above the size or the lanes."""
    limit = min(size, MAX_COLUMNS, lanes if lanes > 1 else MAX_COLUMNS)
    return 1 << (limit.bit_length() - 1)


class _Tile:
    """The body of one transposing loop: pointers to W rows and to C columns of the lane block, at the column %i."""

    def __init__(self, dtype: str, lanes: int, columns: int) -> None:
        item = Lanes(dtype, 1)
        self.scalar, self.item = item.type, item.item
        self.lanes, self.columns = lanes, columns
        self.width = max(lanes, columns)  # of the vectors in the lane block; one lane: a row is the block
        self.block_align = min(64, lanes * item.item)
        b = self.body = Body()
        rows = []
        for r in range(lanes):
            offset = b(f"load i64, ptr {b(f'getelementptr i64, ptr %offsets, i64 {r}')}, align 8")
            rows.append(b(f"getelementptr i8, ptr %rows, i64 {offset}"))
        last = b(f"sub i64 %size, {columns}")
        b.line("br label %loop")
        b.label("loop")
        b.line("%i = phi i64 [0, %entry], [%next, %loop]")
        column = b(f"call i64 @llvm.umin.i64(i64 %i, i64 {last})")
        self.rows = [b(f"getelementptr {self.scalar}, ptr {p}, i64 {column}") for p in rows]
        block = b(f"getelementptr [{lanes} x {self.scalar}], ptr %lanes, i64 {column}")
        vectors = lanes * columns // self.width
        self.block = [b(f"getelementptr [{lanes} x {self.scalar}], ptr {block}, i64 {c}") for c in range(vectors)]

    def end(self, name: str) -> str:
        """Return the function."""
        b = self.body
        b.line(f"%next = add i64 %i, {self.columns}")
        b.line(f"br i1 {b('icmp ult i64 %next, %size')}, label %loop, label %end")
        b.label("end")
        b.line("ret void")
        return function(f"void @{name}(ptr noalias %rows, ptr noalias %offsets, ptr noalias %lanes, i64 %size)", b)

    def kind(self, width: int) -> str:
        """Return the type of a vector."""
        return f"<{width} x {self.scalar}>"

    def shuffle(self, width: int, x: str, y: str, indices: Iterable[int]) -> str:
        """Return a vector of these entries of x and y, which have `width` each."""
        mask = [f"i32 {i}" for i in indices]
        kind = self.kind(width)
        return self.body(f"shufflevector {kind} {x}, {kind} {y}, <{len(mask)} x i32> <{', '.join(mask)}>")

    def transpose(self, tile: list[str]) -> list[str]:
        """Transpose every C × C block of the C vectors, by butterflies at doubling distances."""
        w = range(self.width)
        d = 1
        while d < len(tile):
            low = [j if not j & d else self.width + j - d for j in w]
            high = [j + d if not j & d else self.width + j for j in w]
            step = list(tile)
            for i in range(len(tile)):
                if not i & d:
                    step[i] = self.shuffle(self.width, tile[i], tile[i + d], low)
                    step[i + d] = self.shuffle(self.width, tile[i], tile[i + d], high)
            tile = step
            d *= 2
        return tile

    def join(self, rows: list[str]) -> list[str]:
        """Return, for every i below C, the rows i, i + C, i + 2C, … one after another in a vector."""
        width, columns = self.columns, self.columns
        while len(rows) > columns:
            groups = [rows[g : g + columns] for g in range(0, len(rows), columns)]
            rows = [
                self.shuffle(width, x, y, range(2 * width))
                for first, second in zip(groups[::2], groups[1::2], strict=True)
                for x, y in zip(first, second, strict=True)
            ]
            width *= 2
        return rows

    def split(self, tile: list[str]) -> list[str]:
        """Return the rows, the inverse of `join`."""
        if self.width == self.columns:
            return tile
        return [
            self.shuffle(self.width, tile[r % self.columns], "poison", range(first, first + self.columns))
            for r in range(self.lanes)
            for first in [r // self.columns * self.columns]
        ]


def rows_to_lanes(dtype: str, lanes: int, columns: int) -> str:
    """Return IR of ``void @rows_to_lanes_C(ptr rows, ptr offsets, ptr lanes, i64 size)``.

    `offsets` has the distance in bytes of each of the W rows from `rows`.
    """
    t = _Tile(dtype, lanes, columns)
    rows = [t.body(f"load {t.kind(columns)}, ptr {p}, align {t.item}") for p in t.rows]
    for value, p in zip(t.transpose(t.join(rows)), t.block, strict=True):
        t.body.line(f"store {t.kind(t.width)} {value}, ptr {p}, align {t.block_align}")
    return t.end(f"rows_to_lanes_{columns}")


def lanes_to_rows(dtype: str, lanes: int, columns: int) -> str:
    """Return IR of ``void @lanes_to_rows_C(ptr rows, ptr offsets, ptr lanes, i64 size)``, the inverse."""
    t = _Tile(dtype, lanes, columns)
    tile = [t.body(f"load {t.kind(t.width)}, ptr {p}, align {t.block_align}") for p in t.block]
    for value, p in zip(t.split(t.transpose(tile)), t.rows, strict=True):
        t.body.line(f"store {t.kind(columns)} {value}, ptr {p}, align {t.item}")
    return t.end(f"lanes_to_rows_{columns}")
