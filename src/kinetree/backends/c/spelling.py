"""How operations are written in C: one expression each, for a scalar as well as for a vector of lanes.

The expressions are made of ``kt_value``, which is a number, or with ``KT_LANES`` a vector of them (an extension of gcc
and clang), and of helpers ``kt_NAME(…)``. A helper is made of its function ``kt_NAME_double`` or ``kt_NAME_float`` of
numbers, lane by lane, where `VECTORS` has nothing better; that function is the one of libm, unless it is in `NUMBERS`.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable

from kinetree.backends.c.names import ITEM
from kinetree.graph.ieee import POW2_SHIFT, SQRT_HALF, TO_SQRT_2

SPELLING: dict[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "neg": "-{0}",
    "abs": "kt_fabs({0})",
    "select_lt": "kt_select({0} < {1}, {2}, {3})",
    "select_le": "kt_select({0} <= {1}, {2}, {3})",
    "sqrt": "kt_sqrt({0})",
    "fma": "kt_fma({0}, {1}, {2})",
    "fms": "kt_fma({0}, {1}, -{2})",
    "fnma": "kt_fma(-{0}, {1}, {2})",
    "rint": "kt_rint({0})",
    "floor": "kt_floor({0})",
    "ceil": "kt_ceil({0})",
    "trunc": "kt_trunc({0})",
    "copysign": "kt_copysign({0}, {1})",
    "pow2": "kt_pow2({0})",
    "exponent": "kt_exponent({0})",
    "significand": "kt_significand({0})",
}
"""The expression of each straight-line operation; {0}, {1}, … are the arguments: names or constants."""

# {s} and {d} are the suffixes of Intel's functions for the dtype; {each} works lane by lane
_FMA = """\
#ifndef KT_LANES
#if KT_FMA
#define kt_fma(x, y, z) kt_fma_{item}(x, y, z)
#else
#define kt_fma(x, y, z) ((x) * (y) + (z))
#endif
#elif !KT_FMA
#define kt_fma(x, y, z) ((x) * (y) + (z))
#elif KT_HAS_BUILTIN(__builtin_elementwise_fma)
#define kt_fma(x, y, z) __builtin_elementwise_fma(x, y, z)
#elif defined(__AVX512F__) && KT_VECTOR_BYTES == 64
#define kt_fma(x, y, z) ((kt_value)_mm512_fmadd_p{s}((__m512{d})(x), (__m512{d})(y), (__m512{d})(z)))
#elif defined(__FMA__) && KT_VECTOR_BYTES == 32
#define kt_fma(x, y, z) ((kt_value)_mm256_fmadd_p{s}((__m256{d})(x), (__m256{d})(y), (__m256{d})(z)))
#elif defined(__FMA__) && KT_VECTOR_BYTES == 16
#define kt_fma(x, y, z) ((kt_value)_mm_fmadd_p{s}((__m128{d})(x), (__m128{d})(y), (__m128{d})(z)))
#else
{each}#endif
"""

_SELECT = """\
#ifndef KT_LANES
#define kt_select(condition, x, y) ((condition) ? (x) : (y))
#else
#define kt_select(condition, x, y) __extension__({ \\
    const kt_mask kt_chosen = (kt_mask)(condition); \\
    (kt_value)((kt_chosen & (kt_mask)(x)) | (~kt_chosen & (kt_mask)(y))); \\
})
#endif
"""

_ANY = """\
#ifndef KT_LANES
typedef int kt_truth;
#define KT_TRUE 1
#define kt_any(truth) (truth)
#else
typedef kt_mask kt_truth;
#define KT_TRUE (~(kt_mask){0})
#define kt_any(truth) __extension__({ \\
    const kt_mask kt_truths = (truth); \\
    int kt_found = 0; \\
    for (size_t kt_l = 0; kt_l < KT_LANES; kt_l++) \\
        kt_found |= kt_truths[kt_l] != 0; \\
    kt_found; \\
})
#endif
"""

VECTORS: dict[str, str] = {"fma": _FMA, "select": _SELECT, "any": _ANY}
"""The definitions of helpers that are more than a function of numbers by lanes, by the name after ``kt_``."""

_BITS = """\
static double kt_{name}_double(double x)
{{
    union {{
        double number;
        uint64_t bits;
    }} kt = {{{number}}};
    {statement};
    return {result};
}}
"""


def _of_bits(name: str, statement: str, number: str = "x", result: str = "kt.number") -> str:
    return _BITS.format(name=name, statement=statement, number=number, result=result)


NUMBERS: dict[str, str] = {
    "fma_double": "",  # both are at the top of every file
    "fma_float": "",
    "select_double": "#define kt_select_double(condition, x, y) ((condition) ? (x) : (y))\n",
    "pow2_double": _of_bits("pow2", "kt.bits <<= 52", f"x + {POW2_SHIFT!r}"),
    "exponent_double": _of_bits(
        "exponent", f"kt.bits = (kt.bits + {TO_SQRT_2}u) >> 52", result="(double)(int32_t)(uint32_t)kt.bits - 1023.0"
    ),
    "significand_double": _of_bits(
        "significand", f"kt.bits = ((kt.bits + {TO_SQRT_2}u) & 0x{(1 << 52) - 1:x}u) + 0x{SQRT_HALF:x}u"
    ),
}
"""The definitions of functions of numbers that are not libm's, by the name after ``kt_``."""

IN_DOUBLE = ("pow2", "exponent", "significand")
"""Functions on the bits of ``double``, which are computed so for ``float`` too."""

ARITY = {"fma": 3, "copysign": 2, "atan2": 2, "fmax": 2, "fmin": 2, "fmod": 2, "hypot": 2, "pow": 2}
"""The number of arguments of the functions that take more than one."""

_VECTOR = """\
#ifndef KT_LANES
#define kt_{name}({names}) kt_{name}_{item}({names})
#else
{each}#endif
"""


def _each_lane(name: str, names: str, function: str) -> str:
    """Return the definition of ``kt_NAME`` as a function by lanes: a macro, since vectors have no fixed ABI."""
    copies = ", ".join(f"kt_{x} = ({x})" for x in names)
    elements = ", ".join(f"kt_{x}[kt_l]" for x in names)
    return (
        f"#define kt_{name}({', '.join(names)}) __extension__({{ \\\n    kt_value {copies}; \\\n"
        f"    for (size_t kt_l = 0; kt_l < KT_LANES; kt_l++) \\\n        kt_x[kt_l] = {function}({elements}); \\\n"
        "    kt_x; \\\n})\n"
    )


def spelled_helpers(op: str) -> list[str]:
    """Return the helpers that the spelling of an operation uses: ``fma`` for fms."""
    return _HELPER.findall(SPELLING.get(op, ""))


def in_double(op: str) -> str:
    """Return the spelling of an operation on numbers in float64, whatever ``kt_value`` is: with ``kt_fma_double``."""
    return _HELPER.sub(r"kt_\1_double(", SPELLING[op])


_HELPER = re.compile(r"\bkt_(\w+)\(")


def helper_definitions(used: Iterable[str], dtype: str) -> str:
    """Return the definitions of these helpers: names in spellings, or with ``_double``, of those in `in_double`."""
    item = ITEM[dtype]
    parts: dict[str, str] = {}
    for helper in used:
        name, _, kind = helper.partition("_")
        if kind or name not in ("select", "any"):
            parts.update(_of_numbers(name, kind or item))
        if not kind:
            parts[name] = _of_values(name, item)
    return "".join(parts.values())


def _of_numbers(name: str, item: str) -> dict[str, str]:
    """Return the definition of a function of numbers, declared without ``math.h``, and first of one that it uses."""
    key = f"{name}_{item}"
    if key in NUMBERS:
        return {key: NUMBERS[key]}
    if name in IN_DOUBLE:
        wide = f"{name}_double"
        return {wide: NUMBERS[wide], key: f"#define kt_{key}(x) ((float)kt_{wide}((double)(x)))\n"}
    function = name if item == "double" else f"{name}f"
    names = _names(name)
    arguments = "x, (y) != (y) ? 0 : (y)" if name == "copysign" else ", ".join(names)
    defined = f"#define kt_{key}({', '.join(names)})"
    declaration = f"{item} {function}({', '.join([item] * len(names))});\n"
    return {
        key: f"#ifdef __GNUC__ /* one instruction where there is one, also with -ffreestanding */\n"
        f"{defined} __builtin_{function}({arguments})\n#else\n"
        f"{declaration}{defined} {function}({arguments})\n#endif\n"
    }


def _of_values(name: str, item: str) -> str:
    """Return the definition of a helper."""
    s, d = ("d", "d") if item == "double" else ("s", "")
    names = _names(name)
    each = _each_lane(name, names, f"kt_{name}_{item}")
    values = {"item": item, "s": s, "d": d, "name": name, "names": ", ".join(names), "each": each}
    definition = VECTORS.get(name, _VECTOR)
    for key, value in values.items():
        definition = definition.replace(f"{{{key}}}", value)
    return definition


def _names(name: str) -> str:
    return "xyz"[: ARITY.get(name, 1)]


def literal(value: float, dtype: str) -> str:
    """Return a constant as a ``kt_value``, to the bit, rounded to the dtype: ``KT_C(0x1.999999999999ap-4)``."""
    return f"KT_C{number(value, dtype)}"


def number(value: float, dtype: str) -> str:
    """Return a constant as a number, in parentheses: ``(-0x1.999999999999ap-4)``."""
    rounded = value if dtype == "float64" else ctypes.c_float(value).value  # inf on overflow
    f = "" if dtype == "float64" else "f"
    if math.isnan(rounded):
        return f"(0.0{f} / 0.0{f})"
    if math.isinf(rounded):
        return f"({'-' if rounded < 0 else ''}1.0{f} / 0.0{f})"
    return f"({re.sub(r'[.]?0*p', 'p', rounded.hex(), count=1)}{f})"
