"""Newton's method for physically consistent inertias near the data and a prior.

Mass somewhere in space has a positive definite pseudo-inertia, the second moments ``∫ [x; 1][x; 1]ᵀ dm``, and every
positive definite one is that of some body. It is linear in the ten parameters, so what the data say and the distance to
the prior, the entropic divergence ``tr(P_0⁻¹ P) − log det(P_0⁻¹ P) − 4``, make one convex function, which is
self-concordant: Newton's method with damped steps finds its only minimum, stays physically consistent, and knows how
far it is from the minimum.

References: Wensing, Kim and Slotine, "Linear matrix inequalities for physically consistent inertial parameter
identification", IEEE RA-L 3(1), 2018; Lee, Wensing and Park, "Geometric robot dynamic identification: a convex
programming approach", IEEE T-RO 36(2), 2020, for the divergence; Boyd and Vandenberghe, "Convex optimization", 2004,
section 9.6, for Newton's method on self-concordant functions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.validation import Array

THINNEST, THIN = 1e-6, 1e-2
"""Below the first, relative to a ball of usual size, an eigenvalue of a prior's pseudo-inertia is of no body that
somebody has measured, but of a point or a plate: it is taken as the second, since the divergence from what is next to
nothing outweighs all data."""

SPREAD = 1e-9
"""The least eigenvalue by the greatest: rounding leaves bodies physically consistent."""

BALL = 0.01
"""Mean square of each coordinate in such a ball where no link has a mass (m²)."""


BASIS = np.zeros((10, 4, 4))
"""The pseudo-inertias of the ten unit parameters."""
_I = np.eye(10)[:, [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
BASIS[:, :3, :3] = np.trace(_I, axis1=1, axis2=2)[:, None, None] / 2.0 * np.eye(3) - _I
BASIS[:, :3, 3] = BASIS[:, 3, :3] = np.eye(10)[:, 1:4]
BASIS[0, 3, 3] = 1.0


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
    """Return physically consistent inertial parameters (nb, 10) near these; links without mass become balls of this.

    The least eigenvalue of pseudo-inertias is relative to those of a ball of the same mass and usual size. If it is not
    given, eigenvalues below `THINNEST` become `THIN`, and points become such balls.
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


STEPS = 25
"""Newton steps for one share of the data; where they are too few, the share grows more slowly."""

GAP = 1e-10
"""How far from the least value Newton's method may end; a difference of one is a standard deviation, roughly."""

QUADRATIC = 1e-4
"""Below this the squared decrement is squared by each step, until rounding is all that is left."""

NEAR = 0.1
"""Below this whole steps converge quadratically."""

FARTHEST, HALVED = 1.0 - 1e-9, 40
"""How far towards the end of physical consistency a step may go, and how often an interval of lengths is halved."""

ROUGH = 0.1
GROWTH, LEAST_GROWTH = 30.0, 1.01
"""How precisely the function with a share of the data is minimised, and by what the share grows, at most and least."""


class Problem(NamedTuple):
    """The function that is to be least: ``½ |A (x − x̂)|² + strength · Σ divergence(x_i, prior_i)``."""

    A: Array  # (m, N), equations in units of their noise
    b: Array  # (m,), A x̂
    bodies: int  # the first ten parameters of each body
    positive: Array  # (k, N), combinations u = C x that are positive; their divergence is u/u_0 − log(u/u_0) − 1
    weights: Array  # (k,), what these count
    prior: Array  # (N,), of bodies that exist
    strength: float  # one where the prior is right up to a factor, roughly; 1/s² for relative deviations s

    def condensed(self) -> Problem:
        """Return the same, up to a constant, with as many rows as parameters."""
        R = np.asarray(np.linalg.qr(np.column_stack([self.A, self.b]), mode="r"))[: self.A.shape[1]]
        return self._replace(A=R[:, :-1], b=R[:, -1])

    def rows(self, x: Array) -> tuple[Array, Array]:
        """Return M and r with the gradient ``Mᵀ r`` and the Hessian ``Mᵀ M``.

        Of a divergence with ``J = C Cᵀ`` they are the entries of ``C⁻¹ B_k C⁻ᵀ`` for the ten unit pseudo-inertias, and
        of ``Cᵀ J_0⁻¹ C − 1``.
        """
        root, n = np.sqrt(self.strength), len(x)
        J, J0 = (pseudo_inertia(p[: 10 * self.bodies].reshape(-1, 10)) for p in (x, self.prior))
        C = np.linalg.cholesky(J)
        inverse = np.linalg.inv(C)
        blocks, right = [self.A], [self.A @ x - self.b]
        for i in range(self.bodies):
            M = np.zeros((16, n))
            M[:, 10 * i : 10 * i + 10] = (inverse[i] @ BASIS @ inverse[i].T).reshape(10, 16).T
            blocks.append(root * M)
            right.append(root * (C[i].T @ np.linalg.solve(J0[i], C[i]) - np.eye(4)).ravel())
        u, roots = self.positive @ x, np.sqrt(self.weights)
        blocks.append((roots / u)[:, None] * self.positive)
        right.append(roots * (u / (self.positive @ self.prior) - 1.0))
        return np.vstack(blocks), np.concatenate(right)

    def length(self, x: Array, step: Array, decrement: float) -> float:
        """Return by how much of a Newton step the function decreases most within physical consistency.

        Along it it is a square and logarithms, ``½ a t² + b t − Σ s_i log(1 + t e_i)``.
        """
        J, dJ = (pseudo_inertia(p[: 10 * self.bodies].reshape(-1, 10)) for p in (x, step))
        inverse = np.linalg.inv(np.linalg.cholesky(J))
        relative = np.linalg.eigvalsh(inverse @ dJ @ inverse.transpose(0, 2, 1)).ravel()
        e = np.concatenate([relative, (self.positive @ step) / (self.positive @ x)])
        s = np.append(np.full(len(relative), self.strength), self.weights)
        a, b = float(((self.A @ step) ** 2).sum()), float((s * e).sum()) - decrement
        low, high = 0.0, FARTHEST / max(0.01, -float(e.min()))
        for _ in range(HALVED):
            t = 0.5 * (low + high)
            low, high = (t, high) if a * t + b < (s * e / (1.0 + t * e)).sum() else (low, t)
        return low


class Consistent(NamedTuple):
    """All parameters (N,), of physically consistent bodies, and how far at most from the least value they are."""

    parameters: Array
    gap: float


def newton(problem: Problem) -> Consistent:
    """Return the minimum by damped Newton steps, with the weight of the data growing from little to all of it.

    The function is self-concordant after division by the strength of the prior, or by one if that is less: at a squared
    decrement λ² below 0.4 of this it is at most λ² above its least value (Boyd and Vandenberghe, section 9.6.3).
    """
    problem, x = problem.condensed(), problem.prior
    data = 0.5 * float(((problem.A @ x - problem.b) ** 2).sum())
    done, growth = 0.0, GROWTH
    share = min(1.0, problem.strength / max(data, np.finfo(float).tiny))
    while growth > LEAST_GROWTH:
        root = np.sqrt(share)
        stage = problem._replace(A=problem.A * root, b=problem.b * root)
        found = _minimum(stage, x, GAP if share == 1.0 else ROUGH)
        if found is None:  # from too far away: along the boundary of physical consistency steps are short
            growth = np.sqrt(growth)
        elif share == 1.0:
            return found
        else:
            x, done = found.parameters, share
        share = min(1.0, done * growth) if done else share / growth
    raise KinetreeError(
        "no bodies that fit were found: the data contradict the prior, or hold numbers out of all scale"
    )


def _minimum(problem: Problem, x: Array, gap: float) -> Consistent | None:
    """Return where a squared decrement is below a gap, or rounding stops the descent; None after too many steps."""
    before, unit = np.inf, min(problem.strength, 1.0, *problem.weights)
    for _ in range(STEPS):
        try:
            M, r = problem.rows(x)
        except np.linalg.LinAlgError:  # rounding of a step has left physical consistency
            return None
        scale = np.linalg.norm(M, axis=0)
        scale[scale == 0.0] = 1.0
        Q, R = np.linalg.qr(M / scale)
        step = -np.linalg.solve(R, Q.T @ r) / scale
        decrement = float(((M @ step) ** 2).sum())
        if decrement <= gap * unit or (decrement < QUADRATIC * unit and decrement > 0.5 * before):
            return Consistent(x, decrement)
        before = decrement
        x = x + step if decrement < NEAR * unit else x + problem.length(x, step, decrement) * step
    return None
