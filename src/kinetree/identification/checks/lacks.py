"""What the equations of a log lack: joint terms, a delay of the forces, wrenches that nobody measured, a sensor's zero.

All are columns whose factors would explain the residuals. A force that is late by δ is ``τ(t − δ) ≈ τ − δ dτ/dt``: the
factor of its rate is the delay, or where that is long, a part of it, the next one once the forces are shifted by that.
Friction that falls off with speed, friction in proportion to the load, offsets and so on are columns as well, and the
one that explains the most of all residuals is named, then what explains the most of the rest. Joints that stand still
do not count: friction at rest may be anything.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, product
from typing import NamedTuple

import numpy as np

from kinetree.errors import listed
from kinetree.identification.checks.columns import Mistakes
from kinetree.identification.checks.evidence import Evidence
from kinetree.identification.checks.regression import Regression, spread_of
from kinetree.identification.parameters.regressor import massless
from kinetree.logs.findings import Found
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
MISSED = 0.1  # the part of the weight that wrenches leave, from which on some may be missing
POOR, LARGE = 0.3, 0.015  # residuals of the base that no masses explain, by what changes of its forces, by the weight
ALL, PART = 0.7, 0.05  # the part of the base's squared residuals a bias that is all explains, and any bias has to
BIASED = 50.0  # by how much χ² falls with the six components of a bias
LEAST = 2e-3  # the part of the weight that a bias is at least


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


class Lack:
    """What the model of some equations lacks: a delay, or columns; neither where that cannot be told."""

    def __init__(self, at: Evidence) -> None:
        self.found: list[tuple[str, Found]] = []
        if at.currents or not at.motion_is_exact or at.of(Mistakes).found:
            return
        self._at, self._names = at, at.robot.v_names
        slow = REST * np.sqrt((at.some.v**2).mean(axis=0))
        self._pieces = [piece._replace(standing=_standing(piece, slow)) for piece in at.some_pieces]
        Y, _ = sides = at.sides_of(self._pieces)
        self._plain = at.regression(sides)
        nv, every = at.robot.nv, np.arange(len(CANDIDATES))
        force = np.concatenate(self._forces(self._plain.x))
        assert at.some.direction is not None
        motions = np.stack([at.position, at.some.v, at.some.a, at.some.direction, force])
        columns = [np.column_stack([x.column(Motion(*motions[:, :, k])) for x in CANDIDATES]) for k in range(nv)]
        self._all = at.regression(sides, columns, [every * nv + k for k in range(nv)])
        self._told = [
            k
            for k in at.measured
            if self._all.noise[k] > EXACT * self._all.spread[k]
            and self._all.counts[k] > ENOUGH * (Y[k].shape[1] + len(CANDIDATES) + 1)
        ]
        self._look()

    def _forces(self, x: Array) -> list[Array]:
        """Return the forces (n, nv) of these parameters at all samples of each piece, which count or do not."""
        rows = self._at.rows
        return [rows.predicted(rows.columns(piece), x[: rows.dimension]) for piece in self._pieces]

    def _look(self) -> None:
        """Find the delay if it explains more than the columns that are not found yet; else the columns."""
        delay, noise = self._delay()
        while len(self.found) < MOST:
            index, found = max(enumerate(map(self._lacking, range(len(CANDIDATES)))), key=lambda x: sum(x[1].values()))
            left = self._all.squares * (1.0 - (noise / self._all.noise) ** 2)
            if delay is not None and left[self._told].sum() >= sum(found.values()):
                self.found.append(("delay", delay))
                return
            if not found:
                return
            self.found.append(("lacking", self._finding(index, found)))
            for k in found:
                self._all.add(self._place(index, k))

    def _place(self, index: int, k: int) -> int:
        return self._at.rows.dimension + index * self._at.robot.nv + k

    def _lacking(self, index: int) -> dict[int, float]:
        """Return by how much χ² falls with a candidate of the entries of v where it is certain."""
        candidate, found = CANDIDATES[index], dict[int, float]()
        for k in self._told:
            if (candidate.name, k) in self._at.rows.base.places:
                continue
            (factor,), _, gain = self._all.gain([self._place(index, k)])
            part = gain / max(self._all.squares[k], TINY)
            if part < WORTH or (candidate.positive and factor < 0.0) or gain < CERTAIN**2:
                continue
            effect, std = self._all.effect(self._place(index, k), self._at.times)
            if abs(effect) >= CERTAIN * std:
                found[k] = gain
        return found

    def _finding(self, index: int, found: dict[int, float]) -> Found:
        gains = np.array([min(gain / max(self._all.squares[k], TINY), 1.0) for k, gain in found.items()])
        factors = np.array([self._all.gain([self._place(index, k)])[0][0] for k in found])
        low, high = 100.0 * gains.min(), 100.0 * gains.max()
        much = f"{high:.0f} %" if high - low < 1.0 else f"{low:.0f} to {high:.0f} %"
        what, joints = (
            CANDIDATES[index].text or f'"{CANDIDATES[index].name}" among the joint terms',
            [self._names[k] for k in found],
        )
        text = f"{what} would explain {much} of the squared residuals of {listed(joints)}"
        return Found(text, tuple(joints), {"candidate": CANDIDATES[index].name, "gain": gains, "factor": factors})

    def _delay(self) -> tuple[Found | None, Array]:
        """Return the delay of all forces, if it is certain, and the noise (nv,) that it leaves."""
        plain, told, delay, std = self._plain, self._told, 0.0, np.inf
        late, places = plain, [[0] if k in told else [] for k in range(self._at.robot.nv)]
        for _ in range(STEPS if told else 0):
            parts = zip(self._pieces, self._forces(late.x), strict=True)
            rates = np.nan_to_num(np.concatenate([_later(piece.t, force)[1] for piece, force in parts]))
            sides = self._at.sides_of([_shifted(piece, delay) for piece in self._pieces])
            if np.count_nonzero(sides[1]) < plain.counts.sum() / 2:
                break
            columns = [-rates[:, [k] * len(own)] for k, own in enumerate(places)]
            late = self._at.regression(sides, columns, places)
            step, std = late.effect(self._at.rows.dimension, self._at.times)
            delay += step
            if abs(step) < NEAR * max(abs(delay), SHORTEST) or abs(delay) < std or abs(delay) > LONGEST:
                break
        fall = np.log(plain.noise / late.noise)[told]
        weights = plain.counts[told] / max(plain.counts[told].sum(), 1)
        certain = max(SHORTEST, SURE * std) < abs(delay) < LONGEST and fall.min(initial=0.0) > -ALIKE
        if not certain or fall @ weights < ALIKE:
            return None, late.noise
        text = (
            f"the forces are {'late' if delay > 0.0 else 'early'} by {1e3 * abs(delay):.3g} ± {1e3 * std:.2g} ms "
            "beside the positions: shift them by that, or filter both alike"
        )
        return Found(text, tuple(self._names[k] for k in told), {"delay_s": delay, "std_s": std}), late.noise


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
    """Return the natural cubic spline through y (n, m) at some times, and its rate (2, len(at), m); NaN outside."""
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


class Wrenches:
    """Whether measured wrenches are all that hold a floating base, and whether a sensor is biased.

    The base's equations have the columns of a constant wrench on each body with a sensor beside them.
    """

    def __init__(self, at: Evidence) -> None:
        self.found: list[tuple[str, Found]] = []
        base, f_ext, n = at.base, at.some.f_ext, at.rows.dimension
        bodies = [] if f_ext is None or not base else np.flatnonzero(f_ext.any(axis=(0, 2))).tolist()
        if not bodies:
            return
        (Y, tau), beside = at.sides, np.stack([_of_unit_wrench(at, *x) for x in product(bodies, range(6))], axis=1)
        blocks = [np.column_stack([Y[k], beside[:, :, j], tau[:, k]]) for j, k in enumerate(base)]
        pattern = [np.append(at.rows.pattern[k], n + np.arange(beside.shape[1])) for k in base]
        spread = spread_of(tau)[base]
        equations = Regression(blocks, pattern, n, spread)
        biases = [(body, *equations.gain(n + 6 * i + np.arange(6))) for i, body in enumerate(bodies)]
        body, wrench, std, gain = max(biases, key=lambda x: x[-1])
        weight, squares = at.robot.mass * float(np.linalg.norm(at.robot.gravity)), equations.squares.sum()
        left = at.robot.inverse_dynamics(at.some.q, at.some.v, at.some.a, f_ext)[:, base[3:]]
        lost, noise = float(np.sqrt((left**2).sum(axis=1).mean())), equations.noise[3:]
        poor = (noise > POOR * spread[3:]) & (noise > LARGE * weight)
        moment, force = np.linalg.norm(wrench.reshape(2, 3), axis=1)
        names = at.robot.body_names
        if lost > MISSED * weight > 0.0 and poor.any() and gain < ALL * squares:
            ends = set(range(at.robot.nb)) - {x.parent for x in at.robot.model.bodies} - {*bodies}
            if others := tuple(names[k] for k in sorted(ends)):
                text = (
                    f"the measured wrenches leave {lost:.3g} N of the {weight:.3g} N that this robot weighs, and no "
                    f"masses explain how they change: nothing is measured on {listed(others)}"
                )
                figures = {"missing_N": lost, "weight_N": weight, "bodies": others}
                self.found.append(("wrenches_missing", Found(text, (), figures)))
        elif gain >= max(BIASED, PART * squares) and force >= LEAST * weight:
            text = (
                f"the wrenches on {names[body]} seem to have a constant among them, {force:.2g} N and {moment:.2g} N·m "
                "in its axes: is the sensor's zero set?"
            )
            self.found.append(("wrench_bias", Found(text, (), {"body": names[body], "wrench": wrench, "std": std})))


def _of_unit_wrench(at: Evidence, body: int, component: int) -> Array:
    """Return the forces on the base (n, 6) by a unit wrench that is constant in a body's axes."""
    still = np.zeros_like(at.some.v)
    f_ext = np.zeros((len(still), at.robot.nb, 6))
    f_ext[:, body, component] = 1.0
    return -massless(at.robot).inverse_dynamics(at.some.q, still, still, f_ext)[:, at.base]
