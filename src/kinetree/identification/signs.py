"""Whether recorded forces have the sign of the motion's: by what no robot does, and by what joints say of each other.

A joint's force is explained by four things with factors that cannot be negative: the force that the robot as it was
before expects, an inertia of its own, friction and damping. If the opposite force is explained so, and the force itself
is not, then the sign is wrong. That needs no good robot before: friction takes power from every joint.

Joints share the bodies that they move. With parameters that any signs of the forces let be free, the forces fit
together only if their signs do: this needs no robot before at all, only a model that is nearly right.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kinetree.identification.equations import Factors
from kinetree.validation import Array

MORE = 0.1
"""By how much more of its square the opposite force has to be explained."""

ROUNDING = 1e-3
"""The speed, relative to its root mean square, around which friction turns round."""

SINGULAR = 1e-9
"""Sets of columns that are so nearly dependent are not tried."""

FITS, BETTER = 1.0, 2.0
"""Forces fit together if the mean square of all residuals, in units of each joint's own, grows by less than this when
joints have to agree; and a sign is wrong if it grows by so many times less with the other one."""

NEGLIGIBLE = 1e-5
"""Noise and directions below this part of the largest count as this, or not at all."""


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


def contradicting(factors: Factors) -> Array:
    """Return which forces (nv,) have another sign than those of other joints, by the parameters that they share.

    Each joint's forces are replaced by what its own equations explain of them; then the least residuals of all
    equations together are a quadratic form in the signs. Nothing is said where no signs make forces fit together.
    """
    nv, least = len(factors.R), NEGLIGIBLE * np.sqrt(factors.mean_squares.max(initial=0.0))
    used = [k for k, R in enumerate(factors.R) if len(R) == R.shape[1] > 1 and factors.mean_squares[k] > least**2]
    rows = sum(factors.R[k].shape[1] - 1 for k in used)
    A, b, start = np.zeros((rows, factors.dimension)), np.zeros((rows, nv)), 0
    for k in used:
        R, columns = factors.R[k], factors.pattern[k]
        own = slice(start, start := start + len(columns))
        noise = max(abs(R[-1, -1]) / np.sqrt(max(factors.count - len(columns), 1)), least)
        A[own, columns], b[own, k] = R[:-1, :-1] / noise, R[:-1, -1] / noise
    left = b - _projected(A, b)
    form, signs = left.T @ left / max(factors.count, 1), np.ones(nv)
    for _ in range(nv // 2):
        others = float(signs @ form @ signs) - 4.0 * signs * (form @ signs) + 4.0 * np.diag(form)
        k = int(np.argmin(others))
        if others[k] * BETTER >= float(signs @ form @ signs) - NEGLIGIBLE:
            break
        signs[k] = -signs[k]
    return np.asarray((signs < 0.0) & (float(signs @ form @ signs) < FITS))


def _projected(A: Array, b: Array) -> Array:
    """Return what columns explain of others."""
    size = np.linalg.norm(A, axis=0)
    A = A / np.where(size > 0.0, size, 1.0)
    w, V = np.linalg.eigh(A.T @ A)
    told = w > NEGLIGIBLE**2 * w.max(initial=0.0)
    U = A @ (V[:, told] / np.sqrt(w[told]))
    return np.asarray(U @ (U.T @ b))
