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
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import listed
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.checks.regression import SINGULAR, Regression, spread_of
from kinetree.identification.parameters.regressor import positions
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found
from kinetree.logs.samples import Samples
from kinetree.validation import Array


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
TINY = 1e-300
SWEEPS = 100  # by which factors that are not negative are found
PLACES = 200  # samples at which a joint's own inertia is looked at
BESIDE = 4  # columns of each joint's own: the direction of sliding, the velocity, the acceleration, a constant
ENOUGH = 2  # so many times as many samples, or equations, as columns are needed
EQUATIONS = 3000  # equations with which other readings are tried
SMALL = 1e-3  # residuals below this part of the forces' spread leave nothing to be explained
LIKELIER = 10.0  # by how much the logarithm of the likelihood has to rise; that of good logs rises by 3 at most
# by how much that of the noise has to fall, unless a joint's own equation says it: where a model is poor, as that of a
# KR300 is at its friction, other readings are likelier by chance, but not much
SMALLER = 0.1
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
    """What seems to be mistaken in the equations of a log: names of checks, with what they find."""

    def __init__(self, at: Evidence) -> None:
        self._at, self._rows, self._names = at, at.rows, at.robot.v_names
        some, nv = at.some, at.robot.nv
        chosen = np.linspace(0, len(some.q) - 1, min(len(some.q), max(1, EQUATIONS // nv))).astype(int)
        self._some = Samples(*(None if x is None else x[np.unique(chosen)] for x in some))
        self._q = positions(at.robot.model)
        needed, there = (np.linalg.norm(x, axis=0) for x in (at.expected, np.nan_to_num(at.whole.tau)))
        self._ratios = np.divide(there, needed, out=np.zeros_like(there), where=needed > 0.0)
        self._margin = max(ALIKE, POORLY * len(self._some.q) * len(at.measured))
        joints = [k for k in at.measured if at.single[k] and at.moves[k]] if self._enough else []
        now = self._read()
        self.found = self._misread(now, joints) or [*self._alike(now, joints), *self._in_another_unit()]

    def _read(self, reading: Reading | None = None, piece: Samples | None = None) -> Regression:
        """Return the regression of some samples, read as they are or otherwise, with friction of each joint's own."""
        piece = self._some if piece is None else piece
        piece = piece if reading is None else reading.of(piece, self._q)
        (rows, tau), n = self._rows.of(piece), self._rows.dimension
        blocks, pattern, driven = list[Array](), list[Array](), self._at.robot.model.actuated
        for k, (Y, y, own) in enumerate(zip(rows, tau.T, self._rows.pattern, strict=True)):
            more = n + BESIDE * driven.index(k) + np.arange(BESIDE) if k in driven else np.arange(0)
            block = np.column_stack([Y, _beside(piece, k)[:, : len(more)], y])
            blocks.append(block * (y != 0.0)[:, None])
            pattern.append(np.append(own, more))
        return Regression(blocks, pattern, n + BESIDE * len(driven), spread_of(tau), SMALL)

    def _misread(self, now: Regression, joints: list[int]) -> list[tuple[str, Found]]:
        """Return the readings that are likelier, one after another."""
        piece, found = self._some, list[tuple[str, Found]]()
        for _ in joints:
            tried = self._tried(piece, now, joints, first=not found)
            if not tried:
                break
            alike = [pair for pair in tried if pair[0].likelihood > tried[0][0].likelihood - self._margin]
            (best, reading), *rest = sorted(alike, key=lambda pair: pair[1].name != "force_sign")  # the most usual one
            rise, count = best.likelihood - now.likelihood, len(joints) * len(piece.q)
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
        return found

    def _finding(
        self, reading: Reading, why: str, others: Sequence[Reading] = (), figures: dict[str, float] | None = None
    ) -> tuple[str, Found]:
        """Return the name of a check and what it finds, with other readings that these data do not tell from it."""
        every = listed([other.text(self._names) for other in others])
        text = f"{reading.text(self._names)}: {why}"
        text += f"; or {every}, which these data do not tell apart" if others else ""
        return reading.name, Found(text, tuple(self._names[k] for k in reading.joints), figures or {})

    def _tried(
        self, piece: Samples, now: Regression, joints: list[int], first: bool
    ) -> list[tuple[Regression, Reading]]:
        """Return other readings of some samples, the likeliest first."""
        own = tuple(self.negative) if first else ()
        if not (own or (now.noise > SMALL * now.spread).any()):
            return []
        alike = now.alike / now.spread
        poor = sorted(joints, key=lambda k: -alike[k])[:MOST] if (alike > POOR).any() else []
        readings = [Reading("force_sign", own)] if len(own) > 1 else []
        for k in joints:
            if not self.right[k]:
                readings += [Reading(name, (k,)) for name in ("position_sign", "force_sign")]
        for k in joints:
            x, std = now.ratio(k)
            ratio = x if x > DOUBTFUL * std else float(self._ratios[k])
            if ratio > 0.0 and not 1.0 / UNIT < ratio < UNIT:
                readings.append(Reading("force_unit", (k,), 1.0 / ratio))
        for pair in combinations(sorted(poor), 2):
            readings += [Reading(name, pair) for name in KINDS if name.startswith("swapped")]
        return sorted(((self._read(x, piece), x) for x in readings), key=lambda pair: -pair[0].likelihood)

    def _alike(self, now: Regression, joints: list[int]) -> Iterator[tuple[str, Found]]:
        """Yield signs that only the robot before or a joint's own equation makes certain: other masses fit as well."""
        why, least, negative = "inertias and friction explain their opposite", now.likelihood - LIKELIER, self.negative
        if len(negative) > 1 and self._read(Reading("force_sign", tuple(negative))).likelihood > least:
            joints = []
        for k in negative:
            force, position = Reading("force_sign", (k,)), Reading("position_sign", (k,))
            if k not in joints:
                yield self._finding(force, why)
                continue
            by_force, by_position = (self._read(x).likelihood for x in (force, position))
            if max(by_force, by_position) > least:
                others = [position] if by_position > by_force - self._margin else []
                if by_position > by_force + self._margin:
                    force, others = position, []
                yield self._finding(force, why, others)

    def _in_another_unit(self) -> Iterator[tuple[str, Found]]:
        """Yield that forces have another size than the robot before expects, of joints of which it needs the most."""
        at = self._at
        asked = np.isin(np.arange(at.robot.nv), at.measured) & at.moves
        needed = np.where(at.driven, (at.expected**2).sum(axis=0), 0.0)
        heavy = np.flatnonzero(asked & (needed > HEAVY**2 * needed.max(initial=0.0)) & (self._ratios > 0.0))
        other = np.abs(np.log(self._ratios[heavy])) > np.log(UNITS)
        if other.any() and other[np.argmax(needed[heavy])]:
            joints = np.flatnonzero(asked) if other.all() else heavy[other]
            ratio = float(self._ratios[heavy[np.argmax(needed[heavy])]])
            said = tuple(self._names[k] for k in joints)
            text = (
                f"the forces of {'all joints' if len(said) == len(at.measured) > 1 else listed(said)} are about "
                f"{ratio:.2g} times as large as those that this robot, as it was, needs for the motion: are they in "
                "N·m (or N) at the joint, and are its masses in kg?"
            )
            yield "force_unit", Found(text, said, {"ratio": ratio})

    @property
    def _enough(self) -> bool:
        """Whether there are so many equations that another reading cannot fit by chance."""
        some, measured = len(self._some.q), len(self._at.measured)
        most = max(map(len, self._rows.pattern), default=0) + BESIDE
        every = self._rows.dimension + measured * BESIDE
        return some > most and some * measured > ENOUGH * every and not self._at.currents

    @cached_property
    def certainty(self) -> Array:
        """What an entry of v's own equation says of its inertia and of the power that friction takes (nv, 2).

        In standard deviations from zero; zero where there are too few samples, and where no force was measured.
        """
        at, out = self._at, np.zeros((self._at.robot.nv, 2))
        some = Samples(*(None if x is None else x[:: max(1, len(x) // PLACES)] for x in at.some))
        zero = np.zeros_like(some.v)
        rest = self._rows.columns(some._replace(v=zero, a=zero, direction=zero))
        for k in filter(self._told, at.measured):
            tau, pushed, beside = at.sides[1][:, k], zero.copy(), _beside(at.some, k)
            pushed[:, k] = 1.0
            moved = self._rows.columns(some._replace(v=zero, a=pushed, direction=zero))[k] - rest[k]
            taken = (beside[:, :2].T * at.some.v[:, k]).mean(axis=1)
            wanted = np.array([[*moved.mean(axis=0), 0.0, 0.0, 1.0, 0.0], [*self._dissipation(k), *taken, 0.0, 0.0]])
            block = np.column_stack([at.sides[0][k], beside * (tau != 0.0)[:, None], tau])
            n, spread = block.shape[1] - 1, spread_of(at.sides[1])[[k]]
            own = Regression([block], [np.arange(n)], n, spread)
            rounding = 1.0 + SINGULAR * spread / own.noise[0]
            std = own.deviations(wanted) * rounding * np.sqrt(at.times(own.residuals)[0])
            out[k] = wanted @ own.x[:-1] / np.where(std > 0.0, std, np.inf)
        return out

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Entries of v (nv,) whose forces have the sign of their motion, whatever the robot before expects."""
        return np.asarray(self.certainty.sum(axis=1) > RIGHT * np.sqrt(2.0), dtype=np.bool_)

    @cached_property
    def negative(self) -> list[int]:
        """Entries of v whose forces have the other sign, by their own equations and the robot before."""
        at, (inertia, power) = self._at, self.certainty.T
        found = ((power < -CERTAIN) & (inertia < DOUBTFUL)) | (_opposite(at) & at.moves & ~self.right)
        return [k for k in at.measured if found[k] and self._told(k)]

    def _told(self, k: int) -> bool:
        """Return whether an entry of v's own equation has so many samples that it tells a sign."""
        return len(self._at.some.q) > ENOUGH * (len(self._rows.pattern[k]) + BESIDE)

    def _dissipation(self, k: int) -> Array:
        """Return the friction of an entry of v, by the columns of its rows."""
        base, own, some = self._rows.base, self._rows.pattern[k], self._at.some
        out, robots = np.zeros(len(own)), own[own < base.dimension]  # the others are a load's
        assert some.direction is not None
        for term, rate in (("damping", some.v), ("friction", some.direction)):
            if (place := base.places.get((term, k))) is not None:
                out[: len(robots)] += (rate[:, k] * some.v[:, k]).mean() * (base.projection[robots, place] != 0.0)
        return out


def _beside(piece: Samples, k: int) -> Array:
    """Return the further columns (n, 4) of an entry of v."""
    direction = np.sign(piece.v[:, k]) if piece.direction is None else piece.direction[:, k]
    return np.column_stack([direction, piece.v[:, k], piece.a[:, k], np.ones(len(direction))])


def _opposite(at: Evidence) -> NDArray[np.bool_]:
    """Return which forces (nv,) factors that are not negative explain if their sign is changed, and not as they are."""
    v = at.whole.v
    direction = v / np.sqrt(v * v + 1e-6 * at.speed**2 + TINY) if at.whole.direction is None else at.whole.direction
    columns = np.stack([at.expected, at.whole.a, direction, v, np.nan_to_num(at.whole.tau)], axis=-1)
    columns = columns - columns.mean(axis=0)
    size = np.linalg.norm(columns, axis=0)
    columns = columns / np.where(size > 0.0, size, 1.0)
    gram = np.einsum("nki,nkj->kij", columns, columns)
    A, b = gram[:, :-1, :-1], gram[:, :-1, -1]
    parts = []
    for sign in (1.0, -1.0):
        x = np.zeros_like(b)
        for j in [*range(b.shape[1])] * SWEEPS:
            x[:, j] = np.maximum(x[:, j] + sign * b[:, j] - (A[:, j] * x).sum(axis=1), 0.0)
        parts.append((x * (2.0 * sign * b - np.einsum("kij,kj->ki", A, x))).sum(axis=1))
    return np.asarray((parts[1] > parts[0] + MORE) & (size[:, 0] > 0.0), dtype=np.bool_)  # without masses: nothing
