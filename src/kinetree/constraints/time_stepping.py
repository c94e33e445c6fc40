"""Steps in time with contacts: impulses that keep apart, within friction cones, in place of accelerations.

From the free velocity, that of a step without contacts, impulses λ of the contacts and of what joints do lead to the
velocity at the end of the step: ``M (v⁺ − v_free) = Jᵀ λ``, where λ and ``σ = J v⁺ + b`` solve the contact problem
(`kinetree.contacts`). Of what keeps apart, b is gap/dt: in this step it may come as near as it is far. Where it would
touch, and rebounds, b is e times the velocity with which it approached. With v⁺ the configuration goes on.

What has penetrated is moved back by the smallest change of positions in the metric of M, without any velocity: so
impulses never add energy, however deep it was.

References: Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions and
Coulomb friction, 1996; Anitescu and Potra, 1997; here with the cone as it is, and positions apart from velocities.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import factorised
from kinetree.algorithms.dynamics.rnea import rnea
from kinetree.constraints.contact_problem import Eliminated, Unilateral, contacts, friction, stops
from kinetree.constraints.delassus import Delassus, row_values
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.system import ConstrainedSystem, held
from kinetree.contacts import NotNegative, Problem, Solution, solve
from kinetree.glossary.symbols import Vector
from kinetree.integrators.contract import Integrator, State
from kinetree.integrators.implicit import own_derivatives, with_rotors
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, select_less
from kinetree.scalars.linalg import dot

TOLERANCE = 1e-6
"""Of velocities, beside the largest along a row; of the work, beside that times the largest force."""

MOST_ITERATIONS = 500.0


class Stepped(NamedTuple):
    """The state after a step with contacts, and how it was found.

    Attributes
    ----------
    q, v : columns
    impulse : (nrows,) list of scalars
        Of the constraints, bilateral ones too.
    start : list of scalars
        The impulses of contacts and joints, to begin the next step's solution with.
    iterations, residual : scalar
        Of the solution; the residual is a velocity (m/s, rad/s).
    """

    q: Column
    v: Column
    impulse: list[Scalar]
    start: list[Scalar]
    iterations: Scalar
    residual: Scalar


def stepped(
    system: ConstrainedSystem, t: Scalar, q: Column, v: Column, dt: Scalar, start: Vector, implicit: bool = False
) -> Stepped:
    """Return the state after a step.

    Parameters
    ----------
    start : vector
        The `Stepped.start` of the step before, or zeros.
    implicit : bool
        Whether damping and springs of the joints act at the end of the step (see `integrators.implicit`).
    """
    model, tau = system.model, system.motor_forces(t, q, v)
    smooth = model.with_friction(replace(model.friction, coulomb=False))
    heavier: Model = smooth
    if implicit:
        stiffness, damping = own_derivatives(replace(system, model=smooth, limits="none"), q, v)
        tau = tau - Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
        heavier = with_rotors(smooth, dt * damping + (dt * dt) * stiffness)
    f_ext = system.wrenches and system.wrenches(t)
    factor = factorised(heavier, q)
    h = rnea(smooth, q, v, [0.0] * model.nv, f_ext, f_ext_frame=system.f_ext_frame)
    y = [dt * x for x in factor.solve_L_transposed([a - b for a, b in zip(tau, h, strict=True)])]

    lasting = replace(model, constraints=tuple(c for c in model.constraints if not c.is_unilateral))
    on = _of_lasting(model, system.active)
    bilateral = Delassus(factor, [row.J for row in lasting.constraint_rows(q)], row_values(lasting, on))
    slip = [dot(row.J, v) for row in lasting.constraint_rows(q)]
    for i, row in zip(bilateral.kept, bilateral.BD, strict=True):
        slip[i] = slip[i] + dot(row, y)
    held_by = bilateral.forces(slip)
    y = [a + b for a, b in zip(y, bilateral.joint_forces(held_by), strict=True)]

    meeting = [*contacts(model, q, v, system.active, system.restitution)]
    meeting += [*(stops(model, q) if system.limits in ("position", "all") else ()), *friction(smooth, model, dt)]
    rows = Eliminated(factor, [row for each in meeting for row in each.J], bilateral)
    found = _solved(meeting, rows, v, y, dt, start, system.settings)
    back = factor.solve_L(rows.joint_forces(_pushes(meeting, rows)), factor.D)
    y = [a + b for a, b in zip(y, rows.joint_forces(found.force), strict=True)]
    held_by = [a + b for a, b in zip(held_by, rows.answers(found.force), strict=True)]
    v = v + Column(factor.solve_L(y, factor.D))
    q = system.moved(q, dt * v + Column(back))
    if lasting.constraints:
        q, v = held(lasting, q, v, on)
    impulse = _by_rows(model, meeting, found.force, held_by)
    return Stepped(q, v, impulse, found.force, found.iterations, found.dual)


def _of_lasting(model: ConstrainedModel, values: Vector | None) -> list[Scalar] | None:
    """Return what is given for the constraints that always hold."""
    if values is None:
        return None
    return [x for x, constraint in zip(values, model.constraints, strict=True) if not constraint.is_unilateral]


def _solved(
    meeting: Sequence[Unilateral],
    rows: Eliminated,
    v: Column,
    y: Vector,
    dt: Scalar,
    start: Vector,
    settings: Mapping[str, Scalar],
) -> Solution:
    """Return the impulses of contacts and joints. Far contacts do not count in what is small."""
    if not meeting:
        return Solution([], [], 0.0, 0.0, 0.0, 0.0)
    before = [dot(row, v) for each in meeting for row in each.J]
    free = [a + dot(row, y) for a, row in zip(before, rows.CD, strict=True)]
    g = list(free)
    for each, last in _last_rows(meeting):
        if each.gap is not None:
            near = select_less(0.0, each.gap, each.gap, 0.0) / dt
            if not is_zero(each.restitution):
                meets = (near + free[last] < 0.0) & (before[last] < 0.0)
                near = select(meets, each.restitution * before[last], near)
            g[last] = g[last] + near
    scale = largest(g)
    part = largest(free) / select_less(0.0, scale, scale, 1.0)
    return solve(
        Problem(rows.G, g, [each.force_set for each in meeting]),
        start=start,
        tolerance=settings.get("tolerance", TOLERANCE) * part,
        max_iterations=settings.get("max_iterations", MOST_ITERATIONS),
    )


def _pushes(meeting: Sequence[Unilateral], rows: Eliminated) -> list[Scalar]:
    """Return what moves back what has penetrated: times the inverse inertia, in units of length."""
    apart = [(last, each.gap) for each, last in _last_rows(meeting) if each.gap is not None]
    deepest = largest([select_less(gap, 0.0, gap, 0.0) for _, gap in apart])
    pushes: list[Scalar] = [0.0] * len(rows.G)
    if apart:
        G = [[rows.G[i][j] for j, _ in apart] for i, _ in apart]
        gaps = [select_less(gap, NEARBY * deepest, gap, NEARBY * deepest) for _, gap in apart]
        found = solve(Problem(G, gaps, [NotNegative()] * len(apart)), "pgs", max_iterations=MOST_PUSHES)
        for (i, _), push in zip(apart, found.force, strict=True):
            pushes[i] = push
    return pushes


def _last_rows(meeting: Sequence[Unilateral]) -> Iterator[tuple[Unilateral, int]]:
    """Yield each with the number of its last row, along which it keeps apart."""
    end = 0
    for each in meeting:
        end += len(each.J)
        yield each, end - 1


def _by_rows(model: ConstrainedModel, meeting: Sequence[Unilateral], force: Vector, held_by: Vector) -> list[Scalar]:
    """Return the impulses in the order of the mechanism's rows."""
    found: list[Scalar] = [0.0] * model.nrows
    start = 0
    for each in meeting:
        n = len(each.J)
        if each.at is not None:
            found[each.at] = force[start : start + n]
        start += n
    start = 0
    for constraint, at in zip(model.constraints, model.row_slices.values(), strict=True):
        if not constraint.is_unilateral:
            found[at] = held_by[start : start + constraint.size]
            start += constraint.size
    return found


class TimeStepping(Integrator):
    """Semi-implicit steps with contacts. Its memory is what the next step's solution begins with, and counts.

    In order: the impulses of the mechanism's rows, those with which the solution begins, and three numbers.
    """

    def memory(self, model: Model) -> int:
        """Return how many numbers it carries from step to step."""
        assert isinstance(model, ConstrainedModel)
        return model.nrows + started(model) + 3

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state after a step, and what is carried to the next one."""
        assert isinstance(system, ConstrainedSystem)
        *_, iterations, unsolved, worst = memory
        start = memory[system.model.nrows : -3]
        count = len(start) if system.limits in ("position", "all") else len(start) - _limited(system.model)
        x = stepped(system, t, Column(q), Column(v), dt, start[:count], self.name == "implicit_euler")
        most = system.settings.get("max_iterations", MOST_ITERATIONS)
        unsolved = unsolved + select_less(x.iterations, most, 0.0, 1.0)
        kept = [*x.start, *start[count:], iterations + x.iterations, unsolved, select_less(worst, x.residual, x.residual, worst)]
        return x.q, x.v, Column([*x.impulse, *kept])
