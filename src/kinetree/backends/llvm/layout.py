"""Where the cells of a plan are in memory: in the user's arrays, or in the scratch that the caller gives."""

from __future__ import annotations

from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.plan import Area, Cell, Plan
from kinetree.backends.llvm.text import Body

ALIGNMENT = 64  # of the scratch, and of every area in it


class Layout:
    """Addresses of cells.

    Parameters
    ----------
    plan : Plan
        Whose areas are laid out.
    lanes : Lanes
        What is in one cell.
    ports_in_scratch : bool
        Whether inputs and outputs are lane blocks in the scratch; else they are the caller's own arrays.
    extra : int
        Bytes after all areas, at the offset `extra_offset`.
    """

    def __init__(self, plan: Plan, lanes: Lanes, *, ports_in_scratch: bool, extra: int = 0) -> None:
        self.lanes = lanes
        self.alignment = min(ALIGNMENT, lanes.bytes)
        self.parameters = "ptr noalias %s" if ports_in_scratch else "ptr noalias %in, ptr noalias %out, ptr noalias %s"
        self.arguments = self.parameters.replace("noalias ", "")
        self._offsets: dict[Area, int] = {}
        size = 0
        for area, count in plan.areas.items():
            if ports_in_scratch or area[0] not in ("in", "out"):
                self._offsets[area] = size
                # a stage writes whole vectors of at most 64 bytes of float64: a full one more is always enough
                size = aligned(size + count * lanes.bytes + (ALIGNMENT if area[0] in ("sin", "cos") else 0))
        self.extra_offset = size
        self.size = aligned(size + extra)

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


def aligned(size: int) -> int:
    """Return the size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT
