"""Which inertial parameters are identifiable, joint by joint: the inertia that a joint passes on to its parent.

The forces of all motions are known if and only if kinetic and potential energy are, up to a constant. Both are linear
in the parameters: ``T = Σ φ_i·e(v_i)`` and ``V = Σ φ_i·p_i``, with vectors of ten entries in the dual space of a
body's parameters, and both vectors go from body to body by the same map. So each body has a space of the vectors that
it can attain, spanned from the root outwards. What the coordinates of one joint cannot change of the energy of its
child, whatever the parent does, the parent could have as well: it is passed on to it, from the leaves inwards.

The spans are found at random positions of one joint at a time. They are exact after finitely many: as long as a span
is not complete, almost every position adds to it.

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

SAMPLES = 6
"""Positions that are looked at together, and again so many until the last two add nothing."""

MOST_TIMES = 20

DEPENDENT_FIRST = (0, 1, 2, 3, 6, 4, 9, 5, 7, 8)
"""The order in which a body's parameters join others: mass, first moments, I_yy, as in textbooks; rotors before."""

PIVOT = 1e-2
"""Entries below this, relative to the largest, are no pivots while there are others."""

MOTIONS = [Motion.of(row) for row in np.eye(6)]
BILINEAR = np.array([[[m.dot(unit @ w) for w in MOTIONS] for m in MOTIONS] for unit in UNITS], dtype=float)
"""``v·(I w)`` of the ten unit inertias: (10, 6, 6)."""

RATES = np.array([[list(inertia_rate(unit, w)) for unit in UNITS] for w in MOTIONS], dtype=float)
"""The rates of the ten unit inertias that move with six unit velocities: (6, 10, 10)."""

ENTRIES = ([3, 2, 0, 1, 0, 0, 1, 0, 1, 2], [3, 4, 5, 3, 0, 1, 1, 2, 2, 2])
"""Where the ten parameters are in the matrix (6, 6) of an inertia."""

CROSS = np.cross(np.eye(3), np.eye(3)[:, None]).transpose(0, 2, 1)
"""The matrices of ``x × e_k``: (3, 3, 3)."""


class Grouping(NamedTuple):
    """Which columns of a regressor are independent, in increasing order, and how the others follow."""

    independent: tuple[int, ...]
    projection: Array  # (n, N), from all parameters to the values that take the place of those: there the identity


class Cluster(NamedTuple):
    """Bodies whose joints share coordinates, parents first, with those between them; nearly always one body."""

    bodies: tuple[int, ...]
    parent: int  # the body that carries all of them
    v_index: tuple[int, ...]


class Attained(NamedTuple):
    """What one body can attain, as orthonormal rows."""

    energies: Array  # (..., 11), factors of its ten parameters; then one for potentials, which offsets compete with
    velocities: Array  # (..., 6)

    @property
    def is_all(self) -> bool:
        """Whether it is everything: then so it is for all that the body carries."""
        return len(self.energies) == 11 and len(self.velocities) == 6


class Passed(NamedTuple):
    """What the joints of a cluster pass on: what has no effect on their forces if the parent has it too."""

    cluster: Cluster
    null: Array  # orthonormal rows: ten parameters a body, armatures, offsets in units of gravity's length
    transfers: tuple[Array, ...]  # maps (10, 10) from each body's parameters to the parent's


@lru_cache(maxsize=32)
def group(
    model: Model, any_gravity: bool, further: tuple[tuple[tuple[str, int], int], ...], count: int, tolerance: float
) -> Grouping:
    """Return the base parameters among `count` parameters: 10 nb, of joint terms at entries of v, and others.

    Of the further ones "armature" and "offset" may depend on others. What is smaller than the tolerance is zero.
    """
    gravity = np.eye(3) if any_gravity else np.array([list(model.gravity)], dtype=float)
    index = dict(further)
    lumped = {i: np.eye(10, count, 10 * i) for i in range(model.nb)}
    rows = {k: np.eye(1, count, k)[0] for k in range(10 * model.nb, count)}
    weight = float(np.linalg.norm(gravity, axis=1).max(initial=0.0)) or 1.0  # offsets are compared with weights
    for cluster, null, transfers in reversed(list(passed_on(model, gravity / weight, tolerance))):
        places = [10 * i + k for i in cluster.bodies for k in range(10)]
        there = [index.get((term, k), -1) for term in ("armature", "offset") for k in cluster.v_index]
        null = _without(null, [len(places) + k for k, place in enumerate(there) if place < 0], tolerance)
        offsets = sum(place >= 0 for place in there[len(cluster.v_index) :])
        null[:, null.shape[1] - offsets :] *= weight
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
    return Grouping(independent, projection)


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


def clusters(model: Model) -> list[Cluster]:
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


def passed_on(model: Model, gravity: Array, tolerance: float) -> Iterator[Passed]:
    """Yield each cluster's parameters for its parent, parents first, with directions of gravity (k, 3): one, or all."""
    rng = np.random.default_rng(0)
    energies = np.zeros((len(gravity) + 1, 11))
    energies[:-1, 1:4], energies[:, 10] = -gravity, 1.0
    if len(gravity) == 1:
        energies = energies[:1]
    attained = {WORLD: Attained(_grown(np.zeros((0, 11)), energies, tolerance), np.zeros((0, 6)))}
    for cluster in clusters(model):
        parent, m, n = attained[cluster.parent], len(cluster.bodies), len(cluster.v_index)
        sizes = [10 * m + 2 * n] if parent.is_all else [10 * m + 2 * n, *[11] * m, *[6] * m]
        spaces = [np.zeros((0, size)) for size in sizes]
        spaces[0] = _grown(spaces[0], _gyroscopic(model, cluster), tolerance)
        for _ in range(MOST_TIMES):
            everywhere, J = _positions(model, cluster, rng, SAMPLES)
            X, J = everywhere[:, 1:], J[:, 1:]
            if parent.is_all and (J[:, :1] == J).all():  # nothing depends on the position
                X, J = X[:, :1], J[:, :1]
            rows = _rows(X, J, parent)
            some = [_grown(space, x[:-2], tolerance) for space, x in zip(spaces, rows, strict=True)]
            spaces = [_grown(space, x[-2:], tolerance) for space, x in zip(some, rows, strict=True)]
            if J.shape[1] == 1 or all(len(a) == len(b) for a, b in zip(some, spaces, strict=True)):
                break
        own = map(Attained, spaces[1 : m + 1], spaces[m + 1 :])
        attained |= zip(cluster.bodies, [parent] * m if parent.is_all else own, strict=True)
        null = np.linalg.svd(spaces[0])[2][len(spaces[0]) :]
        yield Passed(cluster, null, tuple(transfer(everywhere[:, 0])))


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


def _rows(X: Array, J: Array, parent: Attained) -> list[Array]:
    """Return rows (count, ..., columns): how the forces of a cluster's joints depend on its parameters.

    Then what its bodies attain, their energies and their velocities, unless its parent has them all.
    """
    m, count, _, n = J.shape
    i, j = np.triu_indices(n)
    energies, velocities = np.eye(11), np.eye(6)  # of all bases of everything, the same for parent and child
    if not parent.is_all:
        energies = np.tile(parent.energies, (m, count, 1, 1))
        energies[..., :10] = parent.energies[:, :10] @ transfer(X)
        velocities = X @ parent.velocities.T
    moving = np.concatenate([np.broadcast_to(velocities, (m, count, *velocities.shape[-2:])), J], axis=-1)
    kinetic = np.moveaxis(_transposed(moving)[..., None, :, :] @ BILINEAR @ J[..., None, :, :], -3, -1)
    fields = energies[..., None, :, :10] @ _transposed(np.tensordot(J, RATES, (2, 0)))
    w = velocities.shape[-1]
    blocks = (fields, kinetic[..., :w, :, :], kinetic[..., w:, :, :][..., i, j, :])
    own = np.concatenate([np.moveaxis(x, 0, -2).reshape(count, -1, 10 * m) for x in blocks], axis=1)
    further = np.zeros((*own.shape[:2], 2 * n))
    offsets = np.kron(np.eye(n), energies.reshape(-1, *energies.shape[-2:])[0, :, 10:])
    further[:, : len(offsets), n:] = offsets
    further[:, own.shape[1] - len(i) :, :n] = np.eye(n)[i] * (i == j)[:, None]
    rows = [np.concatenate([own, further], axis=-1)]
    if not parent.is_all:
        flat = np.pad(kinetic.reshape(m, count, -1, 10), ((0, 0), (0, 0), (0, 0), (0, 1)))
        rows += [*np.concatenate([energies, flat], axis=-2), *_transposed(moving)]
    return rows


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


def _grown(basis: Array, rows: Array, tolerance: float) -> Array:
    """Return orthonormal rows that span the basis and these rows (..., columns)."""
    scale = np.abs(rows).max(initial=0.0)
    if scale == 0.0 or len(basis) == basis.shape[1]:
        return basis
    rows = rows.reshape(-1, basis.shape[1]) / scale
    if len(basis) and np.abs(rows - rows @ basis.T @ basis).max() <= tolerance:
        return basis
    _, s, Vt = np.linalg.svd(np.vstack([basis, rows]), full_matrices=False)
    return Vt[: int((s > tolerance * s[0]).sum())]


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
