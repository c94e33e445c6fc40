"""What the model of a log lacks: residuals regressed on what joints may do besides, and on a delay of the forces.

A force that is late by δ is ``τ(t − δ) ≈ τ − δ dτ/dt``: the factor of its rate is the delay, or where that is long, a
part of it, the next one once the forces are shifted by that. Friction that falls off with speed, friction in proportion
to the load, offsets and so on are columns as well, and the one that explains the most of all residuals is named,
then what explains the most of the rest. Joints that stand still do not count: friction at rest may be anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinetree.identification.checks.columns import Mistakes
from kinetree.identification.checks.evidence import Examined
from kinetree.identification.checks.least_squares import System
from kinetree.logs.findings import Found, of_joints
from kinetree.logs.samples import Samples
from kinetree.validation import Array

EXACT = 1e-6  # residuals below this part of the forces' spread are rounding, or that of filters
CERTAIN = 6.0  # standard deviations by which the factor of a column is not zero
WORTH = 0.15  # the part of a joint's squared residuals that a column has to explain
MOST = 4  # columns that are named at most, one after another
ENOUGH = 2  # so many times as many samples as columns are needed
REST = 0.05  # speeds below this part of the joint's root mean square are those of a joint that stands still
TURNS = 0.1  # the force around which the column of play changes sign, by the spread of the joint's forces
SURE = 4.5  # standard deviations by which a delay is not zero
ALIKE = 0.015  # by how much a delay lowers the logarithm of the noise at least, and raises that of no joint
SHORTEST, LONGEST = 1e-3, 0.5  # delays (s) that are worth a word
STEPS, NEAR = 15, 0.02  # in how many steps a delay is found at most, and the part of it that the last one changes
APART = 1.5  # samples so many median steps apart do not follow each other
TINY = 1e-300


class Motion(NamedTuple):
    """What a joint does (n,): its motion, the direction in which it slides, and the force that the estimates have."""

    q: Array
    v: Array
    a: Array
    sign: Array
    force: Array

    def falling(self, part: float) -> Array:
        """Return friction that has fallen off at this part of the root mean square of the speed."""
        return np.asarray(self.sign * np.exp(-((self.v / (part * np.sqrt((self.v**2).mean()) + TINY)) ** 2)))


class Candidate(NamedTuple):
    """A column that a model may lack: its joint term, or a text of what it is; whether its factor may be negative."""

    name: str
    column: Callable[[Motion], Array]
    positive: bool = False
    text: str = ""


CANDIDATES = (
    Candidate("offset", lambda at: np.ones(len(at.v))),
    Candidate("damping", lambda at: at.v, True),
    Candidate("friction", lambda at: at.sign, True),
    Candidate("armature", lambda at: at.a, True),
    Candidate("stiffness", lambda at: at.q),
    Candidate("damping_asymmetry", lambda at: at.v * at.sign),
    Candidate("load_friction", lambda at: at.sign * np.abs(at.force), True),
    Candidate(
        "backlash",
        lambda at: at.force / np.sqrt(at.force**2 + (TURNS * at.force.std()) ** 2 + TINY),
        text="a force that turns with the sign of the load, as play in the gear does,",
    ),
    Candidate("stribeck", lambda at: at.falling(0.1), True),
    Candidate("stribeck", lambda at: at.falling(0.3), True),
)
"""In the order of the further columns."""


class Lacking(NamedTuple):
    """A column that the model lacks: which, of which joints, and how much of their squared residuals it explains."""

    column: int
    joints: list[int]
    gains: Array
    factors: Array


class Lack:
    """What the model of some equations lacks: a delay, or columns; neither where that cannot be told."""

    delay: Found | None = None
    columns: tuple[Lacking, ...] = ()

    def __init__(self, at: Examined) -> None:
        if at.seen.currents or not at.motion_is_exact or at.of(Mistakes).found:
            return
        self._at, self._rows = at, at.rows
        speed = np.sqrt((at.whole.v**2).mean(axis=0))
        self._pieces = [piece._replace(standing=_standing(piece, REST * speed)) for piece in at.pieces]
        self._Y, self._tau = at.sides_of(self._pieces)
        self._counts = np.count_nonzero(self._tau, axis=0)
        self._plain = self._solved(self._Y, self._tau)
        further = [np.column_stack(pair) for pair in zip(self._Y, self._columns(), strict=True)]
        self._system = self._solved(further, self._tau)
        self._told = [
            k
            for k in at.measured
            if self._system.noise[k] > EXACT * at.spread[k]
            and self._counts[k] > ENOUGH * (self._Y[k].shape[1] + len(CANDIDATES) + 1)
        ]
        self._look()

    def _solved(self, columns: list[Array], tau: Array) -> System:
        """Return the least squares of these columns and forces."""
        blocks = [np.column_stack([own, x]) for own, x in zip(columns, tau.T, strict=True)]
        return System(blocks, self._rows.pattern, np.count_nonzero(tau, axis=0), self._at.spread)

    def _forces(self, x: Array) -> list[Array]:
        """Return the forces (n, nv) of these parameters at all samples of each piece, which count or do not."""
        return [self._rows.predicted(self._rows.columns(piece), x) for piece in self._pieces]

    def _columns(self) -> Iterator[Array]:
        """Yield the further columns (n, c) of each entry of v: those of the candidates."""
        whole, force = self._at.whole, np.concatenate(self._forces(self._plain.x))
        assert whole.direction is not None
        motions = np.stack([self._at.position, whole.v, whole.a, whole.direction, force])
        for k, there in enumerate((self._tau != 0.0).T):
            at = Motion(*motions[:, :, k])
            yield np.column_stack([candidate.column(at) for candidate in CANDIDATES]) * there[:, None]

    def _look(self) -> None:
        """Find the delay if it explains more than the columns that are not found yet; else the columns."""
        delay, noise = self._delay()
        while len(self.columns) < MOST:
            gain, best = max((self._lacking(c) for c in range(len(CANDIDATES))), key=lambda x: x[0])
            left = 1.0 - (noise / self._system.noise) ** 2
            if delay is not None and sum(self._system.squares(k) * left[k] for k in self._told) >= gain:
                self.delay = delay
                return
            if best is None:
                return
            self.columns += (best,)
            for k in best.joints:
                self._system.with_column(k, best.column)

    def _lacking(self, index: int) -> tuple[float, Lacking | None]:
        """Return by how much χ² of all joints falls with a candidate where it is certain, and where that is."""
        candidate, total, found = CANDIDATES[index], 0.0, list[tuple[int, float, float]]()
        for k in self._told:
            if (candidate.name, k) in self._rows.base.places:
                continue
            (factor,), _, gain = self._system.gain(self._system.column(k, index)[:, None])
            part = gain / max(self._system.squares(k), TINY)
            if part < WORTH or (candidate.positive and factor < 0.0) or gain < CERTAIN**2:
                continue
            effect, std = self._system.effect([(k, index)], self._at.times)
            if abs(effect) >= CERTAIN * std:
                total += gain
                found.append((k, min(part, 1.0), factor))
        if not found:
            return total, None
        joints, gains, factors = zip(*found, strict=True)
        return total, Lacking(index, list(joints), np.array(gains), np.array(factors))

    def _delay(self) -> tuple[Found | None, Array]:
        """Return the delay of all forces, if it is certain, and the noise (nv,) that it leaves."""
        system, delay, std = self._plain, 0.0, np.inf
        for _ in range(STEPS if self._told else 0):
            parts = zip(self._pieces, self._forces(system.x), strict=True)
            rates = np.nan_to_num(np.concatenate([_later(piece.t, force)[1] for piece, force in parts]))
            Y, tau = self._at.sides_of([_shifted(piece, delay) for piece in self._pieces])
            if np.count_nonzero(tau) < np.count_nonzero(self._tau) / 2:
                break
            rates *= tau != 0.0
            system = self._solved([np.column_stack([own, -x]) for own, x in zip(Y, rates.T, strict=True)], tau)
            step, std = system.effect([(k, 0) for k in self._told], self._at.times)
            delay += step
            if abs(step) < NEAR * max(abs(delay), SHORTEST) or abs(delay) < std or abs(delay) > LONGEST:
                break
        fall = np.log(self._plain.noise / system.noise)[self._told]
        weights = self._counts[self._told] / max(self._counts[self._told].sum(), 1)
        certain = max(SHORTEST, SURE * std) < abs(delay) < LONGEST and fall.min(initial=0.0) > -ALIKE
        if not certain or fall @ weights < ALIKE:
            return None, system.noise
        found = Found(
            f"the forces are {'late' if delay > 0.0 else 'early'} by {1e3 * abs(delay):.3g} ± {1e3 * std:.2g} ms "
            "beside the positions: shift them by that, or filter both alike",
            tuple(self._rows.robot.v_names[k] for k in self._told),
            {"delay_s": delay, "std_s": std},
        )
        return found, system.noise


def _standing(piece: Samples, slow: Array) -> Array:
    """Return where joints stand still (n, nv), as the samples say, or by their speeds."""
    standing = (np.abs(piece.v) <= slow) * 1.0
    return np.asarray(standing if piece.standing is None else np.maximum(standing, piece.standing))


def _shifted(piece: Samples, delay: float) -> Samples:
    """Return the same with the forces of later times; joints stand still where those are not known."""
    if delay == 0.0:
        return piece
    tau = _later(piece.t, np.nan_to_num(piece.tau), delay)[0]
    standing = np.isnan(tau) if piece.standing is None else np.maximum(np.isnan(tau), piece.standing)
    return piece._replace(tau=np.where(np.isnan(piece.tau), np.nan, np.nan_to_num(tau)), standing=standing * 1.0)


def _later(t: Array | None, y: Array, delay: float = 0.0) -> Array:
    """Return y (n, nv) at times that are later by a delay, and its rate (2, n, nv), by cubic splines.

    NaN outside, and where samples do not follow each other in time.
    """
    out = np.full((2, *y.shape), np.nan)
    if t is None or len(t) < 3 or (steps := np.diff(t)).min() <= 0.0:
        return out
    for start, stop in pairwise([0, *(np.flatnonzero(steps > APART * np.median(steps)) + 1), len(t)]):
        if stop - start > 2:
            out[:, start:stop] = cubic(t[start:stop], y[start:stop], t[start:stop] + delay)
    return out


def cubic(t: Array, y: Array, at: Array) -> Array:
    """Return the natural cubic spline through y (n, m) at some times, and its rate (2, len(at), m); NaN outside.

    Examples
    --------
    >>> t = np.linspace(0.0, 3.0, 31)
    >>> value, rate = cubic(t, np.sin(t)[:, None], np.array([1.234, 9.0]))[..., 0].round(3)
    >>> value, rate
    (array([0.944,   nan]), array([0.33,  nan]))
    """
    h, n = np.diff(t)[:, None], len(t)
    slope = np.diff(y, axis=0) / h
    A, b = np.zeros((n, n)), np.zeros_like(y)
    k = np.arange(1, n - 1)
    A[k, k - 1], A[k, k], A[k, k + 1] = h[1:, 0], 2.0 * (h[1:, 0] + h[:-1, 0]), h[:-1, 0]
    b[1:-1] = 3.0 * (slope[:-1] * h[1:] + slope[1:] * h[:-1])
    A[0, :2], A[-1, -2:], b[0], b[-1] = (2.0, 1.0), (1.0, 2.0), 3.0 * slope[0], 3.0 * slope[-1]
    rate = np.linalg.solve(A, b)
    i = np.clip(np.searchsorted(t, at, side="right") - 1, 0, n - 2)
    s, h = (at - t[i])[:, None], h[i]
    c, d = (3.0 * slope[i] - 2.0 * rate[i] - rate[i + 1]) / h, (rate[i] + rate[i + 1] - 2.0 * slope[i]) / h**2
    out = np.stack([y[i] + s * (rate[i] + s * (c + s * d)), rate[i] + s * (2.0 * c + 3.0 * s * d)])
    return np.where(((at >= t[0]) & (at <= t[-1]))[:, None], out, np.nan)


def delayed(at: Examined) -> Iterator[Found]:
    """Yield by how much forces are late."""
    if (delay := at.of(Lack).delay) is not None:
        yield delay


def lacking(at: Examined) -> Iterator[Found]:
    """Yield which columns the model lacks."""
    for index, joints, gains, factors in at.of(Lack).columns:
        low, high = 100.0 * gains.min(), 100.0 * gains.max()
        much = f"{high:.0f} %" if high - low < 1.0 else f"{low:.0f} to {high:.0f} %"
        name = CANDIDATES[index].name
        what = CANDIDATES[index].text or f'"{name}" among the joint terms'
        text = f"{what} would explain {much} of the squared residuals of {{}}"
        there = np.isin(np.arange(at.robot.nv), joints)
        yield from of_joints(at.robot.v_names, there, text, candidate=name, gain=gains, factor=factors)
