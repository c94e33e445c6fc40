"""Addresses of the cells of a plan: in the caller's arrays, or in the scratch memory that the caller provides."""

from __future__ import annotations

from typing import NamedTuple

from kinetree.backends.llvm.ir import Body, Lanes
from kinetree.lowering.plan import Area, Cell, Plan

ALIGNMENT = 64  # of the scratch, and of every area in it
_POINTER = 8


def places(*sizes: int) -> tuple[list[int], int]:
    """Return aligned offsets of blocks of these sizes, and their total size."""
    offsets, total = [], 0
    for size in sizes:
        offsets.append(total)
        total += -(-size // ALIGNMENT) * ALIGNMENT
    return offsets, total


class Columns(NamedTuple):
    """How columns lie in memory that the body of a map reads and writes: entries so many bytes apart.

    Of one state the lanes are `active` columns side by side, and captured values, which all of them share, are scalars.
    """

    stride: int
    active: int
    side_by_side: bool


class ScratchLayout:
    """Offsets of the areas, of the tables of rows, and of a frame of so many bytes in the scratch.

    For one state, inputs and outputs are the caller's own arrays. For a batch, an input is a lane block in the scratch,
    and an output is reached through a table of the rows of the lanes: `rows` has their offsets, `row_bytes` the sizes.
    """

    def __init__(self, plan: Plan, lanes: Lanes, frame: int, *, batch: bool, columns: Columns | None = None) -> None:
        self.lanes = lanes
        self._columns = columns
        self.parameters = "ptr noalias %s" if batch else "ptr noalias %in, ptr noalias %out, ptr noalias %s"
        self._offsets: dict[Area, int] = {}
        self.row_bytes = {area: count * lanes.item for area, count in plan.areas.items()}
        self.rows: dict[Area, int] = {}
        self.size = 0
        for area, count in plan.areas.items():
            if area[0] not in ("in", "out") or (area[0] == "in" and batch):
                # a kernel writes whole vectors of at most 64 bytes: one more is always enough
                more = ALIGNMENT if area[0] == "results" else 0
                self._offsets[area] = self._reserve(count * lanes.bytes + more)
            if area[0] in ("in", "out") and batch:
                self.rows[area] = self._reserve(_POINTER * (lanes.count + 1))
        self._frame = self._reserve(frame)

    @property
    def arguments(self) -> str:
        """The arguments of a call of another function with the same parameters."""
        return self.parameters.replace("noalias ", "")

    def _reserve(self, size: int) -> int:
        """Reserve this many bytes and return their offset."""
        offset = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return offset

    def address(self, cell: Cell) -> tuple[Area | None, int]:
        """Return the port whose array holds the cell (None for the scratch), and the offset in bytes."""
        port = None if cell.area in self._offsets else cell.area
        return port, self._offsets.get(cell.area, 0) + cell.offset * self.stride(cell.area)

    def stride(self, area: Area) -> int:
        """Return the bytes from one cell of this area to the next."""
        if columns := self._of_columns(area):
            return columns.stride
        return self.lanes.item if self.is_shared(area) else self.lanes.bytes

    def _of_columns(self, area: Area) -> Columns | None:
        return self._columns if area in (("in", 1), ("out", 0)) else None

    def is_shared(self, area: Area) -> bool:
        """Return whether a cell of this area is one scalar for all lanes."""
        return self._columns is not None and self._columns.side_by_side and area == ("in", 0)

    def active(self, area: Area) -> int:
        """Return how many lanes the cells of this area have: the first ones."""
        columns = self._of_columns(area)
        return columns.active if columns else self.lanes.count

    def is_dense(self, area: Area) -> bool:
        """Return whether the cells of this area follow one another without gaps."""
        return self.stride(area) == self.lanes.bytes

    def alignment(self, area: Area) -> int:
        """Return the alignment of the cells of this area."""
        return self.lanes.alignment if self.is_dense(area) else self.lanes.item

    def frame(self, body: Body) -> str:
        """Return a pointer to the scratch of the array operations that are called, as many bytes as `frame` says."""
        return body(f"getelementptr i8, ptr %s, i64 {self._frame}")

    def base(self, body: Body, port: Area | None) -> str:
        """Return a pointer to the array of a port, or to the scratch."""
        if port is None:
            return "%s"
        kind, k = port
        return body(f"load ptr, ptr {body(f'getelementptr ptr, ptr %{kind}, i64 {k}')}, align 8")


class NestedLayout(ScratchLayout):
    """The layout of a program of an array operation: each port is a pointer; `columns` are those of a map."""

    def __init__(self, plan: Plan, lanes: Lanes, frame: int, columns: Columns | None) -> None:
        super().__init__(plan, lanes, frame, batch=False, columns=columns)
        ports = [f"%{kind}{k}" for kind, k in plan.areas if kind in ("in", "out")]
        self.parameters = ", ".join(f"ptr noalias {name}" for name in (*ports, "%s"))

    def base(self, body: Body, port: Area | None) -> str:
        """Return a pointer to the first cell of a port, or to the scratch."""
        return "%s" if port is None else f"%{port[0]}{port[1]}"
