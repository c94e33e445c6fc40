"""The module for one state: scalar code on the caller's arrays."""

from __future__ import annotations

from kinetree.backends.base import check_legal
from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.module import OPERATIONS, REGION_OPERATIONS, legal_operations, module_text
from kinetree.backends.llvm.routines import Routines
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.target import Target
from kinetree.graph import Program
from kinetree.lowering.build import lower

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
    lanes, routines = Lanes(dtype, 1), Routines(OPERATIONS, dtype, target, region_operations, width)
    layout = ScratchLayout(plan, lanes, routines.frame(plan, lanes), batch=False)
    body = Body()
    body.line(f"call void @constants({layout.arguments})")
    routines.call_steps(body, "", plan, layout)
    entry = function("void @kt_single(ptr %in, ptr %out, ptr %s)", body, internal=False)
    return module_text(plan, layout, routines, target, entry), layout.size
