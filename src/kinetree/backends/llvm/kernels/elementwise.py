"""Elementary functions of arrays: their programs in a loop over native vectors of float64, for every dtype."""

from __future__ import annotations

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.straight_line import append, spelled
from kinetree.graph import Program


def emit_elementwise(program: Program, rare: Program | None, dtype: str, width: int) -> str:
    """Return IR of ``void @NAME(ptr input, …, ptr output, i64 count)`` for a program of scalar inputs and one output.

    Where its second output is not zero, the value is that of the other program, which is run if any element of the
    vector needs it. The output has room for `count` rounded up to whole vectors; of the
    inputs nothing after `count` is read.
    """
    item = Lanes(dtype, width)
    name, arity = program.outputs[0].name, len(program.inputs)
    b = Body()
    with b.loop(width, "%count", last="found" if rare else ""):
        there = _mask(b, width)
        inputs = [_load(b, item, f"%x{k}", there) for k in range(arity)]
        y, *is_rare = _values(b, program, inputs, width)
        if rare is not None:
            y = _unless(b, y, is_rare[0], rare, inputs, width)
        if dtype == "float32":
            y = b(f"fptrunc <{width} x double> {y} to {item.type}")
        b.line(f"store {item.type} {y}, ptr {b(f'getelementptr {item.scalar}, ptr %y, i64 %i')}, align {item.item}")
    operands = "".join(f"ptr noalias %x{k}, " for k in range(arity))
    return function(f"void @{name}({operands}ptr noalias %y, i64 %count)", b)


def _mask(b: Body, width: int) -> str:
    """Append which elements of the vector at %i there are."""
    if width == 1:
        return ""
    iv = f"<{width} x i64>"
    left = b(f"insertelement {iv} poison, i64 {b('sub i64 %count, %i')}, i64 0")
    left = b(f"shufflevector {iv} {left}, {iv} poison, <{width} x i32> zeroinitializer")
    return b(f"icmp ult {iv} <{', '.join(f'i64 {k}' for k in range(width))}>, {left}")


def _load(b: Body, item: Lanes, pointer: str, there: str) -> str:
    """Append the elements from %i on as float64, zero where there are none."""
    p = b(f"getelementptr {item.scalar}, ptr {pointer}, i64 %i")
    if there:
        x = b(
            f"call {item.type} @llvm.masked.load.{item.suffix}.p0"
            f"(ptr {p}, i32 {item.item}, <{item.count} x i1> {there}, {item.type} zeroinitializer)"
        )
    else:
        x = b(f"load {item.type}, ptr {p}, align {item.item}")
    return b(f"fpext {item.type} {x} to {Lanes('float64', item.count).type}") if item.dtype == "float32" else x


def _unless(b: Body, y: str, is_rare: str, rare: Program, inputs: list[str], width: int) -> str:
    """Append the choice between y and the value of the rare program; "rare" and "found" are new blocks."""
    v, truth = Lanes("float64", width), f"<{width} x i1>" if width > 1 else "i1"
    needed = b(f"fcmp une {v.type} {is_rare}, {v.constant(0.0)}")
    bits = b(f"bitcast {truth} {needed} to i{width}")
    b.line(f"br i1 {b(f'icmp eq i{width} {bits}, 0')}, label %found, label %rare")
    b.label("rare")
    (other,) = _values(b, rare, inputs, width)
    chosen = b(f"select {truth} {needed}, {v.type} {other}, {v.type} {y}")
    b.line("br label %found")
    b.label("found")
    return b(f"phi {v.type} [{y}, %loop], [{chosen}, %rare]")


def _values(b: Body, program: Program, inputs: list[str], width: int) -> list[str]:
    """Append the operations of the program, and return its results."""
    lanes, spelling = Lanes("float64", width), spelled("float64", width)
    values: dict[int, str] = {}
    for i in program.schedule():
        op, args, payload = program.graph.nodes[i]
        if op == "const":
            values[i] = lanes.constant(payload)
        elif op == "input":
            values[i] = inputs[payload[0]]
        else:
            values[i] = append(b, spelling[op], [values[a] for a in args])
    return [values[i] for i in program.roots()]
