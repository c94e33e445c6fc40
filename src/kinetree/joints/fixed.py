"""The fixed joint: no motion at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.joints.base import Joint, JointState
from kinetree.spatial import Force, Inertia, Motion, Scalar, Transform


@dataclass(frozen=True)
class Fixed(Joint):
    """A rigid connection. The model builder merges the two links into one body and keeps the child as a frame."""

    nq = nv = 0
    rigid = True

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        return JointState(Transform.identity(), (), Motion.zero(), Motion.zero())

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        return tuple(Force.of(float(j == k) for j in range(6)) for k in range(6))

    def turned_around(self) -> Fixed:
        """See `Joint.turned_around`: itself."""
        return self

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """Return all of it."""
        return inertia
