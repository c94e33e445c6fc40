"""Kernels over arrays of values in LLVM IR, without any external symbol: elementary functions, and sine and cosine.

One loop over native vectors of float64 serves one state as well as a block of states, so the bits do not depend on the
number of states evaluated together. Elementary functions are programs. Sine and cosine are, for every dtype:

1. n = rint(x · 2/π) and r = x − n·π/2 by three fused multiply-subtracts (Cody and Waite). The first is exact (both
   terms are multiples of 2⁻⁵² and the difference is below 2), so the result has two roundings whatever cancels.
2. A lane where |x| exceeds `LIMIT`, is infinite or NaN is reduced separately by Payne and Hanek's method:
   the 192 bits of 2/π that matter for this exponent, times the 53 bits of x, modulo 4, in integers.
3. The minimax polynomials of fdlibm on [−π/4, π/4], and the quadrant n mod 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from kinetree.backends.llvm.ir import Body, Lanes, function, hex_literal
from kinetree.backends.llvm.straight_line import append, spelled
from kinetree.graph import Program, elementary
from kinetree.graph.elementary import RARE_ABOVE
from kinetree.graph.elementary.angles import COSINE, FRACTION_BITS, LIMIT, PARTS, ROUND, SINE, TWO_OVER_PI


def emit_elementwise(program: Program, rare: Program | None, dtype: str, width: int) -> str:
    """Return IR of ``void @NAME(ptr input, …, ptr output, i64 count)`` for a program of scalar inputs and one output.

    Where its second output is above `RARE_ABOVE` or NaN, the value is that of `rare`, run if any element needs it.
    The output has room for whole vectors.
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
    return program.evaluated(
        lanes.constant, lambda port, _: inputs[port], lambda node, given: append(b, spelling[node.op], given)
    )


_TABLE_BYTES = 168  # with zeros above, for the smallest exponent: the window of 32 bytes never leaves the table


def emit_sincos(dtype: str, width: int) -> str:
    """Return IR of ``void @sincos(ptr x, ptr s, ptr c, i64 count)``; s and c have room for whole vectors of `width`."""
    data = ", ".join(f"i8 {x}" for x in TWO_OVER_PI.to_bytes(_TABLE_BYTES, "little"))
    table = f"@two_over_pi = internal constant [{_TABLE_BYTES} x i8] [{data}]\n"
    return "\n".join((table, _reduce_huge(), _loop(dtype, width)))


def _loop(dtype: str, width: int) -> str:
    v, item = Lanes("float64", width), Lanes(dtype, width)
    iv, mask, align = f"<{width} x i64>", f"<{width} x i1>", item.item
    b = Body()
    b.line("br label %loop")
    b.label("loop")
    b.line("%i = phi i64 [0, %entry], [%next, %kernel]")
    (x,) = load(b, item, ["%x"])
    shifted = b.fma(v, x, v.constant(2 / math.pi), v.constant(ROUND))
    n = b(f"fsub {v.type} {shifted}, {v.constant(ROUND)}")
    quadrant = b(f"bitcast {v.type} {shifted} to {iv}")
    r = x
    for part in PARTS:
        r = b.fma(v, n, v.constant(-part), r)
    small = b(f"fcmp ole {v.type} {b(f'call {v.type} @llvm.fabs.{v.suffix}({v.type} {x})')}, {v.constant(LIMIT)}")
    bits = b(f"bitcast {mask} {small} to i{width}")
    before = b.block
    b.line(f"br i1 {b(f'icmp eq i{width} {bits}, -1')}, label %kernel, label %lane")

    b.label("lane")  # one lane after another: huge ones are reduced, the others unchanged
    b.line(f"%j = phi i64 [0, %{before}], [%jnext, %merge]")
    b.line(f"%rj = phi {v.type} [{r}, %{before}], [%rnext, %merge]")
    b.line(f"%qj = phi {iv} [{quadrant}, %{before}], [%qnext, %merge]")
    b.line(f"br i1 {b(f'extractelement {mask} {small}, i64 %j')}, label %merge, label %huge")
    b.label("huge")
    xj = b(f"getelementptr {item.scalar}, ptr %x, i64 {b('add i64 %i, %j')}")
    xj = b(f"load {item.scalar}, ptr {xj}, align {align}")
    if dtype == "float32":
        xj = b(f"fpext float {xj} to double")
    reduced = b(f"call {{double, i64}} @reduce_huge(double {xj})")
    rh = b(f"insertelement {v.type} %rj, double {b(f'extractvalue {{double, i64}} {reduced}, 0')}, i64 %j")
    qh = b(f"insertelement {iv} %qj, i64 {b(f'extractvalue {{double, i64}} {reduced}, 1')}, i64 %j")
    b.line("br label %merge")
    b.label("merge")
    b.line(f"%rnext = phi {v.type} [%rj, %lane], [{rh}, %huge]")
    b.line(f"%qnext = phi {iv} [%qj, %lane], [{qh}, %huge]")
    b.line("%jnext = add i64 %j, 1")
    b.line(f"br i1 {b(f'icmp eq i64 %jnext, {width}')}, label %kernel, label %lane")

    b.label("kernel")
    b.line(f"%r = phi {v.type} [{r}, %{before}], [%rnext, %merge]")
    b.line(f"%q = phi {iv} [{quadrant}, %{before}], [%qnext, %merge]")
    for name, value in zip("sc", _polynomials(b, v, iv), strict=True):
        if dtype == "float32":
            value = b(f"fptrunc {v.type} {value} to {item.type}")
        b.line(
            f"store {item.type} {value}, ptr {b(f'getelementptr {item.scalar}, ptr %{name}, i64 %i')}, align {align}"
        )
    b.line(f"%next = add i64 %i, {width}")
    b.line(f"br i1 {b('icmp ult i64 %next, %count')}, label %loop, label %end")
    b.label("end")
    return function("void @sincos(ptr noalias %x, ptr noalias %s, ptr noalias %c, i64 %count)", b)


def _polynomials(b: Body, v: Lanes, iv: str) -> tuple[str, str]:
    """Return the sine and the cosine of %r + %q·π/2."""

    def horner(coefficients: tuple[float, ...]) -> str:
        p = v.constant(coefficients[-1])
        for a in coefficients[-2::-1]:
            p = b.fma(v, p, z, v.constant(a))
        return p

    def signed(value: str, quadrant: str) -> str:
        """Negate where the second bit of the quadrant is set."""
        sign = b(f"and {iv} {b(f'shl {iv} {quadrant}, splat (i64 62)')}, splat (i64 {-(1 << 63)})")
        flipped = b(f"xor {iv} {b(f'bitcast {v.type} {value} to {iv}')}, {sign}")
        return b(f"bitcast {iv} {flipped} to {v.type}")

    z = b(f"fmul {v.type} %r, %r")
    sine = b.fma(v, b(f"fmul {v.type} {z}, %r"), horner(SINE), "%r")
    base = b.fma(v, z, v.constant(-0.5), v.constant(1.0))
    cosine = b.fma(v, b(f"fmul {v.type} {z}, {z}"), horner(COSINE), base)
    odd = b(f"icmp ne {iv} {b(f'and {iv} %q, splat (i64 1)')}, zeroinitializer")
    chosen = f"select <{v.count} x i1> {odd}, {v.type}"
    s = b(f"{chosen} {cosine}, {v.type} {sine}")
    c = b(f"{chosen} {sine}, {v.type} {cosine}")
    return signed(s, "%q"), signed(c, b(f"add {iv} %q, splat (i64 1)"))


def _reduce_huge() -> str:
    """Return IR of ``{double, i64} @reduce_huge(double x)``: r in [−π/4, π/4] and n mod 4, for |x| > LIMIT.

    With x = m·2ᵉ, the bit of weight 2⁻ᵏ in 2/π contributes a multiple of 4 where k ≤ e − 2. So bits e − 1 to e + 190
    times m, modulo 2¹⁹², are 2 integer bits and 190 fraction bits of x·2/π mod 4. The fraction of a float64 is never
    below about 2⁻⁶², and the neglected tail is below 2⁻¹³⁷.
    """
    b = Body()
    bits = b("bitcast double %x to i64")
    exponent = b(f"and i64 {b(f'lshr i64 {bits}, 52')}, 2047")
    mantissa = b(f"or i64 {b(f'and i64 {bits}, {(1 << 52) - 1}')}, {1 << 52}")
    # lowest bit of the window: FRACTION_BITS − 190 − e, with e = exponent − 1075
    low = b(f"sub i64 {FRACTION_BITS - 190 + 1075}, {exponent}")
    window = b(f"getelementptr i8, ptr @two_over_pi, i64 {b(f'lshr i64 {low}, 3')}")
    shift = b(f"zext i64 {b(f'and i64 {low}, 7')} to i256")
    word = b(f"load i256, ptr {window}, align 1")
    word = b(f"lshr i256 {word}, {shift}")
    word = b(f"trunc i256 {word} to i192")
    y = b(f"mul i192 {word}, {b(f'zext i64 {mantissa} to i192')}")
    n = b(f"lshr i192 {b(f'add i192 {y}, {1 << 189}')}, 190")
    n = b(f"trunc i192 {n} to i64")
    fraction = b(f"shl i192 {y}, 2")  # signed, in units of 2⁻¹⁹² quarter turns
    below = b(f"icmp slt i192 {fraction}, 0")
    size = b(f"select i1 {below}, i192 {b(f'sub i192 0, {fraction}')}, i192 {fraction}")
    zeros = b(f"call i192 @llvm.ctlz.i192(i192 {size}, i1 false)")
    top = b(f"lshr i192 {b(f'shl i192 {size}, {zeros}')}, 129")
    top = b(f"trunc i192 {top} to i64")  # 63 bits
    zeros = b(f"trunc i192 {zeros} to i64")
    scale = b(f"shl i64 {b(f'sub i64 {1023 - 63}, {zeros}')}, 52")
    f = b(f"fmul double {b(f'sitofp i64 {top} to double')}, {b(f'bitcast i64 {scale} to double')}")
    one = Lanes("float64", 1)
    r = b.fma(one, f, hex_literal(PARTS[0]), b(f"fmul double {f}, {hex_literal(PARTS[1])}"))
    negative = b(f"icmp slt i64 {bits}, 0")
    r = b(f"select i1 {b(f'xor i1 {below}, {negative}')}, double {b(f'fneg double {r}')}, double {r}")
    n = b(f"select i1 {negative}, i64 {b(f'sub i64 0, {n}')}, i64 {n}")
    r = b(f"select i1 {b(f'icmp eq i64 {exponent}, 2047')}, double 0x7FF8000000000000, double {r}")
    pair = b(f"insertvalue {{double, i64}} poison, double {r}, 0")
    b.line(f"ret {{double, i64}} {b(f'insertvalue {{double, i64}} {pair}, i64 {n}, 1')}")
    return function("{double, i64} @reduce_huge(double %x)", b)


def _emit(name: str, dtype: str, width: int) -> str:
    return emit_elementwise(elementary.program(name), elementary.rare(name), dtype, width)


ARRAY_KERNELS: dict[str, Callable[[str, int], str]] = {
    "sincos": emit_sincos,
    **{name: partial(_emit, name) for name in elementary.FUNCTIONS},
}
"""Emitters of the array operations: from the dtype and the width of a vector of float64 to the definition of
``void @NAME(ptr input, …, ptr output, …, i64 count)``, which may write whole vectors beyond the end of an output."""
