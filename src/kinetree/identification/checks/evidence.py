"""What checks look at: the first samples of a log, their equations before the estimate, and the estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.identification.checks.least_squares import SINGULAR
from kinetree.identification.equations import QRFactors, RegressionModel
from kinetree.identification.estimators.contract import Solution, integrated_times
from kinetree.identification.nonlinear import MotorConstants
from kinetree.identification.parameters.base import BaseParameters
from kinetree.identification.parameters.regressor import positions, smooth_sign
from kinetree.identification.samples import pieces
from kinetree.lazy import cached_property
from kinetree.logs.columns import Coordinates
from kinetree.logs.samples import Samples
from kinetree.robot import Robot
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

LOOKED_AT = 128  # pieces of a log that are looked at
SAMPLES = 4096  # and samples for equations, in pieces that are spread over these
SLOW = 0.05  # the part of the fastest joint's speed below which noise, and friction at rest, are most of one's force


@dataclass(frozen=True, eq=False)
class Seen:
    """The first 131072 samples of a log, in pieces of which none has samples of two motions.

    Forces of the entries of v that are `currents` have a constant that is not known: nor is its sign.
    """

    robot: Robot
    log: Any
    pieces: list[Samples]
    currents: Sequence[str] = ()

    @cached_property
    def whole(self) -> Samples:
        """All of them as one piece."""
        return together(self.robot, self.pieces)

    @cached_property
    def speed(self) -> Array:
        """Root mean squares of the velocities (nv,)."""
        return np.asarray(np.sqrt((self.whole.v * self.whole.v).mean(axis=0)))

    @cached_property
    def moves(self) -> NDArray[np.bool_]:
        """Which entries of v are not slow (nv,)."""
        return np.asarray(self.speed > SLOW * self.speed.max(initial=0.0), dtype=np.bool_)

    @cached_property
    def base(self) -> list[int]:
        """The entries of v of a floating base."""
        return base_of(self.robot)

    @cached_property
    def driven(self) -> NDArray[np.bool_]:
        """Which entries of v are not those of a floating base (nv,)."""
        return ~np.isin(np.arange(self.robot.nv), self.base)

    @cached_property
    def single(self) -> NDArray[np.bool_]:
        """Which entries of v are those of a joint with one coordinate (nv,)."""
        every = [k for body in self.robot.model.leading if body.has_one_coordinate for k in body.v_index]
        return np.isin(np.arange(self.robot.nv), every)

    @cached_property
    def expected(self) -> Array:
        """The forces (n, nv) that this robot needs for the motion."""
        whole = self.whole
        wrenches = [] if whole.f_ext is None else [whole.f_ext]
        tau = self.robot.inverse_dynamics(whole.q, whole.v, whole.a, *wrenches)
        return np.asarray(tau + (0.0 if whole.load is None else whole.load))


def seen(robot: Robot, log: Any, currents: Sequence[str] = ()) -> Seen:
    """Return the first samples of a log."""
    if not (looked_at := list(islice(pieces(robot, log), LOOKED_AT))):
        raise ArgumentError("the log has no samples")
    return Seen(robot, log, looked_at, tuple(currents))


def base_of(robot: Robot) -> list[int]:
    """Return the entries of v of a floating base."""
    return list(Coordinates.of(robot).of_base("v"))


def together(robot: Robot, parts: Sequence[Samples]) -> Samples:
    """Return several pieces as one: without wrenches or a load there are none, without directions the velocities'."""
    if len(parts) == 1:
        return parts[0]
    arrays = {x: np.concatenate([getattr(part, x) for part in parts]) for x in ("q", "v", "a", "tau")}
    for name, shape in (("f_ext", (robot.nb, 6)), ("load", (robot.nv,)), ("held", (robot.nb,))):
        if any(getattr(part, name) is not None for part in parts):
            every = [np.zeros((len(part.q), *shape)) if (x := getattr(part, name)) is None else x for part in parts]
            arrays[name] = np.concatenate(every)
    directions = [part.direction for part in parts if part.direction is not None]
    if len(directions) == len(parts):
        arrays["direction"] = np.concatenate(directions)
    return Samples(**arrays)


@dataclass(frozen=True, eq=False)
class Examined:
    """``Y π = τ`` of each entry of v at some samples, and factors of the whole log, where there are any.

    The motion is exact where nothing but the model is a reason for residuals: instruments are given where it is not.
    """

    seen: Seen
    rows: RegressionModel
    factors: QRFactors | None = None
    motion_is_exact: bool = True
    _made: dict[Any, Any] = field(default_factory=dict)

    def of(self, kind: Callable[[Examined], T]) -> T:
        """Return a value made of these equations once for several checks."""
        if kind not in self._made:
            self._made[kind] = kind(self)
        return cast("T", self._made[kind])

    @property
    def robot(self) -> Robot:
        """The robot before."""
        return self.rows.robot

    @cached_property
    def pieces(self) -> list[Samples]:
        """Some pieces, spread over those that were seen."""
        every = self.seen.pieces
        count = max(1, min(len(every), SAMPLES // max(1, max((len(p.q) for p in every), default=1))))
        return [every[k] for k in np.unique(np.linspace(0, len(every) - 1, count).astype(int))] if every else []

    @cached_property
    def whole(self) -> Samples:
        """Their samples, with the direction in which joints slide."""
        whole, smoothing = together(self.robot, self.pieces), self.rows.smoothing
        if whole.direction is not None:
            return whole
        return whole._replace(direction=np.asarray(smooth_sign(whole.v, 1e-3 if smoothing is None else smoothing)))

    @cached_property
    def sides(self) -> tuple[list[Array], Array]:
        """What `sides_of` returns of these pieces."""
        return self.sides_of(self.pieces)

    def sides_of(self, pieces: list[Samples]) -> tuple[list[Array], Array]:
        """Return the rows (n, m_k) of each entry of v, and right-hand sides (n, nv), zero where they do not count."""
        rows, tau = zip(*map(self.rows.masked, pieces), strict=True)
        return [np.concatenate(Y) for Y in zip(*rows, strict=True)], np.concatenate(tau)

    @cached_property
    def measured(self) -> list[int]:
        """Entries of v with a motor whose force was measured, and is not a current of an unknown constant."""
        asked = self.sides[1].any(axis=0) & ~np.isin(self.robot.v_names, self.seen.currents)
        return [k for k in self.robot.model.actuated if asked[k]]

    @cached_property
    def spread(self) -> Array:
        """Standard deviations of the right-hand sides (nv,); of those that are zero, the greatest one."""
        return spread_of(self.sides[1])

    @cached_property
    def position(self) -> Array:
        """The coordinate of each entry of v (n, nv)."""
        return np.asarray(self.whole.q[:, positions(self.robot.model)])

    def times(self, e: Array) -> Array:
        """Return how many samples of residuals (n, nv) tell as much as one (nv,)."""
        ends = np.cumsum([len(piece.q) for piece in self.pieces])[:-1]
        return integrated_times(np.split(e, ends), np.sqrt((e * e).mean(axis=0)))


def spread_of(tau: Array) -> Array:
    """Return the standard deviations (nv,) of forces (n, nv); of those that are zero, the greatest one."""
    spread = tau.std(axis=0)
    most = spread.max(initial=0.0)
    return np.asarray(np.where(spread > SINGULAR * most, spread, most or 1.0))


class Estimated(NamedTuple):
    """An estimate, and the parameters of physically consistent bodies."""

    base: BaseParameters
    factors: QRFactors
    solution: Solution
    parameters: Array
    constants: MotorConstants | None = None
