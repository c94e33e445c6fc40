"""The modules for one state, scalar code on the caller's arrays, and for many: a loop over blocks of W states in lanes.

For each block the rows of the inputs are transposed into cells of the scratch; array calls and regions work on lanes;
the regions transpose the outputs back into rows, tile by tile, while they compute. The longest outputs are deferred:
staged in scratch and copied last, from the first column to the last: hundreds of tiles would take long to compile.

There is no remainder loop. The last block begins W states before the end and may overlap the previous one; fewer than
W states are one block whose last row is repeated. So some states are computed twice, with the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinetree.backends.base import check_legal
from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.routines import OPERATIONS, Routines
from kinetree.backends.llvm.rows import Input, Output, Rows, row_functions, tile_columns
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.straight_line import SPELLING, fill_function, plan_functions
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.build import lower
from kinetree.lowering.plan import Cell, Plan

REGION_OPERATIONS = 1000
"""Most operations in one region. It hardly affects the speed of the code, but LLVM's time grows faster than linearly
in the size of a function."""


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", "call", "get", *OPERATIONS, *SPELLING, *arrays])


def module_text(
    plan: Plan, layout: ScratchLayout, routines: Routines, target: Target, entry: str, helpers: Sequence[str] = ()
) -> str:
    """Return the module of a plan with this entry point, functions that help it, and declarations of intrinsics."""
    constants, *regions = plan_functions("", plan, layout)
    constants = fill_function(layout.lanes.dtype) + constants
    return with_head("\n".join([*helpers, constants, *regions, *routines.definitions.values(), entry]), target)


def with_head(text: str, target: Target) -> str:
    """Return the module of these definitions, with the target and the declarations of intrinsics."""
    data_layout = target_machine(target).target_data
    return (
        f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n\n{text}\n{_declarations(text)}\n'
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{target.vector_bits}" }}\n'
    )


_CALL = re.compile(r"call (\S+|<[^>]*>) (@llvm\.[\w.]+)\((.*)\)")
_ARGUMENT = re.compile(r"(<\d+ x \w+>|\w+) [^ ]")
_CONSTANT = re.compile(r"splat \([^)]*\)|<i1 [^>]*>")


def _declarations(text: str) -> str:
    """Return a declaration of every intrinsic that is called, its type inferred from the first call."""
    found: dict[str, str] = {}
    for result, name, arguments in _CALL.findall(text):
        if name not in found:
            types = _ARGUMENT.findall(_CONSTANT.sub("%", arguments))
            found[name] = f"declare {result} {name}({', '.join(types)})"
    return "\n".join(found.values())


MOST_LANES = 4
"""Most lanes of the array kernels for one state. With eight, which AVX-512 has, the scalar code around them waits:
inverse dynamics of Panda takes 106 ns, and 67 ns with four."""


def single_ir(
    program: Program, dtype: str, target: Target, region_operations: int = REGION_OPERATIONS
) -> tuple[str, int]:
    """Return the LLVM IR with ``void kt_single(ptr ins, ptr outs, ptr scratch)``, and the bytes of scratch."""
    check_legal(program, legal_operations(), "LLVM")
    plan = lower(program, region_operations)
    width = min(MOST_LANES, target.lanes("float64"))
    lanes, routines = Lanes(dtype, 1), Routines(dtype, target, region_operations, width)
    layout = ScratchLayout(plan, lanes, routines.frame(plan, lanes), batch=False)
    body = Body()
    body.line(f"call void @constants({layout.arguments})")
    routines.call_steps(body, "", plan, layout)
    entry = function("void @kt_single(ptr %in, ptr %out, ptr %s)", body, internal=False)
    return module_text(plan, layout, routines, target, entry), layout.size


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
    routines = Routines(dtype, target, size)
    layout = ScratchLayout(plan, lanes, routines.frame(plan, lanes), batch=True)
    inputs = [
        Input(lanes, layout.rows["in", k], k, first, last - first + 1, layout.address(Cell(("in", k), first))[1])
        for k, (first, last) in _used_inputs(plan).items()
    ]
    used = [(k, len(program.inputs) + k) for k, port in enumerate(program.outputs) if port.size]
    staged = {k: [layout.address(cell)[1] for cell in cells] for k, cells in plan.deferred.items()}
    outputs = [Output(lanes, layout.rows["out", k], k, index, staged.get(k, ())) for k, index in used]
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
    return module_text(plan, layout, routines, target, entry, row_functions(lanes, inputs, deferred)), layout.size


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
