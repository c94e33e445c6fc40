"""Kernels over arrays of values in LLVM IR, without any external symbol: the programs of elementary functions.

One loop over native vectors of float64 serves one state as well as a block of states, so the bits do not depend on the
number of states evaluated together.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.straight_line import append, spelled
from kinetree.graph import Program, elementary
from kinetree.graph.elementary import RARE_ABOVE


def emit_elementwise(program: Program, rare: Program | None, dtype: str, width: int) -> str:
    """Return IR of ``void @NAME(ptr input, …, ptr output, …, i64 count)`` for a program of scalars.

    Where its last output is above `RARE_ABOVE` or NaN, the values are those of `rare`, run if any element needs it.
    The outputs have room for whole vectors.
    """
    item = Lanes(dtype, width)
    name, arity = program.outputs[0].name, len(program.inputs)
    b = Body()
    with b.loop(width, "%count"):
        inputs = load(b, item, [f"%x{k}" for k in range(arity)])
        values = _values(b, program, inputs, width)
        if rare is not None:
            values = _unless(b, values[:-1], values[-1], rare, inputs, width)
        places = ["%y"] if len(values) == 1 else [f"%y{k}" for k in range(len(values))]
        for y, place in zip(values, places, strict=True):
            if dtype == "float32":
                y = b(f"fptrunc <{width} x double> {y} to {item.type}")
            place = b(f"getelementptr {item.scalar}, ptr {place}, i64 %i")
            b.line(f"store {item.type} {y}, ptr {place}, align {item.item}")
    operands = "".join(f"ptr noalias {x}, " for x in (*(f"%x{k}" for k in range(arity)), *places))
    return function(f"void @{name}({operands}i64 %count)", b)


def load(b: Body, item: Lanes, pointers: list[str]) -> list[str]:
    """Append the elements from %i on of arrays of %count, as float64 and zero where there are none.

    Only a vector that is not full is loaded by a mask: that waits for all stores before it.
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


def _unless(b: Body, y: list[str], is_rare: str, rare: Program, inputs: list[str], width: int) -> list[str]:
    """Append the choice between y and the values of the rare program; "rare" and "found" are new blocks."""
    v, truth = Lanes("float64", width), f"<{width} x i1>" if width > 1 else "i1"
    needed = b(f"fcmp ugt {v.type} {is_rare}, {v.constant(RARE_ABOVE)}")
    bits = b(f"bitcast {truth} {needed} to i{width}")
    before = b.block
    b.line(f"br i1 {b(f'icmp eq i{width} {bits}, 0')}, label %found, label %rare")
    b.label("rare")
    pairs = zip(y, _values(b, rare, inputs, width), strict=True)
    chosen = [b(f"select {truth} {needed}, {v.type} {other}, {v.type} {usual}") for usual, other in pairs]
    b.line("br label %found")
    b.label("found")
    return [b(f"phi {v.type} [{x}, %{before}], [{z}, %rare]") for x, z in zip(y, chosen, strict=True)]


def _values(b: Body, program: Program, inputs: list[str], width: int) -> list[str]:
    """Append the operations of the program, and return its results."""
    lanes, spelling = Lanes("float64", width), spelled("float64", width)
    return program.evaluated(
        lanes.constant, lambda port, _: inputs[port], lambda node, given: append(b, spelling[node.op], given)
    )


def _emit(name: str, dtype: str, width: int) -> str:
    return emit_elementwise(elementary.program(name), elementary.rare(name), dtype, width)


ARRAY_KERNELS: dict[str, Callable[[str, int], str]] = {name: partial(_emit, name) for name in elementary.FUNCTIONS}
"""Emitters of the array operations: from the dtype and the width of a vector of float64 to the definition of
``void @NAME(ptr input, …, ptr output, …, i64 count)``, which may write whole vectors beyond the end of an output."""
