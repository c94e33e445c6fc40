"""Where the search for an excitation begins: a configuration to rest in, and a motion about it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.excitation.problem import SAFE, Problem
from kinetree.validation import Array

TRIES = 2000
"""Random configurations among which one is looked for that keeps within all limits."""

MOTIONS = 30
"""Random motions of which the best is taken."""


def still(problem: Problem, rest: Array | None, rng: np.random.Generator) -> Array:
    """Return coefficients (nv, size) of standing still where all limits hold.

    Raises
    ------
    ArgumentError
        If there is no such configuration, or the given one is none: it says why.
    """
    robot, limits = problem.robot, problem.limits
    X = np.zeros((robot.nv, problem.series.size))
    if rest is not None:
        q = rest[None]
    else:
        random = limits.middle + SAFE * limits.half * rng.uniform(-1.0, 1.0, (TRIES, robot.nv))
        q = np.vstack([limits.middle, random])
    worst, reasons = _worst(problem, q)
    if problem.free is not None:
        worst = np.where((worst < 1.0) & ~problem.free(q), 1.0, worst)
    best = 0 if worst[0] < 1.0 else int(np.argmin(worst))
    if not worst[best] < 1.0:
        where = "start is not within the limits" if rest is not None else "no configuration within the limits was found"
        nearest = "" if rest is not None else "; of the nearest one"
        hint = "give another start, or wider limits (robot.with_limits, fraction, boxes)"
        raise ArgumentError(f"{where}{nearest}: {listed(reasons(best))}; {hint}")
    X[:, 0] = X[:, 1] = q[best]
    return X


def _worst(problem: Problem, q: Array) -> tuple[Array, Callable[[int], list[str]]]:
    """Return for configurations how near they are to a limit, 1 at the limit, and what says which those are."""
    robot, limits = problem.robot, problem.limits
    zero = np.zeros_like(q)
    places = np.abs(q - limits.middle) / limits.half / problem.nodes.bound.min()
    forces = np.abs(problem.forces((q, zero, zero))) / SAFE
    frames = np.abs(problem.frames(q)) / SAFE
    everything = np.hstack([places, forces, frames])

    def reasons(k: int) -> list[str]:
        found = [
            f"{name} is at {q[k, i]:.4g}, {limits.middle[i] - limits.half[i]:.4g} to "
            f"{limits.middle[i] + limits.half[i]:.4g} are used"
            for i, name in enumerate(robot.v_names)
            if not places[k, i] < 1.0
        ]
        found += [
            f"{name} needs {forces[k, i] * SAFE * limits.effort[i]:.4g} to hold it, {limits.effort[i]:.4g} are used"
            for i, name in enumerate(robot.v_names)
            if not forces[k, i] < 1.0
        ]
        boxes = frames[k].reshape(-1, 3)
        if problem.free is not None and not problem.free(q[k : k + 1]).all():
            found.append("it is not free")
        found += [
            f"{name} is outside its box" for name, u in zip(limits.boxes, boxes, strict=True) if not (u < 1.0).all()
        ]
        return found

    return everything.max(axis=1), reasons


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
