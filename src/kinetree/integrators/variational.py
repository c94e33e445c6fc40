"""A variational integrator on the groups of the joints, in positions and momenta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from kinetree.algorithms.dynamics.factorization import Factor, factorised
from kinetree.algorithms.dynamics.passive_forces import friction_forces
from kinetree.algorithms.dynamics.rnea import rnea
from kinetree.algorithms.dynamics.singular import refuse_singular
from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.algorithms.quantities import center_of_mass, moving_mass
from kinetree.algorithms.recursions.tree import body_velocities, subspace_rates
from kinetree.errors import ModelError
from kinetree.glossary.symbols import Vector
from kinetree.integrators.contract import State, System, integrator
from kinetree.integrators.euler import own_derivatives, with_rotors
from kinetree.joints import Joint
from kinetree.model import WORLD, Model
from kinetree.model.edit import regrouped
from kinetree.scalars.functions import Scalar, is_zero, select, select_less, sqrt
from kinetree.scalars.linalg import Column, dot
from kinetree.scalars.loops import Routine, declared, recording, repeat
from kinetree.spatial import Vec3
from kinetree.spatial.rotation import Rotation

MOST = 200
"""Iterations of a step. It takes five to ten, and many where Coulomb friction brings a joint to rest within it."""

TERMS = 16
"""Of the power series in ``ad_w``, which is enough to the last digit while a joint turns by up to 1 rad in a step."""

EXPONENTIAL = [1 / math.factorial(n) for n in range(TERMS)]
INTEGRAL = [1 / math.factorial(n + 1) for n in range(TERMS)]
"""Coefficients of ``eˣ`` and of ``(eˣ − 1) / x``, the derivative of the exponential seen from where it starts."""


class _Iterate(NamedTuple):
    """The velocity of the step, the force and acceleration at its middle, and how far u changed in an iteration."""

    u: Column
    force: Column
    acceleration: Column
    change: Scalar  # dᵀ d of the change d of u
    energy: Scalar  # dᵀ M d, which decreases where the iteration converges: what its matrix leaves out is skew
    energy_before: Scalar


@integrator("variational", order=2)
def variational(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Midpoint rule of discrete mechanics: symplectic, symmetric in time, and momenta are kept to rounding.

    The action of a step ``q1 = q0 ⊕ h u`` is taken as ``h L(q_m, u)`` with ``q_m = q0 ⊕ (h/2) u``. Its derivatives by
    the ends are the momenta there; with ``w = h u / 2``, in the axes that move along,

        ``dexp(2w)ᵀ p0 + (h/2) dexp(w)ᵀ f = M(q_m) u``  and  ``p1 = Ad(eʷ)ᵀ (Ad(eʷ)ᵀ p0 + h f)``,

    where f has ∂L/∂q and all forces at the middle. Where coordinates add, dexp and Ad are 1: that is the rule of
    Marsden and West. The first equation is solved for u to rounding, by iterations with M of the expected middle. If
    none is found, because the step is too long or Coulomb friction too sharp, the velocity is infinite or NaN.

    A robot that floats is taken in coordinates of its centre of mass, which moves as a point does, and of motions
    around it: so the momentum about it is kept as well, and in free fall it follows its parabola.

    References: Marsden and West, Discrete mechanics and variational integrators, 2001; Bou-Rabee and Marsden,
    Hamilton–Pontryagin integrators on Lie groups, 2009. The end of the iteration is that of Hairer, McLachlan and
    Razakarivony, Achieving Brouwer's law with implicit Runge–Kutta methods, 2008.
    """
    if not system.is_tree:
        raise ModelError(
            "the variational integrator knows no constraints: choose another one, such as rk4, for a mechanism"
        )
    model, half, whole = regrouped(system.model), 0.5 * dt, centre(system.model)
    motion, p0 = whole.apart(q, momenta(model, q, v)[0])
    v = v - whole.velocities(q, motion)

    factors = factorisation(model)

    def matrix(middle: Column, u: Column) -> Factor:
        """Return M at the middle, and what the joints' own forces add to the derivative of the equation."""
        stiffness, damping = own_derivatives(system, middle, u)
        return factors(middle, half * damping + (half * half) * stiffness)

    linear = not model.friction.coulomb and system.limits in ("none", "effort")
    constant = matrix(system.moved(q, half * v), v) if linear else None

    def balance(u: Column, acceleration: Column) -> tuple[Column, Column, Column, Column]:
        """Return the force at the middle and the acceleration, what the equation leaves, and the middle."""
        w = half * u
        middle = system.moved(q, w)
        p, rates = momenta(model, middle, u)
        speed = motion + half * acceleration
        there = whole.moved(middle, half * motion), u + whole.velocities(middle, speed)
        acceleration, around = whole.apart(middle, _forces(system, model, t + half, *there))
        force = around + rates - coadjoint_series(model, [0.0, 1.0], u, p)
        ends = coadjoint_series(model, INTEGRAL, 2.0 * w, p0) + half * coadjoint_series(model, INTEGRAL, w, force)
        return force, acceleration, ends - p, middle

    def improved(x: _Iterate) -> _Iterate:
        force, acceleration, left, middle = balance(x.u, x.acceleration)
        d = Column((constant or matrix(middle, x.u)).solve(left))
        return _Iterate(x.u + d, force, acceleration, dot(d, d), dot(d, left), x.energy)

    def residual(x: list[Scalar]) -> list[Scalar]:
        u, before = Column(x[: len(v)]), Column(x[len(v) :])
        _, acceleration, left, _ = balance(u, before)
        return [*left, *(acceleration - before)]

    unit = resolution(dt)

    def small(x: _Iterate, ratio: Scalar) -> Scalar:
        """Return whether the last change is below this part of u, or of 0.1 mm or mrad in the step; 1 or 0."""
        at_most = ratio * ratio
        return select((x.change <= at_most * dot(x.u, x.u)) | (dt * dt * x.change <= at_most * 1e-8), 1.0, 0.0)

    x = repeat(
        improved,
        _Iterate(v, Column.zeros(len(v)), Column.zeros(len(motion)), 1.0, 1e30, math.inf),
        until=lambda x: select(x.energy < x.energy_before, small(x, 4.0 * unit), small(x, 1e4 * unit)) > 0.5,
        most=MOST,
        like=dt,
    )
    found = declared([*x.u, *x.acceleration], residual, like=dt)
    u, acceleration = Column(found[: len(v)]), Column(found[len(v) :])
    force = Column(declared([*x.force], lambda f: [*(Column(f) - balance(u, acceleration)[0])], like=dt))
    w = half * u
    p1 = p0
    for impulse in (dt * force, Column.zeros(len(v))):
        p1 = coadjoint_series(model, EXPONENTIAL, w, p1) + impulse
    q1, end = system.moved(q, dt * u), motion + dt * acceleration
    v1 = Column(factors(q1, Column.zeros(len(v))).solve(p1)) + whole.velocities(q1, end)
    q1 = whole.moved(q1, whole.position(q) + half * (motion + end) - whole.position(q1))
    return q1, select_less(0.5, small(x, 4.0 * sqrt(unit)), 1.0, math.inf) * v1


def factorisation(model: Model) -> Callable[[Column, Column], Factor]:
    """Return a function of q and of inertias of further rotors: the factors of M, which compiled code computes once."""
    refuse_singular(model)
    places: list[tuple[int, int]] = []

    def numbers(x: list[Scalar]) -> list[Scalar]:
        factor = factorised(with_rotors(model, x[model.nq :]), x[: model.nq])
        places[:] = [(k, i) for k, others in enumerate(factor.support) for i in others]
        return [*factor.D, *(factor.L[k][i] for k, i in places)]

    routine = Routine(numbers)

    def factors(q: Column, rotors: Column) -> Factor:
        found = routine([*q, *rotors], recording(*q))
        order = tuple(dict.fromkeys(k for body in model.bodies for k in body.v_index))
        L = [[0.0] * len(order) for _ in order]
        for (k, i), x in zip(places, found[len(order) :], strict=True):
            L[k][i] = x
        return Factor(order, [tuple(i for l, i in places if l == k) for k in range(len(order))], L, found[: len(order)])

    return factors


def resolution(like: Scalar) -> Scalar:
    """Return the distance from 1 to the next number, in the precision in which `like` is computed."""
    x = like * like + 1.0
    one = (x + x) / x - 1.0
    left = 1.0 - 3.0 * (one * (4.0 / 3.0) - 1.0)
    return sqrt(left * left)


def _forces(system: System, model: Model, t: Scalar, q: Column, v: Column) -> Column:
    """Return the joint forces of motors, springs, friction, gravity and wrenches."""
    zero = Column.zeros(model.nv)
    f_ext = system.wrenches and system.wrenches(t)
    held = Column(rnea(model, q, zero, zero, f_ext, f_ext_frame=system.f_ext_frame))
    return system.forces(t, q, v) - held - Column(friction_forces(model, v))


class Centre(NamedTuple):
    """How a robot moves as a whole; nothing of it where the robot does not float."""

    model: Model
    at: tuple[int, ...]  # the entries in v of the linear velocity of a base that floats; else empty

    def apart(self, q: Vector, p: Column) -> tuple[Column, Column]:
        """Return the velocity of the centre of mass in the world, and momenta without it; of forces its rate."""
        if not self.at:
            return Column(), p
        share = 1.0 / moving_mass(self.model)
        common = [p[k] * share for k in self.at]
        alone, _ = momenta(self.model, q, self._velocities(common))
        return Column(self._rotation(q).to_a(Vec3(*common))), p - alone

    def velocities(self, q: Vector, motion: Sequence[Scalar]) -> Column:
        """Return the velocities (nv,) while all of the robot moves so, in the world's axes."""
        return self._velocities(list(self._rotation(q).to_b(Vec3(*motion))) if self.at else [])

    def moved(self, q: Vector, distance: Sequence[Scalar]) -> Column:
        """Return the configuration with all of the robot moved by this, in the world's axes."""
        return Column(integrate(self.model, q, self.velocities(q, distance))) if self.at else Column(q)

    def position(self, q: Vector) -> Column:
        """Return where the centre of mass is."""
        return Column(center_of_mass(self.model, q)) if self.at else Column()

    def _velocities(self, linear: Sequence[Scalar]) -> Column:
        v: list[Scalar] = [0.0] * self.model.nv
        for k, x in zip(self.at, linear, strict=True):
            v[k] = x
        return Column(v)

    def _rotation(self, q: Vector) -> Rotation:
        base = self.model.bodies[0]
        return (self.model.jcalc(0, q).X_J @ base.X_T).E


def centre(model: Model) -> Centre:
    """Return how a robot moves as a whole: it floats if one body is on the world, by a free joint without rotors."""
    roots = [body for body in model.bodies if body.parent == WORLD]
    if len(roots) != 1 or not all(map(is_zero, roots[0].armature)):
        return Centre(model, ())
    (base,) = roots
    S = base.joint.jcalc(base.joint.neutral(), [0.0] * base.joint.nv).S
    units = [[float(j == k) for j in range(6)] for k in range(6)]
    return Centre(model, base.v_index[3:] if [list(column) for column in S] == units else ())


def momenta(model: Model, q: Vector, v: Vector) -> tuple[Column, Column]:
    """Return the joint momenta ``M v``, and ``Cᵀ v``: their rate without forces."""
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
