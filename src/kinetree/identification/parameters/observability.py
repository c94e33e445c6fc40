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


MOTIONS = [Motion.of(row) for row in np.eye(6)]
BILINEAR = np.array([[[m.dot(unit @ w) for w in MOTIONS] for m in MOTIONS] for unit in UNITS], dtype=float)
"""``v·(I w)`` of the ten unit inertias: (10, 6, 6)."""

RATES = np.array([[list(inertia_rate(unit, w)) for unit in UNITS] for w in MOTIONS], dtype=float)
"""The rates of the ten unit inertias that move with six unit velocities: (6, 10, 10)."""

ENTRIES = ([3, 2, 0, 1, 0, 0, 1, 0, 1, 2], [3, 4, 5, 3, 0, 1, 1, 2, 2, 2])
"""Where the ten parameters are in the matrix (6, 6) of an inertia."""

CROSS = np.cross(np.eye(3), np.eye(3)[:, None]).transpose(0, 2, 1)
"""The matrices of ``x × e_k``: (3, 3, 3)."""


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

    @property
    def is_all(self) -> bool:
        """Whether it is everything: then so it is for all that the body carries."""
        return len(self.energies) == 11 and len(self.velocities) == 6


class Passed(NamedTuple):
    """What the joints of a cluster pass on.

    Attributes
    ----------
    cluster : Cluster
    null : (r, n) array
        Orthonormal rows: parameters of its bodies, ten each, then armature and offset of each coordinate, that have
        no effect on the forces of its joints, if the parent has them too. Offsets are in units of gravity's length.
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
        own = zip(spaces[1 : m + 1], spaces[m + 1 :], strict=True)
        attained |= zip(
            cluster.bodies, [parent] * m if parent.is_all else [Attained(*both) for both in own], strict=True
        )
        yield Passed(cluster, _null_space(spaces[0]), tuple(transfer(everywhere[:, 0])))


def _positions(model: Model, cluster: Cluster, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
    """Return transforms (m, 1 + count, 6, 6) from the parent to each body, and Jacobians (m, 1 + count, 6, n).

    At zero, and at random positions.
    """
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
            J[i][..., cluster.v_index.index(k)] += array_of([*S_k])
    return np.array([*X.values()]), np.array([*J.values()])


def _rows(X: Array, J: Array, parent: Attained) -> list[Array]:
    """Return what is known and attained at these positions: rows (count, ..., columns).

    How the forces of a cluster's joints depend on its parameters; then what its bodies attain, their energies and their
    velocities, unless its parent has them all.
    """
    m, count, _, n = J.shape
    i, j = np.triu_indices(n)
    energies, velocities = np.eye(11), np.eye(6)  # of all bases of everything, the same for parent and child
    if not parent.is_all:
        energies = np.tile(parent.energies, (m, count, 1, 1))
        energies[..., :10] = parent.energies[:, :10] @ transfer(X)
        velocities = X @ parent.velocities.T
    moving = np.concatenate([np.broadcast_to(velocities, (m, count, *velocities.shape[-2:])), J], axis=-1)
    kinetic = products(moving, J)
    fields = energies[..., None, :, :10] @ transposed(np.tensordot(J, RATES, (2, 0)))
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
        rows += [*np.concatenate([energies, flat], axis=-2), *transposed(moving)]
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


def _null_space(rows: Array) -> Array:
    """Return orthonormal rows that are orthogonal to orthonormal ones."""
    n = rows.shape[1]
    return np.linalg.svd(rows, full_matrices=True)[2][len(rows) :] if len(rows) else np.eye(n)


def transfer(X: Array) -> Array:
    """Return the map (..., 10, 10) from inertial parameters to those in the frame from which X (..., 6, 6) leads."""
    X = X[..., None, :, :]
    return transposed((transposed(X) @ BILINEAR @ X)[..., *ENTRIES])


def matrix_of(X: Transform) -> Array:
    """Return a transform of motions as a matrix (6, 6); as many (..., 6, 6) if its numbers are arrays (...)."""
    E, r = array_of([x for row in X.E.matrix.rows for x in row]), array_of([*X.r])
    E = E.reshape(*E.shape[:-1], 3, 3)
    out = np.zeros((*np.broadcast_shapes(E.shape[:-2], r.shape[:-1]), 6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = E
    out[..., 3:, :3] = E @ np.tensordot(r, CROSS, 1)
    return out


def array_of(entries: Sequence[Scalar]) -> Array:
    """Return scalars, each a number or an array (...), as an array (..., n)."""
    out = np.empty((*np.broadcast(*entries).shape, len(entries)))
    for k, x in enumerate(entries):
        out[..., k] = x
    return out


def transposed(x: Array) -> Array:
    """Return the transposes of matrices."""
    return np.swapaxes(x, -1, -2)


def products(v: Array, w: Array) -> Array:
    """Return the coefficients of the ten parameters in ``v·(I w)`` for all columns v and w: the last axis."""
    return np.moveaxis(transposed(v)[..., None, :, :] @ BILINEAR @ w[..., None, :, :], -3, -1)
