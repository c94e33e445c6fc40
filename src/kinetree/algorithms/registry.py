"""The decorator by which a page declares its algorithm: its inputs, options and outputs."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

from kinetree.algorithms.table import ALGORITHMS, Algorithm, Table
from kinetree.glossary import symbols
from kinetree.glossary.symbols import TEXTS, Joints, Matrix, OneFrame, Option, Shape, Vector, defined, shape_of
from kinetree.groups import Group
from kinetree.validation import Range

EXAMPLE_ROBOT = SimpleNamespace(nq=7, nv=7, nb=7)
EXAMPLE_FRAMES = {"frame": "panda_hand", "relative_to": "panda_link2"}
EXAMPLE_VALUES = {name: name for name in ("q", "v", "a")} | {
    "tau": "robot.gravity_forces(q)",
    "V": "[0, 0, 0, 0.1, 0, 0]",
    "wrench": "[0, 0, 0, 0, 0, -20]",
}


def full_docstring(algorithm: Algorithm, raises: str, setup: str) -> str | None:
    """Return the docstring of an algorithm's page with every section; None if Python strips docstrings."""
    doc = inspect.getdoc(algorithm.function)
    if doc is None:
        return None
    written = _sections(doc)
    types = {name: _array_type(shape) for name, shape in algorithm.inputs.items()}
    optional = {name: f"{_array_type(shape)}, optional" for name, shape in algorithm.optional.items()}
    options = {name: _option_type(option) for name, option in algorithm.options.items()}
    texts = dict(TEXTS)
    if (group := algorithm.group) is not None:
        outer = {group.name if name in group.inner else name: kind for name, kind in optional.items()}
        optional = outer | {group.name: f"{group.kind}, optional"}
        options = {name: kind for name, kind in options.items() if name not in group.inner}
        texts[group.name] = f"Of these: {', '.join(f'`{group.kind}.{field}`' for field in group.fields)}."
    types |= optional | options
    results = {name: _array_type(shape) for name, shape in algorithm.outputs.items()}
    sections = {
        "Parameters": _entries(types, written.pop("Parameters", ""), texts),
        "Returns": _entries(results, written.pop("Returns", ""), texts),
        "Raises": written.pop("Raises", "") or _raises(algorithm, raises),
        "Notes": written.pop("Notes", ""),
        "References": written.pop("References", ""),
        "Examples": _example(algorithm, written.pop("Examples", ""), setup),
    }
    text = [written.pop("")]
    text += [f"{title}\n{'-' * len(title)}\n{body}" for title, body in (sections | written).items() if body]
    return "\n\n".join(text) + "\n"


def _array_type(shape: Shape) -> str:
    """Return how a docstring writes an array of this shape: ``(..., 6, 10 nb) array``."""
    return f"({', '.join(['...', *(str(n).replace('*', ' ') for n in shape)])}) array"


def _option_type(option: Option) -> str:
    if isinstance(option, OneFrame):
        return "str" if option.required else "str, optional"
    if isinstance(option, Joints):
        return "sequence of str"
    return "{" + ", ".join(f'"{choice}"' for choice in option) + "}"


def _sections(doc: str) -> dict[str, str]:
    """Return the text before the first section, under an empty title, and that of every section."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line in doc.splitlines():
        if set(line) == {"-"} and any(found[title][-1:]):
            title = found[title].pop()
            found[title] = []
            continue
        if line.startswith(("References: ", ">>> ")):
            title = "References" if line[0] == "R" else "Examples"
        found.setdefault(title, []).append(line.removeprefix("References: "))
    return {title: "\n".join(lines).strip("\n") for title, lines in found.items()}


def _entries(types: Mapping[str, str], written: str, texts: Mapping[str, str]) -> str:
    """Return a section with an entry for each name; one that describes something else as well is left as it is."""
    own: dict[str, list[str]] = {}
    header = ""
    for line in written.splitlines():
        if line and not line[0].isspace():
            header = line
        own.setdefault(header, []).append(line)
    headers = {header.partition(" : ")[0]: header for header in own}
    if not headers.keys() <= types.keys():
        return written
    lines = []
    for name, kind in types.items():
        header = headers.get(name, "")
        lines.append(header if " : " in header else f"{name} : {kind}")
        lines += own[header][1:] if header else [_wrapped(texts.get(name, ""))]
    return "\n".join(lines)


def _wrapped(text: str) -> str:
    return textwrap.indent(textwrap.fill(text, 112), "    ")


def _raises(algorithm: Algorithm, reason: str) -> str:
    """Return the errors of an algorithm: for a frame or joint that is missing, and for the reason that it gives."""
    kinds = {OneFrame: "frame", Joints: "joint"}
    named = sorted({kinds[type(option)] for option in algorithm.options.values() if type(option) in kinds})
    raised = {
        "ArgumentError": f"If there is no {' or '.join(named)} of that name." if named else "",
        "ModelError": reason,
    }
    return "\n".join(f"{error}\n{_wrapped(when)}" for error, when in raised.items() if when)


def _example(algorithm: Algorithm, written: str, setup: str) -> str:
    if "import " in written:
        return written
    if not written and algorithm.inputs.keys() <= EXAMPLE_VALUES.keys():
        frames = [name for name, option in algorithm.options.items() if isinstance(option, OneFrame)]
        arguments = [EXAMPLE_VALUES[name] for name in algorithm.inputs]
        arguments += [f'{name}="{EXAMPLE_FRAMES.get(name, "panda_hand")}"' for name in frames]
        call = f"robot.{algorithm.name}({', '.join(arguments)})"
        shapes = [shape_of(shape, EXAMPLE_ROBOT) for shape in algorithm.outputs.values()]
        written = f">>> {call}.shape\n{shapes[0]}" if len(shapes) == 1 else f">>> [x.shape for x in {call}]\n{shapes}"
    return setup + written if written else ""


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
