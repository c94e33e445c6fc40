"""The speeds at which friction falls off: what the forces do not depend on linearly."""

from __future__ import annotations

from typing import Any

import numpy as np

from kinetree.identification.base_parameters import BaseParameters
from kinetree.identification.equations import Rows
from kinetree.identification.least_squares import Prior, weighted
from kinetree.identification.samples import pieces
from kinetree.validation import Array

ROUNDS = 4
TRIED = 7


def estimated_speeds(base: BaseParameters, log: Any) -> Array:
    """Return the speeds (nv,) with the least residuals, from 1/100 of the greatest speed of each joint up to it.

    The residuals of a joint depend on its own speed nearly alone, so all are tried together: in each round at a few
    speeds around the best so far, which come closer to each other.
    """
    fastest = np.max([np.abs(piece.v).max(axis=0, initial=0.0) for piece in pieces(base.robot, log)], axis=0)
    fastest[fastest == 0.0] = 1.0
    low, high = np.log(fastest / 100.0), np.log(fastest)
    best = 0.5 * (low + high)
    width = 0.5 * (high - low)
    prior = Prior(base.of(), np.full(base.dimension, np.inf))
    for _ in range(ROUNDS):
        tried = np.clip(best + np.linspace(-1.0, 1.0, TRIED)[:, None] * width, low, high)
        left = []
        for logarithms in tried:
            factors = Rows(base, np.exp(logarithms)).factors(log)
            left.append(factors.squares(weighted(factors, prior).values))
        best = np.take_along_axis(tried, np.argmin(left, axis=0)[None], axis=0)[0]
        width = width * 2.0 / (TRIED - 1)
    return np.asarray(np.exp(best))
