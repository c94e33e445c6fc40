"""The equations of some samples of a log, with columns beside those that are estimated: what checks of them look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.identification.checks.samples import Seen, together
from kinetree.identification.equations import RegressionModel
from kinetree.identification.estimators.contract import integrated_times
from kinetree.identification.parameters.regressor import positions, smooth_sign
from kinetree.identification.samples import Piece
from kinetree.lazy import cached_property
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 4096
"""So many samples are looked at, in pieces that are spread over the log."""

SINGULAR = 1e-9
"""Directions with an effect below this, relative to the greatest, are not identifiable."""

WEIGHINGS = 4
"""Steps by which the noise of each joint is found."""

EXACT = 1e-6
"""Residuals below this part of the forces' spread are rounding, or that of filters."""


@dataclass(frozen=True, eq=False)
class JointEquations:
    """``Y π = τ`` of each entry of v at some samples, and what the further columns are made of.

    Attributes
    ----------
    seen : Seen
    rows : RegressionModel
    """

    seen: Seen
    rows: RegressionModel

    @cached_property
    def pieces(self) -> list[Piece]:
        """Some pieces, spread over those that were seen."""
        every = self.seen.pieces
        count = max(1, min(len(every), SAMPLES // max(1, max((len(p.q) for p in every), default=1))))
        return [every[k] for k in np.unique(np.linspace(0, len(every) - 1, count).astype(int))] if every else []

    @cached_property
    def whole(self) -> Piece:
        """Their samples, with the direction in which joints slide."""
        whole = together(self.rows.robot, self.pieces)
        return whole if whole.direction is not None else whole._replace(direction=self._sign(whole.v))

    def _sign(self, v: Array) -> Array:
        smoothing = self.rows.smoothing
        return np.asarray(smooth_sign(v, 1e-3 if smoothing is None else smoothing))

    @cached_property
    def sides(self) -> tuple[list[Array], Array]:
        """The rows (n, m_k) of each entry of v, and right-hand sides (n, nv); zeros where nothing was measured."""
        every = [self.rows.masked(piece) for piece in self.pieces]
        return [np.concatenate(Y) for Y in zip(*(rows for rows, _ in every), strict=True)], np.concatenate(
            [tau for _, tau in every]
        )

    @cached_property
    def measured(self) -> list[int]:
        """Entries of v with a motor whose force was measured, and is not a current of an unknown constant."""
        robot, (_, tau) = self.rows.robot, self.sides
        asked = tau.any(axis=0) & ~np.isin(robot.v_names, self.seen.currents)
        return [k for k in robot.model.actuated if asked[k]]

    @cached_property
    def spread(self) -> Array:
        """Standard deviations of the right-hand sides (nv,); of those that are zero, the greatest one."""
        spread = self.sides[1].std(axis=0)
        return np.asarray(np.where(spread > SINGULAR * spread.max(initial=0.0), spread, spread.max(initial=0.0) or 1.0))

    @cached_property
    def position(self) -> Array:
        """The coordinate of each entry of v (n, nv)."""
        return np.asarray(self.whole.q[:, positions(self.rows.robot.model)])

    def times(self, e: Array) -> Array:
        """Return how many samples of residuals (n, nv) tell as much as one (nv,)."""
        ends = np.cumsum([len(piece.q) for piece in self.pieces])[:-1]
        return integrated_times(np.split(e, ends), np.sqrt((e * e).mean(axis=0)))


class System:
    """Least squares of all equations together: triangular factors of each joint's own columns, weighted by its noise.

    Attributes
    ----------
    x : (n,) array
        The solution.
    noise : (nv,) array
        Standard deviations of the residuals.
    """

    def __init__(
        self, blocks: Sequence[Array], pattern: Sequence[NDArray[np.intp]], counts: Array, spread: Array
    ) -> None:
        factors: list[Array] = [np.asarray(np.linalg.qr(block, mode="r")) for block in blocks]
        self._blocks, self._pattern, self._added = blocks, pattern, list[tuple[int, int]]()
        self.joint = np.repeat(np.arange(len(factors)), [len(R) for R in factors])
        self._columns = [R[:, len(own) : -1] for R, own in zip(factors, pattern, strict=True)]
        A = np.zeros((len(self.joint), 1 + max((int(own.max(initial=-1)) for own in pattern), default=-1)))
        for k, (R, own) in enumerate(zip(factors, pattern, strict=True)):
            A[np.ix_(self.joint == k, own)] = R[:, : len(own)]
        self._A, self._b = A, np.concatenate([R[:, -1] for R in factors])
        self._counts, self.noise = np.maximum(counts, 1.0), spread.copy()
        self._weigh()

    def _weigh(self) -> None:
        nv = len(self.noise)
        for _ in range(WEIGHINGS):
            scale = self.noise[self.joint]
            A = self._A / scale[:, None]
            size = np.linalg.norm(A, axis=0)
            size[size == 0.0] = 1.0
            U, s, Vt = np.linalg.svd(A / size, full_matrices=False)
            kept = s > SINGULAR * s.max(initial=0.0)
            self._U, b = U[:, kept], self._b / scale
            self._inverse = Vt[kept].T / s[kept] / size[:, None]
            self.x = self._inverse @ (self._U.T @ b)
            self.left = b - self._U @ (self._U.T @ b)
            taken = np.bincount(self.joint, (self._U**2).sum(axis=1), nv)
            squares = np.bincount(self.joint, self.left**2, nv)
            self.noise = self.noise * np.sqrt(np.maximum(squares / np.maximum(self._counts - taken, 1.0), 1e-24))
        self.left = self.left * (scale / self.noise[self.joint])

    def with_column(self, k: int, index: int) -> None:
        """Let a further column of an entry of v be estimated too."""
        self._A = np.column_stack([self._A, self.column(k, index)])
        self._added.append((k, index))
        self._weigh()

    def column(self, k: int, index: int) -> Array:
        """Return a further column of an entry of v (rows,), zero in the equations of others."""
        out = np.zeros(len(self.joint))
        out[self.joint == k] = self._columns[k][:, index]
        return out

    def effect(self, places: Sequence[tuple[int, int]], times: Callable[[Array], Array]) -> tuple[float, float]:
        """Return the factor of a further column, and its standard deviation, whatever the residuals are like.

        The column is the sum of those of some entries of v. Residuals may be larger where it is large, and alike for a
        while: their products with it, summed over all joints, are what is looked at (Newey and West, "A simple,
        positive semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix", 1987). `times`
        says how many samples of such sums (n, 1) count as one.
        """
        column = sum(self.column(k, index) for k, index in places) / self.noise[self.joint]
        free = -self._modelled(self._inverse @ (self._U.T @ column))
        for k, index in places:
            free[:, k] += self._blocks[k][:, len(self._pattern[k]) + index]
        e, weights = np.stack([block[:, -1] for block in self._blocks], axis=1), self.noise**-2.0
        e -= self._modelled(self.x)
        size = float((free * free * weights).sum())
        if size <= SINGULAR * float(column @ column) or size == 0.0:
            return 0.0, np.inf
        factor = float((free * e * weights).sum()) / size
        score = (free * (e - factor * free) * weights).sum(axis=1, keepdims=True)
        return factor, float(np.sqrt((score**2).sum() * times(score)[0])) / size

    def _modelled(self, x: Array) -> Array:
        """Return what these parameters make of the forces (n, entries of v)."""
        parts = zip(self._blocks, self._pattern, strict=True)
        out = np.stack([block[:, : len(own)] @ x[own] for block, own in parts], axis=1)
        for factor, (k, index) in zip(x[len(x) - len(self._added) :], self._added, strict=True):
            out[:, k] += factor * self._blocks[k][:, len(self._pattern[k]) + index]
        return out

    def gain(self, column: Array) -> tuple[float, float, float]:
        """Return the factor that a further column would have, its standard deviation, and by how much χ² would fall."""
        c = column / self.noise[self.joint]
        free = c - self._U @ (self._U.T @ c)
        size, along = float(free @ free), float(free @ self.left)
        if size <= SINGULAR * float(c @ c) or size == 0.0:
            return 0.0, np.inf, 0.0
        return along / size, size**-0.5, along**2 / size

    def gain_of(self, columns: Array) -> tuple[Array, Array, float]:
        """Return the same of several columns (rows, m) at once."""
        c = columns / self.noise[self.joint][:, None]
        free = c - self._U @ (self._U.T @ c)
        w, V = np.linalg.eigh(free.T @ free)
        kept = w > SINGULAR * max(float((c * c).sum()), np.finfo(float).tiny)
        root = V[:, kept] / np.sqrt(w[kept])
        along = root.T @ (free.T @ self.left)
        return root @ along, np.linalg.norm(root, axis=1), float(along @ along)

    def squares(self, k: int) -> float:
        """Return χ² of the equations of an entry of v."""
        return float((self.left[self.joint == k] ** 2).sum())
