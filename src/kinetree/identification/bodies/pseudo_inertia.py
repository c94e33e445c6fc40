"""Pseudo-inertias: the second moments (4, 4) of a body's mass, ``∫ [x; 1][x; 1]ᵀ dm``, positive definite if it is real.

Reference: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
identification", IEEE RA-L 3(1), 2018.
"""

from __future__ import annotations

import numpy as np

from kinetree.validation import Array

THINNEST, THIN = 1e-6, 1e-2
"""Below the first, relative to a ball of usual size, an eigenvalue of a prior's pseudo-inertia is of no body that
somebody has measured, but of a point or a plate: it is taken as the second, since the divergence from what is next to
nothing outweighs all data."""

SPREAD = 1e-9
"""The least eigenvalue by the greatest: rounding leaves bodies physically consistent."""

BALL = 0.01
"""Mean square of each coordinate in such a ball where no link has a mass (m²)."""


def _basis() -> Array:
    """Return the pseudo-inertias of the ten unit parameters: (10, 4, 4)."""
    out = np.zeros((10, 4, 4))
    out[0, 3, 3] = 1.0
    for k in range(3):
        out[1 + k, k, 3] = out[1 + k, 3, k] = 1.0
    for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)), start=4):
        if i == j:  # Σ = tr(I)/2 − I
            out[k, :3, :3] = np.eye(3) / 2.0
            out[k, i, i] -= 1.0
        else:
            out[k, i, j] = out[k, j, i] = -1.0
    return out


BASIS = _basis()


def pseudo_inertia(ten: Array) -> Array:
    """Return the pseudo-inertias (..., 4, 4) of inertial parameters (..., 10).

    Examples
    --------
    >>> pseudo_inertia(np.array([2.0, 0, 0, 1.0, 0.6, 0, 0.6, 0, 0, 0.2])).round(3)
    array([[0.1, 0. , 0. , 0. ],
           [0. , 0.1, 0. , 0. ],
           [0. , 0. , 0.5, 1. ],
           [0. , 0. , 1. , 2. ]])
    """
    return np.tensordot(ten, BASIS, 1)


def repaired(ten: Array, mass: float, least: float | None = None) -> Array:
    """Return physically consistent inertial parameters (nb, 10) near these.

    Parameters
    ----------
    ten : (nb, 10) array
    mass : float
        Of the balls that links without mass become.
    least : float, optional
        The least eigenvalue of their pseudo-inertias, relative to those of a ball of the same mass and usual size. If
        not given, eigenvalues below `THINNEST` become `THIN`, and points become such balls.
    """
    J = pseudo_inertia(ten)
    sizes = np.array([np.trace(j[:3, :3]) / (3.0 * j[3, 3]) for j in J if j[3, 3] > 0.0])
    size = np.median(sizes[sizes > 0.0]) if (sizes > 0.0).any() else BALL
    out = []
    for j in J:
        m = j[3, 3] if j[3, 3] > 0.0 else mass
        units = np.sqrt(np.array([*[size * m] * 3, m]))
        w, V = np.linalg.eigh(j / np.outer(units, units))
        known = w > THINNEST
        if j[3, 3] <= 0.0:
            w = np.ones(4)
        elif least is not None:
            w = np.maximum(w, least)
        else:
            w = np.where(known, w, THIN if known.sum() > 1 else 1.0)
        w = np.maximum(w, SPREAD * w.max())
        out.append(inertial_of((V * w) @ V.T * np.outer(units, units)))
    return np.array(out).reshape(-1, 10)


def inertial_of(J: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia."""
    I = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([J[3, 3], *J[:3, 3], I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
