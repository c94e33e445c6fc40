"""Write docs/functions.md from the tables of algorithms: ``python docs/make_functions.py``; a test checks it."""

from __future__ import annotations

import inspect
from pathlib import Path

from kinetree.algorithms import ALGORITHMS, Algorithm
from kinetree.algorithms.registry import Joints, OneFrame
from kinetree.algorithms.table import Table
from kinetree.constraints import MECHANISM_ALGORITHMS

HEAD = """# The functions of a robot

Each is compiled for the robot when first called; `help(robot.jacobian)` has shapes, units, frames and sources.
The shapes here are for one state: all functions take leading batch axes, which broadcast, `out=`, and float32.
A function with several results returns a named tuple. `f.bind(frame=…)` fixes options, `f.warmup()` compiles
ahead, `f.op_count` counts operations.

This page is made by `python docs/make_functions.py`.
"""

MECHANISM_HEAD = """# The functions of a mechanism

Those of a `kinetree.Mechanism`, a robot with constraints; all others are those of its robot, `mech.tree`.
"""


def _shape(shape: tuple[int | str, ...]) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")" if shape else "()"


def _call(a: Algorithm) -> str:
    inner = {} if a.group is None else a.group.inner
    outer = dict.fromkeys(a.group.name if a.group and name in inner else name for name in a.optional)
    arguments = [*a.inputs, *(f"{name}=None" for name in outer)]
    for name, kind in ((name, kind) for name, kind in a.options.items() if name not in inner):
        if isinstance(kind, OneFrame):
            arguments.append(f"{name}=FRAME")
        elif isinstance(kind, Joints):
            arguments.append(f"{name}=()")
        else:
            arguments.append(f"{name}=" + "\\|".join(f'"{choice}"' for choice in kind))
    return f"{a.name}({', '.join(arguments)})"


def page() -> str:
    """Return the text of docs/functions.md."""
    return "\n".join([HEAD, *_rows(ALGORITHMS), MECHANISM_HEAD, *_rows(MECHANISM_ALGORITHMS)])


def _rows(table: Table) -> list[str]:
    """Return the lines of one table of algorithms."""
    pages: dict[str, list[Algorithm]] = {}
    for a in (table[name] for name in table.index):
        pages.setdefault(a.function.__module__, []).append(a)
    text = []
    for module, algorithms in pages.items():
        title = (inspect.getdoc(inspect.getmodule(algorithms[0].function)) or module).splitlines()[0].rstrip(".")
        path = module.replace(".", "/") + ".py"
        text += [
            f"## {title}",
            "",
            f"[{path.removeprefix('kinetree/').removeprefix('algorithms/')}](../src/{path})",
            "",
        ]
        text += ["| function | gives | shape |", "|---|---|---|"]
        for a in algorithms:
            line = (inspect.getdoc(a.function) or "").splitlines()[0]
            outputs = ", ".join(f"{name} {_shape(shape)}" for name, shape in a.outputs.items())
            text.append(f"| `{_call(a)}` | {line} | {outputs} |")
        text.append("")
    return text


if __name__ == "__main__":
    Path(__file__).with_name("functions.md").write_text(page(), encoding="utf-8")
