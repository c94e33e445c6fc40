"""A step in time without contacts: the velocity that there would be without their impulses."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.rnea import rnea
from kinetree.constraints.anchors import speeds
from kinetree.constraints.delassus import Delassus, switches
from kinetree.constraints.fixed_axes import centripetal
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.system import ConstrainedSystem
from kinetree.glossary.symbols import Matrix, Vector
from kinetree.integrators.euler import own_derivatives, with_rotors
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import dot


class FreeStep(NamedTuple):
    """A step without contacts, in which bilateral constraints hold: from v to ``v + L⁻¹ D⁻¹ y``, by their impulses."""

    factor: Factor
    v: Column
    y: list[Scalar]
    bilateral: Delassus
    impulses: list[Scalar]

    @property
    def end(self) -> Column:
        """The velocity at the end."""
        return self.v + Column(self.factor.solve_L(self.y, self.factor.D))


def free_step(
    system: ConstrainedSystem,
    lasting: ConstrainedModel,
    on: Vector | None,
    t: Scalar,
    q: Column,
    v: Column,
    dt: Scalar,
    implicit: bool,
    row_motion: Matrix | None = None,
) -> FreeStep:
    """Return the step; `lasting` has the bilateral constraints, `on` which act, and `row_motion` theirs at its end.

    Damping and springs of the joints act at its end if it is `implicit`. Their Coulomb friction does not act.
    """
    model, tau = system.model, system.motor_forces(t, q, v)
    smooth = replace(model, friction=replace(model.friction, coulomb=False))
    heavier: Model = smooth
    if implicit:
        stiffness, damping = own_derivatives(replace(system, model=smooth, limits="none"), q, v)
        tau = tau - Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
        heavier = with_rotors(smooth, dt * damping + (dt * dt) * stiffness)
    f_ext = system.wrenches and system.wrenches(t)
    factor = factorised(heavier, q)
    h = rnea(smooth, q, v, [0.0] * model.nv, f_ext, f_ext_frame=system.f_ext_frame)
    y = [dt * x for x in factor.solve_L_transposed([a - b for a, b in zip(tau, h, strict=True)])]
    v = v + dt * centripetal(model, q, v)
    held = lasting.constraint_rows(q)
    bilateral = Delassus(lasting, factor, held, switches(lasting, on))
    slip = speeds(held, v, row_motion)
    for i, row in zip(bilateral.kept, bilateral.BD, strict=True):
        slip[i] = slip[i] + dot(row, y)
    impulses = bilateral.forces(slip)
    y = [a + b for a, b in zip(y, bilateral.joint_forces(impulses), strict=True)]
    return FreeStep(factor, v, y, bilateral, impulses)
