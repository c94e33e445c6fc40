"""Wrenches that sensors measure at frames, as wrenches on bodies."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.validation import Array


def on_bodies(robot: Robot, frames: Sequence[str], axes: str) -> Callable[[Array, Array], Array]:
    """Return a function of q (n, nq) and wrenches (n, 6 k) at the origins of frames: wrenches (n, nb, 6) on bodies.

    Wrenches are moment and force, in the axes of each frame, or for "world" in the world's.

    Raises
    ------
    ArgumentError
        If a frame does not move.
    ModelError
        If there is no such frame.
    """
    found = [robot.frame(name) for name in frames]
    for frame in found:
        if frame.body is None:
            raise ArgumentError(f"{frame.name!r} does not move: a wrench on it makes no difference")

    def convert(q: Array, wrenches: Array) -> Array:
        out = np.zeros((len(q), robot.nb, 6))
        for k, frame in enumerate(found):
            n, f = wrenches[:, 6 * k : 6 * k + 3], wrenches[:, 6 * k + 3 : 6 * k + 6]
            if axes == "world":
                R = robot.frame_placement(q, frame=frame.name)[:, :3, :3]
                n, f = (np.einsum("nji,nj->ni", R, x) for x in (n, f))
            R, p = frame.placement[:3, :3], frame.placement[:3, 3]
            n, f = n @ R.T, f @ R.T
            body = robot.body_names.index(str(frame.body))
            out[:, body] += np.hstack([n + np.cross(p, f), f])
        return out

    return convert
