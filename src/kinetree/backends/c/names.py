"""`Emitted`, a piece of C; names in C; the prototype of a function: `Function.c_signature` and generated files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kinetree.graph import Port
from kinetree.graph.array_operations import ArrayOperation

ITEM = {"float64": "double", "float32": "float"}
"""The C type of each dtype."""

_KEYWORDS = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while main
    alignas alignof and and_eq asm bitand bitor bool catch class compl concept consteval constexpr constinit const_cast
    co_await co_return co_yield decltype delete dynamic_cast explicit export false friend mutable namespace new noexcept
    not not_eq nullptr operator or or_eq private protected public reinterpret_cast requires static_assert static_cast
    template this thread_local throw true try typeid typename using virtual wchar_t xor xor_eq""".split()  # noqa: SIM905
)
_LIBRARY = frozenset(
    """acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh div erf erfc exp exp2 expm1 fabs fdim floor
    fma fmax fmin fmod frexp gamma hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb lrint
    lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn sin sinh sqrt tan
    tanh tgamma trunc y0 y1 yn abs labs llabs signbit exit abort free malloc""".split()  # noqa: SIM905
)
_LIBRARY_F = frozenset(f"{name}{suffix}" for name in _LIBRARY for suffix in ("", "f", "l"))


def c_name(name: str, taken: Iterable[str] = (), *, is_function: bool = False) -> str:
    """Return this name, or the nearest one that C and C++ allow and that is not taken.

    Names with two leading underscores or ``kt`` and a digit or an underscore are not free, nor for a function are those
    of the standard library.

    Examples
    --------
    >>> c_name("q"), c_name("double"), c_name("τ_des"), c_name("sin", is_function=True), c_name("kt_x")
    ('q', 'double_', 'u3c4_des', 'sin_', '_kt_x')
    """
    text = re.sub(r"[^\x00-\x7f]", lambda found: f"u{ord(found[0]):x}", name)
    text = re.sub(r"\W", "_", text, flags=re.ASCII)
    text = re.sub(r"^_*(?=_)|^(?=\d|$)", "x", text)
    if re.match(r"kt(\d|_)", text, re.IGNORECASE):
        text = f"_{text}"
    taken = {*taken, *_KEYWORDS, *(_LIBRARY_F if is_function else ())}
    while text in taken:
        text += "_"
    return text


def parameter_names(inputs: Sequence[Port], outputs: Sequence[Port]) -> list[str]:
    """Return a name for each port; an output with the name of an input is ``NAME_out``."""
    names: list[str] = []
    given = {port.name for port in inputs}
    for k, port in enumerate((*inputs, *outputs)):
        both = k >= len(inputs) and port.name in given
        names.append(c_name(f"{port.name}_out" if both else port.name, names))
    return names


def parameters(inputs: Sequence[Port], outputs: Sequence[Port], dtype: str) -> list[str]:
    """Return the declarations of the parameters: an array for each port."""
    names = parameter_names(inputs, outputs)
    item = ITEM[dtype]
    kinds = [f"const {item}"] * len(inputs) + [item] * len(outputs)
    ports = (*inputs, *outputs)
    return [
        f"{kind} {name}[{port.size}]" if port.size else f"{kind} *{name}"  # ISO C has no arrays of length zero
        for kind, name, port in zip(kinds, names, ports, strict=True)
    ]


def prototype(name: str, inputs: Sequence[Port], outputs: Sequence[Port], dtype: str = "float64") -> str:
    """Return the prototype of a function for one state.

    Examples
    --------
    >>> prototype("norm", [Port("x", (3,)), Port("scale", ())], [Port("x", ())])
    'int norm(const double x[3], const double scale[1], double x_out[1])'
    """
    return f"int {c_name(name, is_function=True)}({', '.join(parameters(inputs, outputs, dtype)) or 'void'})"


Routine = str | ArrayOperation
"""What an array call runs: the name of an array kernel, or an array operation."""


@dataclass(frozen=True)
class Emitted:
    """Definitions, the numbers in their static arrays, and the routines, helpers and other pieces that they call."""

    text: str
    cells: int = 0
    routines: tuple[Routine, ...] = ()
    helpers: tuple[str, ...] = ()


def routine_name(routine: Routine) -> str:
    """Return the name of the function of a routine; equal operations have one."""
    kind = routine if isinstance(routine, str) else f"{routine.name}_{routine.identity[:16]}"
    return f"kt_{kind}"
