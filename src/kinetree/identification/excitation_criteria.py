"""What makes a motion tell much: criteria of the information matrix, with their gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.validation import Array

POWER = 12
"""Of the means in the place of the greatest and the least eigenvalue: they are smooth where those are not."""

Criterion = Callable[[Array], tuple[float, Array]]
"""From the information (n, n) to a number, the less the better, infinite if it is singular, and its gradient (n, n)."""


def determinant(M: Array) -> tuple[float, Array]:
    """Return ``−log det M / n``: the mean logarithm of the variances of independent combinations."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.inf, M
    inverse = np.linalg.inv(L)
    return float(-2.0 * np.log(np.diag(L)).sum() / len(M)), inverse.T @ inverse / -len(M)


def condition(M: Array) -> tuple[float, Array]:
    """Return the logarithm of the condition number of the regressor, ``½ log(λ_max/λ_min)``, by means of high power."""
    values, V = np.linalg.eigh(M)
    if values[0] <= 1e-14 * values[-1]:
        return np.inf, M
    up, down = values / values[-1], values[0] / values
    large, small = (up**POWER).sum(), (down**POWER).sum()
    value = np.log(values[-1] / values[0]) + (np.log(large) + np.log(small)) / POWER
    slopes = up**POWER / large / values - down**POWER / small / values
    return float(0.5 * value), 0.5 * (V * slopes) @ V.T


CRITERIA: dict[str, Criterion] = {"determinant": determinant, "condition": condition}
