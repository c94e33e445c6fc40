"""The module for many states: a loop over blocks of W states, side by side in lanes.

For each block the rows of the inputs are transposed into cells of the scratch; array calls and regions work on lanes;
the regions transpose the outputs back into rows, tile by tile, while they compute. The longest outputs are deferred:
staged in scratch and copied last, from the first column to the last: hundreds of tiles would take long to compile.

There is no remainder loop. The last block begins W states before the end and may overlap the previous one; fewer than
W states are one block whose last row is repeated. So some states are computed twice, with the same bits.
"""

from __future__ import annotations

from kinetree.backends.base import check_legal
from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.module import OPERATIONS, REGION_OPERATIONS, legal_operations, module_text
from kinetree.backends.llvm.routines import Routines
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.target import Target
from kinetree.backends.llvm.transpose import Input, Output, Rows, distances, gather_rows, rows_to_lanes, tile_columns
from kinetree.graph import Program
from kinetree.lowering.build import lower
from kinetree.lowering.plan import Plan

REGION_BYTES = 64 * 1024
"""Most bytes of values computed in one region: no more can be spilled, which bounds the stack frame."""

MAX_TILED_BYTES = 4096
"""Above this total, the largest outputs are staged in scratch and copied last."""


def batch_ir(
    program: Program, dtype: str, target: Target, count: int, region_operations: int = REGION_OPERATIONS
) -> tuple[str, int]:
    """Return the IR with ``void kt_batch(ptr ins, ptr outs, ptr strides, i64 n, ptr scratch)``, and the scratch."""
    check_legal(program, legal_operations(), "LLVM")
    lanes = Lanes(dtype, count)
    size = min(region_operations, REGION_BYTES // lanes.bytes)
    plan = lower(program, size, widths=_tile_widths(program, lanes), in_place=1.0)
    routines = Routines(OPERATIONS, dtype, target, size)
    layout = ScratchLayout(plan, lanes, routines.frame(plan, lanes), batch=True)
    inputs = [Input(layout, k, first, last) for k, (first, last) in _used_inputs(plan).items()]
    used = [(k, len(program.inputs) + k) for k, port in enumerate(program.outputs) if port.size]
    outputs = [Output(layout, k, index, plan.deferred.get(k, ())) for k, index in used]
    b = Body()
    ports: list[Rows] = [*inputs, *outputs]
    for port in ports:
        port.measure(b)
    b.line(f"call void @constants({layout.arguments})")
    last = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")
    deferred = [output for output in outputs if output.columns]
    with b.loop(count, "%n", "block", "%k"):
        first = b(f"call i64 @llvm.umin.i64(i64 %k, i64 {last})")
        for port in ports:
            port.point(b, first)
        for input_ in inputs:
            input_.move(b)
        routines.call_steps(b, "", plan, layout)
        for output in deferred:
            output.copy(b)
    entry = function("void @kt_batch(ptr %in, ptr %out, ptr %strides, i64 %n, ptr %s)", b, internal=False)

    moves = [rows_to_lanes(lanes, columns) for columns in sorted({port.columns for port in inputs})]
    moves += [gather_rows(lanes, columns) for columns in sorted({port.columns for port in deferred})]
    places = [output.places() for output in deferred]
    return module_text(plan, layout, routines, target, entry, [*places, distances(count), *moves]), layout.size


def _tile_widths(program: Program, lanes: Lanes) -> list[int]:
    """Return the width of each output's tiles; 0 defers the largest outputs where all together are too long."""
    widths = [0] * len(program.outputs)
    total = 0
    for size, k in sorted((port.size, k) for k, port in enumerate(program.outputs) if port.size):
        total += size * lanes.item
        if total <= MAX_TILED_BYTES:
            widths[k] = tile_columns(size, lanes.count)
    return widths


def _used_inputs(plan: Plan) -> dict[int, tuple[int, int]]:
    """Return the first and the last entry used of every input that is used."""
    used: dict[int, tuple[int, int]] = {}
    for (kind, k), offset in plan.location.values():
        if kind == "in":
            first, last = used.get(k, (offset, offset))
            used[k] = min(first, offset), max(last, offset)
    return used
