"""Weighted least squares of the equations of all joints, and what columns that are not estimated would explain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree.validation import Array

SINGULAR = 1e-9  # squared effects of directions below this, relative to the greatest, are not identifiable
WEIGHINGS = 3  # steps by which the noise of each joint is found


class Regression:
    """``Y x = τ`` of each joint, weighted by its noise, which is found by turns.

    The blocks (n, m_k + 1) are the columns of each joint's parameters, whose numbers the pattern has, and right-hand
    sides: zeros where there is no equation. The first parameters are estimated, the others are candidates; the noise
    is the spread (nv,) at first, and at least a part of it.

    `x` (N + 1,) is the solution, zero of candidates, and −1 for the right-hand side; `noise` (nv,) is the deviation of
    residuals, `alike` (nv,) the same if all joints' count alike by their spread, `squares` (nv,) is χ².
    """

    def __init__(
        self, blocks: Sequence[Array], pattern: Sequence[Array], estimated: int, spread: Array, least: float = 1e-12
    ) -> None:
        self.size = max([estimated, *(1 + int(own.max(initial=-1)) for own in pattern)])
        self._blocks, self._places = blocks, [np.append(own, self.size).astype(int) for own in pattern]
        self._grams = [block.T @ block for block in blocks]
        self.counts = np.array([np.count_nonzero(block[:, -1]) for block in blocks])
        self.estimated, self.spread = np.arange(self.size) < estimated, spread
        self.noise = self.alike = spread
        self._least = least * spread
        self._weigh()

    def _weigh(self) -> None:
        for weighing in range(WEIGHINGS):
            self._whole = self._summed(self.noise**-2.0)
            self._inverse, _ = self._inverted(self._whole)
            self.x = np.append(self._inverse @ self._whole[:-1, -1], -1.0)
            sums = np.zeros((2, len(self._grams)))
            for own, at, G in zip(sums.T, self._places, self._grams, strict=True):
                own[:] = self.x[at] @ G @ self.x[at], np.vdot(self._inverse[np.ix_(at[:-1], at[:-1])], G[:-1, :-1])
            self.squares, taken = sums / self.noise**2
            left = np.maximum(self.counts - taken, 1.0)
            self.noise = np.maximum(np.sqrt(np.maximum(sums[0], 0.0) / left), self._least)
            self.alike = self.alike if weighing else self.noise

    def _summed(self, weights: Array) -> Array:
        """Return ``[Y τ]ᵀ[Y τ]`` of all joints."""
        whole = np.zeros((self.size + 1, self.size + 1))
        for at, gram, weight in zip(self._places, self._grams, weights, strict=True):
            whole[np.ix_(at, at)] += weight * gram
        return whole

    def _inverted(self, whole: Array) -> tuple[Array, Array]:
        """Return the inverse (N, N) for the estimated parameters, and directions (N, r) that change no force.

        Rounding is told by the size of the columns in all equations.
        """
        own = np.flatnonzero(self.estimated)
        size = np.sqrt(np.diag(self._whole)[own])
        size = np.where(size > 0.0, size, 1.0)
        w, V = np.linalg.eigh(whole[np.ix_(own, own)] / size / size[:, None])
        V, kept = V / size[:, None], w > SINGULAR * w.max(initial=0.0)
        inverse, null = np.zeros((self.size, self.size)), np.zeros((self.size, int((~kept).sum())))
        inverse[np.ix_(own, own)], null[own] = (V[:, kept] / w[kept]) @ V[:, kept].T, V[:, ~kept]
        return inverse, null

    @property
    def likelihood(self) -> float:
        """The logarithm of the likelihood."""
        return -float((self.counts * np.log(self.noise / self.spread)).sum())

    @property
    def residuals(self) -> Array:
        """What is left of the right-hand sides (n, nv)."""
        return -self._forces(self.x)

    def _forces(self, x: Array) -> Array:
        return np.stack([block @ x[at] for block, at in zip(self._blocks, self._places, strict=True)], axis=1)

    def add(self, candidate: int) -> None:
        """Estimate a candidate too."""
        self.estimated[candidate] = True
        self._weigh()

    def gain(self, candidates: ArrayLike) -> tuple[Array, Array, float]:
        """Return factors of some candidates, their standard deviations, and by how much χ² would fall."""
        at, G = np.asarray(candidates), self._whole
        rest = G[at] - G[at, :-1] @ self._inverse @ G[:-1]
        w, V = np.linalg.eigh(rest[:, at])
        kept = w > SINGULAR * max(float(G[at, at].sum()), np.finfo(float).tiny)
        root = V[:, kept] / np.sqrt(w[kept])
        along = root.T @ rest[:, -1]
        return root @ along, np.linalg.norm(root, axis=1), float(along @ along)

    def effect(self, candidate: int, times: Callable[[Array], Array]) -> tuple[float, float]:
        """Return the factor of a candidate, and its standard deviation, whatever the residuals are like.

        Residuals may be larger where its column is large, and alike for a while: their products with it, summed over
        all joints, are what is looked at (Newey and West, "A simple, positive semi-definite, heteroskedasticity and
        autocorrelation consistent covariance matrix", 1987). `times` says how many samples of such sums (n, 1) count
        as one.
        """
        others = np.append(-self._inverse @ self._whole[:-1, candidate], 0.0)
        others[candidate] = 1.0
        free = self._forces(others) / self.noise
        size = float((free * free).sum())
        if size <= SINGULAR * self._whole[candidate, candidate] or size == 0.0:
            return 0.0, np.inf
        e = self.residuals / self.noise
        factor = float((free * e).sum()) / size
        score = (free * (e - factor * free)).sum(axis=1, keepdims=True)
        return factor, float(np.sqrt((score**2).sum() * times(score)[0])) / size

    def deviations(self, combinations: Array) -> Array:
        """Return the standard deviations of combinations (m, N) of the solution."""
        return np.asarray(np.sqrt(np.einsum("mi,ij,mj->m", combinations, self._inverse, combinations)))

    def ratio(self, k: int) -> tuple[float, float]:
        """Return by how much right-hand sides of a joint are larger than those of all others say, and its deviation."""
        weights = self.noise**-2.0
        weights[k] = 0.0
        whole = self._summed(weights)
        inverse, free = self._inverted(whole)
        at, G = self._places[k][:-1], self._grams[k]
        B = np.column_stack([inverse @ whole[:-1, -1], free])[at]
        A, b = B.T @ G[:-1, :-1] @ B, B.T @ G[:-1, -1]
        size = np.sqrt(np.maximum(np.diag(A), 0.0))  # of free directions, rounding may make it negative
        if not size[0] > SINGULAR * np.sqrt(G[-1, -1]):
            return 0.0, np.inf
        size = np.where(size > 0.0, size, 1.0)
        C = np.linalg.pinv(A / size / size[:, None], SINGULAR, hermitian=True) / size / size[:, None]
        if not C[0, 0] > 0.0:  # by rounding: nothing is told
            return 0.0, np.inf
        left = max(float(G[-1, -1] - b @ C @ b), self._least[k] ** 2) / max(self.counts[k] - len(b), 1.0)
        return float(C[0] @ b), float(np.sqrt(left * C[0, 0]))


def spread_of(tau: Array) -> Array:
    """Return the standard deviations (nv,) of forces (n, nv); of those that are zero, the greatest one."""
    spread = tau.std(axis=0)
    most = spread.max(initial=0.0)
    return np.asarray(np.where(spread > SINGULAR * most, spread, most or 1.0))
