"""What an integrator moves where a tree has constraints: they act on accelerations, and hold at the end of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.constraints.delassus import Delassus
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, masked, moved_anchors
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics
from kinetree.constraints.types import Row
from kinetree.contacts.sets import largest
from kinetree.errors import ModelError
from kinetree.integrators.contract import System
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import Column
from kinetree.scalars.loops import repeat

CLOSED = 1e-12
"""Errors of positions (rad, ℓ) below which one more step of Newton's leaves rounding only."""

MOST = 5
"""Steps of Newton's method: one or two, but where the mechanism goes through a singular configuration."""


class _State(NamedTuple):
    q: Column
    v: Column
    error: Scalar


@dataclass(frozen=True)
class ConstrainedSystem(System):
    """A mechanism with what acts on it, and what is given for its constraints.

    The motion of the rows is that at the time `since`: from there on anchors accelerate evenly. With `stick` contacts
    hold as other constraints do; if not, these alone are `held`.
    """

    model: ConstrainedModel
    contacts: ContactInputs = NONE_GIVEN
    since: Scalar = 0.0
    stick: bool = True

    is_tree: ClassVar[bool] = False

    def given(self, t: Scalar) -> ContactInputs:
        """Return what is given for the constraints, with the motion of the rows at a time."""
        if self.contacts.row_motion is None:
            return self.contacts
        return replace(self.contacts, row_motion=moved_anchors(self.contacts.row_motion, t - self.since))

    def accelerations(self, t: Scalar, q: Column, v: Column) -> tuple[Column, ...]:
        """Return the accelerations, and the constraints' forces (nrows,)."""
        if self.contacts.slots:
            raise ModelError("contacts in slots do not stick: leave stick=True out of ContactInputs")
        f_ext, tau = self.wrenches and self.wrenches(t), self.forces(t, q, v)
        found = forward_dynamics(self.model, q, v, tau, f_ext, self.given(t), f_ext_frame=self.f_ext_frame)
        return Column(found[0]), Column(found[1])

    def stage_acceleration(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return the acceleration at the configuration next to q in which the constraints hold.

        Only where rows are redundant: away from such configurations these contradict each other by what is left open,
        and the integrator keeps less of its order (Bricard's mechanism 2,000 times as much energy). Others do as well
        without.
        """
        return self.acceleration(t, self._nearer(t, q, v).q if self.model.is_redundant else q, v)

    def held(self, t: Scalar, q: Column, v: Column) -> tuple[Column, Column]:
        """Return the state nearest to this one, in the metric of M, in which the constraints hold.

        The positions by Newton's method, ``q ⊕ M⁻¹ Jᵀ f`` with ``J M⁻¹ Jᵀ f = d − φ``; with the same factors each step
        projects the velocity too. What constrains velocities alone lets nothing slip: ``J dq = 0`` there.
        """
        first = _State(q, v, 1.0)
        x = repeat(lambda x: self._nearer(t, x.q, x.v), first, until=lambda x: x.error < CLOSED, most=MOST, like=q[0])
        return Column(x.q), Column(x.v)

    def _nearer(self, t: Scalar, q: Column, v: Column) -> _State:
        """Return the state after one step of Newton's method, and how far the constraints were open."""
        model, rows = self.model, self.model.constraint_rows(q, None, self.given(t))
        for constraint, at in model.blocks:
            if not self.stick and constraint.force_set() is not None:
                rows[at] = [Row([0.0] * model.nv, 0.0, None)] * constraint.size
        delassus = Delassus(model, factorised(model, q), rows)
        dq, dv = (
            Column(delassus.motion(delassus.joint_forces(delassus.forces(b))))
            for b in ([row.error for row in rows], [row.speed(v) for row in rows])
        )
        unit = model.units(row.angular for row in rows)
        far = [abs(x) / u for row, u in zip(rows, unit, strict=True) for x in masked(row.on, [row.error])]
        return _State(Column(integrate(model, q, dq)), v + dv, largest(far))
