"""The same problem as `kinetree.identification.bodies` for a solver of cone programmes: an oracle of tests.

``log det P ≥ t`` is a linear matrix inequality with a lower triangular matrix Z, and exponential cones:
``[[P, Z], [Zᵀ, diag Z]] ⪰ 0`` and ``t ≤ Σ log Z_kk``.

References: Goulart and Chen, "Clarabel: an interior-point solver for conic programs with quadratic objectives", 2024;
Ben-Tal and Nemirovski, "Lectures on modern convex optimization", 2001, section 4.2, for the inequality.
"""

from __future__ import annotations

from collections.abc import Mapping

import clarabel
import numpy as np
from scipy import sparse

from helpers.trees import Array
from kinetree.identification.newton import BASIS, Consistent, Problem, pseudo_inertia

ENTRIES = 10
"""Of a lower triangular matrix (4, 4)."""

LOWER = [(i, j) for i in range(4) for j in range(i + 1)]


def solve(problem: Problem) -> Consistent:
    """Return the minimum by Clarabel, and the duality gap that it certifies.

    Its variables are the parameters in units of the prior's.
    """
    nb, n, root = problem.bodies, len(problem.prior), np.sqrt(problem.strength)
    units = np.where(problem.prior == 0.0, 1.0, np.abs(problem.prior))
    J0 = pseudo_inertia(problem.prior[: 10 * nb].reshape(-1, 10))
    diagonal = np.sqrt(np.einsum("bii->bi", J0))  # of the frame and the units in which a prior is of size one
    for i in range(nb):
        units[10 * i : 10 * i + 10] = _units(diagonal[i])
    C = problem.positive * units
    size = np.abs(C).max(axis=1, initial=0.0)  # of u, where it is of size one
    # variables: x in these units, Z and log Z_kk of each body, log u of what is positive
    first_Z, first_log, first_own = n, n + ENTRIES * nb, n + ENTRIES * nb + 4 * nb
    count = first_own + len(C)
    condensed = problem.condensed()
    A, b = condensed.A * units / root, condensed.b / root
    P = np.zeros((count, count))
    P[:n, :n] = A.T @ A
    linear = np.zeros(count)
    linear[:n] = -A.T @ b
    share = problem.weights / problem.strength
    linear[first_log:], linear[first_own:] = -1.0, -share
    rows, right, cones = [], [], []
    for i in range(nb):
        own = slice(10 * i, 10 * i + 10)
        scaled = BASIS * units[own, None, None] / np.outer(diagonal[i], diagonal[i])
        linear[own] += np.einsum("ab,kba->k", np.linalg.inv(J0[i] / np.outer(diagonal[i], diagonal[i])), scaled)
        block = np.zeros((count, 8, 8))
        block[own, :4, :4] = scaled
        for e, (r, c) in enumerate(LOWER, start=first_Z + ENTRIES * i):
            block[e, r, 4 + c] = block[e, 4 + c, r] = 1.0
            if r == c:
                block[e, 4 + r, 4 + r] = 1.0
                rows += _exponential(count, first_log + 4 * i + r, {e: 1.0})
                right += [0.0, 1.0, 0.0]
                cones.append(clarabel.ExponentialConeT())
        rows += list(-_triangles(block).T)
        right += [0.0] * 36
        cones.append(clarabel.PSDTriangleConeT(8))
    linear[:n] += (share / (problem.positive @ problem.prior)) @ C
    for k, row in enumerate(C / size[:, None]):
        rows += _exponential(count, first_own + k, dict(enumerate(row.tolist())))
        right += [0.0, 1.0, 0.0]
        cones.append(clarabel.ExponentialConeT())
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    arguments = sparse.csc_matrix(np.triu(P)), linear, sparse.csc_matrix(np.array(rows)), np.array(right)
    found = clarabel.DefaultSolver(*arguments, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    gap = abs(found.obj_val - found.obj_val_dual) * problem.strength
    return Consistent(np.array(found.x[:n]) * units, gap)


def _units(diagonal: Array) -> Array:
    """Return units of the ten parameters in which a body with this diagonal of its pseudo-inertia is of size one."""
    x, y, z, m = diagonal
    h = [x * m, y * m, z * m]
    return np.array([m * m, *h, x * x, x * y, y * y, x * z, y * z, z * z])


def _exponential(count: int, logarithm: int, of: Mapping[int, float]) -> list[Array]:
    """Return three rows of ``s = b − A x`` in the cone ``s_2 e^{s_1/s_2} ≤ s_3``: a logarithm, one, and of what."""
    a, one, x = np.zeros((3, count))
    a[logarithm], x[list(of)] = -1.0, [-factor for factor in of.values()]
    return [a, one, x]


def _triangles(matrices: Array) -> Array:
    """Return upper triangles by columns, with √2 times what is off the diagonal, as Clarabel has symmetric matrices."""
    size = matrices.shape[-1]
    columns = [(i, j) for j in range(size) for i in range(j + 1)]
    return np.stack([matrices[:, i, j] * (1.0 if i == j else np.sqrt(2.0)) for i, j in columns], axis=-1)
