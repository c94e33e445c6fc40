"""What the model of a log lacks: residuals regressed on what joints may do besides, and on a delay of the forces.

A force that is late by δ is ``τ(t − δ) ≈ τ − δ dτ/dt``: the factor of its rate is the delay, or where that is long, a
part of it, the next one once the forces are shifted by that. Friction that falls off with speed, friction in proportion
to the load, offsets and so on are columns as well, and the one that explains the most of all residuals is named,
then what explains the most of the rest. Joints that stand still do not count: friction at rest may be anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.equations import EXACT, JointEquations, System
from kinetree.identification.samples import Piece
from kinetree.lazy import cached_property
from kinetree.logs.findings import Found, named
from kinetree.validation import Array

CERTAIN = 6.0
"""Standard deviations by which the factor of a column is not zero."""

WORTH = 0.15
"""The part of a joint's squared residuals that a column has to explain."""

SURE = 4.5
"""Standard deviations by which a delay is not zero."""

ALIKE = 0.015
"""By how much a delay changes the logarithm of the noise at least; and that of no joint rises by more."""

SHORTEST = 1e-3
"""Delays that are shorter (s) are not worth a word."""

STEPS = 15
"""In which a delay is found at most."""

LONGEST = 0.5
"""Delays that are longer (s) are none."""

NEAR = 0.02
"""The part of a delay by which its last step changes it."""

REST = 0.05
"""Speeds below this part of the joint's root mean square are those of a joint that stands still."""

APART = 1.5
"""Samples that are so many median steps apart, or more, do not follow each other."""

FALLS = (0.1, 0.3)
"""Speeds at which friction of the column "stribeck" has fallen off, by the joint's root mean square."""

TURNS = 0.1
"""The force around which the column of play changes sign, by the spread of the joint's forces."""

ENOUGH = 2
"""So many times as many samples as columns are needed."""

MOST = 4
"""Columns that are named at most, one after another."""


class Candidate(NamedTuple):
    """A column that a model may lack: what says so, and whether its factor cannot be negative."""

    name: str
    text: str
    positive: bool = False


def _term(name: str) -> str:
    return f'"{name}" among the joint terms'


CANDIDATES = (
    Candidate("offset", _term("offset")),
    Candidate("damping", _term("damping"), True),
    Candidate("friction", _term("friction"), True),
    Candidate("armature", _term("armature"), True),
    Candidate("stiffness", _term("stiffness")),
    Candidate("damping_asymmetry", _term("damping_asymmetry")),
    Candidate("load_friction", _term("load_friction"), True),
    Candidate("backlash", "a force that turns with the sign of the load, as play in the gear does,"),
    *(Candidate(f"stribeck at {part:g}", _term("stribeck"), True) for part in FALLS),
)
"""In the order of the further columns."""


class Lacking(NamedTuple):
    """A column that the model lacks: which, of which joints, and how much of their squared residuals it explains."""

    candidate: Candidate
    joints: list[int]
    gains: Array
    factors: Array


class Lack:
    """What the model of some equations lacks."""

    def __init__(self, equations: JointEquations) -> None:
        self._equations, self._rows = equations, equations.rows
        speed = np.sqrt((equations.whole.v**2).mean(axis=0))
        self._pieces = [piece._replace(standing=_standing(piece, REST * speed)) for piece in equations.pieces]
        self._Y, self._tau = self._sides(self._pieces)
        self._counts = np.count_nonzero(self._tau, axis=0)
        self._plain = self._solved(self._Y, self._tau)
        self._system = self._solved(
            [np.column_stack(pair) for pair in zip(self._Y, self._columns(), strict=True)], self._tau
        )
        self._told = [
            k
            for k in equations.measured
            if self._system.noise[k] > EXACT * equations.spread[k]
            and self._counts[k] > ENOUGH * (self._Y[k].shape[1] + len(CANDIDATES) + 1)
        ]

    def _sides(self, pieces: list[Piece]) -> tuple[list[Array], Array]:
        """Return the rows (n, m_k) of each entry of v, and right-hand sides (n, nv), zero where they do not count."""
        every = [self._rows.masked(piece) for piece in pieces]
        columns = [np.concatenate(Y) for Y in zip(*(rows for rows, _ in every), strict=True)]
        return columns, np.concatenate([tau for _, tau in every])

    def _solved(self, columns: list[Array], tau: Array) -> System:
        """Return the least squares of these columns and forces."""
        blocks = [np.column_stack([own, x]) for own, x in zip(columns, tau.T, strict=True)]
        return System(blocks, self._rows.pattern, np.count_nonzero(tau, axis=0), self._equations.spread)

    def _forces(self, x: Array) -> list[Array]:
        """Return the forces (n, nv) of these parameters at all samples of each piece, which count or do not."""
        return [
            np.stack([y @ x[own] for y, own in zip(self._rows.columns(piece), self._rows.pattern, strict=True)], axis=1)
            for piece in self._pieces
        ]

    def _columns(self) -> list[Array]:
        """Return the further columns (n, c) of each entry of v: those of the candidates."""
        whole, force, out = self._equations.whole, np.concatenate(self._forces(self._plain.x)), []
        assert whole.direction is not None
        for k, there in enumerate((self._tau != 0.0).T):
            v, d, f = whole.v[:, k], whole.direction[:, k], force[:, k]
            play = f / np.sqrt(f * f + (TURNS * f.std()) ** 2 + 1e-300)
            falls = [d * np.exp(-((v / (part * np.sqrt((v * v).mean()) + 1e-300)) ** 2)) for part in FALLS]
            columns = [np.ones(len(v)), v, d, whole.a[:, k], self._equations.position[:, k], v * d, d * np.abs(f), play]
            out.append(np.column_stack([*columns, *falls]) * there[:, None])
        return out

    @cached_property
    def found(self) -> tuple[Found | None, list[Lacking]]:
        """The delay, if there is one, and the columns that are lacking."""
        lacking: list[Lacking] = []
        delay, noise = self._delay()
        while len(lacking) < MOST:
            best = max((self._lacking(c) for c in range(len(CANDIDATES))), key=lambda x: x[0], default=(0.0, None))
            left = 1.0 - (noise / self._system.noise) ** 2
            if delay is not None and sum(self._system.squares(k) * left[k] for k in self._told) >= best[0]:
                return delay, lacking
            if best[1] is None:
                break
            lacking.append(best[1])
            for k in best[1].joints:
                self._system.with_column(k, CANDIDATES.index(best[1].candidate))
        return None, lacking

    def _lacking(self, index: int) -> tuple[float, Lacking | None]:
        """Return by how much χ² of all joints falls with a candidate where it is certain, and where that is."""
        candidate, total, joints, gains, factors = CANDIDATES[index], 0.0, [], [], []
        for k in self._told:
            if (candidate.name, k) in self._rows.base.places:
                continue
            factor, _, gain = self._system.gain(self._system.column(k, index))
            part = gain / max(self._system.squares(k), 1e-300)
            if part < WORTH or (candidate.positive and factor < 0.0) or gain < CERTAIN**2:
                continue
            effect, std = self._system.effect([(k, index)], self._equations.times)
            if abs(effect) < CERTAIN * std:
                continue
            total += gain
            joints.append(k)
            gains.append(min(part, 1.0))
            factors.append(factor)
        return total, Lacking(candidate, joints, np.array(gains), np.array(factors)) if joints else None

    def _delay(self) -> tuple[Found | None, Array]:
        """Return the delay of all forces, if it is certain, and the noise (nv,) that it leaves."""
        system, delay, std = self._plain, 0.0, np.inf
        for _ in range(STEPS if self._told else 0):
            pieces = [_later(piece, delay) for piece in self._pieces]
            rates = [
                _spline(piece, force)[1] for piece, force in zip(self._pieces, self._forces(system.x), strict=True)
            ]
            Y, tau = self._sides(pieces)
            rate = np.where(tau != 0.0, np.nan_to_num(np.concatenate(rates)), 0.0)
            if np.count_nonzero(tau) < np.count_nonzero(self._tau) / 2:
                break
            system = self._solved([np.column_stack([own, -x]) for own, x in zip(Y, rate.T, strict=True)], tau)
            step, std = system.effect([(k, 0) for k in self._told], self._equations.times)
            delay += step
            if abs(step) < NEAR * max(abs(delay), SHORTEST) or abs(delay) < std or abs(delay) > LONGEST:
                break
        rise = np.log(self._plain.noise / system.noise)[self._told]
        weights = self._counts[self._told] / max(self._counts[self._told].sum(), 1)
        certain = max(SHORTEST, SURE * std) < abs(delay) < LONGEST and rise.min(initial=0.0) > -ALIKE
        if not certain or rise @ weights < ALIKE:
            return None, system.noise
        late = "late" if delay > 0.0 else "early"
        names = tuple(self._rows.robot.v_names[k] for k in self._told)
        return Found(
            f"the forces are {late} by {1e3 * abs(delay):.3g} ± {1e3 * std:.2g} ms beside the positions: shift them by "
            "that, or filter both alike",
            names,
            {"delay_s": delay, "std_s": std},
        ), system.noise


def _standing(piece: Piece, slow: Array) -> Array:
    """Return where joints stand still (n, nv), as the samples say, or by their speeds."""
    standing = np.abs(piece.v) <= slow
    return np.asarray(standing * 1.0 if piece.standing is None else np.maximum(standing, piece.standing))


def _later(piece: Piece, delay: float) -> Piece:
    """Return the same with the forces of later times; those that are not known do not count."""
    if delay == 0.0:
        return piece
    tau = _spline(piece, np.nan_to_num(piece.tau), delay)[0]
    unknown = np.isnan(tau)
    tau = np.where(np.isnan(piece.tau), np.nan, np.nan_to_num(tau))
    return piece._replace(tau=tau, standing=_standing(piece._replace(v=np.where(unknown, 0.0, 1.0)), np.zeros(1)))


def _spline(piece: Piece, y: Array, delay: float = 0.0) -> Array:
    """Return what y (n, nv) is at times that are later by a delay, and its rate (2, n, nv), by cubic splines.

    NaN where samples do not follow each other in time.
    """
    out, t = np.full((2, *y.shape), np.nan), piece.t
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


def delayed(lack: Lack) -> Iterator[Found]:
    """Yield by how much forces are late."""
    if (delay := lack.found[0]) is not None:
        yield delay


def lacking(lack: Lack) -> Iterator[Found]:
    """Yield which columns the model lacks."""
    for candidate, joints, gains, factors in lack.found[1]:
        robot = lack._rows.robot
        names = named(robot, np.isin(np.arange(robot.nv), joints))
        low, high = 100.0 * gains.min(), 100.0 * gains.max()
        much = f"{high:.0f} %" if high - low < 1.0 else f"{low:.0f} to {high:.0f} %"
        yield Found(
            f"{candidate.text} would explain {much} of the squared residuals of {listed(names)}",
            names,
            {"candidate": candidate.name.split()[0], "gain": gains, "factor": factors},
        )
