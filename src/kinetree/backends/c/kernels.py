"""Kernels over arrays of values in C99, with the bits of the LLVM backend's: see `backends.llvm.kernels`.

Elementary functions are their programs in a loop over numbers, in float64 for every dtype. Their fused multiply-adds
have one rounding also where the processor has no such instruction: they need it.

Sine and cosine take angles in blocks: vectors of 4 where gcc or clang compile for AVX2 (8 with AVX-512 are slower: an
arm has few), single ones elsewhere. The text is the same for both, because what has no operator for both (choices,
signs) is done on the bits. Huge angles are multiplied by 2/π in pieces of 32 bits. Where the processor has no fused
multiply-add, Dekker's exact products take its place in the reduction; the last place may then differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from kinetree.backends.c.names import ITEM, Emitted
from kinetree.backends.c.spelling import in_double, number, spelled_helpers
from kinetree.backends.c.templates import filled
from kinetree.graph import Program, elementary
from kinetree.graph.elementary import RARE_ABOVE
from kinetree.graph.elementary.angles import COSINE, FRACTION_BITS, LIMIT, PARTS, ROUND, SINE, TWO_OVER_PI
from kinetree.graph.graph import Node


def emit_elementwise(name: str, program: Program, rare: Program | None, dtype: str) -> Emitted:
    """Return ``kt_NAME(inputs, outputs, count)``; `rare` has the result where output 2 > `RARE_ABOVE` or NaN."""
    item = ITEM[dtype]
    operands = [f"kt_x{k}" for k in range(len(program.inputs))]
    lines, values = _lines(program)
    parts = []
    if rare is not None:
        others, (other,) = _lines(rare)
        declared = ", ".join(f"double {x}" for x in operands)
        parts = [f"static double kt_{name}_rarely({declared})\n{{\n{_indented(others, 4)}    return {other};\n}}\n\n"]
        y, is_rare = values
        values = [f"{is_rare} <= {RARE_ABOVE!r} ? {y} : kt_{name}_rarely({', '.join(operands)})"]
    results = [f"kt_y{k}" for k in range(len(values))]
    ports = [f"const kt_value *kt_in{k}" for k in range(len(operands))]
    ports += [f"kt_value *kt_out{k}" for k in range(len(values))]
    arrays = [f"const {item} *{x} = (const {item} *)kt_in{k};" for k, x in enumerate(_arrays(operands))]
    arrays += [f"{item} *restrict {y} = ({item} *)kt_out{k};" for k, y in enumerate(results)]
    loads = [f"const double {x} = {a}[kt_i];" for x, a in zip(operands, _arrays(operands), strict=True)]
    cast = "" if dtype == "float64" else "(float)"
    stores = [f"{y}[kt_i] = {cast}({value});" for y, value in zip(results, values, strict=True)]
    parts += [
        f"static void kt_{name}({', '.join(ports)}, size_t kt_count)\n{{\n{_indented(arrays, 4)}",
        f"    for (size_t kt_i = 0; kt_i < kt_count * KT_COUNT; kt_i++) {{\n{_indented(loads + lines + stores, 8)}",
        "    }\n}\n",
    ]
    used = [f"{helper}_double" for p in (program, rare) if p is not None for helper in _helpers(p)]
    return Emitted("".join(parts), helpers=tuple(dict.fromkeys(used)))


def _arrays(operands: list[str]) -> list[str]:
    return [f"{x}s" for x in operands]


def _indented(lines: list[str], indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def _helpers(program: Program) -> list[str]:
    return [helper for i in program.schedule() for helper in spelled_helpers(program.graph[i].op)]


def _lines(program: Program) -> tuple[list[str], list[str]]:
    """Return statements that compute the program from the inputs kt_x0, kt_x1, …, and its results."""
    lines: list[str] = []

    def operation(node: Node, given: list[str]) -> str:
        lines.append(f"const double kt{len(lines)} = {in_double(node.op).format(*given)};")
        return f"kt{len(lines) - 1}"

    results = program.evaluated(lambda x: number(x, "float64"), lambda port, _: f"kt_x{port}", operation)
    return lines, results


_WORDS = 40  # of 32 bits, with zeros above: for the smallest exponent, the last one read is number 38

_TEXT = """\
#if KT_DOUBLE_FMA && defined(__AVX2__) && defined(__FMA__) && defined(__GNUC__)
#define KT_WIDE 4
#define kt_wide_fma(x, y, z) ((kt_wide)_mm256_fmadd_pd((__m256d)(x), (__m256d)(y), (__m256d)(z)))
#define kt_mask_of(n) _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)(n)), _mm256_set_epi64x(3, 2, 1, 0))
#define kt_wide_load(x, n) ((kt_wide)_mm256_maskload_pd(x, kt_mask_of(n)))
#else
#define KT_WIDE 1
#define kt_wide_load(x, n) (*(x))
#if KT_DOUBLE_FMA
#define kt_wide_fma(x, y, z) kt_fma_double(x, y, z)
#else
#define kt_wide_fma(x, y, z) ((x) * (y) + (z))
#endif
#endif
#if KT_WIDE > 1
typedef double kt_wide __attribute__((vector_size(8 * KT_WIDE)));
typedef uint64_t kt_wide_bits __attribute__((vector_size(8 * KT_WIDE)));
#define KT_WIDE_C(x) ((x) - (kt_wide){0})
#else
typedef double kt_wide;
typedef uint64_t kt_wide_bits;
#define KT_WIDE_C(x) (x)
#endif

typedef union {
    double number[KT_WIDE];
    uint64_t word[KT_WIDE];
    kt_wide numbers;
    kt_wide_bits bits;
} kt_block;

/* 2/pi as an integer, in units of 2^-@FRACTION_BITS@ */
static const uint32_t kt_two_over_pi[@WORDS@] = {
@TABLE@
};

#if KT_DOUBLE_FMA
#define kt_reduce(n, part, x) kt_wide_fma(n, KT_WIDE_C(-(part)), x)
#else
static double kt_reduce(double n, double part, double x)
{
    const double ns = n * 134217729.0, ps = part * 134217729.0;
    const double n_high = ns - (ns - n), n_low = n - n_high, p_high = ps - (ps - part), p_low = part - p_high;
    const double product = n * part;
    return (x - product) - (((n_high * p_high - product) + n_high * p_low + n_low * p_high) + n_low * p_low);
}
#endif

/* x minus the nearest multiple of pi/2, and which multiple that is modulo 4, by Payne and Hanek's method */
static double kt_reduce_huge(double x, uint64_t *quadrant)
{
    kt_block block;
    block.number[0] = x;
    const uint64_t bits = block.word[0], mantissa = (bits & 0xfffffffffffffu) | 0x10000000000000u;
    const uint32_t exponent = (uint32_t)(bits >> 52) & 2047u, low = @LOWEST@u - exponent;
    const uint32_t negative = (uint32_t)(bits >> 63);
    uint64_t window[6], product[6] = {0}, size[3];
    *quadrant = 0;
    if (exponent == 2047u)
        return x - x;
    for (uint32_t k = 0; k < 6; k++) {
        const uint32_t *const word = kt_two_over_pi + low / 32 + k;
        window[k] = (((uint64_t)word[1] << 32 | word[0]) >> low % 32) & 0xffffffffu;
    }
    for (uint32_t half = 0; half < 2; half++) {
        const uint64_t factor = half ? mantissa >> 32 : mantissa & 0xffffffffu;
        uint64_t carry = 0;
        for (uint32_t k = 0; k + half < 6; k++) {
            carry += window[k] * factor + product[k + half];
            product[k + half] = carry & 0xffffffffu;
            carry >>= 32;
        }
    }
    const uint64_t n = ((product[5] + 0x20000000u) & 0xffffffffu) >> 30;
    for (uint32_t k = 0; k < 3; k++)
        size[k] = product[2 * k + 1] << 34 | product[2 * k] << 2 | (k ? product[2 * k - 1] >> 30 : 0);
    const uint32_t below = (uint32_t)(size[2] >> 63);
    if (below) {
        size[0] = ~size[0] + 1;
        size[1] = ~size[1] + (size[0] == 0);
        size[2] = ~size[2] + (size[0] == 0 && size[1] == 0);
    }
    uint32_t zeros = 0;
    for (; zeros < 191 && !(size[2] >> 63); zeros++) {
        size[2] = size[2] << 1 | size[1] >> 63;
        size[1] = size[1] << 1 | size[0] >> 63;
        size[0] <<= 1;
    }
    block.word[0] = (uint64_t)(960 - zeros) << 52;
    const double high = (double)(uint32_t)(size[2] >> 33), rest = (double)(uint32_t)(size[2] >> 1);
    const double turns = (high * 4294967296.0 + rest) * block.number[0];
#if KT_DOUBLE_FMA
    const double r = kt_fma_double(turns, @P1@, turns * @P2@);
#else
    const double r = turns * @P1@ + turns * @P2@;
#endif
    *quadrant = negative ? 0 - n : n;
    return below != negative ? -r : r;
}

static void kt_sincos(const kt_value *angles, kt_value *sines, kt_value *cosines, size_t count)
{
    const @ITEM@ *x = (const @ITEM@ *)angles;
    @ITEM@ *s = (@ITEM@ *)sines, *c = (@ITEM@ *)cosines;
    size_t left = count * KT_COUNT;
    while (left) {
        const size_t n = left < KT_WIDE ? left : KT_WIDE;
        kt_block angle, turns, r, sine, cosine;
@LOAD@
        turns.numbers = kt_wide_fma(angle.numbers, KT_WIDE_C(@TURNS@), KT_WIDE_C(@ROUND@));
        r.numbers = angle.numbers;
@REDUCE@
        int huge = 0;
        for (size_t k = 0; k < n; k++)
            huge |= !(x[k] <= @LIMIT@ && x[k] >= -@LIMIT@);
        if (huge)
            for (size_t k = 0; k < n; k++)
                if (!(x[k] <= @LIMIT@ && x[k] >= -@LIMIT@))
                    r.number[k] = kt_reduce_huge((double)x[k], &turns.word[k]);
        const kt_wide z = r.numbers * r.numbers;
        const kt_wide_bits odd = 0 - (turns.bits & 1);
        sine.numbers = kt_wide_fma(z * r.numbers, @SINE@, r.numbers);
        cosine.numbers = kt_wide_fma(z * z, @COSINE@, kt_wide_fma(z, KT_WIDE_C(-0.5), KT_WIDE_C(1.0)));
        const kt_wide_bits swap = (sine.bits ^ cosine.bits) & odd;
        sine.bits = sine.bits ^ swap ^ (turns.bits << 62 & 0x8000000000000000u);
        cosine.bits = cosine.bits ^ swap ^ ((turns.bits + 1) << 62 & 0x8000000000000000u);
        for (size_t k = 0; k < n; k++) {
            s[k] = @CAST@sine.number[k];
            c[k] = @CAST@cosine.number[k];
        }
        x += n;
        s += n;
        c += n;
        left -= n;
    }
}
"""


def emit_sincos(dtype: str) -> Emitted:
    """Return the definition of ``kt_sincos(angles, sines, cosines, count)`` for values of this dtype."""
    words = [TWO_OVER_PI >> 32 * k & 0xFFFFFFFF for k in range(_WORDS)]
    table = [", ".join(f"0x{word:08x}u" for word in words[k : k + 8]) for k in range(0, _WORDS, 8)]
    load = (
        "        angle.numbers = kt_wide_load(x, n);"
        if dtype == "float64"
        else "        for (size_t k = 0; k < KT_WIDE; k++)\n            angle.number[k] = (double)(k < n ? x[k] : 0);"
    )
    values = {
        "FRACTION_BITS": str(FRACTION_BITS),
        "WORDS": str(_WORDS),
        "TABLE": ",\n".join(f"    {row}" for row in table),
        "LOWEST": str(FRACTION_BITS - 190 + 1075),
        "P1": PARTS[0].hex(),
        "P2": PARTS[1].hex(),
        "ITEM": ITEM[dtype],
        "LOAD": load,
        "TURNS": (2 / math.pi).hex(),
        "ROUND": ROUND.hex(),
        "REDUCE": "\n".join(
            f"        r.numbers = kt_reduce(turns.numbers - {ROUND.hex()}, {p.hex()}, r.numbers);" for p in PARTS
        ),
        "LIMIT": LIMIT.hex() + ("" if dtype == "float64" else "f"),
        "SINE": _horner(SINE),
        "COSINE": _horner(COSINE),
        "CAST": "" if dtype == "float64" else "(float)",
    }
    return Emitted(filled(_TEXT, **values))


def _horner(coefficients: tuple[float, ...]) -> str:
    text = f"KT_WIDE_C({coefficients[-1].hex()})"
    for a in coefficients[-2::-1]:
        text = f"kt_wide_fma({text}, z, KT_WIDE_C({a.hex()}))"
    return text


def _emit(name: str, dtype: str) -> Emitted:
    return emit_elementwise(name, elementary.program(name), elementary.rare(name), dtype)


ARRAY_KERNELS: dict[str, Callable[[str], Emitted]] = {
    "sincos": emit_sincos,
    **{name: partial(_emit, name) for name in elementary.FUNCTIONS},
}
"""Emitters of the array operations: from the dtype to the definition of
``static void kt_NAME(const kt_value *input, …, kt_value *output, …, size_t count)``; `emit_elementwise` makes one of
the program of an element."""
