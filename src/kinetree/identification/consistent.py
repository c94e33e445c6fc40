"""Bodies that can exist: all parameters from base parameters, with positive definite pseudo-inertias, near a prior.

A body's pseudo-inertia is the matrix (4, 4) of the second moments of its mass, ``∫ [x; 1][x; 1]ᵀ dm``. Mass somewhere
in space has a positive definite one, and every positive definite one is that of some body. It is linear in the ten
parameters, so what the data say and the distance to the prior, the entropic divergence
``tr(P_0⁻¹ P) − log det(P_0⁻¹ P) − 4``, make one convex function, which is self-concordant: Newton's method with damped
steps finds its only minimum, stays among the bodies that can exist, and knows how far it is from the minimum.

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

STEPS = 200
GAP = 1e-10
"""How far from the least value Newton's method may end; a difference of one is a standard deviation, roughly."""

THINNEST = 1e-6
"""The least eigenvalue of a prior's pseudo-inertia relative to that of a ball of its mass and size."""


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


class Problem(NamedTuple):
    """The function that is to be least: ``½ |A (x − x̂)|² + strength · Σ divergence(x_i, prior_i)``.

    Attributes
    ----------
    A : (m, N) array
        Rows in units of their noise.
    b : (m,) array
        ``A x̂``.
    bodies : int
        The first ten parameters of each body.
    positive : (N,) array of bool
        Which of the others cannot be negative; their divergence is ``x/x_0 − log(x/x_0) − 1``.
    prior : (N,) array
        Of bodies that exist.
    strength : float
        One where the prior is right up to a factor, roughly; 1/s² for relative deviations s.
    """

    A: Array
    b: Array
    bodies: int
    positive: Array
    prior: Array
    strength: float

    def value(self, x: Array) -> float:
        """Return the function's value, infinite where no body can have these parameters."""
        J, J0 = (pseudo_inertia(p[: 10 * self.bodies].reshape(-1, 10)) for p in (x, self.prior))
        if (np.linalg.eigvalsh(J) <= 0.0).any() or (x[self.positive] <= 0.0).any():
            return np.inf
        relative = np.linalg.solve(J0, J)
        divergence = np.trace(relative, axis1=1, axis2=2).sum() - np.linalg.slogdet(relative)[1].sum() - 4 * self.bodies
        ratio = x[self.positive] / self.prior[self.positive]
        divergence += (ratio - np.log(ratio) - 1.0).sum()
        return float(0.5 * ((self.A @ x - self.b) ** 2).sum() + self.strength * divergence)

    def derivatives(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient (N,) and the Hessian (N, N)."""
        gradient, hessian = self.A.T @ (self.A @ x - self.b), self.A.T @ self.A
        J, J0 = (np.linalg.inv(pseudo_inertia(p[: 10 * self.bodies].reshape(-1, 10))) for p in (x, self.prior))
        for i in range(self.bodies):
            own = slice(10 * i, 10 * i + 10)
            JB = J[i] @ BASIS
            gradient[own] += self.strength * np.einsum("ab,kba->k", J0[i] - J[i], BASIS)
            hessian[own, own] += self.strength * np.einsum("kab,lba->kl", JB, JB)
        at = np.flatnonzero(self.positive)
        gradient[at] += self.strength * (1.0 / self.prior[at] - 1.0 / x[at])
        hessian[at, at] += self.strength / x[at] ** 2
        return gradient, hessian


class Consistent(NamedTuple):
    """All parameters of bodies that can exist.

    Attributes
    ----------
    parameters : (N,) array
    gap : float
        How far at most the function that was to be least is from its least value.
    """

    parameters: Array
    gap: float


def newton(problem: Problem) -> Consistent:
    """Return the minimum by damped Newton steps from the prior.

    For a function that is self-concordant after division by `strength`, a decrement λ below 0.68 leaves at most λ² of
    it (Boyd and Vandenberghe, section 9.6.3).
    """
    x, value = problem.prior.copy(), problem.value(problem.prior)
    for _ in range(STEPS):
        gradient, hessian = problem.derivatives(x)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(hessian), np.finfo(float).tiny))
        step = -scale * np.linalg.lstsq(hessian * np.outer(scale, scale), scale * gradient)[0]
        decrement = float(-gradient @ step)
        if decrement <= GAP * problem.strength:
            return Consistent(x, max(decrement, 0.0))
        length = 1.0
        while not problem.value(x + length * step) <= value - 0.1 * length * decrement:
            length /= 2.0
            if length < 1e-12:  # rounding is all that is left
                return Consistent(x, decrement)
        x = x + length * step
        value = problem.value(x)
    raise KinetreeError("no bodies that fit were found: is the noise zero, or the prior far from anything that fits?")


def repaired(ten: Array) -> Array:
    """Return inertial parameters (nb, 10) of bodies that can exist, near these; those of nothing become small balls.

    Parameters
    ----------
    ten : (nb, 10) array
    """
    J = pseudo_inertia(ten)
    mass = np.maximum(J[:, 3, 3], 0.0)
    typical = mass[mass > 0.0].mean() if (mass > 0.0).any() else 1.0
    sizes = np.array([np.trace(j[:3, :3]) / (3.0 * m) for j, m in zip(J, mass, strict=True) if m > 0.0])
    size = np.median(sizes[sizes > 0.0]) if (sizes > 0.0).any() else 0.01
    out = []
    for j, m in zip(J, mass, strict=True):
        m = max(m, 1e-3 * typical)
        units = np.sqrt(np.array([*[size * m] * 3, m]))
        w, V = np.linalg.eigh(j / np.outer(units, units))
        near = (V * np.maximum(w, THINNEST if w[-1] > 1e-3 else 1.0)) @ V.T * np.outer(units, units)
        out.append(_parameters(near))
    return np.array(out).reshape(-1, 10)


def _parameters(J: Array) -> Array:
    """Return the ten parameters of a pseudo-inertia."""
    I = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
    return np.array([J[3, 3], *J[:3, 3], I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])


def margins(ten: Array) -> Array:
    """Return the least eigenvalues (nb,) of pseudo-inertias, relative to the greatest."""
    w = np.linalg.eigvalsh(pseudo_inertia(ten.reshape(-1, 10)))
    return np.asarray(w[:, 0] / np.maximum(np.abs(w).max(axis=1), np.finfo(float).tiny))
