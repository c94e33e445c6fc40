"""What the model of a log lacks: residuals regressed on what joints may do besides, and on a delay of the forces.

A force that is late by δ is ``τ(t − δ) ≈ τ − δ dτ/dt``: the factor of its rate is the delay. Friction that falls off
with speed, friction in proportion to the load, offsets and so on are columns as well, and the one that explains the
most of all joints' residuals is named, then what explains the most of the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.equations import EXACT, JointEquations, System
from kinetree.identification.checks.findings import Found
from kinetree.identification.checks.names import named
from kinetree.lazy import cached_property
from kinetree.validation import Array

CERTAIN = 6.0
"""Standard deviations by which the factor of a column, or a delay, is not zero."""

WORTH = 0.15
"""The part of a joint's squared residuals that a column has to explain."""

SHORTEST = 1e-3
"""Delays that are shorter (s) are not worth a word."""

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
"""In the order of the further columns; the rate of the forces is behind them."""


class Lacking(NamedTuple):
    """A column that the model lacks: which, of which joints, and how much of their squared residuals it explains."""

    candidate: Candidate
    joints: list[int]
    gains: Array
    factors: Array


class Lack:
    """What the model of some equations lacks."""

    def __init__(self, equations: JointEquations) -> None:
        self._equations, self._nv = equations, equations.rows.robot.nv
        rows, (Y, tau) = equations.rows, equations.sides
        counts = np.count_nonzero(tau, axis=0)
        plain = System(
            [np.column_stack([y, t]) for y, t in zip(Y, tau.T, strict=True)], rows.pattern, counts, equations.spread
        )
        self._predicted = self._forces(plain.x)
        self._extra = self._columns()
        blocks = [np.column_stack([Y[k], self._extra[k], tau[:, k]]) for k in range(self._nv)]
        self._system = System(blocks, rows.pattern, counts, equations.spread)
        self._counts = np.maximum(counts, 1)
        self._told = [
            k
            for k in equations.measured
            if self._system.noise[k] > EXACT * equations.spread[k] and len(tau) > ENOUGH * blocks[k].shape[1]
        ]

    def _forces(self, x: Array) -> Array:
        """Return the forces (n, nv) of these parameters at all samples, those that do not count among them."""
        rows = self._equations.rows
        every = [rows.columns(piece) for piece in self._equations.pieces]
        return np.concatenate(
            [np.stack([y @ x[own] for y, own in zip(Y, rows.pattern, strict=True)], axis=1) for Y in every]
        )

    def _columns(self) -> list[Array]:
        """Return the further columns (n, c) of each entry of v: those of the candidates, then the force's rate."""
        whole, force, out = self._equations.whole, self._predicted, []
        direction, rate = whole.direction, self._rates()
        assert direction is not None
        for k in range(self._nv):
            v, d, f = whole.v[:, k], direction[:, k], force[:, k]
            play = f / np.sqrt(f * f + (TURNS * f.std()) ** 2 + 1e-300)
            falls = [d * np.exp(-((v / (part * np.sqrt((v * v).mean()) + 1e-300)) ** 2)) for part in FALLS]
            columns = [np.ones(len(v)), v, d, whole.a[:, k], self._equations.position[:, k], v * d, d * np.abs(f), play]
            there = self._equations.sides[1][:, k] != 0.0
            out.append(np.column_stack([*columns, *falls, -rate[:, k]]) * there[:, None])
        return out

    def _rates(self) -> Array:
        """Return the rates of the predicted forces (n, nv); zero of samples that do not follow each other in time."""
        rates, first = np.zeros_like(self._predicted), 0
        for piece in self._equations.pieces:
            own, t = slice(first, first := first + len(piece.q)), piece.t
            if t is not None and len(t) > 2 and (np.diff(t) > 0.0).all():
                steps, force = np.diff(t), self._predicted[own]
                rates[own] = np.gradient(force, t, axis=0)
                gap = steps > 5.0 * np.median(steps)  # nothing is known of the rate there
                rates[own][np.append(gap, False) | np.insert(gap, 0, False)] = 0.0
        return rates

    @cached_property
    def found(self) -> tuple[Found | None, list[Lacking]]:
        """The delay, if there is one, and the columns that are lacking."""
        lacking: list[Lacking] = []
        while len(lacking) < MOST:
            delay, rate_gain = self._delay()
            best = max((self._lacking(c) for c in range(len(CANDIDATES))), key=lambda x: x[0], default=(0.0, None))
            if delay is not None and rate_gain >= best[0]:
                return delay, lacking
            if best[1] is None or not best[1].joints:
                break
            lacking.append(best[1])
            index = CANDIDATES.index(best[1].candidate)
            for k in best[1].joints:
                self._system.with_column(self._system.column(k, index))
        return None, lacking

    def _lacking(self, index: int) -> tuple[float, Lacking | None]:
        """Return by how much χ² of all joints falls with a candidate where it is certain, and where that is."""
        candidate, total, joints, gains, factors = CANDIDATES[index], 0.0, [], [], []
        for k in self._told:
            if (candidate.name.partition(" ")[0], k) in self._equations.rows.base.places:
                continue
            factor, _, gain = self._system.gain(self._system.column(k, index))
            part = gain / max(self._system.squares(k), 1e-300)
            if part < WORTH or (candidate.positive and factor < 0.0) or gain < CERTAIN**2:
                continue
            if gain / self._time(k, index) < CERTAIN**2:
                continue
            total += gain
            joints.append(k)
            gains.append(min(part, 1.0))
            factors.append(factor)
        return total, Lacking(candidate, joints, np.array(gains), np.array(factors)) if joints else None

    def _time(self, k: int, index: int) -> float:
        """Return how many samples of what would be left count as one."""
        Y, tau = self._equations.sides
        there = tau[:, k] != 0.0
        A = np.column_stack([Y[k], self._extra[k][:, index], np.ones(len(tau)) * there])
        size = np.linalg.norm(A, axis=0)
        e = tau[:, k] - A @ (
            np.linalg.lstsq(A / np.where(size > 0, size, 1.0), tau[:, k], rcond=1e-9)[0] / np.where(size > 0, size, 1.0)
        )
        return float(self._equations.times(e[:, None])[0])

    def _delay(self) -> tuple[Found | None, float]:
        """Return the delay of all forces, if it is certain, and by how much χ² falls with it."""
        place = len(CANDIDATES)
        each = {k: self._system.gain(self._system.column(k, place)) for k in self._told}
        each = {k: gain for k, gain in each.items() if np.isfinite(gain[1])}
        if not each:
            return None, 0.0
        delays, stds, gains = np.array(list(each.values())).T
        times = np.array([self._time(k, place) for k in each])
        weights = 1.0 / (stds**2 * times)
        delay = float((weights * delays).sum() / weights.sum())
        scatter = float((weights * (delays - delay) ** 2).sum()) / max(len(each) - 1, 1)
        std = float(np.sqrt(max(scatter, 1.0) / weights.sum()))
        if abs(delay) < max(SHORTEST, CERTAIN * std):
            return None, 0.0
        late = "late" if delay > 0.0 else "early"
        names = tuple(self._equations.rows.robot.v_names[k] for k in each)
        return Found(
            f"the forces are {late} by {1e3 * abs(delay):.3g} ± {1e3 * std:.2g} ms beside the positions: shift them by "
            "that, or filter both alike",
            names,
            {"delay_s": delay, "std_s": std},
        ), float(gains.sum())


def delayed(lack: Lack) -> Iterator[Found]:
    """Yield by how much forces are late."""
    if (delay := lack.found[0]) is not None:
        yield delay


def lacking(lack: Lack) -> Iterator[Found]:
    """Yield which columns the model lacks."""
    for candidate, joints, gains, factors in lack.found[1]:
        robot = lack._equations.rows.robot
        names = named(robot, np.isin(np.arange(robot.nv), joints))
        low, high = 100.0 * gains.min(), 100.0 * gains.max()
        much = f"{high:.0f} %" if high - low < 1.0 else f"{low:.0f} to {high:.0f} %"
        yield Found(
            f"{candidate.text} would explain {much} of the squared residuals of {listed(names)}",
            names,
            {"candidate": candidate.name.split()[0], "gain": gains, "factor": factors},
        )
