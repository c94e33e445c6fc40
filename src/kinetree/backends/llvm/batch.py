"""The module for many states: a loop over blocks of W states, side by side in lanes.

For each block the rows of the inputs are transposed into lane blocks in the scratch, stages and pieces work on lanes,
and the lane blocks of the outputs are transposed back into rows.

There is no code for a tail. Where W or more states are given, the last block begins W before the end, so that it may
overlap the one before; fewer than W states are one block whose last row is repeated. So some states are
computed twice, with the same bits.
"""

from __future__ import annotations

from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.layout import Layout
from kinetree.backends.llvm.module import (
    PIECE_OPERATIONS,
    call_steps,
    check_legal,
    constants_function,
    module_text,
    step_functions,
)
from kinetree.backends.llvm.plan import Cell, make_plan
from kinetree.backends.llvm.target import Target
from kinetree.backends.llvm.text import Body, function
from kinetree.backends.llvm.transpose import lanes_to_rows, rows_to_lanes, tile_columns
from kinetree.expr import Program

PIECE_BYTES = 64 * 1024
"""Most bytes of values made in one piece: no more can be spilled, so that stack frames are bounded."""


def batch_ir(
    program: Program, dtype: str, target: Target, count: int, piece_operations: int = PIECE_OPERATIONS
) -> tuple[str, int]:
    """Return the IR with ``void kt_batch(ptr ins, ptr outs, ptr strides, i64 n, ptr scratch)``, and the scratch."""
    check_legal(program)
    lanes = Lanes(dtype, count)
    plan = make_plan(program, min(piece_operations, PIECE_BYTES // lanes.bytes))
    sizes = {area: size for area, size in plan.areas.items() if area[0] in ("in", "out") and size}
    layout = Layout(plan, lanes, ports_in_scratch=True, extra=8 * count * len(sizes))
    ports = [
        _Port(
            kind, k, k if kind == "in" else len(program.inputs) + k, size, layout, layout.extra_offset + 8 * count * n
        )
        for n, ((kind, k), size) in enumerate(sizes.items())
    ]

    b = Body()
    for port in ports:
        b.line(f"call void @row_offsets(ptr {port.offsets(b)}, i64 {port.stride(b)}, i64 %n)")
    b.line(f"call void @constants({layout.arguments})")
    last = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")
    b.line("br label %block")
    b.label("block")
    b.line("%k = phi i64 [0, %entry], [%next, %block]")
    first = b(f"call i64 @llvm.umin.i64(i64 %k, i64 {last})")
    for port in ports:
        if port.kind == "in":
            port.move(b, "rows_to_lanes", first)
    call_steps(b, plan, layout)
    for port in ports:
        if port.kind == "out":
            port.move(b, "lanes_to_rows", first)
    b.line(f"%next = add i64 %k, {count}")
    b.line(f"br i1 {b('icmp ult i64 %next, %n')}, label %block, label %end")
    b.label("end")
    b.line("ret void")
    entry = function("void @kt_batch(ptr %in, ptr %out, ptr %strides, i64 %n, ptr %s)", b, internal=False)

    tiles = sorted({(port.kind, port.columns) for port in ports})
    moves = [(rows_to_lanes if kind == "in" else lanes_to_rows)(dtype, count, columns) for kind, columns in tiles]
    steps = step_functions(plan, layout, target)
    parts = [_row_offsets(count), *moves, constants_function(plan, layout), *steps, entry]
    return module_text(target, parts), layout.size


class _Port:
    """An input or an output in the body of kt_batch.

    `index` is its place in the strides, `table` the offset in the scratch of the distances of its rows in a block.
    """

    def __init__(self, kind: str, k: int, index: int, size: int, layout: Layout, table: int) -> None:
        self.kind, self.k, self.size = kind, k, size
        self.columns = tile_columns(size, layout.lanes.count)
        self._index, self._table = index, table
        _, self._lanes = layout.address(Cell((kind, k), 0))

    def stride(self, b: Body) -> str:
        """Return the bytes from a state to the next."""
        return b(f"load i64, ptr {b(f'getelementptr i64, ptr %strides, i64 {self._index}')}, align 8")

    def offsets(self, b: Body) -> str:
        """Return a pointer to the table of the rows."""
        return b(f"getelementptr i8, ptr %s, i64 {self._table}")

    def move(self, b: Body, transpose: str, first: str) -> None:
        """Call the function that transposes the block whose first state is this one."""
        base = b(f"load ptr, ptr {b(f'getelementptr ptr, ptr %{self.kind}, i64 {self.k}')}, align 8")
        rows = b(f"getelementptr i8, ptr {base}, i64 {b(f'mul i64 {first}, {self.stride(b)}')}")
        lanes = b(f"getelementptr i8, ptr %s, i64 {self._lanes}")
        arguments = f"ptr {rows}, ptr {self.offsets(b)}, ptr {lanes}, i64 {self.size}"
        b.line(f"call void @{transpose}_{self.columns}({arguments})")


def _row_offsets(count: int) -> str:
    """Return IR that fills the table of a port: the distance of each row of a block from the first, if there are n."""
    b = Body()
    last = b("sub i64 %n, 1")
    for r in range(count):
        distance = b(f"mul i64 {b(f'call i64 @llvm.umin.i64(i64 {r}, i64 {last})')}, %stride")
        b.line(f"store i64 {distance}, ptr {b(f'getelementptr i64, ptr %table, i64 {r}')}, align 8")
    b.line("ret void")
    return function("void @row_offsets(ptr %table, i64 %stride, i64 %n)", b)
