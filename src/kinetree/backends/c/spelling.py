"""How operations are written in C: one expression each, for a scalar as well as for a vector of lanes.

The expressions are made of ``kt_value``, which is a number, or with ``KT_LANES`` a vector of them (an extension of gcc
and clang), and of helpers ``kt_NAME(…)``. A helper that is not in `HELPERS` is the function NAME of libm, lane by lane.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterable

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
}
"""The expression of each straight-line operation; {0}, {1}, … are the arguments: names or constants."""

# {f} is the suffix of libm's functions for the dtype, {s} and {d} those of Intel's; {each} works lane by lane
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

HELPERS: dict[str, str] = {"fma": _FMA, "select": _SELECT}
"""The definitions of helpers that are more than a function of libm, by the name after ``kt_``."""

LIBM_ARITY = {"fma": 3, "atan2": 2, "copysign": 2, "fmax": 2, "fmin": 2, "fmod": 2, "hypot": 2, "pow": 2}
"""The number of arguments of libm's functions that take more than one."""

_LIBM = """\
#ifndef KT_LANES
#define kt_{name}({names}) {name}{f}({names})
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
    """Return the helpers that the spelling of an operation uses.

    Examples
    --------
    >>> spelled_helpers("fms"), spelled_helpers("add")
    (['fma'], [])
    """
    return re.findall(r"\bkt_(\w+)\(", SPELLING.get(op, ""))


def helper_definitions(used: Iterable[str], dtype: str) -> str:
    """Return the definitions of these helpers, with declarations of libm's functions in them.

    C allows the declarations in place of ``math.h``, which a target without an operating system may not have.
    """
    item, f, s, d = ("double", "", "d", "d") if dtype == "float64" else ("float", "f", "s", "")
    declarations, definitions = [], []
    for name in dict.fromkeys(used):
        names = "xyz"[: LIBM_ARITY.get(name, 1)]
        if name not in HELPERS:
            declarations.append(f"{item} {name}{f}({', '.join([item] * len(names))});\n")
        each = _each_lane(name, names, f"kt_fma_{item}" if name == "fma" else f"{name}{f}")
        values = {"item": item, "f": f, "s": s, "d": d, "name": name, "names": ", ".join(names), "each": each}
        definition = HELPERS.get(name, _LIBM)
        for key, value in values.items():
            definition = definition.replace(f"{{{key}}}", value)
        definitions.append(definition)
    return "".join([*declarations, "\n" if declarations else "", *definitions])


def literal(value: float, dtype: str) -> str:
    """Return a constant to the bit, rounded to the dtype.

    Examples
    --------
    >>> literal(0.1, "float64"), literal(0.1, "float32"), literal(-3.0, "float64")
    ('KT_C(0x1.999999999999ap-4)', 'KT_C(0x1.99999ap-4f)', 'KT_C(-0x1.8p+1)')
    """
    number = value if dtype == "float64" else ctypes.c_float(value).value  # inf on overflow
    f = "" if dtype == "float64" else "f"
    if math.isnan(number):
        return f"KT_C(0.0{f} / 0.0{f})"
    if math.isinf(number):
        return f"KT_C({'-' if number < 0 else ''}1.0{f} / 0.0{f})"
    return f"KT_C({re.sub(r'[.]?0*p', 'p', number.hex(), count=1)}{f})"
