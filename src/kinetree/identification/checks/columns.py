"""Columns that are not what they are taken for: signs, joints that are exchanged, forces in another unit.

The sign of a force by itself is told by `signs`. The others are told by trying them: the equations of all joints share
parameters, and another reading of the columns is right if it makes the residuals far likelier. Masses are free in these
equations: no good robot is needed before, but where the forces of all joints are in another unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.equations import SINGULAR, JointEquations
from kinetree.identification.checks.likelihood import BESIDE, SMALL, Likelihood, beside
from kinetree.identification.checks.signs import opposite
from kinetree.identification.parameters.regressor import positions
from kinetree.identification.samples import Piece
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEANINGS = {
    "position_sign": "the positions of {0} have the other sign",
    "force_sign": "the forces of {0} have the other sign",
    "swapped_positions": "the positions of {0} and {1} are exchanged",
    "swapped_forces": "the forces of {0} and {1} are exchanged",
    "swapped_joints": "the columns of {0} and {1} are exchanged, positions and forces",
    "force_unit": "the forces of {0} are in another unit",
}
"""What each check says."""

CERTAIN, DOUBTFUL = 6.0, 3.0
"""Standard deviations from zero at which friction gives power for certain, and at which inertia is not positive."""

RIGHT = 5.0
"""Standard deviations of both together from which on the sign is right, whatever the robot before expects."""

PLACES = 200
"""Samples at which a joint's own inertia is looked at."""

EQUATIONS = 3000
"""Equations with which exchanges are tried."""

LIKELIER = 10.0
"""By how much the logarithm of the likelihood has to rise. Of good logs it falls, or rises by 3 at most."""

SMALLER = 0.1
"""By how much the logarithm of the noise has to fall in the mean of the joints, unless a joint's own equation says it.

Where a model is poor, as that of a KR300 is at its friction, other readings are likelier by chance, but not much."""

ALIKE, POORLY = 8.0, 0.05
"""Readings whose logarithms of likelihood differ by less, or by less an equation, are not told apart: both named."""

ENOUGH = 2
"""So many times as many samples, or equations, as columns are needed."""

POOR = 0.03
"""Residuals of any joint, by the spread of its forces, from which on two joints may be exchanged."""

MOST = 8
"""So many joints at most, those with the greatest residuals, are tried in pairs."""

UNIT = 5.0
"""Forces of one joint that differ by this factor from what those of all others say may be in another unit."""

UNITS = 30.0
"""Forces that differ by this factor from those that the robot before needs are in other units, or its masses are."""

HEAVY = 0.1
"""Joints of which the robot before needs such a part of the greatest force, and more, tell the unit of all."""


class Reading(NamedTuple):
    """How columns may have been meant: signs of positions, factors of forces (nv,), and which columns are whose."""

    name: str
    joints: tuple[int, ...]
    q_sign: Array
    tau_factor: Array
    q_order: NDArray[np.intp]
    tau_order: NDArray[np.intp]

    def of(self, piece: Piece, at: list[int]) -> Piece:
        """Return samples read so; `at` are the positions of the entries of v in q."""
        q = piece.q.copy()
        q[:, at] = (q[:, at] * self.q_sign)[:, self.q_order]
        v, a = ((x * self.q_sign)[:, self.q_order] for x in (piece.v, piece.a))
        direction = None if piece.direction is None else (piece.direction * self.q_sign)[:, self.q_order]
        tau = (piece.tau * self.tau_factor)[:, self.tau_order]
        return piece._replace(q=q, v=v, a=a, tau=tau, direction=direction)


def readings(
    nv: int, alone: list[int], negative: list[int], pairs: list[tuple[int, int]], units: Mapping[int, float]
) -> Iterator[Reading]:
    """Yield in which ways columns of these joints may have been mistaken; `units` are factors of forces."""
    one, order = np.ones(nv), np.arange(nv)
    if len(negative) > 1:
        yield Reading("force_sign", tuple(negative), one, np.where(np.isin(order, negative), -1.0, 1.0), order, order)
    for k in alone:
        minus = np.where(order == k, -1.0, 1.0)
        yield Reading("position_sign", (k,), minus, one, order, order)
        yield Reading("force_sign", (k,), one, minus, order, order)
    for k, factor in units.items():
        yield Reading("force_unit", (k,), one, np.where(order == k, 1.0 / factor, 1.0), order, order)
    for i, j in pairs:
        other = order.copy()
        other[[i, j]] = j, i
        yield Reading("swapped_positions", (i, j), one, one, other, order)
        yield Reading("swapped_forces", (i, j), one, one, order, other)
        yield Reading("swapped_joints", (i, j), one, one, other, other)


class Mistake(NamedTuple):
    """A check, the entries of v, figures, and other readings that these data do not tell from it."""

    name: str
    joints: tuple[int, ...]
    figures: Mapping[str, float]
    others: tuple[Reading, ...] = ()


class Mistakes:
    """What seems to be mistaken in the equations of a log."""

    def __init__(self, equations: JointEquations) -> None:
        self._equations = equations
        self._rows, self._robot = equations.rows, equations.rows.robot
        whole = equations.whole
        at = np.linspace(0, len(whole.q) - 1, min(len(whole.q), max(1, EQUATIONS // self._robot.nv))).astype(int)
        self._some = Piece(*(None if x is None else x[np.unique(at)] for x in whole))
        self._at = positions(self._robot.model)

    @cached_property
    def found(self) -> list[Mistake]:
        """Which columns are read wrongly."""
        single = [k for body in self._robot.model.leading if body.has_one_coordinate for k in body.v_index]
        moves = self._equations.seen.moves
        joints = [k for k in self._equations.measured if k in single and moves[k]] if self._enough else []
        piece, found, now = self._some, list[Mistake](), Likelihood(self._rows, self._some)
        for _ in joints:
            tried = self._tried(piece, now, joints, first=not found)
            if not tried:
                break
            alike = [pair for pair in tried if pair[0].value > tried[0][0].value - self._margin]
            (best, reading), *rest = sorted(alike, key=lambda pair: pair[1].name != "force_sign")  # the most usual one
            rise, count = best.value - now.value, len(joints) * len(piece.q)
            expected = reading.name.endswith("_sign") and set(reading.joints) <= set(self.negative)
            if rise < (LIKELIER if expected else max(LIKELIER, SMALLER * count)):
                break
            figures = {"residual_ratio": float(np.exp(min(rise / count, 20.0)))}
            if reading.name == "force_unit":
                figures["ratio"] = 1.0 / float(reading.tau_factor[reading.joints])
            pairs = [(k,) for k in reading.joints] if reading.name == "force_sign" else [reading.joints]
            others = tuple(other for _, other in rest)
            found += [Mistake(reading.name, own, figures, others) for own in pairs]
            piece, now = reading.of(piece, self._at), best
        return found or [*self._alike(now, joints), *self._in_another_unit]

    def _tried(self, piece: Piece, now: Likelihood, joints: list[int], first: bool) -> list[tuple[Likelihood, Reading]]:
        """Return other readings of some samples, the likeliest first."""
        own = self.negative if first else []
        if not (own or (now.left > SMALL).any()):
            return []
        poor = sorted(joints, key=lambda k: -now.alike[k])[:MOST] if (now.alike > POOR).any() else []
        every = {k: now.factor(k) for k in joints}
        units = {k: x if x > DOUBTFUL * std else self._ratios[k] for k, (x, std) in every.items()}
        units = {k: x for k, x in units.items() if x > 0.0 and not 1.0 / UNIT < x < UNIT}
        alone = [k for k in joints if not self.right[k]]
        tried = [
            (Likelihood(self._rows, reading.of(piece, self._at)), reading)
            for reading in readings(self._robot.nv, alone, own, list(combinations(sorted(poor), 2)), units)
        ]
        return sorted(tried, key=lambda pair: -pair[0].value)

    def _alike(self, now: Likelihood, joints: list[int]) -> Iterator[Mistake]:
        """Yield signs that only the robot before or a joint's own equation makes certain: other masses fit as well."""
        if len(self.negative) > 1:
            together = next(readings(self._robot.nv, [], self.negative, [], {}))
            if Likelihood(self._rows, together.of(self._some, self._at)).value > now.value - LIKELIER:
                yield from (Mistake("force_sign", (k,), {}) for k in self.negative)
                return
        for k in self.negative:
            if k not in joints:
                yield Mistake("force_sign", (k,), {})
                continue
            position, force = (
                (Likelihood(self._rows, reading.of(self._some, self._at)).value, reading)
                for reading in readings(self._robot.nv, [k], [], [], {})
            )
            if max(position[0], force[0]) > now.value - LIKELIER:
                one, other = (position, force) if position[0] > force[0] + self._margin else (force, position)
                yield Mistake(one[1].name, (k,), {}, (other[1],) if other[0] > one[0] - self._margin else ())

    @property
    def _in_another_unit(self) -> Iterator[Mistake]:
        """Yield that forces have another size than the robot before expects, of joints of which it needs the most."""
        asked = np.isin(np.arange(self._robot.nv), self._equations.measured) & self._equations.seen.moves
        needed = np.where(self._equations.seen.driven, (self._equations.seen.expected**2).sum(axis=0), 0.0)
        heavy = np.flatnonzero(asked & (needed > HEAVY**2 * needed.max(initial=0.0)) & (self._ratios > 0.0))
        other = np.abs(np.log(self._ratios[heavy])) > np.log(UNITS)
        if other.any() and other[np.argmax(needed[heavy])]:
            joints, k = np.flatnonzero(asked) if other.all() else heavy[other], heavy[np.argmax(needed[heavy])]
            yield Mistake("force_unit", tuple(map(int, joints)), {"ratio": float(self._ratios[k])})

    @cached_property
    def _ratios(self) -> Array:
        """By how much forces (nv,) are larger than this robot needs; zero where that is not known."""
        seen = self._equations.seen
        needed, there = (np.linalg.norm(x, axis=0) for x in (seen.expected, np.nan_to_num(seen.whole.tau)))
        return np.asarray(np.divide(there, needed, out=np.zeros_like(there), where=needed > 0.0))

    @property
    def _margin(self) -> float:
        """By how much the logarithm of the likelihood of readings differs that are told apart."""
        return max(ALIKE, POORLY * len(self._some.q) * len(self._equations.measured))

    @cached_property
    def _enough(self) -> bool:
        """Whether there are so many equations that another reading cannot fit by chance."""
        rows, some = self._rows, len(self._some.q)
        most, measured = max(map(len, rows.pattern), default=0) + len(BESIDE) + 1, len(self._equations.measured)
        every = rows.dimension + measured * (len(BESIDE) + 1)
        return some > most and some * measured > ENOUGH * every and not self._equations.seen.currents

    @cached_property
    def certainty(self) -> Array:
        """What an entry of v's own equation says of its inertia and of the power that friction takes (nv, 2).

        In standard deviations from zero; zero where there are too few samples, and where no force was measured.
        """
        equations, whole = self._equations, self._equations.whole
        some = Piece(*(None if x is None else x[:: max(1, len(x) // PLACES)] for x in whole))
        zero, out = np.zeros_like(some.v), np.zeros((self._robot.nv, 2))
        rest = self._rows.columns(some._replace(v=zero, a=zero, direction=zero))
        for k in equations.measured:
            Y, tau = equations.sides[0][k], equations.sides[1][:, k]
            A = np.column_stack([Y, *beside(whole, k), np.ones(len(tau)) * (tau != 0.0)])
            if self._told(k):
                pushed = zero.copy()
                pushed[:, k] = 1.0
                moved = self._rows.columns(some._replace(v=zero, a=pushed, direction=zero))[k] - rest[k]
                inertia = [*moved.mean(axis=0), 0.0, 0.0, 1.0, 0.0]
                taken = (beside(whole, k)[:2] * whole.v[:, k]).mean(axis=1)
                out[k] = _significance(
                    A, tau, np.array([inertia, [*self._dissipation(k, whole), *taken, 0.0, 0.0]]), equations, k
                )
        return out

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Entries of v (nv,) whose forces have the sign of their motion, whatever the robot before expects."""
        return np.asarray(self.certainty.sum(axis=1) > RIGHT * np.sqrt(2.0), dtype=np.bool_)

    @cached_property
    def negative(self) -> list[int]:
        """Entries of v whose forces have the other sign, by their own equations and the robot before."""
        seen, (inertia, power) = self._equations.seen, self.certainty.T
        whole = seen.whole
        other = opposite(seen.expected, whole.v, whole.a, np.nan_to_num(whole.tau), whole.direction)
        gives: Any = (power < -CERTAIN) & (inertia < DOUBTFUL)
        found = gives | (np.asarray(other, dtype=np.bool_) & seen.moves & ~self.right)
        return [k for k in self._equations.measured if found[k] and self._told(k)]

    def _told(self, k: int) -> bool:
        """Return whether an entry of v's own equation has so many samples that it tells a sign."""
        columns = self._equations.sides[0][k].shape[1] + len(BESIDE) + 1
        return bool(len(self._equations.whole.q) > ENOUGH * columns)

    def _dissipation(self, k: int, whole: Piece) -> Array:
        """Return what friction of an entry of v takes, by the columns of its rows."""
        base, own, out = self._rows.base, self._rows.pattern[k], np.zeros(len(self._rows.pattern[k]))
        direction = whole.direction if whole.direction is not None else np.sign(whole.v)
        for term, rate in (("damping", whole.v), ("friction", direction)):
            if (place := base.places.get((term, k))) is not None:
                robots = own[own < base.dimension]  # the others are a load's
                out[: len(robots)] += (rate[:, k] * whole.v[:, k]).mean() * (base.projection[robots, place] != 0.0)
        return out


def _significance(A: Array, b: Array, weights: Array, equations: JointEquations, k: int) -> Array:
    """Return combinations (m,) of the least-squares solution by their standard deviations."""
    size = np.linalg.norm(A, axis=0)
    size[size == 0.0] = 1.0
    U, s, Vt = np.linalg.svd(A / size, full_matrices=False)
    kept = s > SINGULAR * s.max(initial=0.0)
    x = Vt[kept].T @ ((U[:, kept].T @ b) / s[kept]) / size
    e = b - A @ x
    noise = np.linalg.norm(e) / np.sqrt(max(len(b) - kept.sum(), 1)) + SINGULAR * equations.spread[k]
    times = equations.times(e[:, None])[0]
    std = np.linalg.norm((Vt[kept] / size) @ weights.T / s[kept, None], axis=0) * noise * np.sqrt(times)
    return np.asarray(weights @ x / np.where(std > 0.0, std, np.inf))


def mistaken(name: str, mistakes: Mistakes) -> Iterator[Found]:
    """Yield the mistakes of one kind."""
    names = mistakes._robot.v_names
    for kind, joints, figures, others in mistakes.found:
        if kind == name:
            said = tuple(names[k] for k in joints)
            yield Found(f"{_text(mistakes, name, said, figures)}{_or(names, others)}", said, figures)


def _text(mistakes: Mistakes, name: str, said: tuple[str, ...], figures: Mapping[str, float]) -> str:
    """Return what is mistaken, and what tells it."""
    text, ratio = MEANINGS[name].format(*said), figures.get("ratio")
    gain = figures.get("residual_ratio")
    if ratio is None:
        why = "inertias and friction explain their opposite"
        return f"{text}: {f'what is left of the forces is then {gain:.3g} times smaller' if gain else why}"
    if gain is not None:
        return f"{text}: they are about {ratio:.2g} times as large as those of the other joints say"
    every = len(said) == len(mistakes._equations.measured) > 1
    return (
        f"the forces of {'all joints' if every else listed(said)} are about {ratio:.2g} times as large as those that "
        "this robot, as it was, needs for the motion: are they in N·m (or N) at the joint, and are its masses in kg?"
    )


def _or(names: Sequence[str], others: Sequence[Reading]) -> str:
    """Return which other readings explain as much."""
    every = [MEANINGS[name].format(*(names[k] for k in joints)) for name, joints, *_ in others]
    return f"; or {listed(every)}, which these data do not tell apart" if every else ""
