"""The equations of many samples in bounded memory: one triangular factor for each joint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.regressor import massless, movers, pattern, regressor_of_body, smooth_sign
from kinetree.identification.samples import LONGEST, PIECE, is_motion, motion_of, parts, pieces
from kinetree.identification.triangle import Triangle
from kinetree.lazy import cached_property
from kinetree.logs.samples import Cutoff, Samples
from kinetree.robot import Robot
from kinetree.validation import Array

EXACT = 1e-13  # residuals below this, relative to the forces, are rounding
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
    if not is_motion(log):
        for part in log if isinstance(log, list | tuple) else ():
            found |= dict.fromkeys(loads_in(robot, part))
    elif (held := motion_of(log).held) is not None:
        every = np.reshape(np.asarray(held, dtype=float), (-1, robot.nb))
        for body in np.flatnonzero(every.any(axis=0)).tolist():
            found |= dict.fromkeys(KnownMass(body, float(m)) for m in np.unique(every[:, body]) if m)
    return tuple(found)


def known_forces(robot: Robot, piece: Samples) -> Array:
    """Return the forces (n, nv) of a robot, whose joints slide the way that the samples say, where they do."""
    friction, wrenches = robot.model.friction, [] if piece.f_ext is None else [piece.f_ext]
    tau = robot.inverse_dynamics(piece.q, piece.v, piece.a, *wrenches)
    if piece.direction is not None and friction.coulomb:
        tau = tau + robot.friction * (piece.direction - smooth_sign(piece.v, friction.smoothing))
    return np.asarray(tau)


class RegressionModel:
    """From samples to rows of ``Y π = τ`` for each entry of v, without the columns that are always zero.

    What is not estimated counts as the robot has it: armature, springs, friction that is turned on. What was held and
    is known by its mass alone has nine further parameters each.
    """

    loads: Sequence[KnownMass] = ()
    rest: Robot | None  # with what is not estimated of its joints, without masses; None if that is nothing
    cutoffs: frozenset[Cutoff] = frozenset()  # of all samples so far

    def __init__(
        self, base: BaseParameters, stribeck_speed: Array | None = None, loads: Sequence[KnownMass] = ()
    ) -> None:
        self.base, self.robot, self.dimension, self.stribeck_speed = base, base.robot, base.dimension, stribeck_speed
        self.smoothing: float | None = base.smoothing
        self.pattern = [np.array(columns, dtype=int) for columns in pattern(base.robot.model, base.columns)]
        self._ends = np.cumsum([0, *map(len, self.pattern)])
        self.rest, self.loads = base.rest, tuple(loads)
        self._movers = movers(base.robot.model)
        for load in self.loads:
            nine = np.arange(self.dimension, self.dimension + NINE)
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
                    "kinetree.identification.holding"
                )
            forces = forces + sum(load.columns(self.robot, piece)[:, :, 0] * load.mass for load in self.loads)
        if self.rest is not None or piece.f_ext is not None:
            forces = forces + known_forces(self.rest or massless(self.robot), piece)
        return forces

    def motion(self, given: Samples) -> Samples:
        """Return a motion as the equations take it; friction has to change sign around the same speed."""
        self.cutoffs |= set() if given.cutoff is None else {given.cutoff}
        if given.smoothing is not None and self.smoothing not in (None, given.smoothing):
            raise ArgumentError(
                f"the samples were prepared with smoothing={given.smoothing:g}, and {self.smoothing:g} is asked for: "
                "give both the same"
            )
        return given

    def pieces(self, log: Any) -> Iterator[Samples]:
        """Return the samples of a log in pieces."""
        return pieces(self.robot, map(self.motion, parts(log)))

    def sides(self, piece: Samples) -> tuple[list[Array], Array]:
        """Return the rows (n, columns) of each entry of v, and what they add up to (n, nv)."""
        return self.columns(piece), piece.tau - self.known(piece)

    def masked(self, piece: Samples) -> tuple[list[Array], Array]:
        """Return the same with zeros in the equations of forces that were not measured, and of friction's."""
        there: Any = ~np.isnan(piece.tau[:1])
        if piece.standing is not None:
            there = there & (piece.standing == 0.0)
        if there.all():
            return self.sides(piece)
        rows, tau = self.sides(piece._replace(tau=np.where(there, piece.tau, 0.0)))
        return [Y * there[:, k, None] for k, Y in enumerate(rows)], tau * there

    def equations(self, log: Any) -> Iterator[tuple[list[Array], Array]]:
        """Yield the rows of each entry of v and what they add up to, piece by piece: zeros of forces not measured."""
        yield from map(self.masked, self.pieces(log))

    def factors(self, log: Any) -> QRFactors:
        """Return the triangular factors of all rows, of which only a piece is in memory at once."""
        found = QRFactors(self)
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
        for part in parts(log):
            some = islice(self.equations(part), -(-LONGEST // PIECE))
            if seen := [tau - self.predicted(rows, values) for rows, tau in some]:
                yield np.concatenate(seen)
                total += sum(map(len, seen))
            if total >= ENOUGH:
                break


class QRFactors:
    """R of a QR factorization of ``[Y_k | τ_k]`` for each entry k of v: all that least squares need.

    There are `count` samples, of which `counts` (nv,) have a force that was measured, and is not friction at rest.
    """

    def __init__(self, model: RegressionModel) -> None:
        self.pattern, self.dimension, self.count = model.pattern, model.dimension, 0
        self._triangles = [Triangle(len(columns) + 1) for columns in model.pattern]
        self.counts, self._sum, self._squares = np.zeros((3, len(model.pattern)))

    def add(self, rows: list[Array], tau: Array) -> None:
        """Add some samples; it is done before anything is asked for."""
        self.count += len(tau)
        self._sum += tau.sum(axis=0)
        self._squares += (tau * tau).sum(axis=0)
        for k, (triangle, Y) in enumerate(zip(self._triangles, rows, strict=True)):
            block = np.column_stack([Y, tau[:, k]])
            count = len(tau) if block[:, -1].all() else np.count_nonzero(block.any(axis=1))
            self.counts[k] += count
            if count:  # others were not measured
                triangle.add(block)

    @cached_property
    def R(self) -> list[Array]:
        """The triangular factors, (m_k + 1, m_k + 1) or fewer rows."""
        return [triangle.R for triangle in self._triangles]

    @cached_property
    def _stacked(self) -> tuple[Array, Array, NDArray[np.intp]]:
        joints = np.repeat(np.arange(len(self.R)), [len(R) for R in self.R])
        A = np.zeros((len(joints), self.dimension))
        for k, (R, columns) in enumerate(zip(self.R, self.pattern, strict=True)):
            A[np.ix_(joints == k, columns)] = R[:, :-1]
        return A, np.concatenate([R[:, -1] for R in self.R]), joints

    def with_factors(self, R: list[Array], sizes: Array | float = 1.0) -> QRFactors:
        """Return the same with other triangular factors, and forces in other units (nv,)."""
        other = copy(self)
        other._sum, other._squares = self._sum * sizes, self._squares * sizes**2
        vars(other).pop("_stacked", None)
        vars(other)["R"] = R
        return other

    @property
    def spread(self) -> Array:
        """Standard deviation of the joint forces (nv,)."""
        return np.asarray(np.sqrt(np.maximum(self.mean_squares - (self._sum / np.maximum(self.counts, 1.0)) ** 2, 0.0)))

    @property
    def mean_squares(self) -> Array:
        """Mean squares of the joint forces (nv,)."""
        return np.asarray(self._squares / np.maximum(self.counts, 1.0))

    @property
    def least_noise(self) -> float:
        """Noise below this is rounding."""
        return EXACT * float(np.sqrt(self.mean_squares.max(initial=0.0))) or 1.0

    @property
    def joints(self) -> NDArray[np.intp]:
        """The joint of each row of `stacked`."""
        return self._stacked[2]

    def stacked(self, scales: Array) -> tuple[Array, Array]:
        """Return A and b of ``A π = b`` with the rows of each joint divided by its scale."""
        A, b, joints = self._stacked
        return A / scales[joints, None], b / scales[joints]

    def squares(self, values: Array) -> Array:
        """Return the sums of squared residuals (nv,)."""
        A, b, _ = self._stacked
        return self.by_joint((A @ values - b) ** 2)

    def by_joint(self, x: Array) -> Array:
        """Return the sums (nv,) over the rows of each joint."""
        return np.asarray(np.bincount(self.joints, x, len(self.pattern)), dtype=np.float64)
