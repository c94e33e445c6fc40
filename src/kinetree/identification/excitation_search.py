"""The search for the best motion: an interior-point method that never leaves what is allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from kinetree.identification.excitation_problem import Problem
from kinetree.validation import Array

BARRIERS = (3e-2, 3e-3, 3e-4, 3e-5)
"""Weights of the barrier, one stage each."""

ARMIJO = 1e-4
SMALLEST = 1e-6
"""Steps below this part of the quasi-Newton step are none."""

Progress = Callable[[int, int, float], object] | None


class Found(NamedTuple):
    """Where a search has ended.

    Attributes
    ----------
    X : (nv, size) array
        The best coefficients that were seen, all limits kept.
    iterations : int
    converged : bool
        Whether it ended by itself.
    interrupted : bool
        Whether by Ctrl-C.
    """

    X: Array
    iterations: int
    converged: bool
    interrupted: bool


def search(
    problem: Problem, X: Array, first: int, stages: tuple[float, ...], most: int, tolerance: float, progress: Progress
) -> Found:
    """Return the best motion, from one that keeps within its limits.

    The criterion with the barrier is minimised by BFGS, for smaller and smaller weights of the barrier, from a metric
    that is the barrier's own.

    Parameters
    ----------
    first : int
        The first coefficient of each joint that may change.
    stages : tuple of float
        Weights of the barrier.
    most : int
        Iterations, of all stages.
    tolerance : float
        A stage ends where an iteration in the last ten gained no more than this.

    References: Nocedal and Wright, "Numerical Optimization", 2006, sections 6.1 and 19.6.
    """
    best, done, k = X, problem.point(X).criterion, 0
    try:
        for stage, mu in enumerate(stages):
            end = k + (most - k if stage == len(stages) - 1 else (most - k) // 3)
            steps = _descent(problem, X, first, mu, tolerance)
            while k < end and (step := next(steps, None)) is not None:
                X, value = step
                k += 1
                if value < done:
                    best, done = X, value
                if progress is not None:
                    progress(k, most, done)
    except KeyboardInterrupt:
        return Found(best, k, False, True)
    return Found(best, k, k < most, False)


def _descent(problem: Problem, X: Array, first: int, mu: float, tolerance: float) -> Iterator[tuple[Array, float]]:
    """Yield better and better coefficients, and the criterion of each, until there are none."""
    shape = X[:, first:].shape
    L = np.linalg.cholesky(problem.curvature(X)[:, first:, first:] + 1e-12 * np.eye(shape[1]))

    def moved(X: Array, step: Array) -> Array:
        """Return coefficients after a step in the coordinates in which the barrier is round."""
        new = X.copy()
        new[:, first:] += np.linalg.solve(np.swapaxes(L, -1, -2), step.reshape(*shape, 1))[..., 0]
        return new

    def slope(X: Array) -> Array:
        f, b = problem.gradients(X)
        return np.asarray(np.linalg.solve(L, (f + mu * b)[:, first:, None]).ravel())

    point = problem.point(X)
    value, g = point.criterion + mu * point.barrier, slope(X)
    H, fresh, gains = np.eye(len(g)), True, [np.inf] * 10
    while max(gains[-10:]) > tolerance:
        d = -H @ g
        if not d @ g < 0.0:
            H, d, fresh = np.eye(len(g)), -g, True
        size = min(1.0, 0.5 / np.abs(d).max()) if fresh else 1.0
        new = moved(X, size * d)
        while (point := problem.point(new)).criterion + mu * point.barrier > value + ARMIJO * size * (d @ g):
            size *= 0.5
            if size < SMALLEST:
                break
            new = moved(X, size * d)
        if size < SMALLEST:
            if fresh:
                return
            H, fresh = np.eye(len(g)), True
            continue
        after = point.criterion + mu * point.barrier
        gains.append(value - after)
        g_new = slope(new)
        s, y = size * d, g_new - g
        if s @ y > 1e-10 * np.linalg.norm(s) * np.linalg.norm(y):
            if fresh:
                H = np.eye(len(g)) * (s @ y) / (y @ y)
            Hy = H @ y
            H = H + np.outer(s, s) * (1.0 + y @ Hy / (s @ y)) / (s @ y) - (np.outer(Hy, s) + np.outer(s, Hy)) / (s @ y)
            fresh = False
        X, value, g = new, after, g_new
        yield X, point.criterion
