"""Limits as the file means them: URDF demands numbers for effort and velocity, and 0 is written for "not known"."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.model import Body
from kinetree.validation import Array

_TOLERANCE = 1e-6
"""So far beyond a limit (rad, m) is no reason to warn: numbers are rounded in files and in float32."""


def given(limits: ArrayLike) -> Any:
    """Return limits of effort or velocity, infinite where they are 0: that is read as not given.

    Examples
    --------
    >>> given([87.0, 0.0])
    array([87., inf])
    """
    return np.where(np.asarray(limits) > 0, limits, np.inf)[()]


def beyond(bodies: Iterable[Body], q: Array) -> str:
    """Return which of these bodies' joints are outside their limits, and where they are; "" if none is."""
    return "; ".join(
        f"{body.joint_name!r} at {position:.4g}, with limits {body.limits.lower:.4g} and {body.limits.upper:.4g}"
        for body in bodies
        if len(body.q_index) == 1
        for position in [q[body.q_index[0]]]
        if not body.limits.lower - _TOLERANCE <= position <= body.limits.upper + _TOLERANCE
    )
