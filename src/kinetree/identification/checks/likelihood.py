"""How likely samples are: the residuals of all equations, with the noise of each joint that these leave."""

from __future__ import annotations

import numpy as np

from kinetree.identification.checks.evidence import spread_of
from kinetree.identification.checks.least_squares import SINGULAR
from kinetree.identification.equations import RegressionModel
from kinetree.logs.samples import Samples
from kinetree.validation import Array

BESIDE = ("direction", "velocity", "acceleration")  # further columns of each joint, and a constant
WEIGHINGS = 3  # steps by which the noise of each joint is found
SMALL = 1e-3  # residuals below this part of the forces' spread leave nothing to be explained


class Likelihood:
    """How likely samples are, if the noise of each joint is what its equations leave.

    Attributes
    ----------
    value : float
        The logarithm of the likelihood.
    left, alike : (nv,) array
        Root mean squares of what is left of the forces, by their spread, at least `SMALL`; and if all count alike.
    """

    def __init__(self, rows: RegressionModel, piece: Samples) -> None:
        self._grams, self._counts = _grams(rows, piece)
        left = np.ones(len(self._grams))
        self.alike, P = left, self._grams.shape[-1] - 1
        for weighing in range(WEIGHINGS):
            x, inverse, _ = self._solved(left**-2.0)
            z = np.append(-x, 1.0)
            taken = left**-2.0 * np.einsum("ij,kij->k", inverse, self._grams[:, :P, :P])
            squares = np.einsum("i,kij,j->k", z, self._grams, z) / np.maximum(self._counts - taken, 1.0)
            left = np.sqrt(np.maximum(squares, SMALL**2))
            self.alike = self.alike if weighing else left
        self.left, self.value = left, -float((self._counts * np.log(left)).sum())

    def _solved(self, weights: Array, without: int = -1) -> tuple[Array, Array, Array]:
        """Return the least-squares solution, the inverse of its matrix, and directions that are not identifiable.

        All of these may be without an entry of v, by the size of whose columns rounding is told.
        """
        whole = np.tensordot(weights, self._grams, 1)
        size = np.sqrt(np.diag(whole)[:-1])
        size = np.where(size > 0.0, size, 1.0)
        if without >= 0:
            whole = whole - weights[without] * self._grams[without]
        w, V = np.linalg.eigh(whole[:-1, :-1] / size / size[:, None])
        kept = w > SINGULAR * w.max(initial=0.0)
        V = V / size[:, None]
        inverse = (V[:, kept] / w[kept]) @ V[:, kept].T
        return inverse @ whole[:-1, -1], inverse, V[:, ~kept]

    def factor(self, k: int) -> tuple[float, float]:
        """Return by how much forces of an entry of v are larger than those of all others say, and its deviation."""
        x, _, free = self._solved(self.left**-2.0, without=k)
        B, G = np.column_stack([x, free]), self._grams[k]
        A, b = B.T @ G[:-1, :-1] @ B, B.T @ G[:-1, -1]
        size = np.sqrt(np.maximum(np.diag(A), 0.0))  # of free directions, rounding may make it negative
        if not size[0] > SINGULAR * np.sqrt(G[-1, -1]):
            return 0.0, np.inf
        size = np.where(size > 0.0, size, 1.0)
        inverse = np.linalg.pinv(A / size / size[:, None], SINGULAR, hermitian=True) / size / size[:, None]
        if not inverse[0, 0] > 0.0:  # by rounding: nothing is told
            return 0.0, np.inf
        y = inverse @ b
        squares = max(float(G[-1, -1] - b @ y), SMALL**2) / max(self._counts[k] - len(b), 1.0)
        return float(y[0]), float(np.sqrt(squares * inverse[0, 0]))


def _grams(rows: RegressionModel, piece: Samples) -> tuple[Array, Array]:
    """Return ``[Y τ]ᵀ[Y τ]`` of each entry of v, with friction of its own, by the spread of τ; and how many."""
    Y, tau = rows.masked(piece)
    spread, driven, N = spread_of(tau), rows.robot.model.actuated, rows.dimension
    width = len(BESIDE) + 1
    grams = np.zeros((len(Y), *2 * (N + width * len(driven) + 1,)))
    for k, own in enumerate(rows.pattern):
        block = [Y[k], np.column_stack([*beside(piece, k), np.ones(len(tau))]), tau[:, k]]
        place = [own, N + width * driven.index(k) + np.arange(width) if k in driven else [], [-1]]
        block = np.column_stack([x for x, at in zip(block, place, strict=True) if len(at)]) / spread[k]
        at = np.concatenate(place).astype(int)
        grams[k][np.ix_(at, at)] = block.T @ (block * (tau[:, k, None] != 0.0))
    return grams, np.count_nonzero(tau, axis=0)


def beside(piece: Samples, k: int) -> Array:
    """Return columns of an entry of v (3, n): the direction of sliding, the velocity, the acceleration."""
    direction = np.sign(piece.v[:, k]) if piece.direction is None else piece.direction[:, k]
    return np.stack([direction, piece.v[:, k], piece.a[:, k]])
