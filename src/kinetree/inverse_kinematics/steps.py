"""One step: the damped linear least-squares problem within bounds, for a batch or, as a QP, one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.locks import importing
from kinetree.validation import Array

Step = Callable[[Array, Array, Array, Array, Array], Array]


def clamped_step(J: Array, e: Array, damping: Array, low: Array, high: Array) -> Array:
    """Return steps (n, nv) that make ``|J d − e|² + λ|d|²`` small within ``low ≤ d ≤ high``, by an active set.

    Coordinates at a bound that the gradient pushes against are held at once. The others go straight to the least value
    that is left, as far as the first bound allows; what meets it is held there, and so on. So every step is feasible
    and lowers the sum, and is exact where no bound is met. J is (n, m, nv), e is (n, m), λ > 0, and ``low ≤ 0 ≤ high``.
    """
    downhill = np.einsum("nmv,nm->nv", J, e)
    held = ((high <= 0) & (downhill >= 0)) | ((low >= 0) & (downhill <= 0))
    d, rows = np.zeros_like(low), np.arange(len(J))
    while len(rows):
        here, lo, hi = d[rows], low[rows], high[rows]
        there = _damped(J[rows], e[rows], damping[rows], held[rows], here)
        outside, side = (there > hi) | (there < lo), np.where(there > hi, hi, lo)
        part = np.divide(side - here, there - here, out=np.ones_like(here), where=outside)
        first = part.min(axis=1, keepdims=True, initial=1.0)
        met = outside & (part <= first)
        d[rows] = np.where(met, side, np.clip(here + first * (there - here), lo, hi))
        held[rows] |= met
        rows = rows[outside.any(axis=1)]
    return d


def _damped(J: Array, e: Array, damping: Array, held: Array, d: Array) -> Array:
    """Return d with the coordinates that are not held set to ``Jᵀ (J Jᵀ + λ)⁻¹ r``, r being what the held leave."""
    r = e - np.einsum("nmv,nv->nm", J, np.where(held, d, 0.0))
    J = np.where(held[:, None, :], 0.0, J)
    A = J @ np.swapaxes(J, -1, -2) + damping[:, None, None] * np.eye(J.shape[1])
    free = np.einsum("nmv,nm->nv", J, np.linalg.solve(A, r[..., None])[..., 0])
    return np.where(held, d, free)


def qp_step(J: Array, e: Array, damping: Array, low: Array, high: Array) -> Array:
    """Return the steps that minimise ``|J d − e|² + λ|d|²`` within ``low ≤ d ≤ high``, exactly; see `clamped_step`."""
    try:
        with importing:
            import daqp  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ArgumentError("method='qp' needs a solver of quadratic programs: pip install kinetree[qp]") from None
    nv = J.shape[-1]
    no_rows = np.zeros((0, nv))
    H = np.swapaxes(J, -1, -2) @ J + damping[:, None, None] * np.eye(nv)
    f = -np.einsum("nmv,nm->nv", J, e)
    steps = [daqp.solve(*args, no_rows, b, a)[0] for *args, b, a in zip(H, f, high, low, strict=True)]
    return np.clip(np.reshape(steps, low.shape), low, high)
