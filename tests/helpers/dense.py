"""Spatial algebra as dense NumPy matrices, written from RBDA's definitions and from nothing in kinetree.

Angular part first. All functions take real, extended or complex numbers (a complex step differentiates them).
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.generic]
EPS = float(np.finfo(np.float64).eps)


def skew(r):
    """Return r× (RBDA eq. 2.23)."""
    x, y, z = np.asarray(r)
    zero = x * 0
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def block(a, b, c, d):
    return np.block([[np.asarray(a), np.asarray(b)], [np.asarray(c), np.asarray(d)]])


def motion_transform(E, r):
    """Return X = [E 0; −E r× E] (RBDA eq. 2.24)."""
    E = np.asarray(E)
    return block(E, np.zeros((3, 3)), -E @ skew(r), E)


def force_transform(E, r):
    """Return X* = [E −E r×; 0 E] (RBDA eq. 2.25)."""
    E = np.asarray(E)
    return block(E, -E @ skew(r), np.zeros((3, 3)), E)


def crm(v):
    """Return v× for motions (RBDA eq. 2.31)."""
    v = np.asarray(v)
    return block(skew(v[:3]), np.zeros((3, 3)), skew(v[3:]), skew(v[:3]))


def crf(v):
    """Return v×* for forces (RBDA eq. 2.32)."""
    return -crm(v).T


def rigid_inertia(m, h, I):
    """Return [I h×; h×ᵀ m 1] (RBDA eq. 2.62, with h = m c and I about the origin)."""
    H = skew(h)
    return block(I, H, H.T, m * np.eye(3))


def matrix(rows):
    return np.array([list(row) for row in rows])


def of_rotation(E):
    return matrix(E.matrix.rows)


def of_transform(X):
    return motion_transform(of_rotation(X.E), list(X.r))


def of_inertia(I):
    return rigid_inertia(I.m, list(I.h), matrix(I.I.rows))


def assert_close(got, expected, ulps=100, scale=None):
    """Assert that the largest error is at most `ulps` ulp of the largest number expected (or of `scale`)."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    scale = float(np.max(np.abs(expected), initial=0.0)) if scale is None else scale
    error = float(np.max(np.abs(got - expected), initial=0.0))
    assert error <= ulps * EPS * scale, (
        f"error {error:.3g} is {error / (EPS * max(scale, 1e-300)):.3g} ulp of {scale:.3g}"
    )
