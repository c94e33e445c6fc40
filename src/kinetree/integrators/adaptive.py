"""An integrator with as many steps of its own as tolerances ask for, and dense output."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinetree.integrators.contract import Integrator, State, StopReason, System, registered
from kinetree.integrators.runge_kutta import DENSE, ERROR, TSITOURAS, weighted
from kinetree.model import Model
from kinetree.options import value
from kinetree.scalars.functions import Scalar, copysign, larger, or_one, power, select, select_less, smaller, sqrt
from kinetree.scalars.linalg import Column
from kinetree.scalars.loops import repeat
from kinetree.stepping import StepErrors

STAGES = len(ERROR)

SAFETY, LEAST, MOST = 0.9, 0.2, 10.0
"""A step is this part of what the error allows, and changes by these factors at least and at most."""

BETA = 0.04
"""The weight of the step before (PI control)."""

ALPHA = 1 / 5 - 0.75 * BETA

MOST_STEPS = 10_000
"""Tries, of steps taken or not, in one call."""


class Motion(NamedTuple):
    """The last step and what the next one begins with: numbers that are carried from call to call, zero at first."""

    known: Scalar  # 1 where the acceleration at the end is known
    h: Scalar  # the length of the next step; zero where it is not known
    error: Scalar  # of the last step, beside what is allowed
    vain: Scalar  # 1 if the last try was in vain
    steps: Scalar  # taken, and tried in vain
    rejected: Scalar
    failed: Scalar
    begin: Scalar
    end: Scalar
    q: Sequence[Scalar]  # at the beginning of the last step, and at its end
    q_end: Sequence[Scalar]
    v_end: Sequence[Scalar]
    rates: Sequence[Scalar]  # of u, the coordinates around q, in its seven stages: the first are v at its beginning
    accelerations: Sequence[Scalar]  # the rates of v

    @staticmethod
    def sizes(model: Model) -> list[int]:
        """Return how many numbers the parts have; a part of one is that number."""
        nq, nv = model.nq, model.nv
        return [1] * 9 + [nq, nq, nv, STAGES * nv, STAGES * nv]

    @classmethod
    def of(cls, model: Model, memory: Sequence[Scalar]) -> Motion:
        """Return the meaning of these numbers."""
        rest = list(memory[9:])
        return cls(*memory[:9], *([rest.pop(0) for _ in range(n)] for n in cls.sizes(model)[9:]))

    @property
    def numbers(self) -> Column:
        """All numbers in order."""
        return Column([*self[:9], *(x for part in self[9:] for x in part)])


@value
class Tsitouras(StepErrors, Integrator):
    """An embedded Runge–Kutta pair that takes as many steps of its own as tolerances ask for.

    Where what acts is smooth, its steps do not end with those of the simulation: in between the states are those of the
    polynomial through the last step, so that the motion does not depend on how often it is looked at.

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

    name = "tsitouras"
    order = TSITOURAS.order
    tolerances = ("rtol", "atol")
    counts = tuple((name, Motion._fields.index(name)) for name in ("steps", "rejected"))
    failure = StopReason.TOO_MANY_STEPS

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
    past = power(larger(1e-4, m.error), BETA)
    change, most = select(good, change * past, change), select_less(0.5, m.vain, 1.0, MOST)
    factor = smaller(larger(LEAST, change), most)
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


def _chosen(condition: Any, x: Motion, y: Motion) -> Motion:
    """Return one of two motions."""

    def choose(a: Any, b: Any) -> Any:
        return (select_all if isinstance(a, list | tuple) else select)(condition, a, b)

    return Motion(*map(choose, x, y))


class Tolerances(NamedTuple):
    """The errors allowed in a step: ``atol + rtol`` of a coordinate (rad, m), ``atol + rtol |v|`` of a velocity."""

    rtol: Scalar
    atol: Scalar

    def norm(self, u: Sequence[Scalar], w: Sequence[Scalar], *velocities: Sequence[Scalar]) -> Scalar:
        """Return the root mean square of changes u of q and w of v beside what is allowed at the largest velocity."""
        allowed = self.atol + self.rtol
        total = sum((x * x for x in u), 0.0) / (allowed * allowed)
        for k, y in enumerate(w):
            size: Scalar = 0.0
            for v in velocities:
                size = select_less(size, v[k], v[k], larger(size, -v[k]))
            part = y / (self.atol + self.rtol * size)
            total = total + part * part
        root = sqrt(or_one(total) / (2.0 * max(len(u), 1)))  # which has a rate
        return select_less(0.0, total, root, total)


class Stages(NamedTuple):
    """What the loop over the stages of a step carries: the rates of u and of v in the last seven, the newest last."""

    stage: Scalar  # by its number in `ROWS`
    h: Scalar
    rates: Sequence[Scalar]
    accelerations: Sequence[Scalar]


ROWS: Sequence[Sequence[float]] = ([], [1.0], *TSITOURAS.A[1:])
"""What stages are computed from: the first one, a step of Euler's that tells the first length, the others."""

TABLE = [[*[0.0] * (STAGES - 1 - len(row)), *row] for row in ROWS]
"""The weights of the newest rates but one less than there are stages: the newest last."""


def staged(system: System, m: Motion, sign: Scalar, used: Callable[[Scalar], Scalar], tolerances: Tolerances) -> Stages:
    """Return the rates of all stages, in order, and the length of the step if it was not known.

    The acceleration is one piece of code in a loop over the stages, the longest by far. Rates move on by one place with
    each stage; after the step of Euler's, whose rates are not kept, those before it stand twice.
    """
    q, v, nv = Column(m.q_end), Column(m.v_end), system.model.nv

    def body(s: Stages) -> Stages:
        step = sign * select_less(s.stage, 1.5, s.h, used(s.h))
        weights = [entry(column, s.stage) for column in zip(*TABLE, strict=True)]
        u, w = (weighted(weights, parts(k, nv)[1:], nv) * step for k in (s.rates, s.accelerations))
        v_i = v + w
        a = system.stage_acceleration(
            m.end + entry([sum(row) for row in ROWS], s.stage) * step, system.moved(q, u), v_i
        )
        euler = s.stage == 1.0
        rate = select_all(euler, s.rates[-nv:], system.rate(u, v_i, TSITOURAS.order - 1))
        kept = select_all(euler, s.accelerations[-nv:], a)
        known = select(s.stage > 1.5, 1.0, select(s.stage < 0.5, select_less(0.0, s.h, 1.0, 0.0), 0.0))
        [h] = repeat(
            lambda _: [first_length(s.stage, s.h, (v, Column(kept)), (v_i, a), tolerances)],
            [s.h],
            until=lambda _: known > 0.5,
            most=1,
            like=sign,
        )
        following = select((s.stage < 0.5) & (known > 0.5), 2.0, s.stage + 1.0)
        return Stages(following, h, [*s.rates[nv:], *rate], [*s.accelerations[nv:], *kept])

    zeros = [0.0] * (STAGES - 1) * nv
    first = Stages(2.0 * m.known, m.h, [*zeros, *v], [*zeros, *m.accelerations[-nv:]])
    return repeat(body, first, until=lambda s: s.stage > len(ROWS) - 0.5, most=len(ROWS), like=sign)


def first_length(
    stage: Scalar, h: Scalar, now: tuple[Column, Column], later: tuple[Column, Column], tolerances: Tolerances
) -> Scalar:
    """Return the first step's length, from rates now and a time h later (Hairer, Nørsett and Wanner, section II.4)."""
    v, a = now
    size, slope = tolerances.norm([1.0] * len(v), v, v), tolerances.norm(v, a, v)
    guess = select((size < 1e-5) | (slope < 1e-5), 1e-6, 0.01 * size / or_one(slope))
    bend = tolerances.norm(later[0] - v, later[1] - a, v) / or_one(h)
    steepest = larger(slope, bend)
    flat = larger(1e-6, 1e-3 * h)
    steep = select_less(1e-15, steepest, steepest, 1.0)
    longest = select(steepest <= 1e-15, flat, power(0.01 / steep, 1 / TSITOURAS.order))
    return select_less(stage, 0.5, guess, smaller(100.0 * h, longest))


def parts(numbers: Sequence[Scalar], n: int) -> list[Column]:
    """Return columns of n numbers that are one after the other."""
    return [Column(numbers[k * n : (k + 1) * n]) for k in range(STAGES)]


def entry(values: Sequence[Scalar], number: Scalar) -> Scalar:
    """Return the value of this number, the first one for numbers below and the last one for those above."""
    found: Scalar = values[-1]
    for k, x in reversed(list(enumerate(values[:-1]))):
        found = select_less(number, k + 0.5, x, found)
    return found


def select_all(condition: Any, x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """Return one of two lists."""
    return [select(condition, a, b) for a, b in zip(x, y, strict=True)]


tsitouras = registered(Tsitouras())
