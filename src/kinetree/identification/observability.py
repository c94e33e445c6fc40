"""Which inertial parameters joint forces tell, joint by joint: the inertia that a joint passes on to its parent.

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
from typing import NamedTuple

import numpy as np

from kinetree.algorithms.recursions.motions import inertia_rate
from kinetree.algorithms.regressors import UNITS
from kinetree.model import WORLD, Model
from kinetree.spatial import Motion, Transform
from kinetree.validation import Array

MOTIONS = [Motion.of(row) for row in np.eye(6)]
BILINEAR = np.array([[[m.dot(unit @ w) for w in MOTIONS] for m in MOTIONS] for unit in UNITS], dtype=float)
"""``v·(I w)`` of the ten unit inertias: (10, 6, 6)."""

RATES = np.array([[list(inertia_rate(unit, w)) for unit in UNITS] for w in MOTIONS], dtype=float)
"""The rates of the ten unit inertias that move with six unit velocities: (6, 10, 10)."""

ENTRIES = ([3, 2, 0, 1, 0, 0, 1, 0, 1, 2], [3, 4, 5, 3, 0, 1, 1, 2, 2, 2])
"""Where the ten parameters are in the matrix (6, 6) of an inertia."""

LEAST_SAMPLES = 3
MOST_SAMPLES = 100


class Cluster(NamedTuple):
    """Bodies whose joints share coordinates, with those between them; nearly always one body.

    Attributes
    ----------
    bodies : tuple of int
        Parents before children.
    parent : int
        The body that carries all of them.
    v_index : tuple of int
        Their velocities.
    """

    bodies: tuple[int, ...]
    parent: int
    v_index: tuple[int, ...]


class Attained(NamedTuple):
    """What one body can attain: orthonormal rows.

    Attributes
    ----------
    energies : (..., 11) array
        Coefficients of its parameters in the energies. The last entry is one for potentials, zero for kinetic energy:
        a constant force on a joint competes with gravity only.
    velocities : (..., 6) array
        Its velocities.
    """

    energies: Array
    velocities: Array


class Passed(NamedTuple):
    """What the joints of a cluster pass on.

    Attributes
    ----------
    cluster : Cluster
    null : (r, n) array
        Orthonormal rows: parameters of its bodies, ten each, then armature and offset of each coordinate, that no
        force of its joints tells from nothing, if the parent has them too. Offsets are in units of gravity's length.
    transfers : tuple of (10, 10) arrays
        From the parameters of each body to those of the parent.
    """

    cluster: Cluster
    null: Array
    transfers: tuple[Array, ...]


def clusters(model: Model) -> list[Cluster]:
    """Return the bodies in clusters, parents first: bodies that share a coordinate, and those on the way between."""
    group = list(range(model.nb))

    def path(i: int) -> list[int]:
        found = []
        while i != WORLD:
            found.append(i)
            i = model.bodies[i].parent
        return found

    def members(g: int) -> list[int]:
        return [i for i in range(model.nb) if group[i] == g]

    def join(bodies: Sequence[int]) -> None:
        """Make one cluster of these, of those between them and their first common ancestor, and of all theirs."""
        everyone = sorted({j for i in bodies for j in members(group[i])})
        paths = [path(i) for i in everyone]
        above = set.intersection(*({*way[1:]} for way in paths))
        between = sorted({j for way in paths for j in way} - above)
        for j in between:
            group[j] = group[between[0]]
        if any(len(members(group[j])) > len(between) for j in between):
            join(members(group[between[0]]))

    leaders = {k: i for i in model.joint_order for k in model.bodies[i].v_index}
    for i, body in enumerate(model.bodies):
        for k in body.v_index:
            if leaders[k] != i:
                join([leaders[k], i])
    found = []
    for g in dict.fromkeys(group):
        own = members(g)
        v_index = sorted({k for i in own for k in model.bodies[i].v_index})
        found.append(Cluster(tuple(own), model.bodies[own[0]].parent, tuple(v_index)))
    return found


def passed_on(model: Model, gravity: Array, tolerance: float, seed: int = 0) -> Iterator[Passed]:
    """Yield what each cluster passes on, parents first.

    Parameters
    ----------
    model : Model
    gravity : (k, 3) array
        The directions of gravity that occur: one, or all; of length one, so that an offset is in units of it.
    tolerance : float
        What is smaller, relative to the largest at one joint, counts as zero.
    seed : int
        Of the joint positions.
    """
    rng = np.random.default_rng(seed)
    energies = np.zeros((len(gravity) + 1, 11))
    energies[:-1, 1:4], energies[:, 10] = -gravity, 1.0
    if len(gravity) == 1:
        energies = energies[:1]
    attained = {WORLD: Attained(_grown(np.zeros((0, 11)), energies, tolerance), np.zeros((0, 6)))}
    for cluster in clusters(model):
        parent, m, n = attained[cluster.parent], len(cluster.bodies), len(cluster.v_index)
        seen = _grown(np.zeros((0, 10 * m + 2 * n)), _gyroscopic(model, cluster), tolerance)
        own = [Attained(np.zeros((0, 11)), np.zeros((0, 6)))] * m
        still = 0
        for count in range(MOST_SAMPLES):
            before = len(seen) + sum(len(x) for a in own for x in a)
            X, J = _positions(model, cluster, rng)
            seen = _grown(seen, _told(X, J, parent), tolerance)
            own = [_attained(a, X_b, J_b, parent, tolerance) for a, X_b, J_b in zip(own, X, J, strict=True)]
            still = still + 1 if before == len(seen) + sum(len(x) for a in own for x in a) else 0
            if still >= 2 and count >= LEAST_SAMPLES:
                break
        attained |= dict(zip(cluster.bodies, own, strict=True))
        X, _ = _positions(model, cluster, None)
        yield Passed(cluster, _null_space(seen), tuple(transfer(X_b) for X_b in X))


def transfer(X: Array) -> Array:
    """Return the map (10, 10) from inertial parameters to those in the frame from which X (6, 6) leads."""
    moved: Array = (X.T @ BILINEAR @ X)[:, *ENTRIES].T
    return moved


def matrix_of(X: Transform) -> Array:
    """Return a transform of motions as a matrix (6, 6)."""
    return np.array([list(X @ m) for m in MOTIONS], dtype=float).T


def _positions(model: Model, cluster: Cluster, rng: np.random.Generator | None) -> tuple[list[Array], list[Array]]:
    """Return the transforms from the parent to each body, and the bodies' Jacobians (6, n), somewhere or at zero."""
    q = [0.0] * model.nq
    for i in cluster.bodies:
        body = model.bodies[i]
        if i in model.joint_order:
            position = body.joint.neutral() if rng is None else body.joint.random(rng).tolist()
            for k, x in zip(body.q_index, position, strict=True):
                q[k] = x
    X: dict[int, Array] = {}
    J: dict[int, Array] = {}
    for i in cluster.bodies:
        body, state = model.bodies[i], model.jcalc(i, q)
        X[i], J[i] = matrix_of(state.X_J @ body.X_T), np.zeros((6, len(cluster.v_index)))
        if body.parent in X:
            J[i], X[i] = X[i] @ J[body.parent], X[i] @ X[body.parent]
        for k, S_k in zip(body.v_index, state.S, strict=True):
            J[i][:, cluster.v_index.index(k)] += np.array(list(S_k), dtype=float)
    return list(X.values()), list(J.values())


def _carried(X: Array, parent: Attained) -> tuple[Array, Array]:
    """Return the parent's energies and velocities as they are at the child: (..., 11) and (6, ...)."""
    energies = parent.energies.copy()
    energies[:, :10] = energies[:, :10] @ transfer(X)
    return energies, X @ parent.velocities.T


def _products(v: Array, w: Array) -> Array:
    """Return the coefficients of the ten parameters in ``v·(I w)`` for all columns v and w."""
    return np.moveaxis(v.T @ BILINEAR @ w, 0, -1)


def _told(X: Sequence[Array], J: Sequence[Array], parent: Attained) -> Array:
    """Return what the forces of a cluster's joints tell of its parameters at this position: rows."""
    n, pairs = J[0].shape[1], np.triu_indices(J[0].shape[1])
    fields, mixed, squares = [], [], []
    for X_b, J_b in zip(X, J, strict=True):
        energies, velocities = _carried(X_b, parent)
        fields.append((np.tensordot(J_b, RATES, (0, 0)) @ energies[:, :10].T).transpose(2, 0, 1))
        mixed.append(_products(velocities, J_b))
        squares.append(_products(J_b, J_b)[pairs])
    offsets = np.einsum("e,kl->ekl", parent.energies[:, 10], np.eye(n)).reshape(-1, n)
    rotors = np.where((pairs[0] == pairs[1])[:, None], np.eye(n)[pairs[0]], 0.0)
    blocks = [
        (np.concatenate(fields, axis=-1).reshape(len(offsets), -1), np.zeros_like(offsets), offsets),
        (np.concatenate(mixed, axis=-1).reshape(-1, 10 * len(X)),),
        (np.concatenate(squares, axis=-1), rotors),
    ]
    rows = [np.hstack(parts) for parts in blocks]
    return np.vstack([np.pad(r, ((0, 0), (0, 10 * len(X) + 2 * n - r.shape[1]))) for r in rows])


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


def _attained(a: Attained, X: Array, J: Array, parent: Attained, tolerance: float) -> Attained:
    """Return what a body attains, with what it attains at one more position."""
    energies, velocities = _carried(X, parent)
    moving = np.hstack([velocities, J])
    kinetic = _products(moving, J).reshape(-1, 10)
    rows = np.vstack([energies, np.pad(kinetic, ((0, 0), (0, 1)))])
    return Attained(_grown(a.energies, rows, tolerance), _grown(a.velocities, moving.T, tolerance))


def _grown(basis: Array, rows: Array, tolerance: float) -> Array:
    """Return orthonormal rows that span the basis and these rows."""
    scale = np.abs(rows).max(initial=0.0)
    if scale == 0.0 or len(basis) == basis.shape[1]:
        return basis
    _, s, Vt = np.linalg.svd(np.vstack([basis, rows / scale]), full_matrices=False)
    return Vt[: int((s > tolerance * s[0]).sum())]


def _null_space(rows: Array) -> Array:
    """Return orthonormal rows that are orthogonal to orthonormal ones."""
    n = rows.shape[1]
    return np.linalg.svd(rows, full_matrices=True)[2][len(rows) :] if len(rows) else np.eye(n)
