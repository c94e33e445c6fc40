"""The speeds at which friction falls off: what the forces do not depend on linearly."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.equations import Factors, Rows
from kinetree.identification.least_squares import Prior, solve, weighted
from kinetree.identification.samples import pieces
from kinetree.validation import Array

TRIED = (13, 7, 7)
"""How many speeds are tried in each round: many at first, since there are local minima."""

SWEEPS = 3


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
