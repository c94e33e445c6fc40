"""What pictures have in common: figures, panels, the units of a robot's entries, and long curves as few points."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.motions.trajectory import Trajectory
from kinetree.output import whole_file
from kinetree.robot import Robot
from kinetree.validation import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 4000
"""Points drawn of one joint; of more samples, the extremes of each stretch are drawn."""


def check_matplotlib() -> None:
    """Raise `ArgumentError` where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ArgumentError("a picture needs matplotlib: pip install matplotlib")


def check_drawable(trajectory: Trajectory) -> None:
    """Raise `ArgumentError` where there is nothing to be drawn, or nowhere."""
    if not trajectory.q[..., 0, :].size:
        raise ArgumentError(f"{trajectory!r} has nothing that moves, so there is nothing to draw")
    for name in ("q", "v"):
        if not np.isfinite(getattr(trajectory, name)).all():
            raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf), which cannot be drawn")


def check_plot(plot: str | None) -> None:
    """Raise `ArgumentError` if a picture is asked for, a file or "show" for a window, and cannot be made here."""
    if plot is None:
        return
    check_matplotlib()
    if plot == "show":
        import matplotlib.pyplot as plt

        if plt.get_backend().lower() in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template"):
            raise ArgumentError("--plot show needs a display; give a file instead: --plot torques.png")


def drawn(draw: Callable[[Figure], object], **choices: Any) -> Figure:
    """Return a new figure in which something is drawn."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(**choices)
    draw(figure)
    return figure


def finish(draw: Callable[[Any], object], plot: str) -> None:
    """Have a figure drawn, and write it to the file `plot`, or open a window for "show"."""
    if plot == "show":
        import matplotlib.pyplot as plt

        draw(plt.figure(layout="constrained"))
        plt.show()
        return
    figure = drawn(draw, layout="constrained")
    with whole_file(Path(plot)) as stream:
        figure.savefig(stream, format=Path(plot).suffix[1:].lower(), dpi=150)


def panel(ax: Any, title: str, *, along: str = "", size: float = 9.0, thin: bool = False, **about: Any) -> None:
    """Give axes their title, the name of what is along them, small labels and a faint grid."""
    ax.set_title(title, fontsize=size, **about)
    ax.tick_params(labelsize=size - 1.0)
    ax.grid(alpha=0.25 if thin else 0.3, linewidth=0.5 if thin else 0.8)
    if along:
        ax.set_xlabel(along, fontsize=size - 1.0)


def grid(figure: Any, count: int, columns: int, along: str, *, least: int = 1) -> Sequence[Any]:
    """Return so many panels in columns that share what is along them, which the lowest of each column name."""
    rows = max(least, math.ceil(count / columns))
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
    for ax in axes[count:]:
        ax.set_visible(False)
    for ax in axes[max(0, count - columns) : count]:
        ax.tick_params(labelbottom=True)
        ax.set_xlabel(along, fontsize=8)
    return list(axes[:count])


def turning(robot: Robot) -> list[bool]:
    """Return whether each entry of v turns, or only slides."""
    turns = [False] * robot.nv
    for body in robot.model.leading:
        columns = body.joint.jcalc(body.joint.neutral(), (0.0,) * body.joint.nv).S
        for k, column in zip(body.v_index, columns, strict=True):
            turns[k] = any(map(float, column.ang))
    return turns


def torque_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of tau: N·m where its velocity turns, N where it only slides."""
    return ["N·m" if turns else "N" for turns in turning(robot)]


def velocity_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of v: rad/s or m/s."""
    return ["rad/s" if turns else "m/s" for turns in turning(robot)]


def position_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of q: rad where it turns the body, m where it only moves it, 1 of a quaternion."""
    units = [""] * robot.nq
    for body in robot.model.leading:
        neutral = list(body.joint.neutral())
        for j, k in enumerate(body.q_index):
            moved = [x + 0.1 * (i == j) for i, x in enumerate(neutral)]
            still, turned = (
                list(chain(*(row[:3] for row in body.joint.jcalc(q, [0.0] * body.joint.nv).X.placement[:3])))
                for q in (neutral, moved)
            )
            turns = not np.allclose(np.array(still, float), np.array(turned, float), rtol=0.0, atol=1e-6)
            units[k] = "1" if robot.q_names[k].endswith((".qx", ".qy", ".qz", ".qw")) else "rad" if turns else "m"
    return units


def extremes(when: Array, tau: Array, *, points: int = POINTS) -> tuple[Array, Array]:
    """Return at most so many points of each curve: of every stretch its lowest and its highest, in their order.

    `when` is (n,) and `tau` is (n, nv); both results are (m, nv).
    """
    n, nv = tau.shape
    if n <= points:
        return np.repeat(when[:, None], nv, axis=1), tau
    edges = np.linspace(0, n, points // 2 + 1).astype(np.int_)
    picked = [
        np.sort([start + part.argmin(axis=0), start + part.argmax(axis=0)], axis=0)
        for start, part in zip(edges[:-1], np.split(tau, edges[1:-1]), strict=True)
    ]
    rows = np.concatenate(picked)
    return when[rows], np.take_along_axis(tau, rows, axis=0)
