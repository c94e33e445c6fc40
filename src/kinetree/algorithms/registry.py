"""The decorator by which a page declares its algorithm: its inputs, options and outputs.

The functions of a robot, their documentation, the benchmarks and the conformance tests are made from the table
`ALGORITHMS`: a new algorithm is one page with one decorator, and its name in `kinetree.algorithms.table`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from kinetree.algorithms.docstrings import full_docstring
from kinetree.algorithms.table import ALGORITHMS, Algorithm, Table
from kinetree.glossary import symbols
from kinetree.glossary.symbols import Joints, Matrix, OneFrame, Option, Shape, Vector, defined, shape_of
from kinetree.validation import Range

__all__ = ["ALGORITHMS", "Algorithm", "Joints", "Matrix", "OneFrame", "Option", "Shape", "Vector"]
__all__ += ["algorithm", "shape_of"]

F = TypeVar("F", bound=Callable[..., Any])


def algorithm(
    name: str,
    *,
    outputs: str | Mapping[str, Shape],
    inputs: Mapping[str, Shape] | None = None,
    options: Mapping[str, Option] | None = None,
    raises: str = "",
    joint_space: bool = False,
    ranges: Mapping[str, Range] | None = None,
    table: Table = ALGORITHMS,
) -> Callable[[F], F]:
    """Register a function as an algorithm and complete its docstring; the function itself is returned.

    Its parameters after the model are the inputs, those with a default the optional ones, and those by keyword the
    options. The glossary (`kinetree.glossary.symbols`) has their shapes and choices.

    Parameters
    ----------
    name : str
        Name of the robot's function.
    outputs : str or mapping
        Names of the results in the glossary, ``"a tau"``, or their shapes by name.
    inputs, options : mapping, optional
        Shapes of inputs, and choices of options, that differ from the glossary or are not in it.
    raises : str
        When the algorithm raises `ModelError`.
    joint_space : bool
        Whether the result depends on the inertias through M(q) and h(q, v) alone: fewer operations are traced then.
    ranges : mapping, optional
        The numbers that inputs may hold, beside those of the glossary.
    table : Table
        Where it is entered: the functions of a robot by default.
    """

    def register(function: F) -> F:
        _, *parameters = inspect.signature(function).parameters.values()
        arrays = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        shapes, known = {**symbols.SHAPES, **(inputs or {})}, {**symbols.RANGES, **(ranges or {})}
        made = Algorithm(
            name,
            function,
            defined("symbol", (p.name for p in arrays if p.default is p.empty), shapes),
            defined("symbol", (p.name for p in arrays if p.default is not p.empty), shapes),
            defined("option", (p.name for p in parameters if p not in arrays), {**symbols.CHOICES, **(options or {})}),
            defined("symbol", outputs.split(), symbols.SHAPES) if isinstance(outputs, str) else outputs,
            joint_space,
            {p.name: known[p.name] for p in arrays if p.name in known},
        )
        table.register(made)
        function.__doc__ = full_docstring(made, raises, table.setup)
        return function

    return register
