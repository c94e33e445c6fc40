"""The speeds at which friction falls off: what the forces do not depend on linearly.

Reference: Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
variables separate", 1973, for estimates of what is linear beside a few parameters that are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.least_squares import Prior, Solution, solve, weighted
from kinetree.identification.samples import Piece, pieces
from kinetree.validation import Array

TRIED = (13, 7, 7)
"""How many speeds are tried in each round: many at first, since there are local minima."""

SWEEPS = 3

STEP = 1e-4
"""By how much logarithms of speeds differ where derivatives are taken."""


def estimated_speeds(base: BaseParameters, log: Any) -> Array:
    """Return the speeds (nv,) with the least residuals, from 1/100 of the greatest speed of each joint up to it.

    A joint's equations depend on its own speed alone. So all joints are factorized at a few of their speeds in as many
    passes through the data, and the best combination is found among the factors, joint after joint; then at speeds that
    are closer to each other.
    """
    fastest = np.max([np.abs(piece.v).max(axis=0, initial=0.0) for piece in pieces(base.robot, log)], axis=0)
    fastest[fastest == 0.0] = 1.0
    low, high = np.log(fastest / 100.0), np.log(fastest)
    best, width = 0.5 * (low + high), 0.5 * (high - low)
    for count in TRIED:
        tried = np.clip(best + np.linspace(-1.0, 1.0, count)[:, None] * width, low, high)
        found = [Rows(base, np.exp(logarithms)).factors(log) for logarithms in tried]
        best = tried[_best(base, found), np.arange(len(best))]
        width = width * 2.0 / (count - 1)
    return np.asarray(np.exp(best))


class WithSpeeds(Rows):
    """The same equations with a further column for each speed: what the forces change with its logarithm.

    Parameters
    ----------
    rows : Rows
    values : (n,) array
        The estimates with these speeds.
    """

    def __init__(self, rows: Rows, values: Array) -> None:
        assert rows.stribeck_speed is not None  # these are rows with speeds
        self.robot, self.smoothing, self.rest, self._rows = rows.robot, rows.smoothing, rows.rest, rows
        self._values = values
        self._joints = sorted({k for term, k in rows.base.places if term == "stribeck"})
        self.pattern = list(rows.pattern)
        for own, k in enumerate(self._joints, start=rows.dimension):
            self.pattern[k] = np.append(self.pattern[k], own)
        self.dimension = rows.dimension + len(self._joints)
        self._beside = [Rows(rows.base, rows.stribeck_speed * np.exp(d)) for d in (STEP, -STEP)]

    def of(self, piece: Piece) -> tuple[list[Array], Array]:
        """Return the rows of each entry of v, and what they add up to."""
        own, tau = self._rows.of(piece)
        faster, slower = (rows.of(piece)[0] for rows in self._beside)
        for k in self._joints:
            change = (faster[k] - slower[k]) @ self._values[self._rows.pattern[k]] / (2.0 * STEP)
            own[k] = np.column_stack([own[k], change])
        return own, tau


def as_uncertain_with_speeds(found: Solution, whole: Solution) -> Solution:
    """Return an estimate with the uncertainty that it has where speeds are estimated too, from that of both."""
    n = len(found.values)
    A, speeds = whole.information, len(whole.values) - n
    R = np.asarray(np.linalg.qr(np.hstack([A[:, n:], A[:, :n]]), mode="r"))
    return found._replace(covariance=whole.covariance[:n, :n], information=R[speeds:, speeds:])


def _best(base: BaseParameters, tried: list[Factors]) -> list[int]:
    """Return which of the factors each joint is to have so that the weighted residuals are least."""
    mixed, chosen = tried[len(tried) // 2], [len(tried) // 2] * base.robot.nv
    own = list(mixed.R)
    prior = Prior(base.of(), np.full(base.dimension, np.inf))
    for _ in range(SWEEPS):
        before, noise = list(chosen), weighted(mixed, prior).noise
        for k in sorted({k for term, k in base.places if term == "stribeck"}):
            costs = []
            for factors in tried:
                own[k] = factors.R[k]
                mixed = mixed.with_factors(own)
                values, _, _ = solve(*mixed.stacked(noise), prior)
                costs.append(float((mixed.squares(values) / noise**2).sum()))
            chosen[k] = int(np.argmin(costs))
            own[k] = tried[chosen[k]].R[k]
            mixed = mixed.with_factors(own)
        if chosen == before:
            break
    return chosen
