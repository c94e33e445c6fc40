"""A robot as a stick figure: points, and the lines between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.lazy import cached_property
from kinetree.model import WORLD, Body
from kinetree.robot import Robot
from kinetree.validation import Array

NEAR = 1e-3
"""What is nearer to a body's origin than this (m) is not a line."""


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The points of a robot: the origins of its bodies, the ends of the last ones, and the root of a fixed base.

    The end of a body that carries no other one is the origins of the frames on it, or its centre of mass if there is
    none.
    """

    robot: Robot

    @cached_property
    def ends(self) -> list[tuple[str, int, Array]]:
        """The ends: a name, the body, and the place in its frame (3,)."""
        bodies, found = self.robot.model.bodies, []
        carrying = {body.parent for body in bodies}
        for i, body in enumerate(bodies):
            if i not in carrying:
                frames = [(frame.name, _numbers(frame.X.r)) for frame in self.robot.model.frames if frame.body == i]
                m = float(body.inertia.m)
                com = [] if m == 0.0 else [(body.name, _numbers(body.inertia.h) / m)]
                far = [x for x in frames if np.linalg.norm(x[1]) > NEAR] or [
                    x for x in com if np.linalg.norm(x[1]) > NEAR
                ]
                found += [(name, i, place) for name, place in far]
        return found

    @cached_property
    def tips(self) -> dict[str, int]:
        """The names and the points of the far ends, one for each of the last bodies."""
        nb, bodies = self.robot.nb, self.robot.model.bodies
        carrying = {body.parent for body in bodies}
        farthest = {i: (0.0, body.name, i) for i, body in enumerate(bodies) if i not in carrying}
        for k, (name, i, place) in enumerate(self.ends):
            farthest[i] = max(farthest[i], (float(np.linalg.norm(place)), name, nb + k))
        return {name: point for _, name, point in farthest.values()}

    @cached_property
    def lines(self) -> NDArray[np.int_]:
        """The two points of each line (lines, 2)."""
        bodies, nb = self.robot.model.bodies, self.robot.nb
        root = nb + len(self.ends)
        joints = [(root if b.parent == WORLD else b.parent, i) for i, b in enumerate(bodies) if not _roams(b)]
        return np.array([*joints, *((i, nb + k) for k, (_, i, _) in enumerate(self.ends))], dtype=np.int_).reshape(
            -1, 2
        )

    @cached_property
    def branches(self) -> NDArray[np.int_]:
        """The number of each line's branch (lines,): one begins where a body carries several others."""
        bodies, branch, count = self.robot.model.bodies, [], 0
        parents = [body.parent for body in bodies]
        for body in bodies:
            if body.parent == WORLD or parents.count(body.parent) > 1:
                branch.append(count)
                count += 1
            else:
                branch.append(branch[body.parent])
        last = self.robot.nb
        return np.array([branch[b if b < last else a] for a, b in self.lines], dtype=np.int_)

    @cached_property
    def floating(self) -> bool:
        """Whether nothing joins the robot to the world."""
        return all(_roams(body) for body in self.robot.model.bodies if body.parent == WORLD)

    def points(self, q: ArrayLike) -> Array:
        """Return all points (..., points, 3) in the world."""
        T = np.asarray(self.robot.forward_kinematics(q))
        ends = [T[..., i, :3, :3] @ place + T[..., i, :3, 3] for _, i, place in self.ends]
        root = np.broadcast_to(_numbers(self.robot.model.frame(self.robot.model.root).X.r), (*T.shape[:-3], 3))
        origins = T[..., :3, 3]
        if self.floating:
            return np.concatenate([origins, *(x[..., None, :] for x in ends)], axis=-2)
        return np.concatenate([origins, *(x[..., None, :] for x in (*ends, root))], axis=-2)


def _roams(body: Body) -> bool:
    """Return whether a body is free to go away from what carries it, in a plane or in space."""
    columns = body.joint.jcalc(body.joint.neutral(), [0.0] * body.joint.nv).S
    return len(columns) > 2 and any(any(map(float, column.lin)) for column in columns)


def _numbers(vector: object) -> Array:
    return np.array([float(x) for x in vector], dtype=np.float64)  # type: ignore[attr-defined]
