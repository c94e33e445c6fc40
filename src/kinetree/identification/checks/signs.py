"""Whether a recorded force has the sign of the motion's, by what no robot does.

A joint's force is explained by four things with factors that cannot be negative: the force that the robot as it was
before expects, an inertia of its own, friction and damping. If the opposite force is explained so, and the force itself
is not, then the sign is wrong, unless an unknown load is the reason: the joint's own equation, with whatever masses
explain it best, has an inertia that the joint moves and a power that friction takes. Both are positive.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kinetree.validation import Array

MORE = 0.1
"""By how much more of its square the opposite force has to be explained."""

ROUNDING = 1e-3
"""The speed, relative to its root mean square, around which friction turns round."""

SINGULAR = 1e-9
"""Sets of columns that are so nearly dependent are not tried."""


def opposite(expected: Array, v: Array, a: Array, tau: Array, direction: Array | None = None) -> Array:
    """Return which forces (nv,) are explained if their sign is changed, and are not as they are.

    Parameters
    ----------
    expected, v, a, tau : (n, nv) arrays
        What a robot expects, however poor, and what was recorded.
    direction : (n, nv) array, optional
        As `kinetree.identification.Samples` has it.
    """
    if direction is None:
        speed = ROUNDING * np.sqrt((v * v).mean(axis=0))
        direction = v / np.sqrt(v * v + np.where(speed > 0.0, speed, 1.0) ** 2)
    columns = np.stack([expected, a, direction, v, tau], axis=-1)
    columns = columns - columns.mean(axis=0)
    size = np.linalg.norm(columns, axis=0)
    gram = np.einsum("nki,nkj->kij", columns, columns) / np.where(size > 0.0, size, 1.0)[:, :, None]
    gram /= np.where(size > 0.0, size, 1.0)[:, None, :]
    as_is, other = _explained(gram[:, :-1, :-1], gram[:, :-1, -1])
    return np.asarray((other > as_is + MORE) & (size[:, 0] > 0.0))  # a robot without masses expects nothing


def _explained(gram: Array, right: Array) -> tuple[Array, Array]:
    """Return which part of a force (nv,), and of its opposite, factors that are not negative explain at most.

    The best factors are those of least squares with some of the columns, and there are few sets of columns.
    """
    best = np.zeros((2, len(right)))
    for chosen in product([False, True], repeat=right.shape[1]):
        at = np.flatnonzero(chosen)
        A, b = gram[:, at[:, None], at], right[:, at]
        regular = np.linalg.eigvalsh(A).min(axis=1, initial=1.0) > SINGULAR
        x = np.linalg.solve(np.where(regular[:, None, None], A, np.eye(len(at))), b[..., None])[..., 0]
        part = (x * b).sum(axis=1)
        for own, sign in zip(best, (1.0, -1.0), strict=True):
            np.copyto(own, np.maximum(own, part), where=regular & (sign * x >= 0.0).all(axis=1))
    return best[0], best[1]
