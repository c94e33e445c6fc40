"""The optimisation of an excitation: a motion's information, how near it is to its limits, and both's gradients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.errors import DerivativeWarning
from kinetree.excitation.limits import Limits
from kinetree.excitation.series import Series
from kinetree.functions.of_user import compile
from kinetree.identification.equations import RegressionModel
from kinetree.lazy import cached_property
from kinetree.runtime.function import Function
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The part of a joint's top speed around which friction changes sign in the criterion, so that it has a gradient
SLIDING = 0.05
NEAR = 1e-3  # what is nearer to a limit has the curvature of this
# The part of a limit up to which the barrier is a logarithm, and a motion allowed; a parabola goes on from there
CLOSEST = 1.0 - 1e-5
SAFE = 0.98  # the part of forces, and of boxes, that is used at the nodes, since they may be greater between
POWER = 12  # of the means in the place of the greatest and the least eigenvalue: they are smooth where those are not
State = tuple[Array, Array, Array]

Free = Callable[[Array], Array]
"""From configurations (n, nv) of the joints that move to which ones are free (n,), or to distances above zero."""

SAMPLES = 1000  # random configurations that tell how large distances to obstacles are
STEP = 1e-6  # of joints (rad or m), where distances are differentiated
Criterion = Callable[[Array], tuple[float, Array]]
"""From the information (n, n) to a number, the less the better, infinite if it is singular, and its gradient (n, n)."""


class Point(NamedTuple):
    """A motion's criterion, its barrier, and whether it is within its limits."""

    criterion: float
    barrier: float
    inside: bool


class Problem:
    """A motion's coefficients X (nv, size), its information, and what it must keep within.

    Limits are ``|u| < 1``; the barrier is the sum of the means of ``−log(1 − u²)`` over the nodes, for each joint and
    each limit. Distances are such limits too, from `reach` on; where it is only known that a configuration is not
    free, the criterion is infinite, which no search can feel before it is there.
    """

    def __init__(
        self,
        rows: RegressionModel,
        series: Series,
        limits: Limits,
        noise: Array,
        criterion: str,
        free: Free | None = None,
    ) -> None:
        self.rows, self.robot, self.series, self.limits, self.noise = rows, rows.robot, series, limits, noise
        self.criterion, self.free, self.nodes = CRITERIA[criterion], free, series.nodes()
        self.basis = series.basis(self.nodes.t)
        self._at = np.concatenate([np.full(len(c), k) for k, c in enumerate(rows.pattern)]).astype(int)
        self._columns = np.concatenate(rows.pattern).astype(int)
        self._smooth = SLIDING * limits.velocity
        self._boxes = np.hstack([np.zeros((2, 0)), *limits.boxes.values()])

    # -- information --------------------------------------------------------------------------------------------

    def _criterion(self, state: State) -> tuple[float, Array, Array]:
        """Return the criterion of a record, its gradient by the information, and the regressor by the noise."""
        entries = self.rows.base.rows(*state, direction=self._direction(state[1])) / self.noise[self._at]
        A = np.zeros((len(entries), self.robot.nv, self.rows.dimension))
        A[:, self._at, self._columns] = entries
        flat = A.reshape(-1, A.shape[-1])
        return *self.criterion(flat.T @ flat / len(A)), A

    def _direction(self, v: Array) -> Array:
        return v / np.sqrt(v * v + self._smooth**2)

    def _told(self, state: State) -> list[Array]:
        """Return the derivatives of the criterion by q, v and a (n, nv) each."""
        v, direction = state[1], self._direction(state[1])
        _, S, A = self._criterion(state)
        weights = 2.0 * (A @ S)[:, self._at, self._columns] / len(A) / self.noise[self._at]
        wrt = ("q", "v", "a", "direction")
        with warnings.catch_warnings(action="ignore", category=DerivativeWarning):  # not all have an effect
            by_q, by_v, by_a, by_direction = self.rows.base.rows.vjp(*state, weights, direction=direction, wrt=wrt)
        return [by_q, by_v + by_direction * self._smooth**2 / (v * v + self._smooth**2) ** 1.5, by_a]

    # -- what it must keep within -------------------------------------------------------------------------------

    def is_free(self, q: Array) -> NDArray[np.bool_]:
        """Return which configurations are free of collisions (n,)."""
        return np.ones(len(q), dtype=bool) if self.free is None else np.asarray(self.free(q) > 0)

    @cached_property
    def reach(self) -> float:
        """The distance from which on obstacles push, the median of free random configurations; 0 if none is known."""
        random = np.random.default_rng(0).uniform(-1.0, 1.0, (SAMPLES, self.robot.nv))
        found = np.zeros(0) if self.free is None else self.free(self.limits.middle + self.limits.half * random)
        known = found[(found > 0) & np.isfinite(found)] if found.dtype.kind == "f" else found[:0]
        return float(np.median(known)) if len(known) else 0.0

    def collisions(self, q: Array) -> Array:
        """Return how near configurations are to collisions, which are at 1 (n, 1); (n, 0) if no distance is known."""
        if self.free is None or not self.reach:
            return np.zeros((len(q), 0))
        return np.maximum(1.0 - self.free(q)[:, None] / self.reach, 0.0)

    def forces(self, state: State) -> Array:
        """Return joint forces in parts of their limits."""
        return np.asarray(self.robot.inverse_dynamics(*state) / self.limits.effort)

    def frames(self, q: Array) -> Array:
        """Return positions of the frames in boxes, in parts of those (n, 3 boxes)."""
        middle, half = self._boxes
        return np.asarray((self._places(q) - middle) / half) if self.limits.boxes else np.zeros((len(q), 0))

    @cached_property
    def _places(self) -> Function:
        """Positions of the frames in boxes as a compiled function of q, one after another."""
        robot, names = self.robot, list(self.limits.boxes)

        def places(q: Any) -> Any:
            return np.concatenate([robot.frame_placement(q, frame=frame)[:3, 3] for frame in names])

        made: Function = compile(robot, places, fuse=True)
        return made

    def _linear(self, state: State) -> list[tuple[Array, Array]]:
        """Return positions, speeds and accelerations in parts of their limits, and these (n, nv)."""
        limits, zero = self.limits, np.zeros(self.robot.nv)
        widths = [w * self.nodes.bound for w in (limits.half, limits.velocity, limits.acceleration)]
        return [((x - c) / w, w) for x, c, w in zip(state, (limits.middle, zero, zero), widths, strict=True)]

    def _near(self, state: State) -> list[Array]:
        """Return the derivatives of the barrier by q, v and a (n, nv) each."""
        found = [_pushed(u) / w for u, w in self._linear(state)]
        if np.isfinite(self.limits.effort).any():
            weights = _pushed(self.forces(state) / SAFE) / (SAFE * self.limits.effort)
            found = [x + y for x, y in zip(found, self.robot.inverse_dynamics.vjp(*state, weights), strict=True)]
        if self.limits.boxes:
            weights = _pushed(self.frames(state[0]) / SAFE) / (SAFE * self._boxes[1])
            found[0] += self._places.vjp(state[0], weights)
        if (near := self.collisions(state[0])).any():
            moved = [self.collisions(state[0] + STEP * e) for e in np.eye(self.robot.nv)]
            found[0] = found[0] + _pushed(near) * (np.hstack(moved) - near) / STEP
        return found

    # -- both ---------------------------------------------------------------------------------------------------

    def _state(self, X: Array) -> tuple[State, State]:
        """Return q, v and a at the nodes, and at those that are recorded."""
        q, v, a = self.basis @ X.T
        at = self.nodes.periodic
        return (q, v, a), (q[at], v[at], a[at])

    def point(self, X: Array) -> Point:
        """Return the criterion and the barrier."""
        state, recorded = self._state(X)
        near = [*(u for u, _ in self._linear(state)), self.forces(state) / SAFE, self.frames(state[0]) / SAFE]
        near.append(self.collisions(state[0]))
        if not self.reach and not self.is_free(state[0]).all():
            return Point(np.inf, np.inf, False)
        inside = all(np.abs(u).max(initial=0.0) < CLOSEST for u in near)
        return Point(self._criterion(recorded)[0], sum(map(_barrier, near)), inside)

    def gradients(self, X: Array) -> tuple[Array, Array]:
        """Return the gradients (nv, size) of the criterion and the barrier: exact, of distances by differences."""
        state, recorded = self._state(X)
        told = [g.T @ B[self.nodes.periodic] for g, B in zip(self._told(recorded), self.basis, strict=True)]
        near = [g.T @ B for g, B in zip(self._near(state), self.basis, strict=True)]
        return np.asarray(sum(told)), np.asarray(sum(near))

    def curvature(self, X: Array) -> Array:
        """Return second derivatives (nv, size, size) of the barrier of positions, speeds and accelerations, bounded."""
        total = np.zeros((*X.shape, X.shape[1]))
        for (u, w), B in zip(self._linear(self._state(X)[0]), self.basis, strict=True):
            slack = np.maximum(1.0 - u * u, NEAR)
            curved = 2.0 * (1.0 + u * u) / (slack * w) ** 2 / len(u)
            total += np.einsum("ik,ij,il->kjl", curved, B, B, optimize=True)
        return total

    def holds(self, X: Array, t: Array) -> bool:
        """Return whether forces and boxes hold at these times, and all configurations are free."""
        q, v, a = self.series.basis(t) @ X.T
        if not self.is_free(q).all():
            return False
        return all(np.abs(u).max(initial=0.0) <= 1.0 for u in (self.forces((q, v, a)), self.frames(q)))


def _barrier(u: Array) -> float:
    """Return the mean of ``−log(1 − u²)`` over the nodes, continued by a parabola where u is beyond the limit."""
    at = np.minimum(np.abs(u), CLOSEST)
    beyond, slack = np.abs(u) - at, 1.0 - at * at
    return float((-np.log(slack) + 2.0 * at / slack * beyond + (1.0 + at * at) / slack**2 * beyond**2).sum()) / len(u)


def _pushed(u: Array) -> Array:
    """Return the slopes of the barrier."""
    at = np.clip(u, -CLOSEST, CLOSEST)
    slack = 1.0 - at * at
    return np.asarray(2.0 * (at / slack + (1.0 + at * at) / slack**2 * (u - at)) / len(u))


def determinant(M: Array) -> tuple[float, Array]:
    """Return ``−log det M / n``: the mean logarithm of the variances of independent combinations."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.inf, M
    inverse = np.linalg.inv(L)
    return float(-2.0 * np.log(np.diag(L)).sum() / len(M)), inverse.T @ inverse / -len(M)


def condition(M: Array) -> tuple[float, Array]:
    """Return the logarithm of the condition number of the regressor, ``½ log(λ_max/λ_min)``, by means of high power."""
    values, V = np.linalg.eigh(M)
    if values[0] <= 1e-14 * values[-1]:
        return np.inf, M
    up, down = values / values[-1], values[0] / values
    large, small = (up**POWER).sum(), (down**POWER).sum()
    value = np.log(values[-1] / values[0]) + (np.log(large) + np.log(small)) / POWER
    slopes = up**POWER / large / values - down**POWER / small / values
    return float(0.5 * value), 0.5 * (V * slopes) @ V.T


CRITERIA: dict[str, Criterion] = {"determinant": determinant, "condition": condition}
