"""Rotation vectors of batches of rotation matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.validation import Array

Flags = np.ndarray[Any, np.dtype[np.bool_]]
Counts = np.ndarray[Any, np.dtype[np.int64]]

_TINY = 1e-300


def rotation_vector(R: Array) -> Array:
    """Return the rotation vectors (..., 3), of at most half a turn, of the rotations (..., 3, 3).

    Computed from the quaternion, which is accurate both at small angles and near half a turn.
    """
    q = _quaternion(R)
    length = np.sqrt(np.sum(q[..., :3] ** 2, axis=-1) + _TINY)
    sign = np.where(q[..., 3] < 0, -1.0, 1.0)
    angle = 2.0 * sign * np.arctan2(length, np.abs(q[..., 3]))
    vector: Array = q[..., :3] * (angle / length)[..., None]
    return vector


def _quaternion(R: Array) -> Array:
    """Return quaternions (x, y, z, w) of any norm: the row of ``4 q qᵀ`` with the largest diagonal entry.

    All ten entries of that matrix are sums of entries of R (Shepperd, 1978).
    """
    xx, xy, xz, yx, yy, yz, zx, zy, zz = (R[..., i, j] for i in range(3) for j in range(3))
    x, y, z = zy - yz, xz - zx, yx - xy
    rows = [
        *(1 + xx - yy - zz, xy + yx, xz + zx, x),
        *(xy + yx, 1 - xx + yy - zz, yz + zy, y),
        *(xz + zx, yz + zy, 1 - xx - yy + zz, z),
        *(x, y, z, 1 + xx + yy + zz),
    ]
    table = np.stack(rows, axis=-1).reshape(*R.shape[:-2], 4, 4)
    largest = np.argmax(np.diagonal(table, axis1=-2, axis2=-1), axis=-1)
    row: Array = np.take_along_axis(table, largest[..., None, None], axis=-2)[..., 0, :]
    return row
