"""Columns that are not what they are taken for: signs of forces and positions, joints that are exchanged.

The sign of a force by itself is told by `signs`. The others are told by trying them: the equations of all joints share
parameters, and if one sign or one exchange makes what is left of the forces several times smaller, it is what was
recorded. Masses are free in these equations: no good robot is needed before.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.identification.checks.equations import SINGULAR, JointEquations
from kinetree.identification.checks.findings import Found
from kinetree.identification.checks.signs import opposite
from kinetree.identification.regressor import positions
from kinetree.identification.samples import Piece
from kinetree.lazy import cached_property
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEANINGS = {
    "position_sign": "the positions of {0} have the other sign",
    "force_sign": "the forces of {0} have the other sign",
    "swapped_positions": "the positions of {0} and {1} are exchanged",
    "swapped_forces": "the forces of {0} and {1} are exchanged",
    "swapped_joints": "the columns of {0} and {1} are exchanged, positions and forces",
}
"""What each check says."""

CERTAIN, DOUBTFUL = 6.0, 3.0
"""Standard deviations from zero at which friction gives power for certain, and at which inertia is not positive."""

RIGHT = 5.0
"""Standard deviations of both together from which on the sign is right, whatever the robot before expects."""

BESIDE = ("direction", "velocity", "acceleration")
"""Further columns of each joint, and a constant."""

PLACES = 200
"""Samples at which a joint's own inertia is looked at."""

EQUATIONS = 3000
"""Equations with which exchanges are tried."""

BETTER = 2.0
"""By which factor the squared residuals of all joints have to fall."""

DOUBT = dict.fromkeys(MEANINGS, 1.2) | {"force_sign": 1.0}
"""By so much another reading has to be better than the other sign of a force."""

SMALL = 1e-3
"""Residuals below this part of the forces' spread leave nothing to be explained."""

ENOUGH = 2
"""So many times as many samples as columns are needed."""

POOR = 0.03
"""Residuals by the spread of the forces from which on two joints may be exchanged."""

MOST = 8
"""So many joints at most, those with the greatest residuals, are tried in pairs."""


class Reading(NamedTuple):
    """How columns may have been meant: signs of positions and forces (nv,), and which columns are whose."""

    name: str
    joints: tuple[int, ...]
    q_sign: Array
    tau_sign: Array
    q_order: NDArray[np.intp]
    tau_order: NDArray[np.intp]

    def of(self, piece: Piece, at: list[int]) -> Piece:
        """Return samples read so; `at` are the positions of the entries of v in q."""
        q = piece.q.copy()
        q[:, at] = (q[:, at] * self.q_sign)[:, self.q_order]
        v, a = ((x * self.q_sign)[:, self.q_order] for x in (piece.v, piece.a))
        direction = None if piece.direction is None else (piece.direction * self.q_sign)[:, self.q_order]
        tau = (piece.tau * self.tau_sign)[:, self.tau_order]
        return piece._replace(q=q, v=v, a=a, tau=tau, direction=direction)


def readings(nv: int, alone: list[int], negative: list[int], pairs: list[tuple[int, int]]) -> Iterator[Reading]:
    """Yield in which ways columns of these joints may have been mistaken, those whose own forces say so first."""
    one, order = np.ones(nv), np.arange(nv)
    if negative:
        yield Reading("force_sign", tuple(negative), one, np.where(np.isin(order, negative), -1.0, 1.0), order, order)
    for k in alone:
        minus = np.where(order == k, -1.0, 1.0)
        yield Reading("position_sign", (k,), minus, one, order, order)
        yield Reading("force_sign", (k,), one, minus, order, order)
    for i, j in pairs:
        other = order.copy()
        other[[i, j]] = j, i
        yield Reading("swapped_positions", (i, j), one, one, other, order)
        yield Reading("swapped_forces", (i, j), one, one, order, other)
        yield Reading("swapped_joints", (i, j), one, one, other, other)


Mistake = tuple[str, tuple[int, ...], float]
"""The check, the entries of v, and by which factor squared residuals fall."""


class Mistakes:
    """What seems to be mistaken in the equations of a log."""

    def __init__(self, equations: JointEquations) -> None:
        self._equations = equations
        self._rows, self._robot = equations.rows, equations.rows.robot
        whole = equations.whole
        at = np.linspace(0, len(whole.q) - 1, min(len(whole.q), max(1, EQUATIONS // self._robot.nv))).astype(int)
        self._some = Piece(*(None if x is None else x[np.unique(at)] for x in whole))  # type: ignore[arg-type]
        self._at = positions(self._robot.model)

    @cached_property
    def found(self) -> list[Mistake]:
        """Which columns are read wrongly: the check, the entries of v, by which factor squared residuals fall."""
        piece, found = self._some, list[Mistake]()
        single = [k for body in self._robot.model.leading if body.has_one_coordinate for k in body.v_index]
        moves = self._equations.seen.moves
        joints = [k for k in self._equations.measured if k in single and moves[k]] if self._enough else []
        alone = [k for k in joints if not self.right[k]]
        left = self._left(piece)
        for _ in joints:
            own = [] if found else self.negative
            if not (own or (np.sqrt(left) > SMALL).any()):
                break
            poor = sorted((k for k in joints if left[k] > POOR**2), key=lambda k: -left[k])[:MOST]
            tried = [
                (self._left(reading.of(piece, self._at)), reading)
                for reading in readings(self._robot.nv, alone, own, list(combinations(sorted(poor), 2)))
            ]
            if not tried:
                break
            best, reading = min(tried, key=lambda pair: max(float(pair[0].sum()), SMALL**2) * DOUBT[pair[1].name])
            if best.sum() * BETTER > left.sum():
                break
            ratio = float(left.sum() / max(best.sum(), np.finfo(float).tiny))
            pairs = [(k,) for k in reading.joints] if reading.name == "force_sign" else [reading.joints]
            found += [(reading.name, own, ratio) for own in pairs]
            piece, left = reading.of(piece, self._at), best
        if all(name == "force_sign" for name, _, _ in found):
            named = {k for _, own, _ in found for k in own}
            found += [("force_sign", (k,), np.nan) for k in self.negative if k not in named]
        return found

    @cached_property
    def _enough(self) -> bool:
        """Whether there are so many equations that another reading cannot fit by chance."""
        rows, some = self._rows, len(self._some.q)
        most = max((len(own) for own in rows.pattern), default=0) + len(BESIDE) + 1
        return some > ENOUGH * most and not self._equations.seen.currents

    def _left(self, piece: Piece) -> Array:
        """Return the mean squares of what is left of the forces, by their spread (nv,), with friction of their own."""
        Y, tau = self._rows.masked(piece)
        spread, N, nv = tau.std(axis=0), self._rows.dimension, self._robot.nv
        spread = np.where(spread > SINGULAR * spread.max(initial=0.0), spread, spread.max(initial=0.0) or 1.0)
        driven = self._robot.model.actuated
        A, b = np.zeros((nv, len(tau), N + 4 * len(driven))), (tau / spread).T
        for k, rows in enumerate(Y):
            A[k][:, self._rows.pattern[k]] = rows / spread[k]
        for j, k in enumerate(driven):
            place = slice(N + 4 * j, N + 4 * j + 4)
            A[k][:, place] = np.column_stack([*beside(piece, k), np.ones(len(tau))]) / spread[k]
        flat, right = A.reshape(-1, A.shape[-1]), b.reshape(-1)
        size = np.linalg.norm(flat, axis=0)
        flat = flat / np.where(size > 0.0, size, 1.0)
        w, V = np.linalg.eigh(flat.T @ flat)
        kept = w > SINGULAR * w.max(initial=0.0)
        x = V[:, kept] @ ((V[:, kept].T @ (flat.T @ right)) / w[kept])
        return np.asarray(((right - flat @ x).reshape(nv, -1) ** 2).mean(axis=1))

    @cached_property
    def certainty(self) -> Array:
        """What an entry of v's own equation says of its inertia and of the power that friction takes (nv, 2).

        In standard deviations from zero; zero where there are too few samples, and where no force was measured.
        """
        equations, whole = self._equations, self._equations.whole
        some = Piece(*(None if x is None else x[:: max(1, len(x) // PLACES)] for x in whole))  # type: ignore[arg-type]
        zero, out = np.zeros_like(some.v), np.zeros((self._robot.nv, 2))
        rest = self._rows.columns(some._replace(v=zero, a=zero, direction=zero))
        for k in equations.measured:
            Y, tau = equations.sides[0][k], equations.sides[1][:, k]
            A = np.column_stack([Y, *beside(whole, k), np.ones(len(tau)) * (tau != 0.0)])
            if len(tau) > ENOUGH * A.shape[1]:
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
        return [k for k in self._equations.measured if found[k]]

    def _dissipation(self, k: int, whole: Piece) -> Array:
        """Return what friction of an entry of v takes, by the columns of its rows."""
        base, own, out = self._rows.base, self._rows.pattern[k], np.zeros(len(self._rows.pattern[k]))
        direction = whole.direction if whole.direction is not None else np.sign(whole.v)
        for term, rate in (("damping", whole.v), ("friction", direction)):
            if (place := base.places.get((term, k))) is not None:
                robots = own[own < base.dimension]  # the others are a load's
                out[: len(robots)] += (rate[:, k] * whole.v[:, k]).mean() * (base.projection[robots, place] != 0.0)
        return out


def beside(piece: Piece, k: int) -> Array:
    """Return columns of an entry of v (3, n): the direction of sliding, the velocity, the acceleration."""
    direction = np.sign(piece.v[:, k]) if piece.direction is None else piece.direction[:, k]
    return np.stack([direction, piece.v[:, k], piece.a[:, k]])


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
    for kind, joints, factor in mistakes.found:
        if kind == name:
            said = tuple(names[k] for k in joints)
            why = (
                f"what is left of the forces is then {np.sqrt(factor):.3g} times smaller"
                if np.isfinite(factor)
                else "inertias and friction explain their opposite"
            )
            yield Found(f"{MEANINGS[name].format(*said)}: {why}", said, {"residual_ratio": factor})
