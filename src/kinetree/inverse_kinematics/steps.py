"""One step: the damped linear least-squares problem within bounds, for a batch or, as a QP, one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.inverse_kinematics.rotations import Array

Step = Callable[[Array, Array, Array, Array, Array], Array]


def clamped_step(J: Array, e: Array, damping: Array, low: Array, high: Array) -> Array:
    """Return steps that make ``|J d − e|² + λ|d|²`` small within ``low ≤ d ≤ high``, by an active set.

    Coordinates at a bound that the gradient pushes against are held at once. Those that leave the box are put on its
    side and held, and the others found again, until all are inside: exact where no bound is met, feasible always.

    Parameters
    ----------
    J : (n, m, nv) array
    e : (n, m) array
    damping : (n,) array
        λ > 0.
    low, high : (n, nv) array
        ``low ≤ 0 ≤ high``.

    Returns
    -------
    (n, nv) array
    """
    downhill = np.einsum("nmv,nm->nv", J, e)
    held = ((high <= 0) & (downhill >= 0)) | ((low >= 0) & (downhill <= 0))
    d = _damped(J, e, damping, held, np.zeros_like(low))
    rows = np.arange(len(J))
    while True:
        outside = ~held[rows] & ((d[rows] < low[rows]) | (d[rows] > high[rows]))
        rows = rows[outside.any(axis=1)]
        if not len(rows):
            return d
        held[rows] |= outside[outside.any(axis=1)]
        d[rows] = np.clip(d[rows], low[rows], high[rows])
        d[rows] = _damped(J[rows], e[rows], damping[rows], held[rows], d[rows])


def _damped(J: Array, e: Array, damping: Array, held: Array, d: Array) -> Array:
    """Return d with the coordinates that are not held set to ``Jᵀ (J Jᵀ + λ)⁻¹ r``, r being what the held leave."""
    r = e - np.einsum("nmv,nv->nm", J, np.where(held, d, 0.0))
    J = np.where(held[:, None, :], 0.0, J)
    A = J @ np.swapaxes(J, -1, -2) + damping[:, None, None] * np.eye(J.shape[1])
    free = np.einsum("nmv,nm->nv", J, np.linalg.solve(A, r[..., None])[..., 0])
    return np.where(held, d, free)


def qp_step(J: Array, e: Array, damping: Array, low: Array, high: Array) -> Array:
    """Return the steps that minimise ``|J d − e|² + λ|d|²`` within ``low ≤ d ≤ high``, exactly; see `clamped_step`.

    Raises
    ------
    ArgumentError
        If the solver is not installed.
    """
    try:
        import daqp  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ArgumentError("method='qp' needs a solver of quadratic programs: pip install kinetree[qp]") from None
    nv = J.shape[-1]
    no_rows = np.zeros((0, nv))
    H = np.swapaxes(J, -1, -2) @ J + damping[:, None, None] * np.eye(nv)
    f = -np.einsum("nmv,nm->nv", J, e)
    steps = [daqp.solve(*args, no_rows, b, a)[0] for *args, b, a in zip(H, f, high, low, strict=True)]
    return np.clip(np.reshape(steps, low.shape), low, high)
