"""The inverse of the mass matrix: from the factors, or in loops over its columns where that code would be too long."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import UNROLLED, Factor, ltdl
from kinetree.algorithms.dynamics.singular import SINGULAR, refuse_singular
from kinetree.algorithms.recursions.columns import Column, Columns, path_lengths
from kinetree.algorithms.recursions.tree import Pivot, articulated_bodies
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import WORLD, Model
from kinetree.model.edit import regrouped
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Force, Mobility, Motion, Scalar

Row = dict[int, Scalar]

UNROLLED_FACTOR = 600
"""The `path_lengths` above which solutions with given factors are a loop over right-hand sides."""


def articulated_model(
    model: Model, q: Vector, rigid: Collection[int] = ()
) -> tuple[list[BodyState], dict[int, list[Pivot]]]:
    """Return the states of all bodies, and the pivots of the articulated-body recursion: none of rigid bodies."""
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return states, {i: met for i, met, _ in articulated_bodies(model, states, rigid)}


def inverse_by_segments(model: Model, q: Vector) -> Matrix:
    """Return ``M⁻¹``, whose column k is the response to a unit force at k, with loops over forces (`Columns`).

    At a joint a force p leaves ``a = D⁻¹ u + Ω U D⁻¹·p``, with the mobility Ω of the body that carries it; where
    branches meet, forces of joints of two of them leave ``p·Ω p``.
    """
    states, pivots = articulated_model(model, q)
    mobility, g = _mobilities(model, states, pivots)
    M_inverse: Matrix = [[0.0] * model.nv for _ in range(model.nv)]

    def response(j: int, n: int, p: Force) -> tuple[Scalar, Force]:
        k, S, UD, D_inverse = pivots[j][n]
        u = -S.dot(p)
        p = p + UD * u
        return u * D_inverse + g[k].dot(p), p

    def put(k: int, l: int, x: Scalar) -> None:
        M_inverse[k][l] = M_inverse[l][k] = x

    joints = [[pivot.k for pivot in pivots[i]] for i in range(model.nb)]
    columns = Columns(model, states, joints, response, put, q[0], loops=True)
    for i in reversed(range(model.nb)):
        met: list[Column] = []
        for branch in columns.branches(i):
            _meet(mobility[i], met, branch, put, q[0])
            met += branch
        columns.pass_on(i)
        for n, (k, _, UD, D_inverse) in enumerate(pivots[i], 1):
            put(k, k, D_inverse + g[k].dot(UD))
            columns.begin(i, k, UD, range(n, len(joints[i])))
    return M_inverse


def _mobilities(
    model: Model, states: Sequence[BodyState], pivots: Mapping[int, Sequence[Pivot]]
) -> tuple[list[Mobility], dict[int, Motion]]:
    """Return the mobility of every body, and ``g`` of every velocity."""
    mobilities: list[Mobility] = []
    g: dict[int, Motion] = {}
    for i, body in enumerate(model.bodies):
        mobility = Mobility.zero() if body.parent == WORLD else mobilities[body.parent].at(states[i].Xup)
        for pivot, rotor in zip(reversed(pivots[i]), body.armature, strict=True):
            g[pivot.k] = mobility @ pivot.UD
            mobility = mobility.freed(pivot.S, pivot.UD, pivot.D_inverse, rotor)
        mobilities.append(mobility)
    return mobilities, g


def _meet(
    mobility: Mobility,
    some: Sequence[Column],
    others: Sequence[Column],
    put: Callable[[int, int, Scalar], None],
    like: Scalar,
) -> None:
    """Put the entries of joints of two sides of a body, where the forces have arrived."""

    def products(p: list[Scalar]) -> list[Scalar]:
        a = mobility @ Force.of(p)
        return [a.dot(F) for _, F in others]

    forces = [list(F) for _, F in some]
    for (l, _), column in zip(some, map_columns(products, forces, like) if forces else [], strict=True):
        for (k, _), x in zip(others, column, strict=True):
            put(k, l, x)


def inverse(factor: Factor) -> list[Row]:
    """Return the rows of L⁻¹, which has the sparsity of L, without their zeros."""
    order, support, L, _ = factor
    W: list[Row] = [{} for _ in order]
    for k in order:
        row = {i: 0.0 for j in support[k] for i in W[j]}
        for j in support[k]:
            for i, W_ji in W[j].items():
                row[i] = row[i] - L[k][j] * W_ji
        W[k] = row | {k: 1.0}
    return W


def articulated_inverse(model: Model, q: Vector, rigid: Collection[int] = ()) -> tuple[list[Row], dict[int, Scalar]]:
    """Return the rows of L⁻¹ without zeros, and D⁻¹: responses of the recursion to unit forces; nothing cancels.

    Where the joints of rigid bodies do not move, they are those of the others.
    """
    states, pivots = articulated_model(model, q, rigid)
    W: list[Row] = [{} for _ in range(model.nv)]
    for i, (n, (k, _, p, _)) in ((i, entry) for i, met in pivots.items() for entry in enumerate(met)):
        row, beyond = {k: 1.0}, pivots[i][n + 1 :]
        while True:
            for pivot in beyond:
                u = -pivot.S.dot(p)
                if not is_zero(u):
                    row[pivot.k] = u
                    p = p + pivot.UD * u
            parent = model.bodies[i].parent
            if parent == WORLD:
                break
            p, i, beyond = states[i].Xup.T @ p, parent, pivots[parent]
        W[k] = row
    return W, {pivot.k: pivot.D_inverse for met in pivots.values() for pivot in met}


def product(W: Sequence[Row], D_inverse: Mapping[int, Scalar]) -> Matrix:
    """Return ``M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ``, exactly symmetric; an entry sums over the velocities that carry both of its own."""
    n = len(W)
    M_inverse: Matrix = [[0.0] * n for _ in range(n)]
    for k in range(n):
        scaled = {i: W_ki * D_inverse[i] for i, W_ki in W[k].items()}
        for l in range(k + 1):
            x = 0.0
            for i in sorted(W[l].keys() & scaled.keys()):
                x = x + scaled[i] * W[l][i]
            M_inverse[k][l] = M_inverse[l][k] = x
    return M_inverse


@algorithm("mass_matrix_inverse", outputs="Minv", raises=SINGULAR)
def mass_matrix_inverse(model: Model, q: Vector) -> Matrix:
    """Inverse of the joint-space inertia matrix, M(q)⁻¹; for one product M⁻¹ b, `solve_mass_matrix` is cheaper.

    References: RBDA section 6.5 with the factors of Table 7.1: a row of ``L⁻¹`` in ``M = LᵀDL`` is the response of the
    recursion to a unit force at one joint. With mimic joints, which couple branches, M is factorised instead.
    The columns of many joints are computed by a loop.
    """
    refuse_singular(model)
    if model.has_mimic_joints:
        factor = ltdl(model, crba(regrouped(model), q))
        if path_lengths(model) > UNROLLED_FACTOR:
            n = range(model.nv)
            columns = map_columns(factor.solve, [[float(k == l) for l in n] for k in n], q[0])
            return [[columns[min(k, l)][max(k, l)] for l in n] for k in n]
        return product(inverse(factor), {k: 1.0 / d for k, d in enumerate(factor.D)})
    if path_lengths(model) > UNROLLED:
        return inverse_by_segments(model, q)
    return product(*articulated_inverse(model, q))
