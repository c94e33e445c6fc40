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
from kinetree.groups import Group
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
    group: Group | None = None,
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
    group : Group, optional
        The page's argument that is a value, and what it takes of it.
    table : Table
        Where it is entered: the functions of a robot by default.
    """

    def register(function: F) -> F:
        _, *parameters = inspect.signature(function).parameters.values()
        arrays = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
        required = [p.name for p in arrays if p.default is p.empty]
        optional = [p.name for p in arrays if p.default is not p.empty]
        chosen = [p.name for p in parameters if p not in arrays]
        if group is not None:
            at = optional.index(group.name)
            optional = [*optional[:at], *group.inputs, *optional[at + 1 :], *group.late]
            chosen += group.options
        shapes, known = {**symbols.SHAPES, **(inputs or {})}, {**symbols.RANGES, **(ranges or {})}
        made = Algorithm(
            name,
            function,
            defined("symbol", required, shapes),
            defined("symbol", optional, shapes),
            defined("option", chosen, {**symbols.CHOICES, **(options or {})}),
            defined("symbol", outputs.split(), symbols.SHAPES) if isinstance(outputs, str) else outputs,
            joint_space,
            {name: known[name] for name in (*required, *optional) if name in known},
            group,
        )
        table.register(made)
        function.__doc__ = full_docstring(made, raises, table.setup)
        return function

    return register
