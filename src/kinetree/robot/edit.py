"""Another robot from a robot: gravity, base, friction, locked joints, payloads and grippers."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.model import JointFriction
from kinetree.model import edit as changes
from kinetree.model.checks import as_transform, as_vector
from kinetree.robot.configurations import Configurations, checked_array
from kinetree.spatial import Inertia


class Variations(Configurations):
    """The part of `Robot` that makes other robots. None of it changes the robot itself."""

    def with_gravity(self, gravity: Sequence[float]) -> Self:
        """Return this robot under another gravity (m/s², world axes)."""
        return type(self)(replace(self.model, gravity=as_vector(gravity, "gravity")))

    def with_base_pose(self, pose: ArrayLike) -> Self:
        """Return this robot with its root link at this (4, 4) pose in the world; for a fixed base."""
        return type(self)(changes.with_base_pose(self.model, _rows(pose, "base_pose")))

    def with_friction(self, *, damping: bool = True, coulomb: bool = True, smoothing: float = 1e-3) -> Self:
        """Return this robot with the friction of its joints counted in all dynamics.

        Parameters
        ----------
        damping : bool
            Viscous friction: damping times velocity.
        coulomb : bool
            Coulomb friction, smooth around zero: ``f v / sqrt(v² + s²)``.
        smoothing : float
            The speed s (rad/s, m/s), from 1e-18 to 1e18; within 1 % of the full force beyond 7 s.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.load("ur5").with_friction(coulomb=False).model.friction.damping
        True
        """
        if not (isinstance(smoothing, Real) and 1e-18 <= smoothing <= 1e18):  # float32 holds the squares of these
            raise ArgumentError(f"smoothing must be a positive speed; {smoothing!r} was given (from 1e-18 to 1e18)")
        return type(self)(replace(self.model, friction=JointFriction(bool(damping), bool(coulomb), float(smoothing))))

    def lock(self, joints: Sequence[str], q: ArrayLike | None = None) -> Self:
        """Return this robot with some joints fixed, and so with fewer coordinates.

        Parameters
        ----------
        joints : sequence of str
            Their names; joints that mimic one of them are fixed too.
        q : (nq,) array, optional
            The configuration in which they are fixed, of this whole robot; neutral if not given.

        Examples
        --------
        >>> import kinetree as kt
        >>> kt.load("panda").lock(["panda_joint3", "panda_joint5"]).joint_names
        ('panda_joint1', 'panda_joint2', 'panda_joint4', 'panda_joint6', 'panda_joint7')
        """
        if isinstance(joints, str) or not isinstance(joints, Collection):
            raise ArgumentError(f"joints takes a list of names, such as [{joints!r}]")
        configuration = self.neutral() if q is None else checked_array(self.model, "q", q, self.model.nq)
        if configuration.shape != (self.model.nq,) or not np.isfinite(configuration).all():
            raise ArgumentError(f"lock takes one finite configuration; q has shape {configuration.shape}")
        return type(self)(changes.locked(self.model, list(joints), configuration.tolist()))

    def attach(
        self, what: Variations | Inertia, frame: str, *, placement: ArrayLike | None = None, prefix: str = ""
    ) -> Self:
        """Return this robot with something fixed to a frame: a payload, or another robot such as a gripper.

        Parameters
        ----------
        what : Inertia or Robot
            A payload's inertia, or a robot with a fixed base, whose root link is put there. Its joints come after
            this robot's in q and v; gravity and what friction counts are this robot's.
        frame : str
            Where.
        placement : (4, 4) array, optional
            Pose of the thing in the frame; the frame's own if not given.
        prefix : str
            Put before the names of an attached robot, so that all names differ.

        Raises
        ------
        ModelError
            If there is no such frame, or two names are the same.

        Examples
        --------
        >>> import kinetree as kt
        >>> ball = kt.Inertia.from_com(1.0, [0, 0, 0.05], [[0.001, 0, 0], [0, 0.001, 0], [0, 0, 0.001]])
        >>> robot = kt.load("panda")
        >>> round(robot.attach(ball, "panda_hand").mass - robot.mass, 12)
        1.0
        """
        X = as_transform(None if placement is None else _rows(placement, "placement"), "placement")
        if isinstance(what, Variations):
            return type(self)(changes.with_attached(self.model, what.model, frame, X, prefix))
        if not isinstance(what, Inertia):
            raise ArgumentError(f"attach takes a Robot or an Inertia; {type(what).__name__} was given")
        return type(self)(changes.with_payload(self.model, X.T @ what, frame))

    def with_inertial_parameters(self, parameters: ArrayLike) -> Self:
        """Return this robot with these (10 nb,) inertial parameters, as in `inertial_parameters`."""
        return type(self)(
            changes.with_inertial_parameters(
                self.model, checked_array(self.model, "parameters", parameters, 10 * self.model.nb).tolist()
            )
        )


def _rows(placement: ArrayLike, what: str) -> Any:
    try:
        return np.asarray(placement, dtype=float).tolist()
    except (TypeError, ValueError):
        raise ArgumentError(f"{what} must be a 4×4 matrix of numbers; {placement!r} was given") from None
