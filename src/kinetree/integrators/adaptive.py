"""An integrator with as many steps of its own as tolerances ask for, and dense output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kinetree.integrators.contract import Integrator, State, StopReason, registered
from kinetree.integrators.embedded import DENSE, ERROR, TSITOURAS, Motion, Tolerances, parts, select_all, staged
from kinetree.integrators.runge_kutta import weighted
from kinetree.integrators.system import System
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, copysign, power, select, select_less
from kinetree.scalars.loops import repeat
from kinetree.signatures import told
from kinetree.validation import positive

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""A step is this part of what the error allows, and changes by these factors at least and at most."""

BETA = 0.04
"""The weight of the step before (PI control)."""

ALPHA = 1 / 5 - 0.75 * BETA

MOST_STEPS = 10_000
"""Tries, of steps taken or not, in one call."""


@told
@dataclass(frozen=True)
class Tsitouras(Integrator):
    """An embedded Runge–Kutta pair that takes as many steps of its own as tolerances ask for.

    Where what acts is smooth, its steps do not end with those of the simulation: in between the states are those of the
    polynomial through the last step, so that the motion does not depend on how often it is looked at.

    Parameters
    ----------
    rtol, atol : float
        The errors that are allowed in a step: ``atol + rtol |v|`` of velocities, and ``atol + rtol`` of coordinates, of
        which a radian and a metre count as one.

    Raises
    ------
    ArgumentError
        If one of them is not a positive number.

    References: Tsitouras, Runge–Kutta pairs of order 5(4) satisfying only the first column simplifying assumption,
    Computers & Mathematics with Applications 62 (2011).

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> motion = robot.simulate(robot.neutral(), duration=0.5, dt=0.1, integrator=kt.Tsitouras(rtol=1e-9))
    >>> bool(motion.counts["steps"] > 10)
    True
    """

    rtol: float = 1e-6
    atol: float = 1e-8

    name = "tsitouras"
    order = TSITOURAS.order
    tolerances = ("rtol", "atol")
    counts = tuple((name, Motion._fields.index(name)) for name in ("steps", "rejected"))
    failure = StopReason.TOO_MANY_STEPS

    def __post_init__(self) -> None:
        for name in self.tolerances:
            object.__setattr__(self, name, positive(name, getattr(self, name)))

    def step(self, system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
        """See `Integrator.step`: with a first step of a length that is to be found."""
        return self.advance(system, t, q, v, dt, Column.zeros(self.memory(system.model)))[:2]

    def memory(self, model: Model) -> int:
        """Return how many numbers it carries from call to call."""
        return sum(Motion.sizes(model))

    def failed(self, memory: Column) -> Scalar:
        """Return 1 where so many steps did not reach the end."""
        return memory[Motion._fields.index("failed")]

    def advance(
        self, system: System, t: Scalar, q: Any, v: Any, dt: Scalar, memory: Column
    ) -> tuple[Column, Column, Column]:
        """Return the state a time dt later, and what is carried to the next call."""
        settings = self.settings | dict(system.settings)
        tolerances = Tolerances(settings["rtol"], settings["atol"])
        sign, target = copysign(1.0, dt), t + dt

        def left(m: Motion) -> Scalar:
            return sign * (target - m.end)

        motion = repeat(
            lambda m: tried(system, m, sign, target, tolerances),
            begun(system, t, q, v, Motion.of(system.model, memory)),
            until=lambda m: (left(m) <= 0.0) | (m.h != m.h),
            most=MOST_STEPS,
            like=dt,
        )
        missed = select_less(0.0, left(motion), 1.0, 0.0)
        q, v = system.held(target, *at(system, motion, target)) if system.smooth else (motion.q_end, motion.v_end)
        q, v = (Column(select_less(0.5, missed, math.nan, x) for x in part) for part in (q, v))
        return q, v, motion._replace(failed=select(motion.h == motion.h, missed, 0.0)).numbers


def begun(system: System, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], m: Motion) -> Motion:
    """Return the motion that goes on; it begins with this state at first, and wherever something may have changed."""
    first = m._replace(known=0.0, begin=t, end=t, q_end=list(q), v_end=list(v))
    return _chosen(m.known > 0.5, m, first) if system.smooth else first


def tried(system: System, m: Motion, sign: Scalar, target: Scalar, tolerances: Tolerances) -> Motion:
    """Return the motion after another step, or as it was but with a shorter step to try if the error is too large."""
    nv, rest = system.model.nv, sign * (target - m.end)

    def cut(h: Scalar) -> Any:  # steps end where something may change
        return False if system.smooth else rest < 1.01 * h

    def used(h: Scalar) -> Scalar:
        return select(cut(h), rest, h)

    found = staged(system, m, sign, used, tolerances)
    rates, accelerations = parts(found.rates, nv), parts(found.accelerations, nv)
    step, v = sign * used(found.h), Column(m.v_end)
    u, w = (weighted(TSITOURAS.b, k, nv) * step for k in (rates, accelerations))
    error = tolerances.norm(*(weighted(ERROR, k, nv) * step for k in (rates, accelerations)), v, v + w)
    good = error <= 1.0
    change = SAFETY * power(select(error <= 1e-30, 1e-30, error), -ALPHA)
    past = power(select_less(1e-4, m.error, m.error, 1e-4), BETA)
    factor = _between(LEAST, select(good, change * past, change), select_less(0.5, m.vain, 1.0, MOST))
    h = used(found.h) * factor
    h = select(good & cut(found.h) & (h < found.h), found.h, h)
    total = sum(accelerations[0], 0.0)
    h = select((total < math.inf) & (total > -math.inf), h, math.nan)  # no shorter step helps
    q_end, v_end = system.held(m.end + step, system.moved(Column(m.q_end), u), v + w)
    taken = Motion(
        known=1.0,
        h=h,
        error=error,
        vain=0.0,
        steps=m.steps + 1.0,
        rejected=m.rejected,
        failed=0.0,
        begin=m.end,
        end=select(cut(found.h), target, m.end + step),
        q=m.q_end,
        q_end=q_end,
        v_end=v_end,
        rates=found.rates,
        accelerations=found.accelerations,
    )
    # after a try in vain another one follows: of its stages only the acceleration at the beginning is needed
    known = [*found.accelerations[:-nv], *accelerations[0]]
    vain = m._replace(known=1.0, h=h, vain=1.0, rejected=m.rejected + 1.0, rates=found.rates, accelerations=known)
    return _chosen(good, taken, vain)


def at(system: System, m: Motion, t: Scalar) -> State:
    """Return the state at a time within the last step."""
    length = m.end - m.begin
    theta = select(length == 0.0, 0.0, (t - m.begin) / select(length == 0.0, 1.0, length))
    nv = system.model.nv
    weights = [length * theta * (a + theta * (b + theta * (c + theta * d))) for a, b, c, d in DENSE]
    u, w = (weighted(weights, parts(k, nv), nv) for k in (m.rates, m.accelerations))
    return system.moved(Column(m.q), u), Column(m.rates[:nv]) + w


def _between(least: float, x: Scalar, most: Scalar) -> Scalar:
    """Return x within bounds; the lower one where it is NaN."""
    x = select_less(least, x, x, least)
    return select_less(x, most, x, most)


def _chosen(condition: Any, x: Motion, y: Motion) -> Motion:
    """Return one of two motions."""

    def choose(a: Any, b: Any) -> Any:
        return (select_all if isinstance(a, list | tuple) else select)(condition, a, b)

    return Motion(*map(choose, x, y))


tsitouras = registered(Tsitouras())
