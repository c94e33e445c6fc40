"""The figure of a planned motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.drawing.panels import check_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kinetree.excitation.result import Excitation


def plot(plan: Excitation) -> Figure:
    """Return the figure of a planned motion: see `Excitation.plot`."""
    check_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 7.0), layout="constrained")
    draw(plan, figure)
    return figure


def draw(plan: Excitation, figure: Figure) -> None:
    """Draw it in an empty figure."""
    check_matplotlib()
    motion, limits, names = plan.trajectory, plan.limits, plan.base.robot.v_names
    figure.set_size_inches(11.0, 7.0)
    panels = figure.subplots(2, 2)
    efforts = np.where(np.isfinite(limits.effort), limits.effort, np.abs(motion.tau[:, plan.v_index]).max(axis=0))
    curves = (
        ("position in its range", (motion.q[:, plan.q_index] - limits.middle) / limits.half),
        ("speed by what is used of its limit", motion.v[:, plan.v_index] / limits.velocity),
        ("force by what is used of its limit", motion.tau[:, plan.v_index] / np.where(efforts > 0.0, efforts, 1.0)),
    )
    for ax, (title, values) in zip(panels.ravel(), curves, strict=False):
        for name, x in zip(names, values.T, strict=True):
            ax.plot(motion.t, x, linewidth=1.0, label=name)
        ax.set_title(title, fontsize=9)
        ax.set_ylim(-1.1, 1.1)
        ax.set_xlabel("t (s)", fontsize=8)
        for side in (-1.0, 1.0):
            ax.axhline(side, linewidth=0.8, linestyle="--", color="tab:red")
        for end in (plan.series.ramp, motion.t[-1] - plan.series.ramp):
            ax.axvline(end, linewidth=0.7, linestyle=":", color="grey")
        ax.tick_params(labelsize=8)
        ax.grid(alpha=0.3)
    panels[0, 0].legend(fontsize=6, ncols=2)
    last, values = panels[1, 1], np.abs(plan.base.of())
    last.semilogy(plan.std, "o", markersize=3, label="standard deviation expected")
    last.semilogy(np.where(values > 0.0, values, np.nan), "_", color="black", label="value of this robot")
    last.set_title("base parameters (SI units)", fontsize=9)
    last.set_xlabel("number in the table", fontsize=8)
    last.tick_params(labelsize=8)
    last.legend(fontsize=7)
    last.grid(alpha=0.3)
    figure.suptitle(f"{plan.robot.name}: condition number {plan.condition:.3g}", fontsize=11)
