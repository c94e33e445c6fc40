"""Weighted least squares of the equations of all joints, and what further columns would explain of the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

SINGULAR = 1e-9  # directions with an effect below this, relative to the greatest, are not identifiable
WEIGHINGS = 4  # steps by which the noise of each joint is found


class System:
    """Triangular factors of the equations of each joint, weighted by its noise, which is found by turns.

    Parameters
    ----------
    blocks : sequence of (n, m_k) arrays
        The columns of each joint's own parameters, further ones that are not estimated, and the right-hand side.
    pattern : sequence of arrays of int
        Which parameters each joint has.
    counts, spread : (nv,) arrays
        How many of its equations count, and how large its noise is at first.

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
        self._A = np.zeros((len(self.joint), 1 + max((int(own.max(initial=-1)) for own in pattern), default=-1)))
        for k, (R, own) in enumerate(zip(factors, pattern, strict=True)):
            self._A[np.ix_(self.joint == k, own)] = R[:, : len(own)]
        self._b = np.concatenate([R[:, -1] for R in factors])
        self._counts, self.noise = np.maximum(counts, 1.0), spread.copy()
        self._weigh()

    def _weigh(self) -> None:
        nv = len(self.noise)
        for _ in range(WEIGHINGS):
            scale = self.noise[self.joint]
            A, b = self._A / scale[:, None], self._b / scale
            size = np.linalg.norm(A, axis=0)
            size[size == 0.0] = 1.0
            U, s, Vt = np.linalg.svd(A / size, full_matrices=False)
            kept = s > SINGULAR * s.max(initial=0.0)
            self._U, self._inverse = U[:, kept], Vt[kept].T / s[kept] / size[:, None]
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
            free[:, k] += self._further(k, index)
        size = float((free * free * self.noise**-2.0).sum())
        if size <= SINGULAR * float(column @ column) or size == 0.0:
            return 0.0, np.inf
        e = self.residuals
        factor = float((free * e * self.noise**-2.0).sum()) / size
        score = (free * (e - factor * free) * self.noise**-2.0).sum(axis=1, keepdims=True)
        return factor, float(np.sqrt((score**2).sum() * times(score)[0])) / size

    @property
    def residuals(self) -> Array:
        """What is left of the right-hand sides (n, entries of v)."""
        return np.asarray(np.stack([block[:, -1] for block in self._blocks], axis=1) - self._modelled(self.x))

    def _modelled(self, x: Array) -> Array:
        """Return the forces that these parameters predict (n, entries of v)."""
        parts = zip(self._blocks, self._pattern, strict=True)
        out = np.stack([block[:, : len(own)] @ x[own] for block, own in parts], axis=1)
        for factor, (k, index) in zip(x[len(x) - len(self._added) :], self._added, strict=True):
            out[:, k] += factor * self._further(k, index)
        return out

    def _further(self, k: int, index: int) -> Array:
        return self._blocks[k][:, len(self._pattern[k]) + index]

    def gain(self, columns: Array) -> tuple[Array, Array, float]:
        """Return factors of further columns (rows, m), their standard deviations, and by how much χ² would fall."""
        c = columns / self.noise[self.joint][:, None]
        free = c - self._U @ (self._U.T @ c)
        w, V = np.linalg.eigh(free.T @ free)
        kept = w > SINGULAR * max(float((c * c).sum()), np.finfo(float).tiny)
        root = V[:, kept] / np.sqrt(w[kept])
        along = root.T @ (free.T @ self.left)
        return root @ along, np.linalg.norm(root, axis=1), float(along @ along)

    def deviations(self, combinations: Array) -> Array:
        """Return the standard deviations of combinations (m, n) of the solution, of one joint's equations alone."""
        return np.asarray(np.linalg.norm(combinations @ self._inverse, axis=1))

    def squares(self, k: int) -> float:
        """Return χ² of the equations of an entry of v."""
        return float((self.left[self.joint == k] ** 2).sum())
