"""Newton's method for physically consistent bodies: the least value of a self-concordant function.

Reference: Boyd and Vandenberghe, "Convex optimization", 2004, section 9.6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.validation import Array

STEPS = 25  # Newton's steps for one share of the data; where they are too few, the share grows more slowly
GROWTH, LEAST_GROWTH = 30.0, 1.01  # by what the data's share grows, at most and least
# Squared decrements from which on steps are whole and the share grows, and from which on they end: one is a standard
# deviation
NEAR, GAP = 0.3, 1e-10
FARTHEST, HALVED = 0.9, 24  # how far to the end of physical consistency a step goes, and halvings of its length
BASIS = np.zeros((10, 4, 4))  # the pseudo-inertias of the ten unit parameters
_I = np.eye(10)[:, [[4, 5, 7], [5, 6, 8], [7, 8, 9]]]
BASIS[:, :3, :3] = np.trace(_I, axis1=1, axis2=2)[:, None, None] / 2.0 * np.eye(3) - _I
BASIS[:, :3, 3] = BASIS[:, 3, :3] = np.eye(10)[:, 1:4]
BASIS[0, 3, 3] = 1.0


def pseudo_inertia(ten: Array) -> Array:
    """Return the pseudo-inertias (..., 4, 4) of inertial parameters (..., 10)."""
    return np.tensordot(ten, BASIS, 1)


def inertial_of(J: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia."""
    I = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([J[3, 3], *J[:3, 3], I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


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
        root, count = np.sqrt(self.strength), 10 * self.bodies
        J, J0 = (pseudo_inertia(p[:count].reshape(-1, 10)) for p in (x, self.prior))
        C = np.linalg.cholesky(J)
        inverse = np.linalg.inv(C)[:, None]
        own, M = (inverse @ BASIS @ np.swapaxes(inverse, -1, -2)).reshape(-1, 10, 16), np.zeros((len(J), 16, len(x)))
        for i, rows in enumerate(M):
            rows[:, 10 * i : 10 * i + 10] = own[i].T
        blocks, right = [self.A, root * M.reshape(-1, len(x))], [self.A @ x - self.b]
        right.append(root * (np.swapaxes(C, 1, 2) @ np.linalg.solve(J0, C) - np.eye(4)).ravel())
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
    """Return the minimum by Newton's steps, with the weight of the data growing from little to all of it.

    The function is self-concordant after division by the strength of the prior, or by one if that is less: at a squared
    decrement λ² below 0.4 of this it is at most λ² above its least value (Boyd and Vandenberghe, section 9.6.3).
    """
    problem, x, growth = problem.condensed(), problem.prior, GROWTH
    data = 0.5 * float(((problem.A @ x - problem.b) ** 2).sum())
    done = problem.strength / max(data, np.finfo(float).tiny) / growth
    while growth > LEAST_GROWTH:
        share = min(1.0, done * growth)
        root = np.sqrt(share)
        stage = problem._replace(A=problem.A * root, b=problem.b * root)
        found = _minimum(stage, x, rough=share < 1.0)
        if found is None:  # from too far away: where bodies end, steps are short
            growth = np.sqrt(growth)
        elif share == 1.0:
            return found
        else:
            x, done = found.parameters, share
    raise KinetreeError(
        "no bodies that fit were found: the data contradict the prior, or hold numbers out of all scale"
    )


def _minimum(problem: Problem, x: Array, rough: bool) -> Consistent | None:
    """Return where steps end, or the first whole one if a rough one is enough; None where they are too many."""
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
        near = decrement < NEAR * unit
        if near and (rough or decrement <= GAP * unit):
            return Consistent(x + step, decrement)
        if near and decrement > 0.5 * before:  # the rest is rounding
            return Consistent(x, decrement)
        x = x + (step if near else problem.length(x, step, decrement) * step)
        before = decrement if near else np.inf
    return None
