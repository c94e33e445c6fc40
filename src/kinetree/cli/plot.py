"""The picture of the torques; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.cli.limits import given
from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.trajectories.block import Block
from kinetree.trajectories.files.write import whole_file
from kinetree.validation import Array

POINTS = 4000
"""Points drawn of one joint; of more samples, the extremes of each stretch are drawn."""


def check_plot(plot: str | None) -> None:
    """Raise `ArgumentError` if a picture is asked for and cannot be made here."""
    if plot is None:
        return
    if importlib.util.find_spec("matplotlib") is None:
        raise ArgumentError("--plot needs matplotlib: pip install kinetree[plot]")
    if plot == "show":
        import matplotlib.pyplot as plt

        if plt.get_backend().lower() in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template"):
            raise ArgumentError("--plot show needs a display; give a file instead: --plot torques.png")


class Picture:
    """One panel a degree of freedom: its torque over time, and its effort limit where that is in sight."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._blocks: list[tuple[Array, Array]] = []
        self._timed = True

    def add(self, block: Block, tau: Array) -> None:
        """Keep a block and its torques."""
        self._timed = block.t is not None
        self._blocks.append((block.when, tau))

    def finish(self, plot: str) -> None:
        """Write the picture to the file `plot`, or open a window for "show"."""
        if plot == "show":
            import matplotlib.pyplot as plt

            self._draw(plt.figure(layout="constrained"))
            plt.show()
            return
        from matplotlib.figure import Figure

        figure = Figure(layout="constrained")
        self._draw(figure)
        with whole_file(Path(plot)) as stream:
            figure.savefig(stream, format=Path(plot).suffix[1:].lower(), dpi=120)

    def _draw(self, figure: Any) -> None:
        when, tau = extremes(*map(np.concatenate, zip(*self._blocks, strict=True)))
        nv = self.robot.nv
        columns = min(5, math.ceil(math.sqrt(nv)))
        rows = math.ceil(nv / columns)
        figure.set_size_inches(3.4 * columns + 0.6, 2.1 * rows + 0.9)
        panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
        limits, units = given(self.robot.effort_limits), torque_units(self.robot)
        limited = np.abs(tau).max(axis=0) > 0.5 * limits
        for k, (panel, name) in enumerate(zip(panels, self.robot.v_names, strict=False)):
            panel.plot(when[:, k], tau[:, k], linewidth=1.0, color="tab:blue")
            panel.set_title(name, fontsize=9)
            panel.set_ylabel(units[k], fontsize=7)
            panel.tick_params(labelsize=7)
            panel.grid(alpha=0.3)
            if limited[k]:
                for level in (-limits[k], limits[k]):
                    panel.axhline(level, linewidth=0.8, linestyle="--", color="tab:red")
        for panel in panels[nv:]:
            panel.set_visible(False)
        for panel in panels[max(0, nv - columns) : nv]:
            panel.tick_params(labelbottom=True)
        forces = "joint torques" if set(units) == {"N·m"} else "joint torques and forces"
        dashed = "; dashed: effort limits" if limited.any() else ""
        figure.suptitle(f"{self.robot.name}: {forces}{dashed}", fontsize=10)
        figure.supxlabel("t (s)" if self._timed else "sample", fontsize=9)


def torque_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of tau: N·m where its velocity turns, N where it only slides."""
    units = ["N·m"] * robot.nv
    for name in robot.joint_names:
        body = robot.model.bodies[robot.model.body_of_joint(name)]
        joint = body.joint
        columns = joint.jcalc(joint.neutral(), (0.0,) * joint.nv).S
        for k, column in zip(body.v_index, columns, strict=True):
            units[k] = "N·m" if any(float(x) for x in column.ang) else "N"
    return units


def extremes(when: Array, tau: Array) -> tuple[Array, Array]:
    """Return at most `POINTS` points of each curve: of every stretch its lowest and its highest, in their order.

    `when` is (n,) and `tau` is (n, nv); both results are (m, nv).
    """
    n, nv = tau.shape
    if n <= POINTS:
        return np.repeat(when[:, None], nv, axis=1), tau
    edges = np.linspace(0, n, POINTS // 2 + 1).astype(np.int_)
    picked = [
        np.sort([start + part.argmin(axis=0), start + part.argmax(axis=0)], axis=0)
        for start, part in zip(edges[:-1], np.split(tau, edges[1:-1]), strict=True)
    ]
    rows = np.concatenate(picked)
    return when[rows], np.take_along_axis(tau, rows, axis=0)
