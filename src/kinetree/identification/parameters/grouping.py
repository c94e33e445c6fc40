"""Which inertial parameters are identifiable, joint by joint: the inertia that a joint passes on to its parent.

The forces of all motions are known if and only if kinetic and potential energy are, up to a constant. Both are linear
in the parameters: ``T = Σ φ_i·e(v_i)`` and ``V = Σ φ_i·p_i``, with vectors of ten entries in the dual space of a
body's parameters, and both vectors go from body to body by the same map. So each body has a space of the vectors that
it can attain, spanned from the root outwards. What the coordinates of one joint cannot change of the energy of its
child, whatever the parent does, the parent could have as well: it is passed on to it, from the leaves inwards.

The spans are found at random positions of one joint at a time, at more of them than there are dimensions.

References: Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", 1990;
Wensing, Niemeyer and Slotine, "A geometric characterization of observability in inertial parameter identification",
2024, for the idea of spans that go outwards. Joints that share coordinates, rotors and offsets are treated here as
one joint of several bodies, and as further parameters of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.recursions.tree import inertia_rate
from kinetree.algorithms.regressors import UNITS
from kinetree.model import WORLD, Model
from kinetree.spatial import Motion, Scalar, Transform
from kinetree.validation import Array

MARGIN = 6  # by how many positions of a joint there are more than its bodies have parameters
# The order in which a body's parameters join others: mass, first moments, I_yy, as in textbooks; rotors before
DEPENDENT_FIRST = (0, 1, 2, 3, 6, 4, 9, 5, 7, 8)
PIVOT = 1e-2  # entries below this, relative to the largest, are no pivots while there are others
_MOTIONS = [Motion.of(row) for row in np.eye(6)]
# ``v·(I w)`` of the ten unit inertias: (10, 6, 6)
BILINEAR = np.array([[[m.dot(unit @ w) for w in _MOTIONS] for m in _MOTIONS] for unit in UNITS], dtype=float)
# The rates of the ten unit inertias that move with six unit velocities: (6, 10, 10)
RATES = np.array([[list(inertia_rate(unit, w)) for unit in UNITS] for w in _MOTIONS], dtype=float)
# Where the ten parameters are in the matrix (6, 6) of an inertia
ENTRIES = ([3, 2, 0, 1, 0, 0, 1, 0, 1, 2], [3, 4, 5, 3, 0, 1, 1, 2, 2, 2])
CROSS = np.cross(np.eye(3), np.eye(3)[:, None]).transpose(0, 2, 1)  # the matrices of ``x × e_k``: (3, 3, 3)


class Cluster(NamedTuple):
    """Bodies whose joints share coordinates, parents first, with those between them; nearly always one body."""

    bodies: tuple[int, ...]
    parent: int  # the body that carries all of them
    v_index: tuple[int, ...]


@lru_cache(maxsize=32)
def group(
    model: Model, any_gravity: bool, further: tuple[tuple[tuple[str, int], int], ...], count: int, tolerance: float
) -> tuple[tuple[int, ...], Array]:
    """Return which of `count` parameters are independent, and the projection (n, count) of all to base parameters.

    There are 10 nb inertial ones, those of joint terms at entries of v, and others. Of the further ones "armature" and
    "offset" may depend on others. What is smaller than the tolerance is zero.
    """
    gravity = np.eye(3) if any_gravity else np.array([list(model.gravity)], dtype=float)
    index = dict(further)
    lumped = {i: np.eye(10, count, 10 * i) for i in range(model.nb)}
    rows = {k: np.eye(1, count, k)[0] for k in range(10 * model.nb, count)}
    weight = float(np.linalg.norm(gravity, axis=1).max(initial=0.0)) or 1.0  # offsets are compared with weights
    for cluster, null, transfers in reversed(list(_passed_on(model, gravity / weight, tolerance))):
        places = [10 * i + k for i in cluster.bodies for k in range(10)]
        there = [index.get((term, k), -1) for term in ("armature", "offset") for k in cluster.v_index]
        null[:, len(places) + len(cluster.v_index) :] *= weight
        null = _without(null, [len(places) + k for k, place in enumerate(there) if place < 0], tolerance)
        places += [place for place in there if place >= 0]
        added = [np.eye(1, count, place) for place in there if place >= 0]
        whole = np.vstack([*(lumped[i] for i in cluster.bodies), *added])
        dependent, reduced = _reduced(null, len(cluster.bodies))
        moved = reduced.T @ whole[dependent]
        rest = whole - moved
        rows |= {places[k]: rest[k] for k in range(len(places)) if k not in dependent}
        for k in dependent:
            rows.pop(places[k], None)
        if cluster.parent != WORLD:
            for j, transfer in enumerate(transfers):
                lumped[cluster.parent] = lumped[cluster.parent] + transfer @ moved[10 * j : 10 * j + 10]
    independent = tuple(sorted(rows))
    projection = np.array([rows[k] for k in independent]).reshape(len(rows), count)
    near = np.round(projection) + 0.0  # no zero is negative
    projection = np.where(np.abs(projection - near) < 1e-12, near, projection)
    projection.flags.writeable = False
    return independent, projection


def _without(null: Array, absent: Sequence[int], tolerance: float) -> Array:
    """Return the null space of the parameters that there are: where the absent ones are zero."""
    if absent and len(null):
        _, s, Vt = np.linalg.svd(null[:, absent].T)
        null = Vt[int((s > tolerance).sum()) :] @ null
    return np.delete(null, absent, axis=1)


def _reduced(null: Array, bodies: int) -> tuple[list[int], Array]:
    """Return which parameters follow from others, and the null space with the identity there."""
    order = [*range(10 * bodies, null.shape[1])]
    order += [10 * b + k for k in DEPENDENT_FIRST for b in reversed(range(bodies))]
    chosen: list[int] = []
    left, bound = null.copy(), PIVOT
    while len(chosen) < len(null):
        sizes = np.abs(left).max(axis=0, initial=0.0)
        pivot = next((k for k in order if k not in chosen and sizes[k] > bound), None)
        if pivot is None:
            bound /= 10.0
            continue
        chosen.append(pivot)
        v = left[:, pivot] / np.linalg.norm(left[:, pivot])
        left = left - np.outer(v, v @ left)
    return chosen, np.asarray(np.linalg.solve(null[:, chosen], null), dtype=np.float64)


def _clusters(model: Model) -> list[Cluster]:
    """Return the bodies in clusters, parents first: bodies that share a coordinate, and those on the way between."""
    ways: list[list[int]] = []
    for i, body in enumerate(model.bodies):
        ways.append([i, *([] if body.parent == WORLD else ways[body.parent])])
    groups = [{i} for i in range(model.nb)]
    leaders = {k: i for i in model.joint_order for k in model.bodies[i].v_index}
    for i, body in enumerate(model.bodies):
        before, own = set[int](), {i, *(leaders[k] for k in body.v_index)}
        while own != before:  # with those between them and their first common ancestor, and with all of theirs
            before = own
            above = set.intersection(*({*ways[j][1:]} for j in own))
            own = set[int]().union(*(groups[j] for way in (ways[j] for j in own) for j in {*way} - above))
        for j in own:
            groups[j] = own
    found = []
    for own in {id(own): own for own in groups}.values():
        v_index = sorted({k for i in own for k in model.bodies[i].v_index})
        found.append(Cluster(tuple(sorted(own)), model.bodies[min(own)].parent, tuple(v_index)))
    return found


def _passed_on(model: Model, gravity: Array, tolerance: float) -> Iterator[tuple[Cluster, Array, Array]]:
    """Yield what each cluster passes on, parents first, with directions of gravity (k, 3): one, or all.

    These are orthonormal rows of what has no effect on the forces of its joints if the parent has it too: ten
    parameters a body, armatures, offsets in units of gravity's length; and the maps (m, 10, 10) to the parent's.
    """
    rng = np.random.default_rng(0)
    at_rest = np.zeros((len(gravity) + (len(gravity) > 1), 11))  # and one for potentials, which offsets compete with
    at_rest[: len(gravity), 1:4], at_rest[:, 10] = -gravity, 1.0
    attained = {WORLD: (at_rest, np.zeros((0, 6)))}  # energies and velocities, orthonormal rows
    for cluster in _clusters(model):
        energies, velocities = attained[cluster.parent]
        m, n, w = len(cluster.bodies), len(cluster.v_index), len(velocities)
        X, J = _positions(model, cluster, rng, 10 * m + 2 * n + MARGIN)
        potential = energies[:, :10] @ transfer(X)
        moving = np.concatenate([X @ velocities.T, J], axis=-1)
        kinetic = np.moveaxis(_transposed(moving)[..., None, :, :] @ BILINEAR @ J[..., None, :, :], -3, -1)
        fields = potential[:, :, None] @ _transposed(np.tensordot(J, RATES, (2, 0)))
        i, j = np.triu_indices(n)
        rows = []
        for effect in (fields, kinetic[..., :w, :, :], kinetic[..., w:, :, :][..., i, j, :]):
            own = np.moveaxis(effect, 0, -2).reshape(X.shape[1], -1, 10 * m)
            rows.append(np.concatenate([own, np.zeros((*own.shape[:2], 2 * n))], axis=-1))
        rows[0][..., 10 * m + n :] = np.kron(np.eye(n), energies[:, 10:])
        rows[2][..., 10 * m : 10 * m + n] = np.eye(n)[i] * (i == j)[:, None]
        every = [_gyroscopic(model, cluster), *(x.reshape(-1, 10 * m + 2 * n) for x in rows)]
        basis = _spanned(np.vstack(every), tolerance)
        null = np.linalg.svd(basis)[2][len(basis) :] if len(basis) else np.eye(10 * m + 2 * n)
        for body, p, k, v in zip(cluster.bodies, potential, kinetic, moving, strict=True):
            known = np.concatenate([p, np.broadcast_to(energies[:, 10:], (*p.shape[:2], 1))], axis=-1).reshape(-1, 11)
            own = np.vstack([known, np.pad(k.reshape(-1, 10), ((0, 0), (0, 1)))])
            attained[body] = _spanned(own, tolerance), _spanned(_transposed(v).reshape(-1, 6), tolerance)
        yield cluster, null, transfer(X[:, 0])


def _positions(model: Model, cluster: Cluster, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Return transforms (m, 1 + count, 6, 6) to each body and Jacobians (…, n), at zero and at random positions."""
    q = np.zeros((model.nq, 1 + count))
    for i in cluster.bodies:
        body = model.bodies[i]
        if i in model.joint_order:
            q[list(body.q_index)] = np.vstack([body.joint.neutral(), body.joint.random(rng, size=(count,))]).T
    X: dict[int, Array] = {}
    J: dict[int, Array] = {}
    for i in cluster.bodies:
        body, state = model.bodies[i], model.jcalc(i, q)  # type: ignore[arg-type]  # arrays are scalars too
        X[i], J[i] = np.empty((1 + count, 6, 6)), np.zeros((1 + count, 6, len(cluster.v_index)))
        X[i][:] = matrix_of(state.X_J) @ matrix_of(body.X_T)
        if body.parent in X:
            J[i], X[i] = X[i] @ J[body.parent], X[i] @ X[body.parent]
        for k, S_k in zip(body.v_index, state.S, strict=True):
            J[i][..., cluster.v_index.index(k)] += _array_of([*S_k])
    return np.array([*X.values()]), np.array([*J.values()])


def _gyroscopic(model: Model, cluster: Cluster) -> Array:
    """Return rows for the armatures, whose force is their product with the accelerations and nothing more.

    If velocities are no rates of coordinates, as those of a ball joint, bodies of the same kinetic energy would have
    gyroscopic forces too: ``Σ_l D_l ν_l [ν, e_k]_l`` by Hamel's equations, for all ν and k.
    """
    first, n, rows = 10 * len(cluster.bodies), len(cluster.v_index), []
    for i in cluster.bodies:
        body = model.bodies[i]
        at = [first + cluster.v_index.index(k) for k in body.v_index]
        units = np.eye(len(at)).tolist()
        c = np.array([[body.joint.bracket(a, b) for b in units] for a in units], dtype=float)
        for j, k, l in np.ndindex(c.shape):
            row = np.zeros(first + 2 * n)
            row[at[j]] += c[k, l, j]
            row[at[k]] += c[j, l, k]
            rows.append(row)
    return np.array(rows).reshape(-1, first + 2 * n)


def _spanned(rows: Array, tolerance: float) -> Array:
    """Return orthonormal rows that span these (k, columns)."""
    _, s, Vt = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(Vt[: int((s > tolerance * s.max(initial=0.0)).sum())])


def transfer(X: Array) -> Array:
    """Return the map (..., 10, 10) from inertial parameters to those in the frame from which X (..., 6, 6) leads."""
    X = X[..., None, :, :]
    return _transposed((_transposed(X) @ BILINEAR @ X)[..., *ENTRIES])


def matrix_of(X: Transform) -> Array:
    """Return a transform of motions as a matrix (6, 6); as many (..., 6, 6) if its numbers are arrays (...)."""
    E, r = _array_of([x for row in X.E.matrix.rows for x in row]), _array_of([*X.r])
    E = E.reshape(*E.shape[:-1], 3, 3)
    out = np.zeros((*np.broadcast_shapes(E.shape[:-2], r.shape[:-1]), 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = E
    out[..., 3:, :3] = E @ np.tensordot(r, CROSS, 1)
    return out


def _array_of(entries: Sequence[Scalar]) -> Array:
    """Return scalars, each a number or an array (...), as an array (..., n)."""
    return np.stack(np.broadcast_arrays(*entries), axis=-1)


def _transposed(x: Array) -> Array:
    return np.swapaxes(x, -1, -2)
