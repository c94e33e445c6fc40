"""What the modules for one state and for many have in common: pieces, stages, constants, declarations."""

from __future__ import annotations

import re

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.kernels.sincos import sincos
from kinetree.backends.llvm.lanes import Lanes, hex_literal
from kinetree.backends.llvm.scratch import Layout
from kinetree.backends.llvm.straight_line import LEGAL, Access, emit_piece
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph import Program
from kinetree.lowering.plan import Cell, Piece, Plan, Stage

PIECE_OPERATIONS = 1000
"""Most operations in one piece. The speed of the code hardly depends on it; much beyond, LLVM's time is not linear."""


def check_legal(program: Program) -> None:
    """Raise NotImplementedError if an operation of the program is not in the backend's tables."""
    illegal = {program.graph[i].op for i in program.schedule()} - LEGAL
    if illegal:
        raise NotImplementedError(f"the LLVM backend cannot do {', '.join(sorted(illegal))}")


def step_functions(plan: Plan, layout: Layout, target: Target) -> list[str]:
    """Return the definitions of all pieces, and of @sincos if there are stages."""
    pieces = [step for step in plan.steps if isinstance(step, Piece)]
    definitions = [emit_piece(f"piece{n}", plan, piece, layout) for n, piece in enumerate(pieces)]
    if len(pieces) < len(plan.steps):
        definitions.append(sincos(layout.lanes.dtype, target.lanes("float64")))
    return definitions


def call_steps(b: Body, plan: Plan, layout: Layout) -> None:
    """Call pieces and stages in their order."""
    access = Access(b, layout)
    pieces = 0
    for step in plan.steps:
        if isinstance(step, Stage):
            x = access.pointer(step.first)
            s, c = (access.pointer(Cell((kind, step.number), 0)) for kind in ("sin", "cos"))
            count = step.count * layout.lanes.count
            b.line(f"call void @sincos(ptr {x}, ptr {s}, ptr {c}, i64 {count})")
        else:
            b.line(f"call void @piece{pieces}({layout.arguments})")
            pieces += 1


def constants_function(plan: Plan, layout: Layout) -> str:
    """Return @constants, which stores the output entries that are constant; long runs of one value by a loop."""
    b = Body()
    access = Access(b, layout)
    scalar = Lanes(layout.lanes.dtype, 1)
    for first, value, count in _runs(plan.constants):
        if count > _LONG_RUN:
            fill = f"{scalar.type} {scalar.constant(value)}, i64 {count * layout.lanes.count}"
            b.line(f"call void @fill(ptr {access.pointer(first)}, {fill})")
        else:
            for n in range(count):
                access.store(layout.lanes.constant(value), first._replace(offset=first.offset + n))
    b.line("ret void")
    return _fill(scalar) + function(f"void @constants({layout.parameters})", b)


_LONG_RUN = 8


def _runs(constants: list[tuple[Cell, float]]) -> list[tuple[Cell, float, int]]:
    """Return the first cell, the value and the length of every run of equal neighbours."""
    runs: list[tuple[Cell, float, int]] = []
    for cell, value in constants:
        if runs:
            first, last_value, count = runs[-1]
            if cell == (first.area, first.offset + count) and hex_literal(value) == hex_literal(last_value):
                runs[-1] = first, value, count + 1
                continue
        runs.append((cell, value, 1))
    return runs


def _fill(scalar: Lanes) -> str:
    b = Body()
    b.line("br label %loop")
    b.label("loop")
    b.line("%i = phi i64 [0, %entry], [%next, %loop]")
    p = b(f"getelementptr {scalar.type}, ptr %p, i64 %i")
    b.line(f"store {scalar.type} %x, ptr {p}, align {scalar.bytes}")
    b.line("%next = add i64 %i, 1")
    b.line(f"br i1 {b('icmp ult i64 %next, %n')}, label %loop, label %end")
    b.label("end")
    b.line("ret void")
    return function(f"void @fill(ptr %p, {scalar.type} %x, i64 %n)", b)


def module_text(target: Target, definitions: list[str]) -> str:
    """Return a module of these functions, with the intrinsics that they call declared."""
    text = "\n".join(definitions)
    data_layout = target_machine(target).target_data
    return (
        f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n\n{text}\n{_declarations(text)}\n'
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{target.vector_bits}" }}\n'
    )


_CALL = re.compile(r"call (\S+|<[^>]*>) (@llvm\.[\w.]+)\((.*)\)")
_ARGUMENT = re.compile(r"(<\d+ x \w+>|\w+) [^ ]")
_SPLAT = re.compile(r"splat \([^)]*\)")


def _declarations(text: str) -> str:
    """Return a declaration of every intrinsic that is called, its type read off the first call."""
    found: dict[str, str] = {}
    for result, name, arguments in _CALL.findall(text):
        if name not in found:
            types = _ARGUMENT.findall(_SPLAT.sub("%", arguments))
            found[name] = f"declare {result} {name}({', '.join(types)})"
    return "\n".join(found.values())
