"""What an integrator moves where a tree has constraints: they act on accelerations, and hold at the end of a step."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.constraints.delassus import Delassus
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, each_masked, kept, moved_anchors, row_mask, speeds
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics
from kinetree.contacts.sets import largest
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Matrix, Vector
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

    The motion of the rows is that at the time `since`: from there on anchors accelerate evenly.
    """

    model: ConstrainedModel
    contacts: ContactInputs = NONE_GIVEN
    since: Scalar = 0.0

    is_tree: ClassVar[bool] = False

    def anchors(self, t: Scalar) -> Matrix | None:
        """Return the row_motion at a time; None where no anchor moves."""
        motion: Any = self.contacts.row_motion
        return None if motion is None else moved_anchors(motion, t - self.since)

    def anchors_within(self, t: Scalar, dt: Scalar) -> tuple[Vector, Vector, Vector] | None:
        """Return their positions at the time t, and their velocities in the middle and at the end of a step."""
        if self.contacts.row_motion is None:
            return None
        (d, *_), (_, middle, _), (_, end, _) = (self.anchors(t + k * dt) or [] for k in (0, 0.5, 1))
        return d, middle, end

    def accelerations(self, t: Scalar, q: Column, v: Column) -> tuple[Column, ...]:
        """Return the accelerations, and the constraints' forces (nrows,)."""
        if self.contacts.slots:
            raise ModelError("contacts in slots do not stick: leave stick=True out of ContactInputs")
        f_ext, tau = self.wrenches and self.wrenches(t), self.forces(t, q, v)
        contacts = replace(self.contacts, row_motion=self.anchors(t))
        found = forward_dynamics(self.model, q, v, tau, f_ext, contacts, f_ext_frame=self.f_ext_frame)
        return Column(found[0]), Column(found[1])

    def stage_acceleration(self, t: Scalar, q: Column, v: Column) -> Column:
        """Return the acceleration at the configuration next to q in which the constraints hold.

        Only where rows are redundant: away from such configurations these contradict each other by what is left open,
        and the integrator keeps less of its order (Bricard's mechanism 2,000 times as much energy). Others do as well
        without.
        """
        if self.model.is_redundant:
            q = newton(self.model, q, v, row_mask(self.model, self.contacts.active), self.anchors(t)).q
        return self.acceleration(t, q, v)

    def held(self, t: Scalar, q: Column, v: Column) -> tuple[Column, Column]:
        """Return the state nearest to this one, in the metric of M, in which the constraints hold.

        The positions by Newton's method, ``q ⊕ M⁻¹ Jᵀ f`` with ``J M⁻¹ Jᵀ f = d − φ``; with the same factors each step
        projects the velocity too. What constrains velocities alone lets nothing slip: ``J dq = 0`` there.
        """
        return held(self.model, q, v, self.contacts.active, self.anchors(t))


def held(
    model: ConstrainedModel, q: Column, v: Column, active: Vector | None = None, row_motion: Matrix | None = None
) -> tuple[Column, Column]:
    """Return the state nearest to this one in which the constraints hold (see `ConstrainedSystem.held`)."""
    on = row_mask(model, active)
    x = repeat(
        lambda x: newton(model, x.q, x.v, on, row_motion),
        _State(q, v, 1.0),
        until=lambda x: x.error < CLOSED,
        most=MOST,
        like=q[0],
    )
    return Column(x.q), Column(x.v)


def newton(model: ConstrainedModel, q: Column, v: Column, on: Vector | None, row_motion: Matrix | None) -> _State:
    """Return the state after one step of Newton's method, and how far the constraints were open; rows are on or off."""
    rows, factor = model.constraint_rows(q), factorised(model, q)
    delassus = Delassus(model, factor, rows, on)
    phi = [0.0 if row.phi is None else row.phi - d for row, d in zip(rows, kept(rows, row_motion)[0], strict=True)]
    dq, dv = (
        Column(factor.solve_L(delassus.joint_forces(delassus.forces(b)), factor.D))
        for b in (phi, speeds(rows, v, row_motion))
    )
    unit = model.units(row.angular for row in rows)
    far = [abs(x) / u for x, u in zip(each_masked(on, phi), unit, strict=True)]
    return _State(Column(integrate(model, q, dq)), v + dv, largest(far))
