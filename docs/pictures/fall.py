"""Draws docs/pictures/fall.svg: a Panda that falls, as stick figures."""

from __future__ import annotations

from matplotlib.figure import Figure

import kinetree as kt


def picture() -> Figure:
    """Return the picture: four moments, seen from the side."""
    robot = kt.load("panda")
    motion = robot.simulate([0.0, 0.3, 0.0, -1.5, 0.0, 1.8, 0.8], duration=0.6, record=kt.Record(every=10))
    return motion.plot_motion([0.0, 0.2, 0.4, 0.6], projection="side")
