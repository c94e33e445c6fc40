"""A variational integrator on the groups of the joints, in positions and momenta."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.passive_forces import friction_forces
from kinetree.algorithms.dynamics.rnea import rnea
from kinetree.algorithms.integrators.contract import State, integrator
from kinetree.algorithms.integrators.implicit import own_derivatives, with_rotors
from kinetree.algorithms.integrators.system import System
from kinetree.algorithms.recursions.motions import body_velocities, subspace_rates
from kinetree.glossary.symbols import Vector
from kinetree.joints import Joint
from kinetree.model import WORLD, Model
from kinetree.model.regroup import regrouped
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero, select, select_less
from kinetree.scalars.linalg import dot
from kinetree.scalars.loops import repeat

MOST = 60
"""Iterations of a step; at the steps for which a second-order method is used it takes five to ten."""

TERMS = 16
"""Of the power series in ``ad_w``, which is enough to the last digit while a joint turns by up to 1 rad in a step."""

EXPONENTIAL = [1 / math.factorial(n) for n in range(TERMS)]
INTEGRAL = [1 / math.factorial(n + 1) for n in range(TERMS)]
"""Coefficients of ``eˣ`` and of ``(eˣ − 1) / x``, the derivative of the exponential seen from where it starts."""


class _Iterate(NamedTuple):
    """The velocity of the step, the force at its middle, and the squared lengths of the last changes of u."""

    u: Column
    force: Column
    change: Scalar
    before: Scalar


@integrator("variational", order=2)
def variational(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Midpoint rule of discrete mechanics: symplectic, symmetric in time, and momenta are kept to rounding.

    The action of a step ``q1 = q0 ⊕ h u`` is taken as ``h L(q_m, u)`` with ``q_m = q0 ⊕ (h/2) u``. Its derivatives by
    the ends are the momenta there; with ``w = h u / 2``, in the axes that move along,

        ``dexp(2w)ᵀ p0 + (h/2) dexp(w)ᵀ f = M(q_m) u``  and  ``p1 = Ad(eʷ)ᵀ (Ad(eʷ)ᵀ p0 + h f)``,

    where f has ∂L/∂q and all forces at the middle. Where coordinates add, dexp and Ad are 1: that is the rule of
    Marsden and West. The first equation is solved for u to rounding, by iterations with M of the expected middle. If
    none is found, because the step is too long or Coulomb friction too sharp, the velocity is infinite or NaN.

    References: Marsden and West, Discrete mechanics and variational integrators, 2001; Bou-Rabee and Marsden,
    Hamilton–Pontryagin integrators on Lie groups, 2009. The end of the iteration is that of Hairer, McLachlan and
    Razakarivony, Achieving Brouwer's law with implicit Runge–Kutta methods, 2008.
    """
    model, half = regrouped(system.model), 0.5 * dt
    p0, _ = momenta(model, q, v)
    expected = system.moved(q, half * v)

    def matrix(u: Column) -> Factor:
        """Return M at the expected middle, with what springs and friction add to the derivative of the equation."""
        stiffness, damping = own_derivatives(model, u)
        return factorised(with_rotors(model, half * damping + (half * half) * stiffness), expected)

    constant = None if model.friction.damping or model.friction.coulomb else matrix(v)

    def improved(x: _Iterate) -> _Iterate:
        w = half * x.u
        middle = system.moved(q, w)
        p, force = _momentum_and_force(system, model, t + half, middle, x.u)
        ends = coadjoint_series(model, INTEGRAL, 2.0 * w, p0) + half * coadjoint_series(model, INTEGRAL, w, force)
        d = Column((constant or matrix(x.u)).solve(ends - p))
        return _Iterate(x.u + d, force, dot(d, d), x.change)

    def small(x: _Iterate, ratio: float) -> Scalar:
        """Return whether the last change is below this part of u, or of 1 rad and 1 m in the step; 1 or 0."""
        at_most = ratio * ratio
        return select((x.change <= at_most * dot(x.u, x.u)) | (dt * dt * x.change <= at_most * 1e-8), 1.0, 0.0)

    x = repeat(
        improved,
        _Iterate(v, Column.zeros(len(v)), 1e300, math.inf),
        until=lambda x: select(x.change < x.before, 0.0, small(x, 1e-11)) > 0.5,
        most=MOST,
        like=dt,
    )
    w = half * x.u
    p1 = p0
    for impulse in (dt * x.force, Column.zeros(len(v))):
        p1 = coadjoint_series(model, EXPONENTIAL, w, p1) + impulse
    q1 = system.moved(q, dt * x.u)
    v1 = Column(factorised(model, q1).solve(p1))
    return q1, select_less(0.5, small(x, 1e-8), 1.0, math.inf) * v1


def _momentum_and_force(system: System, model: Model, t: Scalar, q: Column, v: Column) -> tuple[Column, Column]:
    """Return the momenta ``M v``, and ``∂L/∂q`` with the forces of motors, friction and wrenches."""
    p, rates = momenta(model, q, v)
    zero = Column.zeros(model.nv)
    f_ext = system.wrenches and system.wrenches(t)
    held = Column(rnea(model, q, zero, zero, f_ext, f_ext_frame=system.f_ext_frame))
    resistance = Column(friction_forces(model, v))
    return p, system.forces(t, q, v) + rates - held - resistance - coadjoint(model, v, p)


def momenta(model: Model, q: Vector, v: Vector) -> tuple[Column, Column]:
    """Return the joint momenta ``M v``, and ``Cᵀ v``: their rate without forces.

    Column k of the Jacobians is S_k, seen by the momentum of the subtree that joint k carries, and C has their rates.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    v_ = body_velocities(model, states)
    carried = [body.inertia @ v_i for body, v_i in zip(model.bodies, v_, strict=True)]
    p: list[Scalar] = [0.0] * model.nv
    rates: list[Scalar] = [0.0] * model.nv
    for i, body in reversed(list(enumerate(model.bodies))):
        S_ring = subspace_rates(model, i, q, v)
        for k, S_k, r, rotor in zip(body.v_index, states[i].S, S_ring, body.armature, strict=True):
            p[k] = p[k] + S_k.dot(carried[i]) + rotor * v[k]
            rates[k] = rates[k] + (v_[i].cross(S_k) + r).dot(carried[i])
        if body.parent != WORLD:
            carried[body.parent] = carried[body.parent] + states[i].Xup.T @ carried[i]
    return Column(p), Column(rates)


def coadjoint(model: Model, w: Vector, p: Vector) -> Column:
    """Return ``ad_wᵀ p`` of each joint's group, zero where coordinates add."""
    return coadjoint_series(model, [0.0, 1.0], w, p)


def coadjoint_series(model: Model, coefficients: Sequence[float], w: Vector, p: Vector) -> Column:
    """Return ``Σ c_n (ad_wᵀ)ⁿ p`` of each joint's group."""
    total = list(coefficients[0] * Column(p))
    for body in model.leading:
        at = body.v_index
        step, power = [w[k] for k in at], [p[k] for k in at]
        for c in coefficients[1:]:
            power = _coadjoint(body.joint, step, power)
            if all(map(is_zero, power)):
                break
            for k, x in zip(at, power, strict=True):
                total[k] = total[k] + c * x
    return Column(total)


def _coadjoint(joint: Joint, w: Vector, p: Vector) -> list[Scalar]:
    units = ([float(i == k) for i in range(joint.nv)] for k in range(joint.nv))
    return [dot(p, joint.bracket(w, unit)) for unit in units]
