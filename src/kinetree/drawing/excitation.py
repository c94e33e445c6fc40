"""The figure of a planned motion."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from kinetree.drawing.panels import drawn, panel

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinetree.excitation.result import Excitation


def plot(plan: Excitation) -> Figure:
    """Return the figure of a planned motion: see `Excitation.plot`."""
    return drawn(partial(draw, plan), layout="constrained")


def draw(plan: Excitation, figure: Figure) -> None:
    """Draw it in an empty figure."""
    motion, limits, names = plan.trajectory, plan.limits, plan.base.robot.v_names
    figure.set_size_inches(11.0, 7.0)
    axes = figure.subplots(2, 2)
    efforts = np.where(np.isfinite(limits.effort), limits.effort, np.abs(motion.tau[:, plan.v_index]).max(axis=0))
    curves = (
        ("position in its range", (motion.q[:, plan.q_index] - limits.middle) / limits.half),
        ("speed by what is used of its limit", motion.v[:, plan.v_index] / limits.velocity),
        ("force by what is used of its limit", motion.tau[:, plan.v_index] / np.where(efforts > 0.0, efforts, 1.0)),
    )
    for ax, (title, values) in zip(axes.ravel(), curves, strict=False):
        for name, x in zip(names, values.T, strict=True):
            ax.plot(motion.t, x, linewidth=1.0, label=name)
        panel(ax, title, along="t (s)")
        ax.set_ylim(-1.1, 1.1)
        for side in (-1.0, 1.0):
            ax.axhline(side, linewidth=0.8, linestyle="--", color="tab:red")
        for end in (plan.series.ramp, motion.t[-1] - plan.series.ramp):
            ax.axvline(end, linewidth=0.7, linestyle=":", color="grey")
    axes[0, 0].legend(fontsize=6, ncols=2)
    last, values = axes[1, 1], np.abs(plan.base.of())
    last.semilogy(plan.std, "o", markersize=3, label="standard deviation expected")
    last.semilogy(np.where(values > 0.0, values, np.nan), "_", color="black", label="value of this robot")
    panel(last, "base parameters (SI units)", along="number in the table")
    last.legend(fontsize=7)
    figure.suptitle(f"{plan.robot.name}: condition number {plan.condition:.3g}", fontsize=11)
