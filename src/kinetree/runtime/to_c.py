"""`Function.to_c`: a compiled function as C."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from kinetree.backends.c.names import c_name, parameter_names
from kinetree.backends.c.source import CSource, generate
from kinetree.errors import ArgumentError
from kinetree.options import names_of, text
from kinetree.runtime.batch import check_lanes
from kinetree.runtime.spec import FunctionSpec, Variant, describe_shape

if TYPE_CHECKING:
    from kinetree.runtime.function import Function

INCLUDED = "#include <stddef.h>\n"
_ENTRY = re.compile(r"^(\w+) : .*\n((?:    .*\n?)+)", re.MULTILINE)


def to_c(
    function: Function,
    name: str | None = None,
    *,
    dtype: str = "float64",
    optional: Sequence[str] = (),
    lanes: int | None = None,
    main: bool = False,
    **options: object,
) -> CSource:
    """Return this function as C99: one self-contained source and its header.

    It needs a C compiler and libm, allocates nothing, and computes one state. Where the processor has fused
    multiply-adds, its results have the bits of this function's. The files are yours: no licence of kinetree's applies.

    Parameters
    ----------
    name : str, optional
        Of the function in C; that of this function if not given.
    dtype : {"float64", "float32"}
        Of arguments, results and arithmetic: ``double`` or ``float``.
    optional : tuple of str
        The optional arguments that the function in C takes.
    lanes : int, optional
        1, 2, 4, 8 or 16: the source is that of a batch entry, ``NAME_batch``, which computes so many states side by
        side through the vector extensions of gcc and clang, as the compiler option ``-DKT_LANES`` makes it one.
    main : bool
        Whether to add a ``main`` that reads states from standard input and prints the results, for a quick check.
    **options
        As in the call. They are fixed in the code.

    Returns
    -------
    CSource
        `source`, `header`, `name` and `scratch` (bytes of static memory), and `save(path)`.

    Raises
    ------
    ArgumentError
        For a name, a dtype, an argument or an option that cannot be.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> code = robot.inverse_dynamics.to_c("panda_id")
    >>> "int panda_id(const double q[7], const double v[7], const double a[7], double tau[7]);" in code.header
    True
    >>> code.scratch
    96
    >>> robot.jacobian.to_c(frame="panda_hand", dtype="float32").source.splitlines()[2]
    ' *   int jacobian(const float q[7], float J[42])'
    """
    for given in options:
        if any(port.name == function.spec.spelled(given) for port in function.spec.inputs):
            raise ArgumentError(
                f"{function.__name__}: to_c fixes options, and {given!r} is an argument: the function in C takes it"
            )
    variant = function._variant(dtype, names_of(f"{function.__name__}: optional", optional), options)
    spec = function.spec.of(variant.optional, variant.options)
    lanes = None if lanes is None else check_lanes(lanes)
    if lanes is not None and main:
        raise ArgumentError(f"{spec.name}: main=True is for one state at a time, lanes={lanes} for many: leave one out")
    name = None if name is None else text(f"{spec.name}: name", name)
    free = c_name(name or spec.name, is_function=True)
    if name is not None and free != name:
        raise ArgumentError(f"{spec.name}: {name!r} cannot be the name of a function in C and C++, {free!r} can")
    program = function._kernels.checked(variant)
    code = generate(
        program, free, dtype, about=_about(spec, variant), texts=_texts(spec, variant), lanes=lanes, main=main
    )
    constants = [pattern.to_c(c_name(f"{free}_{output}")) for output, pattern in spec.patterns.items()]
    return replace(code, header=code.header.replace(INCLUDED, "\n".join([INCLUDED, *constants]), 1))


def _about(spec: FunctionSpec, variant: Variant) -> list[str]:
    """Return a description of the function: the first line of its documentation, and its options."""
    first = (spec.doc.strip().splitlines() or [spec.name])[0]
    chosen = [f"{name} = {value!r}" for name, value in variant.options if value not in (None, ())]
    return [first.replace("`", ""), *([f"Options: {', '.join(chosen)}."] if chosen else [])]


def _texts(spec: FunctionSpec, variant: Variant) -> dict[str, str]:
    """Return descriptions of the arguments and results, by their names in C."""
    doc = {name: " ".join(text.split()) for name, text in _ENTRY.findall(inspect.cleandoc(spec.doc) + "\n")}
    inputs = spec.ports(variant.optional)
    texts = {}
    for k, (port, x) in enumerate(zip((*inputs, *spec.outputs), parameter_names(inputs, spec.outputs), strict=True)):
        made_of = spec.describe(port) if k < len(inputs) else ""
        parts = [
            doc.get(port.name) or spec.meanings.get(port.name, ""),
            "" if made_of == describe_shape(port) else made_of,
        ]
        texts[x] = (
            " ".join(f"{part[0].upper()}{part[1:].rstrip('.')}." for part in parts if part)
            .replace("``", "")
            .replace("`", "")
        )
    return texts
