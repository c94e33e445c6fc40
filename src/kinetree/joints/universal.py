"""The universal joint: two rotations about axes that meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints._parts import compose, unit_axis
from kinetree.joints.base import Joint, JointState
from kinetree.joints.revolute import Revolute
from kinetree.spatial import Force, Scalar
from kinetree.spatial.vector import AXES, ZERO


@dataclass(frozen=True)
class Universal(Joint):
    """Rotation by q[0] about `first`, fixed in the parent, then by q[1] about `second`, fixed in the child (rad).

    Its motion subspace depends on q[1], so ``cJ`` is not zero.

    Parameters
    ----------
    first, second : sequence of 3 scalars
        Directions of the axes in the joint's frame at q = 0; not parallel.
    """

    first: tuple[Scalar, Scalar, Scalar] = (1.0, 0.0, 0.0)
    second: tuple[Scalar, Scalar, Scalar] = (0.0, 1.0, 0.0)

    nq = nv = 2
    q_names = v_names = ("first", "second")

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", unit_axis(self.first))
        object.__setattr__(self, "second", unit_axis(self.second))

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        return compose(Revolute(self.first).jcalc(q[:1], v[:1]), Revolute(self.second).jcalc(q[1:], v[1:]))

    def turned_around(self) -> Universal:
        """See `Joint.turned_around`: its second axis comes first, and both coordinates change their sign."""
        return Universal(self.second, self.first)

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """See `Joint.constraint_subspace`: the moment across both axes, and all forces."""
        axis_1, axis_2 = (column.ang for column in self.jcalc(q, (0.0, 0.0)).S)
        return (Force(axis_1.cross(axis_2), ZERO), *(Force(ZERO, axis) for axis in AXES))
