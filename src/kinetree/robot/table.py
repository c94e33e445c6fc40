"""What a robot is made of, for people: what ``print(robot)`` and ``kinetree info`` show."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape

from kinetree.model import WORLD
from kinetree.tables import WIDE, Cells, number, print_warnings
from kinetree.validation import given_limits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import JustifyMethod
    from rich.table import Table

    from kinetree.model import Body, JointLimits, Model
    from kinetree.robot.base import BaseRobot


def print_robot(out: Console, robot: BaseRobot) -> None:
    """Print what the robot is made of: a line, its joints, its frames and what limits it lacks."""
    model = robot.model
    out.print(headline(robot))
    if model.bodies:
        out.print(joint_table(model, out.width))
        out.print("[dim]rad, m, s, N·m, N, kg; a joint hangs on the one above it in its branch[/]")
    for line in (*frame_lines(model), *missing_limits(model)):
        out.print(line)


def as_text(robot: BaseRobot) -> str:
    """Return the plain text that ``kinetree info`` prints of this robot."""
    return plain_text(lambda out: print_robot(out, robot), robot.model)


def plain_text(show: Callable[[Console], None], model: Model) -> str:
    """Return a model's table, with warnings, as plain text."""
    text = io.StringIO()
    plain = {"color_system": None, "force_terminal": False, "force_jupyter": False}
    out = Console(file=text, width=WIDE, highlight=False, emoji=False, **plain)  # type: ignore[arg-type]
    show(out)
    print_warnings(out, massless(model))
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines())


def headline(robot: BaseRobot) -> str:
    """Return the robot in one line."""
    actuated = len(robot.model.actuated)
    counts = f"{len(robot.joint_names)} joints, nq = {robot.nq}, nv = {robot.nv}"
    if actuated < robot.nv:
        counts += f" ({actuated} actuated)"
    return f"[bold]{escape(robot.name)}[/]: {counts}, {robot.nb} moving bodies, {number(robot.mass)} kg"


def joint_table(model: Model, width: int) -> Table:
    """Return the joints as a tree, one a line."""
    columns: dict[str, JustifyMethod] = {
        "joint": "left",
        "type": "left",
        "range": "center",
        "speed": "right",
        "effort": "right",
        "mass": "right",
        "body": "left",
    }
    rows = [
        (
            guide + body.joint_name,
            kind(body),
            position_range(body.limits),
            number(given_limits(body.limits.velocity)),
            number(given_limits(body.limits.effort)),
            number(float(body.inertia.m)),
            body.name,
        )
        for guide, body in tree(model)
    ]
    return Cells(columns, rows, ("body", "mass", "effort", "speed", "type")).for_terminal(width)


def position_range(limits: JointLimits) -> str:
    """Return the limits of position for people."""
    if math.isinf(limits.lower) and math.isinf(limits.upper):
        return "–"
    return f"{number(limits.lower)} … {number(limits.upper)}"


def tree(model: Model) -> Iterator[tuple[str, Body]]:
    """Yield the bodies, children after parents, each with its guide lines.

    Where a body has one child, the child follows on the next line; only a branching indents. So a chain of any
    length stays narrow.
    """
    children: dict[int, list[int]] = {}
    for i, body in enumerate(model.bodies):
        children.setdefault(body.parent, []).append(i)
    stack = [("", "", i) for i in reversed(children.get(WORLD, []))]
    while stack:
        first, rest, i = stack.pop()
        yield first, model.bodies[i]
        below = children.get(i, [])
        if len(below) == 1:
            stack.append((rest, rest, below[0]))
        for k, child in reversed(list(enumerate(below))):
            if len(below) > 1:
                mark, bar = ("└─ ", "   ") if k == len(below) - 1 else ("├─ ", "│  ")
                stack.append((rest + mark, rest + bar, child))


def kind(body: Body) -> str:
    """Return a joint's type, with its axis if it has one: ``prismatic -x``, ``revolute (0, 0.6, 0.8)``."""
    name = type(body.joint).__name__.lower()
    axis = getattr(body.joint, "axis", None)
    if axis is None:
        return name
    for k, letter in enumerate("xyz"):
        if abs(axis[k]) == 1.0:
            return f"{name} {'-' if axis[k] < 0 else ''}{letter}"
    return f"{name} ({', '.join(number(float(x), 3) for x in axis)})"


def frame_lines(model: Model) -> Iterator[str]:
    """Yield, for the world and each body, the other frames that are fixed to it."""
    fixed: dict[int, list[str]] = {}
    for frame in model.frames:
        if frame.body == WORLD or frame.name != model.bodies[frame.body].name:
            fixed.setdefault(frame.body, []).append(frame.name)
    for body, names in sorted(fixed.items()):
        to = "the world" if body == WORLD else model.bodies[body].name
        yield f"[dim]fixed to {escape(to)}:[/] {escape(', '.join(names))}"


def missing_limits(model: Model) -> Iterator[str]:
    """Yield the limits that are missing, for joints of one degree of freedom, and those that are written as 0."""
    single = [body for body in model.bodies if len(body.v_index) == 1]
    has: dict[str, Callable[[JointLimits], bool]] = {
        "position": lambda limits: math.isfinite(limits.lower) and math.isfinite(limits.upper),
        "velocity": lambda limits: 0 < limits.velocity < math.inf,
        "effort": lambda limits: 0 < limits.effort < math.inf,
    }
    for what, is_given in has.items():
        names = [body.joint_name for body in single if not is_given(body.limits)]
        if names:
            which = "all joints" if len(names) == len(single) else escape(", ".join(names))
            yield f"[dim]without a limit of {what}:[/] {which}"
    zero = [what for what in ("effort", "velocity") if any(getattr(body.limits, what) == 0 for body in single)]
    if zero:
        yield f"[dim]a limit of 0 is read as not given:[/] {', '.join(zero)}"


def massless(model: Model) -> list[str]:
    """Return a warning that names the bodies without mass and inertia which carry nothing that has any."""
    inertias = [body.inertia for body in model.bodies]
    carried = [float(abs(x.m) + abs(x.I.xx) + abs(x.I.yy) + abs(x.I.zz)) for x in inertias]
    for i in reversed(range(model.nb)):
        if model.bodies[i].parent != WORLD:
            carried[model.bodies[i].parent] += carried[i]
    names = [body.name for body, any_mass in zip(model.bodies, carried, strict=True) if not any_mass]
    return [f"without mass, so that forward dynamics is singular: {', '.join(names)}"] if names else []
