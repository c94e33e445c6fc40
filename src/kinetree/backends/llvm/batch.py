"""The module for many states: a loop over blocks of W states, side by side in lanes.

For each block the rows of the inputs are transposed into cells of the scratch; stages and pieces work on lanes; the
pieces transpose the outputs back into rows, tile by tile, while they compute. Where a row is so long that tiles
written here and there would keep the memory waiting, it is gathered in the end, from the first column to the last.

There is no code for a tail. Where W or more states are given, the last block begins W before the end, so that it may
overlap the one before; fewer than W states are one block whose last row is repeated. So some states are
computed twice, with the same bits.
"""

from __future__ import annotations

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.module import (
    PIECE_OPERATIONS,
    call_steps,
    check_legal,
    constants_function,
    module_text,
    step_functions,
)
from kinetree.backends.llvm.rows import Input, Output, distances
from kinetree.backends.llvm.scratch import Layout
from kinetree.backends.llvm.target import Target
from kinetree.backends.llvm.transpose import gather_rows, rows_to_lanes, tile_columns
from kinetree.graph import Program
from kinetree.lowering.plan import Plan, make_plan

PIECE_BYTES = 64 * 1024
"""Most bytes of values made in one piece: no more can be spilled, so that stack frames are bounded."""

LONGEST_IN_TILES = 4096
"""Most bytes of a state's results that are written in tiles; the longest of more are gathered."""


def batch_ir(
    program: Program, dtype: str, target: Target, count: int, piece_operations: int = PIECE_OPERATIONS
) -> tuple[str, int]:
    """Return the IR with ``void kt_batch(ptr ins, ptr outs, ptr strides, i64 n, ptr scratch)``, and the scratch."""
    check_legal(program)
    lanes = Lanes(dtype, count)

    size = min(piece_operations, PIECE_BYTES // lanes.bytes)
    plan = make_plan(program, size, widths=_tile_widths(program, lanes), in_place=1.0)
    layout = Layout(plan, lanes, batch=True)
    inputs = [Input(layout, k, first, last) for k, (first, last) in _used_inputs(plan).items()]
    index = len(program.inputs)
    outputs = [
        Output(layout, k, index + k, plan.gathered.get(k, ())) for k, port in enumerate(program.outputs) if port.size
    ]

    b = Body()
    rows = [port.rows for port in inputs] + [port.rows for port in outputs]
    for rows_of_port in rows:
        rows_of_port.measure(b)
    b.line(f"call void @constants({layout.arguments})")
    last = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")
    b.line("br label %block")
    b.label("block")
    b.line("%k = phi i64 [0, %entry], [%next, %block]")
    first = b(f"call i64 @llvm.umin.i64(i64 %k, i64 {last})")
    for rows_of_port in rows:
        rows_of_port.point(b, first)
    for input_ in inputs:
        input_.move(b)
    call_steps(b, plan, layout)
    gathered = [output for output in outputs if output.columns]
    for output in gathered:
        output.gather(b)
    b.line(f"%next = add i64 %k, {count}")
    b.line(f"br i1 {b('icmp ult i64 %next, %n')}, label %block, label %end")
    b.label("end")
    b.line("ret void")
    entry = function("void @kt_batch(ptr %in, ptr %out, ptr %strides, i64 %n, ptr %s)", b, internal=False)

    moves = [rows_to_lanes(lanes, columns) for columns in sorted({port.columns for port in inputs})]
    moves += [gather_rows(lanes, columns) for columns in sorted({port.columns for port in gathered})]
    places = [output.places() for output in gathered]
    steps = [constants_function(plan, layout), *step_functions(plan, layout, target)]
    return module_text(target, [*places, distances(count), *moves, *steps, entry]), layout.size


def _tile_widths(program: Program, lanes: Lanes) -> list[int]:
    """Return the tile width of every output; 0, to be gathered, for the longest if all together are too long."""
    widths = [0] * len(program.outputs)
    together = 0
    for size, k in sorted((port.size, k) for k, port in enumerate(program.outputs) if port.size):
        together += size * lanes.item
        if together <= LONGEST_IN_TILES:
            widths[k] = tile_columns(size, lanes.count)
    return widths


def _used_inputs(plan: Plan) -> dict[int, tuple[int, int]]:
    """Return the first and the last entry that is used, for every input that is."""
    used: dict[int, tuple[int, int]] = {}
    for (kind, k), offset in plan.home.values():
        if kind == "in":
            first, last = used.get(k, (offset, offset))
            used[k] = min(first, offset), max(last, offset)
    return used
