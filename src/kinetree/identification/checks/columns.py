"""Columns that are not what they are taken for: signs, joints that are exchanged, forces in another unit.

The sign of a joint's force is told by what no robot does. Four things with factors that cannot be negative explain a
force: the one that the robot as it was before expects, an inertia of its own, friction and damping. If they explain the
opposite force, and not the force itself, the sign is wrong, unless an unknown load is the reason: the joint's own
equation, with whatever masses explain it best, has an inertia that the joint moves and a power that friction takes,
both positive.

The others are told by trying them: the equations of all joints share parameters, and another reading of the columns is
right if it makes the residuals far likelier. Masses are free in these equations: no good robot is needed before, but
where the forces of all joints are in another unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.evidence import Examined
from kinetree.identification.checks.least_squares import SINGULAR, System
from kinetree.identification.checks.likelihood import BESIDE, SMALL, Likelihood, beside
from kinetree.identification.parameters.regressor import positions
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found
from kinetree.logs.samples import Samples
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Kind(NamedTuple):
    """How columns are mistaken: a text, and whether those of positions, and of forces, are."""

    text: str
    positions: bool = False
    forces: bool = False


KINDS = {
    "position_sign": Kind("the positions of {} have the other sign", positions=True),
    "force_sign": Kind("the forces of {} have the other sign", forces=True),
    "swapped_positions": Kind("the positions of {} are exchanged", positions=True),
    "swapped_forces": Kind("the forces of {} are exchanged", forces=True),
    "swapped_joints": Kind("the columns of {} are exchanged, positions and forces", positions=True, forces=True),
    "force_unit": Kind("the forces of {} are in another unit", forces=True),
}
"""The checks."""

CERTAIN, DOUBTFUL = 6.0, 3.0  # deviations from which friction gives power for certain, below which inertia is in doubt
RIGHT = 5.0  # standard deviations of both from which on the sign is right, whatever the robot before expects
MORE = 0.1  # by how much more of its square the opposite force has to be explained
ROUNDING = 1e-3  # the speed, relative to its root mean square, around which friction turns round
PLACES = 200  # samples at which a joint's own inertia is looked at
ENOUGH = 2  # so many times as many samples, or equations, as columns are needed
EQUATIONS = 3000  # equations with which other readings are tried
LIKELIER = 10.0  # by how much the logarithm of the likelihood has to rise; that of good logs rises by 3 at most
SMALLER = (
    0.1  # by how much that of the noise has to fall, unless a joint's own equation says it: where a model is poor,
)
# as that of a KR300 is at its friction, other readings are likelier by chance, but not much
ALIKE, POORLY = 8.0, 0.05  # readings whose likelihoods differ by less, in all or an equation, are not told apart
POOR = 0.03  # residuals of any joint, by the spread of its forces, from which on two joints may be exchanged
MOST = 8  # joints that are tried in pairs at most, those with the greatest residuals
UNIT = 5.0  # forces that differ by this factor from what those of all other joints say may be in another unit
UNITS = 30.0  # forces that differ by this factor from those that the robot before needs are, or its masses
HEAVY = 0.1  # joints of which the robot before needs such a part of the greatest force tell the unit of all


class Reading(NamedTuple):
    """How columns of some joints may have been meant: exchanged, or with another factor."""

    name: str
    joints: tuple[int, ...]
    factor: float = -1.0

    def of(self, piece: Samples, at: list[int]) -> Samples:
        """Return samples read so; `at` are the positions of the entries of v in q."""
        order, factor, chosen = np.arange(len(at)), np.ones(len(at)), [*self.joints]
        if self.name.startswith("swapped"):
            order[chosen] = chosen[::-1]
        else:
            factor[chosen] = self.factor
        if KINDS[self.name].positions:
            q = piece.q.copy()
            q[:, at] = (q[:, at] * factor)[:, order]
            v, a = ((x * factor)[:, order] for x in (piece.v, piece.a))
            direction = None if piece.direction is None else (piece.direction * factor)[:, order]
            piece = piece._replace(q=q, v=v, a=a, direction=direction)
        return piece._replace(tau=(piece.tau * factor)[:, order]) if KINDS[self.name].forces else piece

    def text(self, names: Sequence[str]) -> str:
        """Return the mistakes, with the names of the entries of v."""
        mine = [names[k] for k in self.joints]
        return KINDS[self.name].text.format(" and ".join(mine) if len(mine) == 2 else listed(mine))


class Mistakes:
    """What seems to be mistaken in the equations of a log."""

    def __init__(self, at: Examined) -> None:
        self._at, self._rows, self._robot = at, at.rows, at.robot
        whole, nv = at.whole, at.robot.nv
        some = np.linspace(0, len(whole.q) - 1, min(len(whole.q), max(1, EQUATIONS // nv))).astype(int)
        self._some = Samples(*(None if x is None else x[np.unique(some)] for x in whole))
        self._q = positions(at.robot.model)

    @cached_property
    def found(self) -> list[tuple[str, Found]]:
        """Which columns are read wrongly: names of checks, with what they find."""
        told = self._at.seen.single & self._at.seen.moves
        joints = [k for k in self._at.measured if told[k]] if self._enough else []
        piece, found, now = self._some, list[tuple[str, Found]](), Likelihood(self._rows, self._some)
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
            gain, ratio = float(np.exp(min(rise / count, 20.0))), 1.0 / reading.factor
            figures = {"residual_ratio": gain}
            why = f"the residuals are then {gain:.3g} times smaller"
            if reading.name == "force_unit":
                figures["ratio"] = ratio
                why = f"they are about {float(f'{ratio:.2g}'):g} times as large as those of the other joints say"
            pairs = [(k,) for k in reading.joints] if reading.name == "force_sign" else [reading.joints]
            others = [other for _, other in rest]
            found += [self._finding(Reading(reading.name, own), why, others, figures) for own in pairs]
            piece, now = reading.of(piece, self._q), best
        return found or [*self._alike(now, joints), *self._in_another_unit()]

    def _finding(
        self, reading: Reading, why: str, others: Sequence[Reading] = (), figures: dict[str, float] | None = None
    ) -> tuple[str, Found]:
        """Return the name of a check and what it finds, with other readings that these data do not tell from it."""
        names = self._robot.v_names
        every = listed([other.text(names) for other in others])
        text = f"{reading.text(names)}: {why}{f'; or {every}, which these data do not tell apart' if others else ''}"
        return reading.name, Found(text, tuple(names[k] for k in reading.joints), figures or {})

    def _tried(
        self, piece: Samples, now: Likelihood, joints: list[int], first: bool
    ) -> list[tuple[Likelihood, Reading]]:
        """Return other readings of some samples, the likeliest first."""
        own = tuple(self.negative) if first else ()
        if not (own or (now.left > SMALL).any()):
            return []
        poor = sorted(joints, key=lambda k: -now.alike[k])[:MOST] if (now.alike > POOR).any() else []
        readings = [Reading("force_sign", own)] if len(own) > 1 else []
        for k in joints:
            if not self.right[k]:
                readings += [Reading(name, (k,)) for name in ("position_sign", "force_sign")]
        for k in joints:
            x, std = now.factor(k)
            ratio = x if x > DOUBTFUL * std else float(self._ratios[k])
            if ratio > 0.0 and not 1.0 / UNIT < ratio < UNIT:
                readings.append(Reading("force_unit", (k,), 1.0 / ratio))
        for pair in combinations(sorted(poor), 2):
            readings += [Reading(name, pair) for name in KINDS if name.startswith("swapped")]
        return sorted(((self._read(piece, x), x) for x in readings), key=lambda pair: -pair[0].value)

    def _read(self, piece: Samples, reading: Reading) -> Likelihood:
        return Likelihood(self._rows, reading.of(piece, self._q))

    def _alike(self, now: Likelihood, joints: list[int]) -> Iterator[tuple[str, Found]]:
        """Yield signs that only the robot before or a joint's own equation makes certain: other masses fit as well."""
        why, least = "inertias and friction explain their opposite", now.value - LIKELIER
        negative = self.negative
        if len(negative) > 1 and self._read(self._some, Reading("force_sign", tuple(negative))).value > least:
            joints = []
        for k in negative:
            force, position = Reading("force_sign", (k,)), Reading("position_sign", (k,))
            if k not in joints:
                yield self._finding(force, why)
                continue
            by_force, by_position = (self._read(self._some, x).value for x in (force, position))
            if max(by_force, by_position) > least:
                others = [position] if by_position > by_force - self._margin else []
                if by_position > by_force + self._margin:
                    force, others = position, []
                yield self._finding(force, why, others)

    def _in_another_unit(self) -> Iterator[tuple[str, Found]]:
        """Yield that forces have another size than the robot before expects, of joints of which it needs the most."""
        at, names = self._at, self._robot.v_names
        asked = np.isin(np.arange(self._robot.nv), at.measured) & at.seen.moves
        needed = np.where(at.seen.driven, (at.seen.expected**2).sum(axis=0), 0.0)
        heavy = np.flatnonzero(asked & (needed > HEAVY**2 * needed.max(initial=0.0)) & (self._ratios > 0.0))
        other = np.abs(np.log(self._ratios[heavy])) > np.log(UNITS)
        if other.any() and other[np.argmax(needed[heavy])]:
            joints = np.flatnonzero(asked) if other.all() else heavy[other]
            ratio = float(self._ratios[heavy[np.argmax(needed[heavy])]])
            said = tuple(names[k] for k in joints)
            text = (
                f"the forces of {'all joints' if len(said) == len(at.measured) > 1 else listed(said)} are about "
                f"{ratio:.2g} times as large as those that this robot, as it was, needs for the motion: are they in "
                "N·m (or N) at the joint, and are its masses in kg?"
            )
            yield "force_unit", Found(text, said, {"ratio": ratio})

    @cached_property
    def _ratios(self) -> Array:
        """By how much forces (nv,) are larger than this robot needs; zero where that is not known."""
        seen = self._at.seen
        needed, there = (np.linalg.norm(x, axis=0) for x in (seen.expected, np.nan_to_num(seen.whole.tau)))
        return np.asarray(np.divide(there, needed, out=np.zeros_like(there), where=needed > 0.0))

    @property
    def _margin(self) -> float:
        """By how much the logarithm of the likelihood of readings differs that are told apart."""
        return max(ALIKE, POORLY * len(self._some.q) * len(self._at.measured))

    @property
    def _enough(self) -> bool:
        """Whether there are so many equations that another reading cannot fit by chance."""
        rows, some, measured = self._rows, len(self._some.q), len(self._at.measured)
        most = max(map(len, rows.pattern), default=0) + len(BESIDE) + 1
        every = rows.dimension + measured * (len(BESIDE) + 1)
        return some > most and some * measured > ENOUGH * every and not self._at.seen.currents

    @cached_property
    def certainty(self) -> Array:
        """What an entry of v's own equation says of its inertia and of the power that friction takes (nv, 2).

        In standard deviations from zero; zero where there are too few samples, and where no force was measured.
        """
        at, whole, out = self._at, self._at.whole, np.zeros((self._robot.nv, 2))
        some = Samples(*(None if x is None else x[:: max(1, len(x) // PLACES)] for x in whole))
        zero = np.zeros_like(some.v)
        rest = self._rows.columns(some._replace(v=zero, a=zero, direction=zero))
        for k in filter(self._told, at.measured):
            tau, pushed = at.sides[1][:, k], zero.copy()
            pushed[:, k] = 1.0
            moved = self._rows.columns(some._replace(v=zero, a=pushed, direction=zero))[k] - rest[k]
            taken = (beside(whole, k)[:2] * whole.v[:, k]).mean(axis=1)
            wanted = np.array([[*moved.mean(axis=0), 0.0, 0.0, 1.0, 0.0], [*self._dissipation(k), *taken, 0.0, 0.0]])
            block = np.column_stack([at.sides[0][k], *beside(whole, k), tau != 0.0, tau])
            own = System([block], [np.arange(block.shape[1] - 1)], np.array([len(tau)]), at.spread[[k]])
            rounding = 1.0 + SINGULAR * at.spread[k] / own.noise[0]
            std = own.deviations(wanted) * rounding * np.sqrt(at.times(own.residuals)[0])
            out[k] = wanted @ own.x / np.where(std > 0.0, std, np.inf)
        return out

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Entries of v (nv,) whose forces have the sign of their motion, whatever the robot before expects."""
        return np.asarray(self.certainty.sum(axis=1) > RIGHT * np.sqrt(2.0), dtype=np.bool_)

    @cached_property
    def negative(self) -> list[int]:
        """Entries of v whose forces have the other sign, by their own equations and the robot before."""
        seen, (inertia, power) = self._at.seen, self.certainty.T
        whole = seen.whole
        other = opposite(seen.expected, whole.v, whole.a, np.nan_to_num(whole.tau), whole.direction)
        found = ((power < -CERTAIN) & (inertia < DOUBTFUL)) | (other & seen.moves & ~self.right)
        return [k for k in self._at.measured if found[k] and self._told(k)]

    def _told(self, k: int) -> bool:
        """Return whether an entry of v's own equation has so many samples that it tells a sign."""
        return len(self._at.whole.q) > ENOUGH * (len(self._rows.pattern[k]) + len(BESIDE) + 1)

    def _dissipation(self, k: int) -> Array:
        """Return the friction of an entry of v, by the columns of its rows."""
        base, own, whole = self._rows.base, self._rows.pattern[k], self._at.whole
        out, robots = np.zeros(len(own)), own[own < base.dimension]  # the others are a load's
        assert whole.direction is not None
        for term, rate in (("damping", whole.v), ("friction", whole.direction)):
            if (place := base.places.get((term, k))) is not None:
                out[: len(robots)] += (rate[:, k] * whole.v[:, k]).mean() * (base.projection[robots, place] != 0.0)
        return out


def mistaken(name: str, at: Examined) -> Iterator[Found]:
    """Yield the mistakes of one kind."""
    yield from (found for kind, found in at.of(Mistakes).found if kind == name)


def opposite(expected: Array, v: Array, a: Array, tau: Array, direction: Array | None = None) -> NDArray[np.bool_]:
    """Return which forces (nv,) are explained if their sign is changed, and are not as they are.

    All are arrays (n, nv): what a robot expects, however poor, and what was recorded.
    """
    if direction is None:
        speed = ROUNDING * np.sqrt((v * v).mean(axis=0))
        direction = v / np.sqrt(v * v + np.where(speed > 0.0, speed, 1.0) ** 2)
    columns = np.stack([expected, a, direction, v, tau], axis=-1)
    columns = columns - columns.mean(axis=0)
    size = np.linalg.norm(columns, axis=0)
    gram = np.einsum("nki,nkj->kij", columns, columns) / np.where(size > 0.0, size, 1.0)[:, :, None]
    gram /= np.where(size > 0.0, size, 1.0)[:, None, :]
    as_is, other = _explained(gram[:, :-1, :-1], gram[:, :-1, -1])
    return np.asarray(
        (other > as_is + MORE) & (size[:, 0] > 0.0), dtype=np.bool_
    )  # a robot without masses expects nothing


def _explained(gram: Array, right: Array) -> tuple[Array, Array]:
    """Return which part of a force (nv,), and of its opposite, factors that are not negative explain at most.

    The best factors are those of least squares with some of the columns, and there are few sets of columns.
    """
    best = np.zeros((2, len(right)))
    for chosen in product([False, True], repeat=right.shape[1]):
        at = np.flatnonzero(chosen)
        A, b = gram[:, at[:, None], at], right[:, at]
        regular = np.linalg.eigvalsh(A).min(axis=1, initial=1.0) > SINGULAR
        x = np.linalg.solve(np.where(regular[:, None, None], A, np.eye(len(at))), b[..., None])[..., 0]
        part = (x * b).sum(axis=1)
        for own, sign in zip(best, (1.0, -1.0), strict=True):
            np.copyto(own, np.maximum(own, part), where=regular & (sign * x >= 0.0).all(axis=1))
    return best[0], best[1]
