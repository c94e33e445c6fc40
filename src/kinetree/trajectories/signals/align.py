"""What was recorded at some times, at others."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from kinetree.errors import FormatError
from kinetree.robot import Robot
from kinetree.trajectories.signals.differentiate import WINDOW, fit_weights
from kinetree.validation import Array

NDArrayInt: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


class Series:
    """Stamped rows of numbers that come one after the other."""

    def __init__(self, topic: str, width: int) -> None:
        self.topic, self._width = topic, width
        self.stamps: list[int] = []
        self.rows: list[list[float]] = []

    def arrays(self, name: str) -> tuple[NDArrayInt, Array]:
        """Return stamps (n,) in ns that increase, and rows (n, k)."""
        t, x = np.array(self.stamps, np.int64), np.array(self.rows, float).reshape(len(self.rows), self._width)
        for k in np.flatnonzero(np.diff(t) < 0)[:1]:
            raise FormatError(f"{name}: time goes back in {self.topic}, by {(t[k] - t[k + 1]) * 1e-9:g} s")
        kept = np.append(True, np.diff(t) > 0)[: len(t)]
        return t[kept], x[kept]

    def forget(self, count: int) -> None:
        """Drop the first rows."""
        del self.stamps[: max(count, 0)], self.rows[: max(count, 0)]


def surrounded(when: NDArrayInt, t: NDArrayInt) -> Any:
    """Return at which times t there is a message before and after, without a gap between these."""
    if len(when) < 2:
        return np.zeros(len(t), bool)
    j = np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 2)
    usual = np.quantile(np.diff(when), 0.25)
    return (when[0] <= t) & (t <= when[-1]) & (np.diff(when)[j] <= WINDOW * usual)


def linear(t: NDArrayInt, when: NDArrayInt, x: Array) -> Array:
    """Return rows at other times, linear between two."""
    s, at = (t - when[0]) * 1e-9, (when - when[0]) * 1e-9
    return np.stack([np.interp(s, at, column) for column in x.T], axis=-1)


def poses_at(robot: Robot, base: range, t: NDArrayInt, when: NDArrayInt, poses: Array) -> Array:
    """Return the poses at other times, by cubic polynomials of the motions that lead from the one before."""
    size = min(4, len(when))
    j = np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 1)
    near = np.clip(j - 1, 0, len(when) - size)[:, None] + np.arange(size)
    q = np.tile(robot.neutral(), (len(when), 1))
    q[:, base] = poses
    span = (when[near[:, -1]] - when[near[:, 0]])[:, None]
    weights, _, _ = fit_weights((when[near] - t[:, None]) / span, size - 1)
    motions = robot.difference(np.broadcast_to(q[j, None], (*near.shape, robot.nq)), q[near])
    return np.asarray(robot.integrate(q[j], np.einsum("ij,ijk->ik", weights, motions))[:, base])
