"""Moving a block of states from the rows of the caller's arrays into lanes, and back."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.transpose import tile_columns
from kinetree.lowering.plan import Area, Cell


class Rows:
    """The rows of an input or output in the body of kt_batch; `index` is its index in the strides.

    A table in the scratch has the distance in bytes of each of the W rows of a block from the first one, and last a
    pointer `offset` bytes into that one of the block at hand. (W pointers would be stored as a vector and loaded
    one by one for every block. Such loads wait until the vector has left the store buffer, behind all work before it.)
    """

    def __init__(self, layout: ScratchLayout, area: Area, index: int, offset: int = 0) -> None:
        self._count = layout.lanes.count
        self._kind, self._k, self._index, self._offset = *area, index, offset
        self._rows = layout.rows[area]

    def measure(self, b: Body) -> None:
        """Fill the table of distances, once for all blocks."""
        b.line(f"call void @distances(ptr {self.table(b)}, i64 {self._stride(b)}, i64 %n)")

    def point(self, b: Body, first: str) -> None:
        """Point the rows at the block that begins with this state."""
        base = b(f"load ptr, ptr {b(f'getelementptr ptr, ptr %{self._kind}, i64 {self._k}')}, align 8")
        distance = b(f"add i64 {b(f'mul i64 {first}, {self._stride(b)}')}, {self._offset}")
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
    """Input k, whose entries from `first` to `last` are transposed into lanes."""

    def __init__(self, layout: ScratchLayout, k: int, first: int, last: int) -> None:
        super().__init__(layout, ("in", k), k, first * layout.lanes.item)
        self._size = last - first + 1
        self.columns = tile_columns(self._size, layout.lanes.count)
        _, self._cells = layout.address(Cell(("in", k), first))

    def move(self, b: Body) -> None:
        """Transpose the block that the rows point to into lanes."""
        cells = b(f"getelementptr i8, ptr %s, i64 {self._cells}")
        b.line(f"call void @rows_to_lanes_{self.columns}(ptr {self.table(b)}, ptr {cells}, i64 {self._size})")


class Output(Rows):
    """Output k; if it is deferred, `cells` are those of its entries."""

    def __init__(self, layout: ScratchLayout, k: int, index: int, cells: Sequence[Cell]) -> None:
        super().__init__(layout, ("out", k), index)
        self._name = f"@columns{k}"
        self._places = [layout.address(cell)[1] for cell in cells]
        self.columns = tile_columns(len(cells), layout.lanes.count) if cells else 0

    def places(self) -> str:
        """Return the definition of the table of the cells' offsets."""
        entries = ", ".join(f"i32 {place}" for place in self._places)
        return f"{self._name} = internal constant [{len(self._places)} x i32] [{entries}]\n"

    def copy(self, b: Body) -> None:
        """Copy the cells of a deferred output to the rows."""
        rows = f"ptr {self.table(b)}, ptr {self._name}, ptr %s, i64 {len(self._places)}"
        b.line(f"call void @gather_rows_{self.columns}({rows})")
