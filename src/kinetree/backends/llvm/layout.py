"""Where the cells of a plan are in memory: in the user's arrays, or in the scratch that the caller gives."""

from __future__ import annotations

from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.plan import Cell, Plan
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
        self._offsets: dict[tuple[str, int], int] = {}
        size = 0
        for area, count in plan.areas.items():
            if ports_in_scratch or area[0] not in ("in", "out"):
                self._offsets[area] = size
                # a stage writes whole vectors of at most 64 bytes of float64: a full one more is always enough
                size = aligned(size + count * lanes.bytes + (ALIGNMENT if area[0] in ("sin", "cos") else 0))
        self.extra_offset = size
        self.size = aligned(size + extra)

    def address(self, cell: Cell) -> tuple[str, int]:
        """Return the name of the base pointer, and the offset in bytes."""
        offset = self._offsets.get(cell.area)
        if offset is not None:
            return "%s", offset + cell.offset * self.lanes.bytes
        kind, k = cell.area
        return f"%{kind}{k}", cell.offset * self.lanes.bytes

    def base(self, body: Body, name: str) -> str:
        """Return the base pointer, loaded from the array of pointers where it is a port's."""
        if name == "%s":
            return name
        kind, k = name.rstrip("0123456789"), int(name.lstrip("%inout"))
        return body(f"load ptr, ptr {body(f'getelementptr ptr, ptr {kind}, i64 {k}')}, align 8")


def aligned(size: int) -> int:
    """Return the size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT
