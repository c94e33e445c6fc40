"""Instrumental variables: noise in positions, velocities and accelerations does not bias them.

Noise in the columns makes least squares too small: it counts as motion that needs no force. Columns ``Z`` of a motion
without that noise, the commanded one, in ``Zᵀ W (τ − Y π) = 0`` are independent of it.

References: Young, "Recursive estimation and time-series analysis", 2011, chapter 6; Janot, Vandanjon and Gautier, "A
generic instrumental variable approach for industrial robot identification", IEEE T-CST 22(1), 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.estimators.contract import (
    ITERATIONS,
    RANK_TOLERANCE,
    Equations,
    Prior,
    Solution,
    decorrelated,
    solve,
)
from kinetree.logs.samples import Filter
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array


@friendly_call_errors
@dataclass(frozen=True, eq=False)
class Instrumental:
    """The estimate by the columns of another motion, weighted by the noise of each joint.

    Parameters
    ----------
    motion : log
        The commanded or simulated motion, with a sample for each one of the log; its forces are not read.
    filter : Filter, optional
        How a `Recording` of it is filtered: as the log is, with a cut-off that is given.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=200)
    >>> log = q, v, a, robot.inverse_dynamics(q, v, a)
    >>> fit = robot.identify(log, [], by=kt.identification.Instrumental(motion=log))
    >>> bool(abs(fit.values - fit.base.of()).max() < 1e-9)
    True
    """

    motion: Any
    filter: Filter | None = None
    reads_again, exact_motion = True, False

    def fit(self, equations: Equations, prior: Prior) -> Solution:
        """See `Estimator`."""
        products = self._products(equations)
        found = decorrelated(equations, lambda times: _weighted(equations, products, prior, times))
        return found.informed(equations.factors, prior)

    def _products(self, equations: Equations) -> list[Array]:
        """Return ``Zᵀ [Y τ Z]`` of each joint."""
        model = equations.model
        products = [np.zeros((len(columns), 2 * len(columns) + 1)) for columns in model.pattern]
        logs = equations.log, model.log(self.motion, self.filter)
        for own, other in zip_longest(*(log.pieces(model.robot) for log in logs)):
            if own is None or other is None or len(own.q) != len(other.q):
                raise ArgumentError("instruments are a motion with the samples of the log, one for each")
            Y, tau = model.of(own)
            Z, _ = model.of(other._replace(tau=own.tau, standing=own.standing, held=own.held))
            for product, y, z, right in zip(products, Y, Z, tau.T, strict=True):
                product += z.T @ np.column_stack([y, right, z])
        return products


def _weighted(equations: Equations, products: list[Array], prior: Prior, times: Array) -> Solution:
    factors, noise = equations.factors, np.sqrt(equations.factors.mean_squares) + equations.factors.least_noise
    for _ in range(ITERATIONS):
        A, b = _equations(equations, products, noise * np.sqrt(times))
        values, inverse, null = solve(A, b, prior)
        left = factors.squares(values) / np.maximum(factors.counts, 1.0)
        before, noise = noise, np.sqrt(left) + factors.least_noise
        if np.abs(noise - before).max() <= 1e-6 * noise.max():
            break
    return Solution(values, inverse, noise, null, A, times)


def _equations(equations: Equations, products: list[Array], scale: Array) -> tuple[Array, Array]:
    """Return A and b of ``Zᵀ W Y π = Zᵀ W τ`` in units of their noise, whose covariance is ``Zᵀ W Z``."""
    n = equations.model.dimension
    G, H, right = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    for product, columns, s in zip(products, equations.model.pattern, scale, strict=True):
        m, at = len(columns), np.ix_(columns, columns)
        G[at] += product[:, :m] / s**2
        H[at] += product[:, m + 1 :] / s**2
        right[columns] += product[:, m] / s**2
    silent = equations.factors.silent
    G[:, silent] = G[silent] = H[:, silent] = H[silent] = right[silent] = 0.0
    size = np.sqrt(np.diag(H))
    size[size == 0.0] = 1.0
    w, V = np.linalg.eigh(H / np.outer(size, size))
    kept = w > RANK_TOLERANCE * w.max(initial=0.0)
    whitening = (V[:, kept] / np.sqrt(w[kept])).T / size
    return whitening @ G, whitening @ right
