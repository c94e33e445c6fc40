"""Which inertias no body can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-6
"""Tolerance of the triangle inequality, relative to the largest moment: published figures are rounded."""

FLAT = 1e-12
"""A principal moment below this, relative to the largest, counts as zero or negative: the rest is rounding."""


def inertia_defect(mass: float, moments: ArrayLike) -> str | None:
    """Return what is wrong with a mass and an inertia about the centre of mass; None where a body can have them.

    A body with extent has positive principal moments, and ``J1 + J2 ≥ J3`` for the largest, J3, because each is a
    sum of two second moments. Neither mass nor inertia is no defect: the link is only a frame.

    Examples
    --------
    >>> inertia_defect(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 2]])
    >>> inertia_defect(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 3]])
    'triangle inequality violated'
    """
    J = np.asarray(moments, dtype=np.float64)
    largest = np.abs(J).max()
    if largest == 0.0:
        return "mass without inertia" if mass > 0.0 else None
    if mass == 0.0:
        return "inertia without mass"
    principal = np.linalg.eigvalsh(J / largest)
    if principal[0] < FLAT:
        return "not positive definite"
    if principal[0] + principal[1] < principal[2] * (1.0 - TOLERANCE):
        return "triangle inequality violated"
    return None
