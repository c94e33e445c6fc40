"""Contact forces as arrows."""

from __future__ import annotations

import numpy as np

from kinetree.constraints.types import Contact
from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.robot.mechanism import Mechanism
from kinetree.validation import Array


class ContactForces:
    """The contacts of a mechanism, and their forces as arrows; twice its weight is as long as the robot is large."""

    def __init__(self, mechanism: Mechanism, robot: Robot) -> None:
        if not isinstance(mechanism, Mechanism) or mechanism.nq != robot.nq:
            raise ArgumentError(f"mechanism takes the kinetree.Mechanism of {robot.name!r}; {mechanism!r} was given")
        contacts = [c for c in mechanism.constraints if isinstance(c, Contact)]
        model, world = mechanism.tree.model, (-1, np.eye(4))

        def place(name: str | None) -> tuple[int, Array]:
            if name is None:
                return world
            frame = model.frame(name)
            return frame.body, np.array(frame.X.placement, dtype=np.float64)

        self._of = [place(c.frame) for c in contacts], [place(c.to) for c in contacts]
        self._axes = np.array([[tuple(d) for d in c.directions] for c in contacts], dtype=np.float64).reshape(-1, 3, 3)
        self._point = np.array([c.point for c in contacts]).reshape(-1, 3)
        self._radius = np.array([c.radius for c in contacts])
        rows = [range(mechanism.nrows)[mechanism.row_slices[c.label]] for c in contacts]
        self._rows = np.array(rows, dtype=np.int_).reshape(-1, 3)
        self._weight = mechanism.tree.mass * max(float(np.linalg.norm(mechanism.tree.gravity)), 1.0)

    def __len__(self) -> int:
        return len(self._radius)

    def arrows(self, X: Array, f: Array, size: float) -> Array:
        """Return the ends of the arrows (robots, contacts, 2, 3) at poses of bodies, the world's being the last."""
        frame, to = (
            X[:, [body for body, _ in places]] @ np.array([offset for _, offset in places]).reshape(-1, 4, 4)
            for places in self._of
        )
        axes = self._axes @ np.swapaxes(to[..., :3, :3], -1, -2)  # rows: the directions in the world
        points = (frame[..., :3, :3] @ self._point[..., None])[..., 0] + frame[..., :3, 3]
        points -= self._radius[:, None] * axes[..., 2, :]
        force = (f[:, self._rows][..., None, :] @ axes)[..., 0, :]
        return np.stack([points, points + force * (0.5 * size / self._weight)], axis=-2)
