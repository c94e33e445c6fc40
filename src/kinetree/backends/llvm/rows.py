"""How a block of states gets from the arrays of the caller into lanes, and back."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.scratch import Layout
from kinetree.backends.llvm.transpose import tile_columns
from kinetree.lowering.plan import Area, Cell


class Rows:
    """The rows of an input or an output in the body of kt_batch; `index` is its place in the strides.

    Two tables in the scratch have an entry for each of the W rows of a block: how many bytes it is from the first, and
    where it is. `offset` is added to the latter, in bytes.
    """

    def __init__(self, layout: Layout, area: Area, index: int, offset: int = 0) -> None:
        self._count = layout.lanes.count
        self._kind, self._k, self._index, self._offset = *area, index, offset
        self._distances, self._rows = layout.distances[area], layout.rows[area]

    def measure(self, b: Body) -> None:
        """Fill the table of distances, once for all blocks."""
        table = b(f"getelementptr i8, ptr %s, i64 {self._distances}")
        b.line(f"call void @distances(ptr {table}, i64 {self._stride(b)}, i64 %n)")

    def point(self, b: Body, first: str) -> None:
        """Let the rows be those of the block that begins with this state."""
        base = b(f"load ptr, ptr {b(f'getelementptr ptr, ptr %{self._kind}, i64 {self._k}')}, align 8")
        distance = b(f"add i64 {b(f'mul i64 {first}, {self._stride(b)}')}, {self._offset}")
        row = b(f"ptrtoint ptr {b(f'getelementptr i8, ptr {base}, i64 {distance}')} to i64")
        kind = f"<{self._count} x i64>"
        rows = b(f"insertelement {kind} poison, i64 {row}, i64 0")
        rows = b(f"shufflevector {kind} {rows}, {kind} poison, <{self._count} x i32> zeroinitializer")
        distances = b(f"load {kind}, ptr {b(f'getelementptr i8, ptr %s, i64 {self._distances}')}, align 8")
        b.line(f"store {kind} {b(f'add {kind} {rows}, {distances}')}, ptr {self.table(b)}, align 8")

    def table(self, b: Body) -> str:
        """Return a pointer to the table of the rows."""
        return b(f"getelementptr i8, ptr %s, i64 {self._rows}")

    def _stride(self, b: Body) -> str:
        """Return the bytes from a state to the next."""
        return b(f"load i64, ptr {b(f'getelementptr i64, ptr %strides, i64 {self._index}')}, align 8")


def distances(count: int) -> str:
    """Return IR that fills a table: the distance of each row of a block from the first, if there are n.

    Where n is less than W, the last row is repeated.
    """
    b = Body()
    last = b("sub i64 %n, 1")
    for r in range(count):
        distance = b(f"mul i64 {b(f'call i64 @llvm.umin.i64(i64 {r}, i64 {last})')}, %stride")
        b.line(f"store i64 {distance}, ptr {b(f'getelementptr i64, ptr %table, i64 {r}')}, align 8")
    b.line("ret void")
    return function("void @distances(ptr %table, i64 %stride, i64 %n)", b)


class Input:
    """Input k, of whose entries the first one used, the last one, and all between are brought into lanes."""

    def __init__(self, layout: Layout, k: int, first: int, last: int) -> None:
        self.rows = Rows(layout, ("in", k), k, first * layout.lanes.item)
        self._size = last - first + 1
        self.columns = tile_columns(self._size, layout.lanes.count)
        _, self._cells = layout.address(Cell(("in", k), first))

    def move(self, b: Body) -> None:
        """Bring the block that the rows point to into lanes."""
        cells = b(f"getelementptr i8, ptr %s, i64 {self._cells}")
        b.line(f"call void @rows_to_lanes_{self.columns}(ptr {self.rows.table(b)}, ptr {cells}, i64 {self._size})")


class Output:
    """Output k; where it is gathered, `cells` are those of its entries."""

    def __init__(self, layout: Layout, k: int, index: int, cells: Sequence[Cell]) -> None:
        self.rows = Rows(layout, ("out", k), index)
        self._name = f"@columns{k}"
        self._places = [layout.address(cell)[1] for cell in cells]
        self.columns = tile_columns(len(cells), layout.lanes.count) if cells else 0

    def places(self) -> str:
        """Return the definition of the table of all cells."""
        entries = ", ".join(f"i32 {place}" for place in self._places)
        return f"{self._name} = internal constant [{len(self._places)} x i32] [{entries}]\n"

    def gather(self, b: Body) -> None:
        """Bring the cells into the rows."""
        rows = f"ptr {self.rows.table(b)}, ptr {self._name}, ptr %s, i64 {len(self._places)}"
        b.line(f"call void @gather_rows_{self.columns}({rows})")
