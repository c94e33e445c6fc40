"""The mimic joint: a joint that follows another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kinetree.errors import ModelError
from kinetree.joints.base import Joint, JointState
from kinetree.spatial import Force, Inertia, Scalar


@dataclass(frozen=True)
class Mimic(Joint):
    """A joint at ``factor · q + offset``, where q is the coordinate of another joint, its leader.

    It has no coordinate of its own: the model gives it the leader's entries of q and v (`ModelBuilder.add_joint` with
    ``mimic=``), in whatever branch the leader is, so that one coordinate moves several bodies.

    Parameters
    ----------
    joint : Joint
        What it is without the leader: a joint of one degree of freedom.
    factor, offset : scalar
    """

    joint: Joint
    factor: Scalar = 1.0
    offset: Scalar = 0.0

    nq = nv = 1

    def __post_init__(self) -> None:
        for name in ("factor", "offset"):
            if isinstance(getattr(self, name), int):
                object.__setattr__(self, name, float(getattr(self, name)))
        if not isinstance(self.joint, Joint):
            raise ModelError(f"a mimic joint is made of a joint, such as Revolute(); {self.joint!r:.80} was given")
        if (self.joint.nq, self.joint.nv) != (1, 1):
            kind = type(self.joint).__name__
            raise ModelError(f"only a joint with one coordinate can mimic another; a {kind} has nq = {self.joint.nq}")

    @property
    def follows(self) -> tuple[Scalar, Scalar]:
        """See `Joint.follows`."""
        return self.factor, self.offset

    @property
    def alone(self) -> Joint:
        """See `Joint.alone`."""
        return self.joint

    def jcalc(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> JointState:
        """See `Joint.jcalc`: S is the joint's own times the factor."""
        state = self.joint.jcalc([q[0] * self.factor + self.offset], [v[0] * self.factor])
        return JointState(state.X, (state.S[0] * self.factor,), state.vJ, state.cJ)

    def constraint_subspace(self, q: Sequence[Scalar]) -> tuple[Force, ...]:
        """See `Joint.constraint_subspace`: of the joint without its leader."""
        return self.joint.constraint_subspace([q[0] * self.factor + self.offset])

    def neutral(self) -> tuple[float, ...]:
        """See `Joint.neutral`: where the joint itself is at its zero (0 if the factor is 0 and it never is)."""
        return ((self.joint.neutral()[0] - self.offset) / self.factor if self.factor != 0 else 0.0,)

    def inertia_for_parent(self, inertia: Inertia) -> Inertia:
        """See `Joint.inertia_for_parent`: who drives the joint makes no difference."""
        return self.joint.inertia_for_parent(inertia)
