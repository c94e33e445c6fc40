"""A program to object code: `compile_single` for one state, `compile_batch` for many in lanes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import llvmlite.binding as llvm

from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.layout import Layout
from kinetree.backends.llvm.pieces import LEGAL, Access, emit_piece
from kinetree.backends.llvm.plan import Cell, Piece, Plan, Stage, make_plan
from kinetree.backends.llvm.sincos import sincos
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.backends.llvm.text import Body, function
from kinetree.backends.llvm.transpose import lanes_to_rows, rows_to_lanes, tile_columns
from kinetree.expr import Program

PIECE_OPERATIONS = 1000
"""Most operations in one piece. The speed of the code hardly depends on it; much beyond, LLVM's time is not linear."""

PIECE_BYTES = 64 * 1024
"""Most bytes of values made in one piece: no more can ever be spilled, so that stack frames are bounded."""


@dataclass(frozen=True)
class Code:
    """Object code, and what is needed to load and call it. It can be pickled, and loaded by another process.

    Attributes
    ----------
    object_code : bytes
        An object file.
    scratch : int
        Bytes of scratch, aligned to 64, that one running call needs.
    symbols : tuple of str
        The entry points.
    externals : tuple of str
        Symbols that the code needs from outside.
    """

    object_code: bytes
    scratch: int
    symbols: tuple[str, ...]
    externals: tuple[str, ...]


def compile_single(program: Program, *, dtype: str = "float64", target: Target, extra_ir: str = "") -> Code:
    """Return code for one state, with the entry ``void kt_single(ptr ins, ptr outs, ptr scratch)``.

    Parameters
    ----------
    program : Program
    dtype : {"float64", "float32"}
        Of all inputs and outputs, and of the arithmetic (angles are reduced in float64).
    target : Target
    extra_ir : str
        LLVM IR that is appended to the module; it may call ``@kt_single`` and define entry points of its own.
    """
    ir, scratch = single_ir(program, dtype, target)
    return object_code(ir + extra_ir, scratch, target)


def compile_batch(program: Program, *, dtype: str = "float64", target: Target, lanes: int) -> Code:
    """Return code for n states, with the entry ``void kt_batch(ptr ins, ptr outs, ptr strides, i64 n, ptr scratch)``.

    `strides` are the bytes from a state to the next, for each input and then for each output; 0 repeats one state.
    States are evaluated `lanes` at a time. The last block overlaps the one before; where n is below `lanes`, the last
    state is repeated. Either way some states are computed twice, with the same bits.
    """
    ir, scratch = batch_ir(program, dtype, target, lanes)
    return object_code(ir, scratch, target)


def single_ir(
    program: Program, dtype: str, target: Target, piece_operations: int = PIECE_OPERATIONS
) -> tuple[str, int]:
    """Return the LLVM IR of `compile_single`, and the scratch."""
    lanes = Lanes(dtype, 1)
    plan = make_plan(_legal(program), piece_operations)
    layout = Layout(plan, lanes, ports_in_scratch=False)
    body = Body()
    constants = _constants(plan, layout)
    if constants:
        body.line(f"call void @constants({layout.arguments})")
    _call_steps(body, plan, layout)
    body.line("ret void")
    entry = function("void @kt_single(ptr %in, ptr %out, ptr %s)", body, internal=False)
    return _module(target, [constants, *_functions(plan, layout, target), entry]), layout.size


def batch_ir(
    program: Program, dtype: str, target: Target, count: int, piece_operations: int = PIECE_OPERATIONS
) -> tuple[str, int]:
    """Return the LLVM IR of `compile_batch`, and the scratch."""
    lanes = Lanes(dtype, count)
    plan = make_plan(_legal(program), min(piece_operations, PIECE_BYTES // lanes.bytes))
    ports = [*(("in", k) for k in range(len(program.inputs))), *(("out", k) for k in range(len(program.outputs)))]
    ports = [p for p in ports if plan.areas[p]]
    layout = Layout(plan, lanes, ports_in_scratch=True, extra=8 * count * len(ports))
    constants = _constants(plan, layout)

    b = Body()
    tables = []
    for n, (kind, k) in enumerate(ports):
        tables.append(b(f"getelementptr i8, ptr %s, i64 {layout.extra_offset + 8 * count * n}"))
        stride = _stride(b, program, kind, k)
        b.line(f"call void @row_offsets(ptr {tables[-1]}, i64 {stride}, i64 %n)")
    if constants:
        b.line(f"call void @constants({layout.arguments})")
    whole = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")
    b.line("br label %block")
    b.label("block")
    b.line("%k = phi i64 [0, %entry], [%next, %block]")
    first = b(f"call i64 @llvm.umin.i64(i64 %k, i64 {whole})")

    def move(function_name: str, kind: str) -> None:
        for n, (port, k) in enumerate(ports):
            if port != kind:
                continue
            size = plan.areas[port, k]
            distance = b(f"mul i64 {first}, {_stride(b, program, port, k)}")
            base = b(f"load ptr, ptr {b(f'getelementptr ptr, ptr %{kind}, i64 {k}')}, align 8")
            rows = b(f"getelementptr i8, ptr {base}, i64 {distance}")
            block = b(f"getelementptr i8, ptr %s, i64 {layout.address(Cell((port, k), 0))[1]}")
            columns = tile_columns(size, count)
            b.line(f"call void @{function_name}_{columns}(ptr {rows}, ptr {tables[n]}, ptr {block}, i64 {size})")

    move("rows_to_lanes", "in")
    _call_steps(b, plan, layout)
    move("lanes_to_rows", "out")
    b.line(f"%next = add i64 %k, {count}")
    b.line(f"br i1 {b('icmp ult i64 %next, %n')}, label %block, label %end")
    b.label("end")
    b.line("ret void")
    entry = function("void @kt_batch(ptr %in, ptr %out, ptr %strides, i64 %n, ptr %s)", b, internal=False)

    tiles = {(kind, tile_columns(plan.areas[kind, k], count)) for kind, k in ports}
    movers = [
        (rows_to_lanes if kind == "in" else lanes_to_rows)(dtype, count, columns) for kind, columns in sorted(tiles)
    ]
    parts = [_row_offsets(count), *movers, constants, *_functions(plan, layout, target), entry]
    return _module(target, parts), layout.size


def _legal(program: Program) -> Program:
    illegal = {program.graph[i].op for i in program.schedule()} - LEGAL
    if illegal:
        raise NotImplementedError(f"the LLVM backend cannot do {', '.join(sorted(illegal))}")
    return program


def _functions(plan: Plan, layout: Layout, target: Target) -> list[str]:
    """Return the definitions of all pieces, and of @sincos if there are stages."""
    pieces = [step for step in plan.steps if isinstance(step, Piece)]
    definitions = [emit_piece(f"piece{n}", plan, piece, layout) for n, piece in enumerate(pieces)]
    if len(pieces) < len(plan.steps):
        definitions.append(sincos(layout.lanes.dtype, target.lanes("float64")))
    return definitions


def _call_steps(b: Body, plan: Plan, layout: Layout) -> None:
    """Call pieces and stages in their order."""
    access = Access(b, layout)
    count = 0
    for step in plan.steps:
        if isinstance(step, Stage):
            x = access.pointer(step.first)
            s, c = (access.pointer(Cell((kind, step.number), 0)) for kind in ("sin", "cos"))
            n = step.count * layout.lanes.count
            b.line(f"call void @sincos(ptr {x}, ptr {s}, ptr {c}, i64 {n})")
        else:
            b.line(f"call void @piece{count}({layout.arguments})")
            count += 1


def _constants(plan: Plan, layout: Layout) -> str:
    """Return the function that stores the output entries that are constant, empty if there are none."""
    if not plan.constants:
        return ""
    b = Body()
    access = Access(b, layout)
    for cell, value in plan.constants:
        access.store(layout.lanes.constant(value), cell)
    b.line("ret void")
    return function(f"void @constants({layout.parameters})", b)


def _stride(b: Body, program: Program, kind: str, k: int) -> str:
    index = k if kind == "in" else len(program.inputs) + k
    return b(f"load i64, ptr {b(f'getelementptr i64, ptr %strides, i64 {index}')}, align 8")


def _row_offsets(count: int) -> str:
    """Return IR that fills a table with the distances of the rows of a block; there are only n rows."""
    b = Body()
    last = b("sub i64 %n, 1")
    for r in range(count):
        row = b(f"call i64 @llvm.umin.i64(i64 {r}, i64 {last})")
        b.line(f"store i64 {b(f'mul i64 {row}, %stride')}, ptr {b(f'getelementptr i64, ptr %table, i64 {r}')}, align 8")
    b.line("ret void")
    return function("void @row_offsets(ptr %table, i64 %stride, i64 %n)", b)


def _module(target: Target, definitions: list[str]) -> str:
    """Return a module of these functions, with the intrinsics that they call declared."""
    text = "\n".join(d for d in definitions if d)
    data_layout = target_machine(target).target_data
    return (
        f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n\n{text}\n{_declarations(text)}\n'
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{target.vector_bits}" }}\n'
    )


_CALL = re.compile(r"call (\S+|<[^>]*>) (@llvm\.[\w.]+)\((.*)\)")


def _declarations(text: str) -> str:
    """Declare every intrinsic that is called."""
    found = {}
    for result, name, arguments in _CALL.findall(text):
        if name not in found:
            types = re.findall(r"(<\d+ x \w+>|\w+) [^ ]", re.sub(r"splat \([^)]*\)", "%", arguments))
            found[name] = f"declare {result} {name}({', '.join(types)})"
    return "\n".join(found.values())


def object_code(ir: str, scratch: int, target: Target) -> Code:
    """Return the object code of a module."""
    module = llvm.parse_assembly(ir, llvm.create_context())
    symbols = tuple(f.name for f in module.functions if not f.is_declaration and f.linkage == llvm.Linkage.external)
    externals = [f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")]
    externals += [g.name for g in module.global_variables if g.is_declaration]
    data = target_machine(target).emit_object(module)
    # without an instruction for it, llvm.fma becomes a call of the C library's
    externals += [name for name in ("fma", "fmaf") if f"\0{name}\0".encode() in data]
    return Code(data, scratch, symbols, tuple(externals))
