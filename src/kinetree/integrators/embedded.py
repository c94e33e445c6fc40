"""Tsitouras's embedded Runge–Kutta pair on the manifold: its coefficients, and the stages of a step as one loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinetree.integrators.runge_kutta import Tableau, weighted
from kinetree.integrators.system import System
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, power, select, select_less, sqrt
from kinetree.scalars.loops import repeat

_B = [
    0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774,
]  # fmt: skip

TSITOURAS = Tableau(
    5,
    [
        [],
        [0.161],
        [-0.008480655492356989, 0.335480655492357],
        [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
        [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
        [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383],
        _B,
    ],
    [*_B, 0.0],
)
"""The last stage is the first one of the next step (FSAL)."""

ERROR = (
    -0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629, 0.5823571654525552,
    -0.45808210592918697, 1 / 66,
)  # fmt: skip
"""The weights of the embedded method of order 4 minus those of order 5."""

DENSE = (
    (1.0, -2.763706197274826, 2.9132554618219126, -1.0530884977290216),
    (0.0, 0.1317, -0.2234, 0.1017),
    (0.0, 3.9302962368947516, -5.941033872131505, 2.490627285651253),
    (0.0, -12.411077166933676, 30.33818863028232, -16.548102889244902),
    (0.0, 37.50931341651104, -88.1789048947664, 47.37952196281928),
    (0.0, -27.896526289197286, 65.09189467479366, -34.87065786149661),
    (0.0, 1.5, -4.0, 2.5),
)
"""The weights at the part θ of a step: of each stage, the coefficients of θ, θ², θ³ and θ⁴; the error is of order 4."""


STAGES = len(ERROR)


class Motion(NamedTuple):
    """The last step and what the next one begins with: numbers that are carried from call to call, zero at first.

    The rates of u and of v are those of the seven stages of the last step, one after the other: of the coordinates u
    around the configuration at its beginning. The first are v there and the last ones those at its end.
    """

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
    rates: Sequence[Scalar]
    accelerations: Sequence[Scalar]

    @staticmethod
    def sizes(model: Model) -> list[int]:
        """Return how many numbers the parts have; a part of one is that number."""
        nq, nv = model.nq, model.nv
        return [1] * 9 + [nq, nq, nv, STAGES * nv, STAGES * nv]

    @classmethod
    def of(cls, model: Model, memory: Sequence[Scalar]) -> Motion:
        """Return what these numbers are."""
        rest = list(memory[9:])
        return cls(*memory[:9], *([rest.pop(0) for _ in range(n)] for n in cls.sizes(model)[9:]))

    @property
    def numbers(self) -> Column:
        """All numbers in order."""
        return Column([*self[:9], *(x for part in self[9:] for x in part)])


class Tolerances(NamedTuple):
    """The errors allowed in a step.

    Of a coordinate it is ``atol + rtol``, where a radian and a metre count as one; of a velocity, ``atol + rtol |v|``.
    """

    rtol: Scalar
    atol: Scalar

    def norm(self, u: Sequence[Scalar], w: Sequence[Scalar], *velocities: Sequence[Scalar]) -> Scalar:
        """Return the root mean square of changes u of q and w of v beside what is allowed at the largest velocity."""
        allowed = self.atol + self.rtol
        total = sum((x * x for x in u), 0.0) / (allowed * allowed)
        for k, y in enumerate(w):
            size: Scalar = 0.0
            for v in velocities:
                size = select_less(size, v[k], v[k], select_less(size, -v[k], -v[k], size))
            part = y / (self.atol + self.rtol * size)
            total = total + part * part
        root = sqrt(select_less(0.0, total, total, 1.0) / (2.0 * max(len(u), 1)))  # which has a rate
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
    """Return the rates of all stages, as `runge_kutta.stages` does, and the length of the step if it was not known.

    The acceleration is one piece of code in a loop over the stages: compiled for one robot, it is the longest by far.
    Rates move on by one place with each stage, so that no choice of a place is needed; after the step of Euler's, whose
    rates are not kept, those before it stand twice.
    """
    q, v, nv = Column(m.q_end), Column(m.v_end), system.model.nv

    def body(s: Stages) -> Stages:
        step = sign * select_less(s.stage, 1.5, s.h, used(s.h))
        weights = [_row(column, s.stage) for column in zip(*TABLE, strict=True)]
        u, w = (weighted(weights, parts(k, nv)[1:], nv) * step for k in (s.rates, s.accelerations))
        v_i = v + w
        a = system.stage_acceleration(m.end + _row([sum(row) for row in ROWS], s.stage) * step, system.moved(q, u), v_i)
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
    """Return the length of the first step, from rates of q and v now and, in stage 1, a time h later.

    Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, section II.4; in stage 0, the time h.
    """
    v, a = now
    size, slope = tolerances.norm([1.0] * len(v), v, v), tolerances.norm(v, a, v)
    guess = select((size < 1e-5) | (slope < 1e-5), 1e-6, 0.01 * size / select_less(0.0, slope, slope, 1.0))
    bend = tolerances.norm(later[0] - v, later[1] - a, v) / select_less(0.0, h, h, 1.0)
    steepest = select_less(slope, bend, bend, slope)
    flat = select_less(1e-6, 1e-3 * h, 1e-3 * h, 1e-6)
    steep = select_less(1e-15, steepest, steepest, 1.0)
    longest = select(steepest <= 1e-15, flat, power(0.01 / steep, 1 / TSITOURAS.order))
    return select_less(stage, 0.5, guess, select_less(100.0 * h, longest, 100.0 * h, longest))


def parts(numbers: Sequence[Scalar], n: int) -> list[Column]:
    """Return columns of n numbers that are one after the other."""
    return [Column(numbers[k * n : (k + 1) * n]) for k in range(STAGES)]


def _row(values: Sequence[float], stage: Scalar) -> Scalar:
    """Return the value of a stage."""
    found: Scalar = values[-1]
    for k, value in reversed(list(enumerate(values[:-1]))):
        found = select_less(stage, k + 0.5, value, found)
    return found


def select_all(condition: Any, x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    """Return one of two lists."""
    return [select(condition, a, b) for a, b in zip(x, y, strict=True)]
