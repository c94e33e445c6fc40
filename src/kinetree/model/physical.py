"""Which inertias no body can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from kinetree.spatial import Inertia
from kinetree.validation import Array

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


def is_limit(moments: ArrayLike) -> bool:
    """Return whether bodies come as near as one likes to this inertia: a point's, a rod's, a plate's.

    What has it may be a part of a body, though it is none by itself.

    Examples
    --------
    >>> is_limit([[0, 0, 0], [0, 1, 0], [0, 0, 1]])
    True
    """
    J = np.asarray(moments, dtype=np.float64)
    largest = np.abs(J).max()
    principal = np.linalg.eigvalsh(J / largest) if largest else np.zeros(3)
    return bool(principal[0] >= -FLAT and principal[0] + principal[1] >= principal[2] * (1.0 - TOLERANCE))


def is_body(inertia: Inertia) -> bool:
    """Return whether a body can have this inertia."""
    with np.errstate(over="ignore", invalid="ignore"):
        J = about_com(inertia)
    return bool(np.isfinite(J).all()) and inertia_defect(float(inertia.m), J) is None


def about_com(inertia: Inertia) -> Array:
    """Return the rotational inertia about the centre of mass, (3, 3), in the same axes."""
    I = np.array([list(row) for row in inertia.I.rows], dtype=np.float64)
    if inertia.m == 0.0:
        return I
    h = np.array(list(inertia.h), dtype=np.float64)
    com_I: Array = I - (h @ h * np.eye(3) - np.outer(h, h)) / inertia.m
    return com_I
