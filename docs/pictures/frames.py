"""The three references of a frame's velocity and Jacobian, drawn: ``python docs/pictures/frames.py``."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = ("tab:red", "tab:green")
WORLD, FRAME, TURN = np.array([1.0, 0.0]), np.array([2.1, 1.5]), np.radians(35)


def axes_at(axes: Axes, origin: np.ndarray, angle: float, **style: object) -> None:
    """Draw x and y axes at a point."""
    for k, colour in enumerate(COLOURS):
        tip = origin + 0.8 * np.array([np.cos(angle + k * np.pi / 2), np.sin(angle + k * np.pi / 2)])
        arrow = {"arrowstyle": "-|>", "color": colour, "lw": 2, "mutation_scale": 14, **style}
        axes.annotate("", tuple(tip), tuple(origin), arrowprops=arrow)
        x, y = origin + 1.15 * (tip - origin)
        axes.text(x, y, "xy"[k], color=colour, ha="center", va="center")


def picture() -> Figure:
    """Return the picture: one panel for each reference."""
    figure = Figure(figsize=(9, 3.1), layout="constrained")
    panels = figure.subplots(1, 3, sharex=True, sharey=True)
    drawn = {"body": (FRAME, TURN), "aligned": (FRAME, 0.0), "world": (WORLD, 0.0)}
    about = {
        "body": "frame's axes,\nvelocity of its origin",
        "aligned": "world's axes,\nvelocity of the frame's origin",
        "world": "world's axes, velocity of the body's\npoint that is at the world's origin",
    }
    links = np.array([[-0.9, 0.1], [0.5, 1.6], FRAME])
    for panel, (name, (origin, angle)) in zip(panels, drawn.items(), strict=True):
        panel.plot(*links.T, color="0.75", lw=9, solid_capstyle="round", zorder=0)
        panel.plot(*links[:-1].T, "o", color="white", markeredgecolor="0.5", ms=7)
        for point, label in ((WORLD, "world"), (FRAME, "frame")):
            panel.plot(*point, "o", color="0.35", ms=4)
            panel.text(point[0], point[1] - 0.28, label, color="0.35", ha="center", fontsize=9)
        axes_at(panel, origin, angle)
        panel.set_title(f'reference="{name}"\n{about[name]}', fontsize=10)
        panel.set(xlim=(-1.4, 3.4), ylim=(-0.6, 2.9), aspect="equal")
        panel.axis("off")
    return figure
