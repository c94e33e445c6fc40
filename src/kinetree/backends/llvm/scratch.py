"""Where the cells of a plan are in memory: in the user's arrays, or in the scratch that the caller gives."""

from __future__ import annotations

from kinetree.backends.llvm.ir import Body
from kinetree.backends.llvm.lanes import Lanes
from kinetree.lowering.plan import Area, Cell, Plan

ALIGNMENT = 64  # of the scratch, and of every area in it
_POINTER = 8


class Layout:
    """Addresses of cells, and of the tables of rows.

    For one state, inputs and outputs are the caller's own arrays. For many, an input is a lane block in the scratch,
    and an output is reached by a table of pointers, one to the row of every lane; the distances between these rows
    are in a table too.

    Parameters
    ----------
    plan : Plan
        Whose areas are laid out.
    lanes : Lanes
        What is in one cell.
    batch : bool
        Whether the code is for many states.

    Attributes
    ----------
    distances, rows : dict
        By port, for many states: where in the scratch there are the distances between the rows of a block, and pointers
        to these rows.
    row_bytes : dict
        How long an area is for one state.
    """

    def __init__(self, plan: Plan, lanes: Lanes, *, batch: bool) -> None:
        self.lanes = lanes
        self.parameters = "ptr noalias %s" if batch else "ptr noalias %in, ptr noalias %out, ptr noalias %s"
        self.arguments = self.parameters.replace("noalias ", "")
        self._offsets: dict[Area, int] = {}
        self.row_bytes = {area: count * lanes.item for area, count in plan.areas.items()}
        self.distances: dict[Area, int] = {}
        self.rows: dict[Area, int] = {}
        self.size = 0
        for area, count in plan.areas.items():
            if area[0] not in ("in", "out") or (area[0] == "in" and batch):
                # a stage writes whole vectors of at most 64 bytes of float64: a full one more is always enough
                more = ALIGNMENT if area[0] in ("sin", "cos") else 0
                self._offsets[area] = self._reserve(count * lanes.bytes + more)
            if area[0] in ("in", "out") and batch:
                self.distances[area] = self._reserve(_POINTER * lanes.count)
                self.rows[area] = self._reserve(_POINTER * lanes.count)

    def _reserve(self, size: int) -> int:
        """Return the offset of so many bytes more."""
        offset = self.size
        self.size += -(-size // ALIGNMENT) * ALIGNMENT
        return offset

    def address(self, cell: Cell) -> tuple[Area | None, int]:
        """Return the port whose array the cell is in, None for the scratch, and the offset in bytes."""
        offset = self._offsets.get(cell.area)
        if offset is None:
            return cell.area, cell.offset * self.lanes.bytes
        return None, offset + cell.offset * self.lanes.bytes

    def base(self, body: Body, port: Area | None) -> str:
        """Return a pointer to the array of a port, or to the scratch."""
        if port is None:
            return "%s"
        kind, k = port
        return body(f"load ptr, ptr {body(f'getelementptr ptr, ptr %{kind}, i64 {k}')}, align 8")
