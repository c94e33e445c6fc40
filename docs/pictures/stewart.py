"""Draws docs/pictures/stewart.svg: a Stewart platform on its way, as stick figures."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from stewart_platform import follow, platform


def picture() -> Figure:
    """Return the picture: four moments, seen in space."""
    _, _, motion = follow(*platform())
    return motion.plot_motion([0.0, 0.5, 1.0, 1.5], projection="3d")
