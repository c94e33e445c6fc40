"""The equations of many samples in bounded memory: one triangular factor for each joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.log import LONGEST, PIECE, Log, motion_of
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.regressor import massless, movers, pattern, regressor_of_body
from kinetree.identification.parameters.terms import smooth_sign
from kinetree.identification.triangle import QRFactors
from kinetree.logs.samples import Filter, Samples
from kinetree.robot import Robot
from kinetree.validation import Array

ENOUGH = 1 << 20  # samples of all motions that are looked at for how residuals are correlated
NINE = 9  # unknown parameters of a load of known mass: those of a body without its mass


class KnownMass(NamedTuple):
    """A load of known mass (kg) on a body; motions with the same mass on it held the same load in the same way."""

    body: int
    mass: float

    def columns(self, robot: Robot, piece: Samples) -> Array:
        """Return its regressor (n, nv, 10), zero at samples where it was not held."""
        Y = np.asarray(regressor_of_body(robot, self.body)(piece.q, piece.v, piece.a))
        return Y * (0.0 if piece.held is None else (piece.held[:, self.body] == self.mass)[:, None, None])


def loads_in(robot: Robot, log: Any) -> tuple[KnownMass, ...]:
    """Return the loads of a log, each once; what makes motions when it is read is not asked for them."""
    found: dict[KnownMass, None] = {}
    if (motion := motion_of(log)) is None:
        for part in log if isinstance(log, list | tuple) else ():
            found |= dict.fromkeys(loads_in(robot, part))
    elif motion.held is not None:
        every = np.reshape(np.asarray(motion.held, dtype=float), (-1, robot.nb))
        for body in np.flatnonzero(every.any(axis=0)).tolist():
            found |= dict.fromkeys(KnownMass(body, float(m)) for m in np.unique(every[:, body]) if m)
    return tuple(found)


class RegressionModel:
    """From samples to rows of ``Y π = τ`` for each entry of v, without the columns that are always zero.

    What is not estimated counts as the robot has it: armature, springs, friction that is turned on. What was held and
    is known by its mass alone has nine further parameters each.
    """

    loads: Sequence[KnownMass] = ()
    rest: Robot | None  # with what is not estimated of its joints, without masses; None if that is nothing

    def __init__(
        self, base: BaseParameters, stribeck_speed: Array | None = None, loads: Sequence[KnownMass] = ()
    ) -> None:
        self.base, self.robot, self.dimension, self.stribeck_speed = base, base.robot, base.dimension, stribeck_speed
        self.smoothing: float | None = base.smoothing
        self.pattern = [np.array(columns, dtype=int) for columns in pattern(base.robot.model, base.columns)]
        self._ends = np.cumsum([0, *map(len, self.pattern)])
        self.of_bodies = np.flatnonzero(np.asarray(base.independent) < 10 * base.robot.nb)
        self.rest, self.loads = base.rest, tuple(loads)
        self._movers = movers(base.robot.model)
        for load in self.loads:
            nine = np.arange(self.dimension, self.dimension + NINE)
            self.of_bodies = np.append(self.of_bodies, nine)
            for k in self._movers[load.body]:
                self.pattern[k] = np.append(self.pattern[k], nine)
            self.dimension += NINE

    def columns(self, piece: Samples) -> list[Array]:
        """Return the rows (n, columns) of each entry of v."""
        further = {"direction": piece.direction, "stribeck_speed": self.stribeck_speed}
        flat = self.base.rows(piece.q, piece.v, piece.a, **{name: x for name, x in further.items() if x is not None})
        rows = [flat[:, i:j] for i, j in pairwise(self._ends)]
        for load in self.loads:
            Y = load.columns(self.robot, piece)[:, :, 1:]
            for k in self._movers[load.body]:
                rows[k] = np.column_stack([rows[k], Y[:, k]])
        return rows

    def known(self, piece: Samples) -> Any:
        """Return the joint forces (n, nv) that are known: of what is not estimated, of wrenches and of loads."""
        forces = 0.0 if piece.load is None else piece.load
        if piece.held is not None:
            if {*loads_in(self.robot, piece)} - {*self.loads}:
                raise ArgumentError(
                    "a load is known by its mass alone, and the rest of it was not estimated: give the log to "
                    "`identify` as a list of motions, not as what makes them; or give its whole inertia to "
                    "kinetree.identification.with_known_load"
                )
            forces = forces + sum(load.columns(self.robot, piece)[:, :, 0] * load.mass for load in self.loads)
        if self.rest is not None or piece.f_ext is not None:
            robot, wrenches = self.rest or massless(self.robot), [] if piece.f_ext is None else [piece.f_ext]
            tau, friction = robot.inverse_dynamics(piece.q, piece.v, piece.a, *wrenches), robot.model.friction
            if piece.direction is not None and friction.coulomb:  # joints slide the way that the samples say
                tau = tau + robot.friction * (piece.direction - smooth_sign(piece.v, friction.smoothing))
            forces = forces + tau
        return forces

    def of(self, piece: Samples) -> tuple[list[Array], Array]:
        """Return the rows (n, columns) of each entry of v, and what they add up to (n, nv).

        They are zeros where a force was not measured, or is that of friction at rest.
        """
        there: Any = ~np.isnan(piece.tau[:1])
        if piece.standing is not None:
            there = there & (piece.standing == 0.0)
        rows, tau = self.columns(piece), np.where(there, piece.tau, 0.0) - self.known(piece)
        if there.all():
            return rows, tau
        return [Y * there[:, k, None] for k, Y in enumerate(rows)], tau * there

    def log(self, log: Any, filter: Filter | None = None, *, check: bool = True) -> Log:
        """Return a log whose equations these are."""
        return Log(log, filter, smoothing=self.smoothing, check=check)

    def equations(self, log: Any) -> Iterator[tuple[list[Array], Array]]:
        """Return the rows of each entry of v and what they add up to, piece by piece."""
        return map(self.of, log.pieces(self.robot))

    def factors(self, log: Any) -> QRFactors:
        """Return the triangular factors of all rows, of which only a piece is in memory at once."""
        found = QRFactors(self.pattern, self.dimension, self.of_bodies)
        for rows, tau in self.equations(log):
            found.add(rows, tau)
        if not all(np.isfinite(R).all() for R in found.R):
            raise ArgumentError("the regressor is not finite at some sample: look at columns of your own")
        return found

    def at(self, values: Array) -> RegressionModel:
        """Return the equations whose residuals at these values are those of the model, linear about them or not."""
        return self

    def predicted(self, rows: list[Array], values: Array) -> Array:
        """Return ``Y π`` (n, nv) of some samples; with fewer values, of the parameters that are the first."""
        whole = np.append(values, np.zeros(self.dimension - len(values)))
        return np.stack([Y @ whole[columns] for Y, columns in zip(rows, self.pattern, strict=True)], axis=-1)

    def residuals(self, log: Any, values: Array) -> Iterator[Array]:
        """Yield ``τ − Y π`` (n, nv) of each motion, of its first `LONGEST` samples, until there are `ENOUGH`."""
        total = 0
        for motion in log.motions(self.robot):
            some = map(self.of, islice(motion, -(-LONGEST // PIECE)))
            if seen := [tau - self.predicted(rows, values) for rows, tau in some]:
                yield np.concatenate(seen)
                total += sum(map(len, seen))
            if total >= ENOUGH:
                break
