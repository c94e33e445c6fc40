"""Elementary functions of arrays: their programs in a loop over native vectors of float64, for every dtype."""

from __future__ import annotations

from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.straight_line import append, spelled
from kinetree.graph import Program
from kinetree.graph.elementary import RARE_ABOVE


def emit_elementwise(program: Program, rare: Program | None, dtype: str, width: int) -> str:
    """Return IR of ``void @NAME(ptr input, …, ptr output, i64 count)`` for a program of scalar inputs and one output.

    Where its second output is above `RARE_ABOVE` or NaN, the value is that of the other program, which is run if any
    element of the vector needs it. The output has room for `count` rounded up to whole vectors; of the inputs nothing
    after `count` is read.
    """
    item = Lanes(dtype, width)
    name, arity = program.outputs[0].name, len(program.inputs)
    b = Body()
    with b.loop(width, "%count"):
        inputs = load(b, item, [f"%x{k}" for k in range(arity)])
        y, *is_rare = _values(b, program, inputs, width)
        if rare is not None:
            y = _unless(b, y, is_rare[0], rare, inputs, width)
        if dtype == "float32":
            y = b(f"fptrunc <{width} x double> {y} to {item.type}")
        b.line(f"store {item.type} {y}, ptr {b(f'getelementptr {item.scalar}, ptr %y, i64 %i')}, align {item.item}")
    operands = "".join(f"ptr noalias %x{k}, " for k in range(arity))
    return function(f"void @{name}({operands}ptr noalias %y, i64 %count)", b)


def load(b: Body, item: Lanes, pointers: list[str]) -> list[str]:
    """Append the elements from %i on of arrays of %count, as float64 and zero where there are none.

    Only a vector that is not full is loaded by a mask: such a load waits until what was stored there has left the
    store buffer, behind all work before it.
    """
    places = [b(f"getelementptr {item.scalar}, ptr {pointer}, i64 %i") for pointer in pointers]
    wide, loads = Lanes("float64", item.count), [f"load {item.type}, ptr {p}, align {item.item}" for p in places]
    if item.count == 1:
        found = [b(text) for text in loads]
    else:
        left = b("sub i64 %count, %i")
        b.line(f"br i1 {b(f'icmp ult i64 {left}, {item.count}')}, label %part, label %whole")
        b.label("whole")
        whole = [b(text) for text in loads]
        b.line("br label %loaded")
        b.label("part")
        there = _mask(b, left, item.count)
        masked = f"call {item.type} @llvm.masked.load.{item.suffix}.p0"
        how = f"i32 {item.item}, <{item.count} x i1> {there}, {item.type} zeroinitializer"
        part = [b(f"{masked}(ptr {p}, {how})") for p in places]
        b.line("br label %loaded")
        b.label("loaded")
        found = [b(f"phi {item.type} [{x}, %whole], [{y}, %part]") for x, y in zip(whole, part, strict=True)]
    return [b(f"fpext {item.type} {x} to {wide.type}") for x in found] if item.dtype == "float32" else found


def _mask(b: Body, left: str, width: int) -> str:
    """Append which elements of a vector there are, if so many are left."""
    iv = f"<{width} x i64>"
    many = b(f"insertelement {iv} poison, i64 {left}, i64 0")
    many = b(f"shufflevector {iv} {many}, {iv} poison, <{width} x i32> zeroinitializer")
    return b(f"icmp ult {iv} <{', '.join(f'i64 {k}' for k in range(width))}>, {many}")


def _unless(b: Body, y: str, is_rare: str, rare: Program, inputs: list[str], width: int) -> str:
    """Append the choice between y and the value of the rare program; "rare" and "found" are new blocks."""
    v, truth = Lanes("float64", width), f"<{width} x i1>" if width > 1 else "i1"
    needed = b(f"fcmp ugt {v.type} {is_rare}, {v.constant(RARE_ABOVE)}")
    bits = b(f"bitcast {truth} {needed} to i{width}")
    before = b.block
    b.line(f"br i1 {b(f'icmp eq i{width} {bits}, 0')}, label %found, label %rare")
    b.label("rare")
    (other,) = _values(b, rare, inputs, width)
    chosen = b(f"select {truth} {needed}, {v.type} {other}, {v.type} {y}")
    b.line("br label %found")
    b.label("found")
    return b(f"phi {v.type} [{y}, %{before}], [{chosen}, %rare]")


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
