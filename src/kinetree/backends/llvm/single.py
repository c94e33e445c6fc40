"""The module for one state: scalar code that reads and writes the caller's arrays."""

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
from kinetree.backends.llvm.scratch import Layout
from kinetree.backends.llvm.target import Target
from kinetree.graph import Program
from kinetree.lowering.plan import make_plan


def single_ir(
    program: Program, dtype: str, target: Target, piece_operations: int = PIECE_OPERATIONS
) -> tuple[str, int]:
    """Return the LLVM IR with ``void kt_single(ptr ins, ptr outs, ptr scratch)``, and the bytes of scratch."""
    check_legal(program)
    plan = make_plan(program, piece_operations)
    layout = Layout(plan, Lanes(dtype, 1), batch=False)
    body = Body()
    body.line(f"call void @constants({layout.arguments})")
    call_steps(body, plan, layout)
    body.line("ret void")
    entry = function("void @kt_single(ptr %in, ptr %out, ptr %s)", body, internal=False)
    parts = [constants_function(plan, layout), *step_functions(plan, layout, target), entry]
    return module_text(target, parts), layout.size
