"""The problem that the methods solve: errors, Jacobian and bounds of a batch, in NumPy over the robot's kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.inverse_kinematics.rotations import Counts, Flags, rotation_vector
from kinetree.inverse_kinematics.targets import Goal
from kinetree.model import WORLD
from kinetree.robot import Robot
from kinetree.validation import Array


class Problem:
    """Frames of a robot that are wanted somewhere, while the joints named in `fixed` stay where they are.

    An error is a vector of three: the position wanted less the position, or the rotation vector that leads to the
    orientation wanted, both in the world's axes. With the Jacobian in the world's axes at the frame's origin the rate
    of the first is exactly ``−J v``, and so is, to first order in the error, that of the second; since a rotation
    vector is an eigenvector of what is neglected, the gradient ``Jᵀe`` of ``½ e·e`` is exact all the same.

    The tolerances are those of errors in position (m) and in orientation (rad). With a time dt for one step, the
    velocity limits bound it.
    """

    def __init__(
        self,
        robot: Robot,
        goals: Sequence[Goal],
        fixed: Sequence[str],
        tolerances: tuple[float, float],
        dt: float | None,
    ) -> None:
        self.robot, self.goals = robot, goals
        self.is_position = np.array([part == "position" for goal in goals for part in goal.weights])
        self.weights = np.array([weight for goal in goals for weight in goal.weights.values()])
        self.tolerance = np.where(self.is_position, *tolerances)
        model = robot.model
        self.fixed_v = [k for b in model.leading if b.joint_name in fixed for k in b.v_index]
        fixed_q = [k for b in model.leading if b.joint_name in fixed for k in b.q_index]
        driven = {k for b in model.leading if b.joint.actuated for k in b.q_index}.difference(fixed_q)
        self._carriers = np.array([self._carrier(goal.frame, driven) for goal in goals for _ in goal.weights])
        self.lower, self.upper = robot.lower_limits.copy(), robot.upper_limits.copy()
        self.lower[fixed_q], self.upper[fixed_q] = -np.inf, np.inf
        limited = [b for b in model.leading if len(b.v_index) == len(b.q_index) == 1]
        self._q = [b.q_index[0] for b in limited]
        self._v = [b.v_index[0] for b in limited]
        self._reach = np.full(model.nv, np.inf) if dt is None else robot.velocity_limits * dt

    def _carrier(self, frame: str, driven: set[int]) -> Array:
        """Return (nq,) 1 for the coordinates among these that move a frame, 0 for the others."""
        model = self.robot.model
        moves, i = np.zeros(model.nq), model.frame(frame).body
        while i != WORLD:
            moves[list(driven.intersection(model.bodies[i].q_index))] = 1.0
            i = model.bodies[i].parent
        return moves

    def errors(self, q: Array, rows: Counts) -> Array:
        """Return the errors (n, k, 3) at q (n, nq) of these problems of the batch: one for each part that counts."""
        found = []
        for goal in self.goals:
            here, wanted = self.robot.frame_placement(q, frame=goal.frame), goal.pose[rows]
            for part in goal.weights:
                if part == "position":
                    found.append(wanted[:, :3, 3] - here[:, :3, 3])
                else:
                    found.append(rotation_vector(wanted[:, :3, :3] @ np.swapaxes(here[:, :3, :3], -1, -2)))
        return np.stack(found, axis=1)

    def weighted(self, errors: Array) -> Array:
        """Return the errors times their weights, as vectors (n, 3k)."""
        e: Array = (errors * self.weights[:, None]).reshape(len(errors), 3 * len(self.weights))
        return e

    def cost(self, errors: Array) -> Array:
        """Return the sum of the squares (n,) of the weighted errors."""
        cost: Array = np.sum(self.weighted(errors) ** 2, axis=1)
        return cost

    def met(self, errors: Array) -> Flags:
        """Return (n, k) which errors are within their tolerances."""
        flags: Flags = np.linalg.norm(errors, axis=-1) <= self.tolerance
        return flags

    def reached(self, errors: Array) -> Flags:
        """Return (n,) whether all errors are within their tolerances."""
        flags: Flags = np.all(self.met(errors), axis=1)
        return flags

    def to_restart(self, errors: Array) -> Flags:
        """Return (n, nq) the coordinates that carry a frame whose error is not within its tolerance.

        Limbs that have arrived stay as they are, so that the chance of success does not fall with their number. What
        nothing drives, such as a floating base, stays too: no start is better for it than where it is.
        """
        flags: Flags = ~self.met(errors) @ self._carriers > 0
        return flags

    def sizes(self, errors: Array) -> tuple[Array, Array]:
        """Return the largest error in position (n,) in m, and in orientation (n,) in rad; 0 where none counts."""
        length = np.linalg.norm(errors, axis=-1)
        position, orientation = (length[:, of].max(axis=1, initial=0.0) for of in (self.is_position, ~self.is_position))
        return position, orientation

    def jacobian(self, q: Array) -> Array:
        """Return the weighted Jacobian (n, 3k, nv), in the order of the errors."""
        found = []
        for goal in self.goals:
            J = self.robot.jacobian(q, frame=goal.frame, reference="aligned")
            found += [w * (J[:, 3:] if part == "position" else J[:, :3]) for part, w in goal.weights.items()]
        return np.concatenate(found, axis=1)

    def bounds(self, q: Array) -> tuple[Array, Array]:
        """Return the bounds (n, nv) of a step from q."""
        low, high = np.tile(-self._reach, (len(q), 1)), np.tile(self._reach, (len(q), 1))
        low[:, self._v] = np.maximum(low[:, self._v], (self.lower - q)[:, self._q])
        high[:, self._v] = np.minimum(high[:, self._v], (self.upper - q)[:, self._q])
        low[:, self.fixed_v] = high[:, self.fixed_v] = 0.0
        return low, high

    def moved(self, q: Array, step: Array) -> Array:
        """Return q ⊕ step, brought within the limits to the last bit."""
        return self.within(self.robot.integrate(q, step))

    def within(self, q: Array) -> Array:
        """Return q with each coordinate that has limits within them."""
        return np.clip(q, self.lower, self.upper)
