"""The picture of the torques; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.drawing.panels import extremes, torque_units
from kinetree.errors import ArgumentError
from kinetree.output import whole_file
from kinetree.robot import Robot
from kinetree.robot.limits import given
from kinetree.validation import Array

OVER = "tab:red"


def check_plot(plot: str | None) -> None:
    """Raise `ArgumentError` if a picture is asked for and cannot be made here."""
    if plot is None:
        return
    if importlib.util.find_spec("matplotlib") is None:
        raise ArgumentError("--plot needs matplotlib: pip install matplotlib")
    if plot == "show":
        import matplotlib.pyplot as plt

        if plt.get_backend().lower() in ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template"):
            raise ArgumentError("--plot show needs a display; give a file instead: --plot torques.png")


def finish(draw: Callable[[Any], object], plot: str) -> None:
    """Have a figure drawn, and write it to the file `plot`, or open a window for "show"."""
    if plot == "show":
        import matplotlib.pyplot as plt

        draw(plt.figure(layout="constrained"))
        plt.show()
        return
    from matplotlib.figure import Figure

    figure = Figure(layout="constrained")
    draw(figure)
    with whole_file(Path(plot)) as stream:
        figure.savefig(stream, format=Path(plot).suffix[1:].lower(), dpi=150)


class Picture:
    """One panel a degree of freedom: its torque over time, and its effort limit where that is in sight.

    What is over the limit is red, and so is the joint's name.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._blocks: list[tuple[Array, Array]] = []
        self._timed = True

    def add(self, block: Mapping[str, Array], when: Array) -> None:
        """Keep the torques of a block at some times or samples."""
        self._timed = "t" in block
        self._blocks.append((when, block["tau"]))

    def finish(self, plot: str) -> None:
        """Write the picture to the file `plot`, or open a window for "show"."""
        finish(self._draw, plot)

    def _draw(self, figure: Any) -> None:
        when, tau = extremes(*map(np.concatenate, zip(*self._blocks, strict=True)))
        nv = self.robot.nv
        columns = min(5, math.ceil(math.sqrt(nv)))
        rows = math.ceil(nv / columns)
        figure.set_size_inches(2.8 * columns + 0.4, 1.8 * rows + 0.8)
        panels = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel()
        limits, units = given(self.robot.effort_limits), torque_units(self.robot)
        largest = np.abs(tau).max(axis=0)
        for k, (panel, name) in enumerate(zip(panels, self.robot.v_names, strict=False)):
            panel.plot(when[:, k], tau[:, k], linewidth=1.0, color="tab:blue")
            over = largest[k] > limits[k]
            panel.set_title(f"{name}, {units[k]}", fontsize=9, color=OVER if over else "black")
            panel.tick_params(labelsize=8)
            panel.locator_params(nbins=5)
            panel.grid(alpha=0.3)
            if over:
                beyond = np.abs(tau[:, k]) > limits[k]
                panel.plot(when[beyond, k], tau[beyond, k], ".", markersize=4, color=OVER, gid=f"over {name}")
            if largest[k] > 0.5 * limits[k]:
                for level in (-limits[k], limits[k]):
                    panel.axhline(level, linewidth=0.8, linestyle="--", color=OVER)
        for panel in panels[nv:]:
            panel.set_visible(False)
        for panel in panels[max(0, nv - columns) : nv]:  # the lowest of each column
            panel.tick_params(labelbottom=True)
            panel.set_xlabel("t (s)" if self._timed else "sample", fontsize=8)
        forces = "joint torques" if set(units) == {"N·m"} else "joint torques and forces"
        dashed = "; dashed: effort limits" if (largest > 0.5 * limits).any() else ""
        dashed += "; red: samples over them" if (largest > limits).any() else ""
        figure.suptitle(f"{self.robot.name}: {forces}{dashed}", fontsize=11)
