"""The pictures of fits, forces, residuals, autocorrelations, parameters with error bars, and of planned motions."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.drawing.panels import check_matplotlib, drawn, extremes, panel, units
from kinetree.validation import Array

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 1200  # points of a curve: more make a page large, and are not seen

WIDTH, ROW, GAP, LINE, LETTER, ABOVE, BELOW = 10.5, 1.1, 0.25, 0.17, 0.06, 0.5, 0.45
"""Inches: of a picture, a row of curves, the gap between two, a parameter, a letter, and what is above and below."""

UNIDENTIFIABLE = " (unidentifiable)"

NAMED = re.compile(r' id="[a-zA-Z0-9.]+_\d+"')
"""What Matplotlib names, and nobody refers to: two pictures in a page would have the same names."""

MEASURED, PREDICTED, RESIDUAL = "#9a9a9a", "#1f5fa8", "#c8442b"
BARS: Any = {"fmt": ".", "color": PREDICTED, "markersize": 4, "elinewidth": 1.2, "capsize": 2}


def svg(draw: Callable[[Any, Any], None], what: Any) -> str:
    """Return a picture as SVG, to be put into a page; the same for the same data."""
    check_matplotlib()
    from matplotlib import rc_context

    stream = io.StringIO()
    settings: Any = {"svg.fonttype": "none", "svg.hashsalt": "kinetree", "text.parse_math": False, "font.size": 8.0}
    with rc_context(settings):
        figure = drawn(lambda figure: draw(figure, what))
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    text = stream.getvalue()
    return NAMED.sub("", text[text.index("<svg") :])


def forces(figure: Any, seen: Any) -> None:
    """Draw a row a joint of a `Validation`: forces measured and predicted, the residual, and its autocorrelation."""
    robot = seen.fit.base.robot
    ratios = {"width_ratios": (5, 1), "wspace": 0.1, "hspace": GAP / ROW}
    panels = figure.subplots(robot.nv, 2, squeeze=False, sharex="col", gridspec_kw=ratios)
    _arrange(figure, robot.nv * ROW + (robot.nv - 1) * GAP, left=0.55)
    t, breaks, label = _times(seen)
    measured, predicted = (np.concatenate([getattr(m, x) for m in seen.motions]) for x in ("measured", "predicted"))
    curves = [("measured", measured, MEASURED, 1.6), ("predicted", predicted, PREDICTED, 0.8)]
    curves.append(("residual", measured - predicted, RESIDUAL, 0.6))
    lags = np.arange(1, len(seen.autocorrelation) + 1)
    for name, values, colour, width in curves:
        when, few = extremes(t, values, points=POINTS)
        for k in range(robot.nv):
            panels[k, 0].plot(when[:, k], few[:, k], color=colour, linewidth=width, label=name)
    for k, (name, unit) in enumerate(zip(robot.v_names, units(robot)["tau"], strict=True)):
        left, right = panels[k]
        part = f": {100 * seen.relative[k]:.0f} % not explained" if np.isfinite(seen.relative[k]) else ""
        panel(left, f"{name}, {unit}{part}", size=8.0, thin=True, loc="left", pad=2)
        panel(right, "" if k else "autocorrelation", size=8.0, thin=True, pad=2)
        left.margins(x=0.005)
        for at in breaks:
            left.axvline(at, color="black", linewidth=0.6, linestyle=":")
        right.axhspan(-seen.bound, seen.bound, color="#dde6f0", linewidth=0)
        right.vlines(lags, 0.0, seen.autocorrelation[:, k], color=RESIDUAL, linewidth=1.2)
        right.axhline(0.0, color="black", linewidth=0.5)
        right.set_ylim(-1.0, 1.0)
    panels[-1, 0].set_xlabel(label)
    panels[-1, 1].set_xlabel("lag (samples)")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="upper left", ncols=3, frameon=False)


def _arrange(figure: Any, height: float, *, left: float) -> None:
    """Make a figure so large that its panels are so high together (inches), with room at the left, above and below.

    Matplotlib finds as much by itself, in as much time as it takes to draw everything once more.
    """
    whole = height + ABOVE + BELOW
    figure.set_size_inches(WIDTH, whole)
    figure.subplots_adjust(left=left / WIDTH, right=1.0 - 0.1 / WIDTH, bottom=BELOW / whole, top=1.0 - ABOVE / whole)


def _times(seen: Any) -> tuple[Array, list[float], str]:
    """Return the values along the axis, where other motions begin, and the axis' name."""
    if len(seen.motions) == 1 and seen.motions[0].t is not None:
        return seen.motions[0].t, [], "t (s)"
    ends = np.cumsum([len(motion.measured) for motion in seen.motions])
    return np.arange(1.0, ends[-1] + 1.0), (ends[:-1] + 0.5).tolist(), "sample"


def parameters(figure: Any, fit: Any) -> None:
    """Draw a panel a unit of a `Fit`: estimates with two standard deviations, those of the bodies, and those before."""
    base, before = fit.base, fit.base.of()
    groups: dict[str, list[int]] = {}
    for row, (quantity, unit) in enumerate(base.quantities):
        groups.setdefault(f"{quantity} ({unit})" if unit else quantity, []).append(row)
    counts = [len(rows) for rows in groups.values()]
    ratios = {"height_ratios": counts, "hspace": 2.0 * GAP / (LINE * np.mean(counts))}
    panels = figure.subplots(len(groups), 1, squeeze=False, gridspec_kw=ratios)[:, 0]
    names = max(map(len, base.names), default=0) + len(UNIDENTIFIABLE) * bool(fit.unidentifiable)
    _arrange(figure, LINE * sum(counts) + 2.0 * GAP * (len(counts) - 1), left=0.2 + LETTER * names)
    for ax, (title, rows) in zip(panels, groups.items(), strict=True):
        y = np.arange(len(rows))
        found = np.isfinite(fit.std[rows])
        bars = np.where(found, 2.0 * np.where(found, fit.std[rows], 0.0), 0.0)
        ax.plot(before[rows], y, "|", color="black", markersize=9, label="before")
        ax.plot(fit.consistent_values[rows], y, "o", color="none", mec=RESIDUAL, ms=5, label="physically consistent")
        ax.errorbar(fit.values[rows], y, xerr=bars, label="estimate ± 2 std", **BARS)
        ax.set_yticks(y, [base.names[k] + ("" if ok else UNIDENTIFIABLE) for k, ok in zip(rows, found, strict=True)])
        ax.set_ylim(len(rows) - 0.4, -0.6)
        panel(ax, title, size=8.0, thin=True, loc="left", pad=2)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="upper left", ncols=3, frameon=False)


def draw(plan: Any, figure: Figure) -> None:
    """Draw a planned motion in an empty figure: see `Excitation.plot`."""
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
