"""Limits as the file means them: URDF demands numbers for effort and velocity, and 0 is written for "not known"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike


def given(limits: ArrayLike) -> Any:
    """Return limits of effort or velocity, infinite where they are 0: that is read as not given.

    Examples
    --------
    >>> given([87.0, 0.0])
    array([87., inf])
    """
    return np.where(np.asarray(limits) > 0, limits, np.inf)[()]
