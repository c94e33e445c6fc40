"""The spherical joint in roll, pitch and yaw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import compose
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute
from kinetree.spatial import Force, Inertia, Scalar, Sym3
from kinetree.spatial.vector import AXES, ZERO

_ROLL, _PITCH, _YAW = Revolute((1.0, 0.0, 0.0)), Revolute((0.0, 1.0, 0.0)), Revolute((0.0, 0.0, 1.0))


@dataclass(frozen=True)
class RollPitchYaw(Joint):
    """Any rotation about a point, as ``R = Rz(yaw) Ry(pitch) Rx(roll)``: q = (roll, pitch, yaw) in rad, ν its rate.

    S depends on q, and at a pitch of ±90° two of its columns are parallel: there M is singular. `Spherical` has
    no such place.
    """

    nq = nv = 3
    q_names = v_names = ("roll", "pitch", "yaw")

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        roll, pitch, yaw = (j.jcalc([q[k]], [v[k]]) for k, j in enumerate((_ROLL, _PITCH, _YAW)))
        state = compose(compose(yaw, pitch), roll)
        return JointState(state.X, state.S[::-1], state.vJ, state.cJ)

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """See `Joint.constraint_subspace`: all forces through the point."""
        return tuple(Force(ZERO, axis) for axis in AXES)

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return the mass, as a point at the joint's centre."""
        return Inertia.about_origin(inertia.m, ZERO, Sym3.zero())
