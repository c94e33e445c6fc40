"""The optimisation of an excitation: what a motion tells, how near it is to its limits, and both's gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from kinetree.identification.equations import Rows
from kinetree.identification.excitation_criteria import CRITERIA
from kinetree.identification.excitation_limits import Limits
from kinetree.identification.excitation_series import Series
from kinetree.validation import Array

STEP = 1e-4
"""Of central differences (rad, rad/s, rad/s²): the regressor is linear in a and quadratic in v, and smooth in q."""

SLIDING = 0.05
"""The part of a joint's top speed around which friction changes sign in the criterion, so that it has a gradient."""

NEAR = 1e-3
"""What is nearer to a limit has the curvature of this."""

CLOSEST = 1e-6
"""How near to a limit a motion may be, relative to it: the barrier's slope stays bounded."""

SAFE = 0.98
"""The part of forces, and of boxes, that is used at the nodes, since they may be greater between."""

State = tuple[Array, Array, Array]


class Point(NamedTuple):
    """A motion's criterion, and its barrier: infinite if it is not within its limits."""

    criterion: float
    barrier: float


class Problem:
    """A motion's coefficients X (nv, size), what it tells, and what it must keep within.

    Limits are ``|u| < 1``; the barrier is the sum of the means of ``−log(1 − u²)`` over the nodes, for each joint and
    each limit.
    """

    def __init__(self, rows: Rows, series: Series, limits: Limits, noise: Array, criterion: str) -> None:
        self.rows, self.robot, self.series, self.limits, self.noise = rows, rows.robot, series, limits, noise
        self.criterion = CRITERIA[criterion]
        self.nodes = series.nodes()
        self.basis = series.basis(self.nodes.t)
        centre = np.zeros((3, self.robot.nv))
        centre[0] = limits.middle
        self._centre, self._width = centre, (limits.half, limits.velocity, limits.acceleration)
        self._at = np.concatenate([np.full(len(c), k) for k, c in enumerate(rows.pattern)]).astype(int)
        self._columns = np.concatenate(rows.pattern).astype(int)

    # -- what it tells ------------------------------------------------------------------------------------------

    def weighted(self, state: State) -> Array:
        """Return the regressor's entries that are not always zero (n, entries), in units of the noise."""
        q, v, a = state
        smooth = SLIDING * self.limits.velocity
        return np.asarray(self.rows.base.rows(q, v, a, direction=v / np.sqrt(v * v + smooth**2)) / self.noise[self._at])

    def dense(self, entries: Array) -> Array:
        """Return the regressor (n, nv, parameters) with these entries."""
        A = np.zeros((len(entries), self.robot.nv, self.rows.dimension))
        A[:, self._at, self._columns] = entries
        return A

    def _criterion(self, state: State) -> tuple[float, Array, Array]:
        """Return the criterion of one period, its gradient with respect to the information, and the regressor."""
        A = self.dense(self.weighted(state))
        flat = A.reshape(-1, A.shape[-1])
        return *self.criterion(flat.T @ flat / len(A)), A

    # -- what it must keep within -------------------------------------------------------------------------------

    def forces(self, state: State) -> Array:
        """Return joint forces in parts of their limits."""
        return np.asarray(self.robot.inverse_dynamics(*state) / self.limits.effort)

    def frames(self, q: Array) -> Array:
        """Return positions of the frames in boxes, in parts of those (n, 3 boxes)."""
        parts = [np.zeros((len(q), 0))]
        for frame, (middle, half) in self.limits.boxes.items():
            parts.append((self.robot.frame_placement(q, frame=frame)[:, :3, 3] - middle) / half)
        return np.hstack(parts)

    def _nonlinear(self) -> Iterator[Callable[[State], Array]]:
        if np.isfinite(self.limits.effort).any():
            yield self.forces
        if self.limits.boxes:
            yield lambda state: self.frames(state[0])

    def _linear(self, state: State) -> Iterator[Array]:
        for x, centre, width in zip(state, self._centre, self._width, strict=True):
            yield (x - centre) / (width * self.nodes.bound)

    # -- both ---------------------------------------------------------------------------------------------------

    def state(self, X: Array) -> State:
        """Return q, v and a at the nodes."""
        q, v, a = (B @ X.T for B in self.basis)
        return q, v, a

    def point(self, X: Array) -> Point:
        """Return the criterion and the barrier; both infinite where a limit does not hold."""
        state, total = self.state(X), 0.0
        checks: list[Callable[[], Array]] = [lambda u=u: u for u in self._linear(state)]  # type: ignore[misc]
        checks += [lambda f=f: f(state) / SAFE for f in self._nonlinear()]  # type: ignore[misc]
        for check in checks:
            u = check()
            if not np.abs(u).max(initial=0.0) < 1.0 - CLOSEST:
                return Point(np.inf, np.inf)
            total -= float(np.log1p(-u * u).sum()) / len(u)
        value, _, _ = self._criterion(self._recorded(state))
        return Point(value, total)

    def gradients(self, X: Array) -> tuple[Array, Array]:
        """Return the gradients (nv, size) of the criterion and the barrier."""
        state = self.state(X)
        recorded = self._recorded(state)
        _, S, A = self._criterion(recorded)
        G = 2.0 * (A @ S)[:, self._at, self._columns] / len(A)
        told = self._along(self.weighted, recorded, G)
        near = [
            2.0 * u / (1.0 - u * u) / (w * self.nodes.bound * len(u))
            for u, w in zip(self._linear(state), self._width, strict=True)
        ]
        for f in self._nonlinear():
            u = f(state) / SAFE
            slopes = self._along(f, state, 2.0 * u / (1.0 - u * u) / (SAFE * len(u)))
            near = [x + y for x, y in zip(near, slopes, strict=True)]
        part = self.nodes.periodic
        return (
            sum((g.T @ B[part] for g, B in zip(told, self.basis, strict=True)), np.zeros_like(X)),
            sum((g.T @ B for g, B in zip(near, self.basis, strict=True)), np.zeros_like(X)),
        )

    def curvature(self, X: Array) -> Array:
        """Return second derivatives (nv, size, size) of the barrier of positions, speeds and accelerations, bounded."""
        total = np.zeros((*X.shape, X.shape[1]))
        for u, w, B in zip(self._linear(self.state(X)), self._width, self.basis, strict=True):
            slack = np.maximum(1.0 - u * u, NEAR)
            slopes = 2.0 * (1.0 + u * u) / (slack * w * self.nodes.bound) ** 2 / len(u)
            total += np.einsum("ik,ij,il->kjl", slopes, B, B, optimize=True)
        return total

    def holds(self, X: Array, t: Array) -> bool:
        """Return whether forces and boxes hold at these times."""
        q, v, a = (B @ X.T for B in self.series.basis(t))
        return all(np.abs(f((q, v, a))).max(initial=0.0) <= 1.0 for f in self._nonlinear())

    def _recorded(self, state: State) -> State:
        q, v, a = (x[self.nodes.periodic] for x in state)
        return q, v, a

    def _along(self, f: Callable[[State], Array], state: State, weights: Array) -> list[Array]:
        """Return the derivatives of ``Σ weights · f`` by q, v and a (n, nv) each: one call of f for many states."""
        nv, n = self.robot.nv, len(state[0])
        moved = np.tile(np.stack(state), (3 * nv, 2, 1, 1, 1)).transpose(2, 0, 1, 3, 4)
        for k in range(3 * nv):
            moved[k // nv, k, :, :, k % nv] += [[STEP], [-STEP]]
        q, v, a = moved.reshape(3, -1, nv)
        plus, minus = f((q, v, a)).reshape(3 * nv, 2, n, -1).transpose(1, 0, 2, 3)
        slopes = np.einsum("kni,ni->kn", plus - minus, weights) / (2.0 * STEP)
        return [x.T for x in slopes.reshape(3, nv, n)]
