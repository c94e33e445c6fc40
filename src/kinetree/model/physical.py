"""Which inertias no body can have, and the warning about them."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import NonPhysicalInertiaWarning, listed, shortened, warn_user
from kinetree.spatial import Inertia
from kinetree.validation import Array

TOLERANCE = 1e-6
"""Tolerance of the triangle inequality, relative to the largest moment: published figures are rounded."""

FLAT = 1e-12
"""A principal moment below this, relative to the largest, counts as zero or negative: the rest is rounding."""

ROUNDING = 64 * 2.0**-52
"""Error of an inertia about the centre of mass that is computed from one about another point, relative to that."""


def inertia_defect(mass: float, moments: ArrayLike, *, ideal: bool = False, error: float = 0.0) -> str | None:
    """Return what is wrong with a mass and an inertia about the centre of mass; None where a body can have them.

    A body with extent has positive principal moments, and ``J1 + J2 ≥ J3`` for the largest, J3, because each is a
    sum of two second moments. A link without mass and inertia is only a frame: that is not a defect.

    Parameters
    ----------
    mass : float
    moments : (3, 3) array-like
    ideal : bool
        Whether point masses and thin rods, whose moments are zero, are bodies too.
    error : float
        That of the moments (kg·m²).

    Examples
    --------
    >>> inertia_defect(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 2]])
    >>> inertia_defect(1.0, [[1, 0, 0], [0, 1, 0], [0, 0, 3]])
    'triangle inequality violated'
    >>> inertia_defect(1.0, np.diag([1, 1, 0])), inertia_defect(1.0, np.diag([1, 1, 0]), ideal=True)
    ('not positive definite', None)
    """
    if mass < 0.0:
        return "negative mass"
    J = np.asarray(moments, dtype=np.float64)
    largest = np.abs(J).max()
    if largest <= error:
        return "mass without inertia" if mass > 0.0 and not ideal else None
    if mass == 0.0:
        return "inertia without mass"
    principal, slack = np.linalg.eigvalsh(J / largest), error / largest
    if principal[0] < (-FLAT if ideal else FLAT) - slack:
        return "not positive definite"
    if principal[0] + principal[1] < principal[2] * (1.0 - TOLERANCE) - slack:
        return "triangle inequality violated"
    return None


def check_inertias(source: str, inertias: Iterable[tuple[str, float, ArrayLike]]) -> None:
    """Warn about links, given as (name, mass, moments about the centre of mass), whose inertia no body can have."""
    _warn(source, ((name, inertia_defect(mass, moments)) for name, mass, moments in inertias))


def check_bodies(source: str, inertias: Iterable[tuple[str, Inertia]]) -> None:
    """Warn about links of these inertias, given in a program, that no body can have, be it an ideal one.

    Inertias that are not plain numbers are passed over.
    """
    _warn(source, ((name, _defect(I)) for name, I in inertias if all(isinstance(x, Real) for x in I)))


def is_body(inertia: Inertia) -> bool:
    """Return whether a body with extent can have this inertia."""
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


def _defect(inertia: Inertia) -> str | None:
    if inertia.m == 0.0 and any(inertia.h):
        return "inertia without mass"
    error = ROUNDING * max(map(abs, inertia.I))
    return inertia_defect(inertia.m, about_com(inertia), ideal=True, error=error)


def _warn(source: str, found: Iterable[tuple[str, str | None]]) -> None:
    defects: dict[str, list[str]] = {}
    for name, defect in found:
        if defect:
            defects.setdefault(defect, []).append(shortened(name))
    if defects:
        text = "; ".join(f"{defect}: {listed(names)}" for defect, names in defects.items())
        warn_user(f"{source}: no body has these inertias; they are used as given. {text}", NonPhysicalInertiaWarning)
