"""The search for the best motion: SciPy's BFGS, with a barrier at the limits, and where it begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.excitation.problem import SAFE, Problem
from kinetree.validation import Array

BARRIERS = (3e-2, 3e-3, 3e-4)  # weights of the barrier, one stage each
FIRST = 0.5  # how long the first step of a stage is at most in each direction, where the barrier's curvature is one
PATIENCE = 10  # iterations that together have to gain something
TRIES = 2000  # random configurations among which one is looked for that keeps within all limits
MOTIONS = 30  # random motions of which the best is taken
Progress = Callable[[int, int, float], object] | None


class Found(NamedTuple):
    """Where a search has ended."""

    X: Array  # (nv, size), the best coefficients that were seen, all limits kept
    iterations: int
    converged: bool  # by itself
    interrupted: bool  # by Ctrl-C


def search(
    problem: Problem, X: Array, first: int, most: int, tolerance: float, progress: Progress, stages: tuple[float, ...]
) -> Found:
    """Return the best motion that was seen, from one that keeps within its limits.

    The criterion with the barrier is minimised by BFGS, for smaller and smaller weights of the barrier. The metric in
    which each stage begins is that of the barrier of positions, speeds and accelerations. `first` is the first
    coefficient of each joint that may change; there are at most `most` iterations in all, and a stage ends where ten of
    them gain no more than the tolerance.

    References: Nocedal and Wright, "Numerical Optimization", 2006, sections 6.1 and 19.6.
    """
    minimize, start = _minimize(), X
    best, value, done = X, problem.point(X).criterion, 0

    def motion(x: Array) -> Array:
        return np.hstack([start[:, :first], x.reshape(len(start), -1)])

    def cost(X: Array, weight: float) -> tuple[float, Array]:
        """Return the objective and its gradient."""
        nonlocal best, value
        point = problem.point(X)
        if point.inside and point.criterion < value:
            best, value = X, point.criterion
        if not np.isfinite(point.criterion):
            return np.inf, np.zeros(X[:, first:].size)
        told, near = problem.gradients(X)
        return point.criterion + weight * point.barrier, (told + weight * near)[:, first:].ravel()

    def metric(X: Array, weight: float) -> Array:
        """Return the inverse of the barrier's curvature (x, x), by so much that the first step is of size `FIRST`."""
        L = np.linalg.cholesky(np.linalg.inv(problem.curvature(X)[:, first:, first:]))
        slope = cost(X, weight)[1].reshape(len(L), 1, -1) @ L
        scale = FIRST / max(np.abs(slope).max(), 1e-12)
        count, size, _ = L.shape
        H = np.zeros((count, size, count, size))
        H[range(count), :, range(count)] = scale * L @ np.swapaxes(L, 1, 2)
        full = H.reshape(count * size, count * size)
        return np.asarray(0.5 * (full + full.T))  # SciPy wants it symmetric to the last bit

    def stage(X: Array, weight: float, iterations: int) -> Array:
        """Return the motion at the end of one stage."""
        values: list[float] = []

        def after(intermediate_result: Any) -> None:
            nonlocal done
            values.append(intermediate_result.fun)
            done += 1
            if progress is not None:
                progress(done, most, value)
            if len(values) > PATIENCE and values[-PATIENCE - 1] - values[-1] <= tolerance:
                raise StopIteration

        options = {"maxiter": iterations, "gtol": 0.0, "hess_inv0": metric(X, weight)}
        found = minimize(
            lambda x: cost(motion(x), weight),
            X[:, first:].ravel(), jac=True, method="BFGS", callback=after, options=options,
        )  # fmt: skip
        return motion(found.x)

    try:
        for left, weight in zip(range(len(stages), 0, -1), stages, strict=True):
            if (iterations := (most - done) // (1 if left == 1 else 3)) > 0:
                X = stage(X, weight, iterations)
    except KeyboardInterrupt:
        return Found(best, done, False, True)
    return Found(best, done, done < most, False)


def _minimize() -> Any:
    """Return SciPy's function, or raise if it is not installed."""
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise ArgumentError("excite needs SciPy: pip install scipy") from None
    return minimize


# -- where it begins --------------------------------------------------------------------------------------------------


def still(problem: Problem, rest: Array | None, rng: np.random.Generator) -> Array:
    """Return coefficients (nv, size) of standing still where all limits hold, or raise: the error says why."""
    limits, nv = problem.limits, problem.robot.nv
    X = np.zeros((nv, problem.series.size))
    random = limits.middle + SAFE * limits.half * rng.uniform(-1.0, 1.0, (TRIES, nv))
    q = np.vstack([limits.middle, random]) if rest is None else rest[None]
    near = _near(problem, q)
    worst = np.hstack(near).max(axis=1)
    worst = np.where((worst < 1.0) & ~problem.is_free(q), 1.0, worst)
    best = 0 if worst[0] < 1.0 else int(np.argmin(worst))
    if not worst[best] < 1.0:
        where = "start is not within the limits" if rest is not None else "no configuration within the limits was found"
        nearest = "" if rest is not None else "; of the nearest one"
        hint = "give another start, or wider limits (robot.with_limits, fraction, boxes)"
        reasons = listed(_reasons(problem, q[best], *(x[best] for x in near)))
        raise ArgumentError(f"{where}{nearest}: {reasons}; {hint}")
    X[:, 0] = X[:, 1] = q[best]
    return X


def _near(problem: Problem, q: Array) -> tuple[Array, Array, Array]:
    """Return how near the places of joints, their forces and frames are to their limits, where they are 1."""
    limits, zero = problem.limits, np.zeros_like(q)
    places = np.abs(q - limits.middle) / limits.half / problem.nodes.bound.min()
    return places, np.abs(problem.forces((q, zero, zero))) / SAFE, np.abs(problem.frames(q)) / SAFE


def _reasons(problem: Problem, q: Array, places: Array, forces: Array, frames: Array) -> list[str]:
    """Return why a configuration is not within the limits."""
    robot, limits = problem.robot, problem.limits
    low, high, effort = limits.middle - limits.half, limits.middle + limits.half, limits.effort
    found = []
    for i in np.flatnonzero(~(places < 1.0)):
        found.append(f"{robot.v_names[i]} is at {q[i]:.4g}, {low[i]:.4g} to {high[i]:.4g} are used")
    for i in np.flatnonzero(~(forces < 1.0)):
        needed = forces[i] * SAFE * effort[i]
        found.append(f"{robot.v_names[i]} needs {needed:.4g} to hold it, {effort[i]:.4g} are used")
    if not problem.is_free(q[None]).all():
        found.append("it is not free")
    boxes = zip(limits.boxes, frames.reshape(-1, 3), strict=True)
    return found + [f"{name} is outside its box" for name, u in boxes if not (u < 1.0).all()]


def beginning(problem: Problem, inside: Array, first: int, rng: np.random.Generator) -> Array:
    """Return coefficients of the best of some random motions about standing still, each as large as it can be."""
    series = problem.series
    L = np.arange(1, series.harmonics + 1)
    best, value = None, np.inf
    for _ in range(MOTIONS):
        step = np.zeros_like(inside)
        step[:, 2:] = rng.normal(size=(len(inside), 2 * series.harmonics)) / np.tile(L, 2)
        step[:, 2:] *= problem.limits.half[:, None]
        step[:, 1] = 0.0 if first == 0 else rng.uniform(-1, 1, len(inside)) * problem.limits.half
        size = 1.0
        while not problem.point(inside + size / 0.9 * step).inside and size > 1e-6:
            size *= 0.7
        point = problem.point(inside + size * step)
        if point.inside and point.criterion < value:
            best, value = inside + size * step, point.criterion
    if best is None:
        raise ArgumentError(
            "no motion that was tried makes all parameters identifiable: let more joints move, or take fewer terms"
        )
    return best
