"""The picture of the torques; needs matplotlib, the extra ``plot``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.drawing.panels import extremes, grid, panel, torque_units
from kinetree.robot import Robot
from kinetree.robot.limits import given
from kinetree.validation import Array

OVER = "tab:red"


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

    def draw(self, figure: Any) -> None:
        """Draw it in an empty figure."""
        when, tau = extremes(*map(np.concatenate, zip(*self._blocks, strict=True)))
        nv = self.robot.nv
        columns = min(5, math.ceil(math.sqrt(nv)))
        figure.set_size_inches(2.8 * columns + 0.4, 1.8 * math.ceil(nv / columns) + 0.8)
        axes = grid(figure, nv, columns, "t (s)" if self._timed else "sample")
        limits, units = given(self.robot.effort_limits), torque_units(self.robot)
        largest = np.abs(tau).max(axis=0)
        for k, (ax, name) in enumerate(zip(axes, self.robot.v_names, strict=True)):
            ax.plot(when[:, k], tau[:, k], linewidth=1.0, color="tab:blue")
            over = largest[k] > limits[k]
            panel(ax, f"{name}, {units[k]}", color=OVER if over else "black")
            ax.locator_params(nbins=5)
            if over:
                beyond = np.abs(tau[:, k]) > limits[k]
                ax.plot(when[beyond, k], tau[beyond, k], ".", markersize=4, color=OVER, gid=f"over {name}")
            if largest[k] > 0.5 * limits[k]:
                for level in (-limits[k], limits[k]):
                    ax.axhline(level, linewidth=0.8, linestyle="--", color=OVER)
        forces = "joint torques" if set(units) == {"N·m"} else "joint torques and forces"
        dashed = "; dashed: effort limits" if (largest > 0.5 * limits).any() else ""
        dashed += "; red: samples over them" if (largest > limits).any() else ""
        figure.suptitle(f"{self.robot.name}: {forces}{dashed}", fontsize=11)
