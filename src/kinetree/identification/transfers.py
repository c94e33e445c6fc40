"""Spatial algebra of many positions at once: transforms, and inertias by their ten parameters, as arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.algorithms.recursions.motions import inertia_rate
from kinetree.algorithms.regressors import UNITS
from kinetree.spatial import Motion, Scalar, Transform
from kinetree.validation import Array

MOTIONS = [Motion.of(row) for row in np.eye(6)]
BILINEAR = np.array([[[m.dot(unit @ w) for w in MOTIONS] for m in MOTIONS] for unit in UNITS], dtype=float)
"""``v·(I w)`` of the ten unit inertias: (10, 6, 6)."""

RATES = np.array([[list(inertia_rate(unit, w)) for unit in UNITS] for w in MOTIONS], dtype=float)
"""The rates of the ten unit inertias that move with six unit velocities: (6, 10, 10)."""

ENTRIES = ([3, 2, 0, 1, 0, 0, 1, 0, 1, 2], [3, 4, 5, 3, 0, 1, 1, 2, 2, 2])
"""Where the ten parameters are in the matrix (6, 6) of an inertia."""

CROSS = np.cross(np.eye(3), np.eye(3)[:, None]).transpose(0, 2, 1)
"""The matrices of ``x × e_k``: (3, 3, 3)."""


def transfer(X: Array) -> Array:
    """Return the map (..., 10, 10) from inertial parameters to those in the frame from which X (..., 6, 6) leads."""
    X = X[..., None, :, :]
    return transposed((transposed(X) @ BILINEAR @ X)[..., *ENTRIES])


def matrix_of(X: Transform) -> Array:
    """Return a transform of motions as a matrix (6, 6); as many (..., 6, 6) if its numbers are arrays (...)."""
    E, r = array_of([x for row in X.E.matrix.rows for x in row]), array_of([*X.r])
    E = E.reshape(*E.shape[:-1], 3, 3)
    out = np.zeros((*np.broadcast_shapes(E.shape[:-2], r.shape[:-1]), 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = E
    out[..., 3:, :3] = E @ np.tensordot(r, CROSS, 1)
    return out


def array_of(entries: Sequence[Scalar]) -> Array:
    """Return scalars, each a number or an array (...), as an array (..., n)."""
    out = np.empty((*np.broadcast(*entries).shape, len(entries)))
    for k, x in enumerate(entries):
        out[..., k] = x
    return out


def transposed(x: Array) -> Array:
    """Return the transposes of matrices."""
    return np.swapaxes(x, -1, -2)


def products(v: Array, w: Array) -> Array:
    """Return the coefficients of the ten parameters in ``v·(I w)`` for all columns v and w: the last axis."""
    return np.moveaxis(transposed(v)[..., None, :, :] @ BILINEAR @ w[..., None, :, :], -3, -1)
