"""What plausibility checks look at: the first samples of a log, their equations, and the estimate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.errors import ArgumentError
from kinetree.identification.checks.regression import Regression, spread_of
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators.contract import integrated_times
from kinetree.identification.log import Log
from kinetree.identification.parameters.regressor import positions
from kinetree.identification.parameters.terms import smooth_sign
from kinetree.identification.triangle import QRFactors
from kinetree.lazy import cached_property
from kinetree.logs.columns import Coordinates
from kinetree.logs.samples import Samples
from kinetree.robot import Robot
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.identification.fit import Fit

T = TypeVar("T")

LOOKED_AT = 128  # pieces of a log that are looked at
SAMPLES = 4096  # and samples for equations, in pieces that are spread over these
SLOW = 0.05  # the part of the fastest joint's speed below which noise, and friction at rest, are most of one's force


class Evidence:
    """The first 131072 samples of a log, in `pieces` and as a `whole`, and later its equations, factors and the fit.

    No piece has samples of two motions. Entries of v in `currents` have forces with a constant that is not known: nor
    is its sign. Nothing but the model is a reason for residuals where the motion is exact: instruments are given where
    it is not.
    """

    rows: RegressionModel
    factors: QRFactors | None = None
    motion_is_exact = True
    fit: Fit

    def __init__(self, robot: Robot, log: Log, currents: Sequence[str] = ()) -> None:
        self.robot, self.log, self.currents = robot, log, currents
        self.pieces = list(islice(log.pieces(robot), LOOKED_AT))
        if not self.pieces:
            raise ArgumentError("the log has no samples")
        self.whole = together(self.pieces)
        self.base = list(Coordinates.of(robot).of_base("v"))  # entries of v of a floating base
        self.driven = ~np.isin(np.arange(robot.nv), self.base)
        self.speed = np.sqrt((self.whole.v**2).mean(axis=0))
        self.moves = self.speed > SLOW * self.speed.max(initial=0.0)
        self._made: dict[Any, Any] = {}

    def of(self, kind: Callable[[Evidence], T]) -> T:
        """Return a value made of this evidence once for several checks."""
        if kind not in self._made:
            self._made[kind] = kind(self)
        return cast("T", self._made[kind])

    @cached_property
    def single(self) -> NDArray[np.bool_]:
        """Which entries of v are those of a joint with one coordinate (nv,)."""
        every = [k for body in self.robot.model.leading if body.has_one_coordinate for k in body.v_index]
        return np.isin(np.arange(self.robot.nv), every)

    @cached_property
    def expected(self) -> Array:
        """The forces (n, nv) that this robot needs for the motion."""
        q, v, a, _, f_ext, *_ = self.whole
        tau = self.robot.inverse_dynamics(q, v, a, *([] if f_ext is None else [f_ext]))
        return np.asarray(tau + (0.0 if self.whole.load is None else self.whole.load))

    @cached_property
    def some_pieces(self) -> list[Samples]:
        """Some pieces for equations, spread over all."""
        count = max(1, min(len(self.pieces), SAMPLES // max(len(piece.q) for piece in self.pieces)))
        return [self.pieces[k] for k in np.unique(np.linspace(0, len(self.pieces) - 1, count).astype(int))]

    @cached_property
    def some(self) -> Samples:
        """Their samples, with the direction in which joints slide."""
        some, smoothing = together(self.some_pieces), self.rows.smoothing
        if some.direction is not None:
            return some
        return some._replace(direction=np.asarray(smooth_sign(some.v, 1e-3 if smoothing is None else smoothing)))

    @cached_property
    def sides(self) -> tuple[list[Array], Array]:
        """What `sides_of` returns of these pieces."""
        return self.sides_of(self.some_pieces)

    def sides_of(self, pieces: Sequence[Samples]) -> tuple[list[Array], Array]:
        """Return the rows (n, m_k) of each entry of v, and right-hand sides (n, nv), zero where they do not count."""
        rows, tau = zip(*map(self.rows.of, pieces), strict=True)
        return [np.concatenate(Y) for Y in zip(*rows, strict=True)], np.concatenate(tau)

    def regression(
        self, sides: tuple[list[Array], Array], columns: Sequence[Array] = (), candidates: Sequence[ArrayLike] = ()
    ) -> Regression:
        """Return the least squares of such sides, with further columns (n, c_k) of each entry of v as candidates."""
        n, (rows, tau) = self.rows.dimension, sides
        blocks, pattern = [*zip(rows, tau.T, strict=True)], self.rows.pattern
        if columns:
            blocks = [(Y, x * (y != 0.0)[:, None], y) for (Y, y), x in zip(blocks, columns, strict=True)]  # type: ignore[misc]
            pattern = [np.append(own, n + np.array(more, int)) for own, more in zip(pattern, candidates, strict=True)]
        return Regression([np.column_stack(block) for block in blocks], pattern, n, spread_of(tau))

    @cached_property
    def measured(self) -> list[int]:
        """Entries of v with a motor whose force was measured, and is not a current of an unknown constant."""
        asked = self.sides[1].any(axis=0) & ~np.isin(self.robot.v_names, self.currents)
        return [k for k in self.robot.model.actuated if asked[k]]

    @cached_property
    def position(self) -> Array:
        """The coordinate of each entry of v (n, nv), at the samples for equations."""
        return np.asarray(self.some.q[:, positions(self.robot.model)])

    def times(self, e: Array) -> Array:
        """Return how many samples of residuals (n, nv) tell as much as one (nv,)."""
        ends = np.cumsum([len(piece.q) for piece in self.some_pieces])[:-1]
        return integrated_times(np.split(e, ends), np.sqrt((e * e).mean(axis=0)))


def together(parts: Sequence[Samples]) -> Samples:
    """Return several pieces as one: without wrenches or a load there are none, without directions the velocities'."""
    if len(parts) == 1:
        return parts[0]
    arrays = {}
    for name in ("q", "v", "a", "tau", "f_ext", "load", "held", "direction"):
        given = [getattr(part, name) for part in parts]
        like = next((x for x in given if x is not None), None)
        if like is not None and (name != "direction" or all(x is not None for x in given)):
            nothing = (np.zeros((len(part.q), *like.shape[1:])) for part in parts)
            arrays[name] = np.concatenate([x if y is None else y for x, y in zip(nothing, given, strict=True)])
    return Samples(**arrays)
