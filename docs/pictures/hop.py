"""Draws docs/pictures/hop.svg: a hopping leg with a closed loop, as stick figures."""

from __future__ import annotations

import sys
from pathlib import Path

from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from hopping_leg import hop, leg


def picture() -> Figure:
    """Return the picture: the fall, the landing and the first hop."""
    return hop(*leg()).plot_motion([0.0, 0.26, 0.41], projection="side")
