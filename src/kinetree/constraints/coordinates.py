"""Independent velocities of a tree with constraints: how many there are, and which they can be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.constraints.types import Constraint
from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.model import Model

Array = NDArray[Any]

RANK = 1e-7
"""Singular values below this part of the largest are zero."""

CLOSED = 1e-9
"""Errors of positions (m, rad) that are none."""

RANDOM_STARTS = 40
"""The most configurations from which one in which the constraints hold is sought, the neutral one first."""

MOVES = 4
"""Configurations that are looked at beside the first that is found, which may be singular."""

STEPS = 50
"""The most steps from each."""

TINY = 1e-14
"""What is added to the diagonal of J Jᵀ, which is singular where rows are redundant."""

LONGEST = 0.5
"""Of any entry of one such step (rad, m)."""

PREFERRED = 1e-3
"""A passive velocity is made dependent before an actuated one if its column has this part of the longest one left."""


class Reference(NamedTuple):
    """The Jacobian of all constraints at a configuration in which they hold, if one is found.

    Attributes
    ----------
    q : (nq,) array
    J : (nrows, nv) array
    rank : int
    is_closed : bool
        Whether the constraints hold at q.
    """

    q: Array
    J: Array
    rank: int
    is_closed: bool

    @property
    def mobility(self) -> int:
        """The number of independent velocities."""
        return int(self.J.shape[1]) - self.rank

    def depends(self, known: Collection[int]) -> bool:
        """Return whether the constraints tie these velocities to each other."""
        others = np.delete(self.J, sorted(known), axis=1)
        return rank(others, self.J) < self.rank


def rank(A: Array, beside: Array) -> int:
    """Return the rank of a part of a matrix, with what is nothing beside the whole taken for zero."""
    s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    most = np.linalg.norm(beside, 2) if beside.size else 0.0
    return int((s > RANK * most).sum())


def reference(model: Model, constraints: Sequence[Constraint]) -> Reference:
    """Return a configuration in which the constraints hold and leave as few freedoms as anywhere near.

    It is one near the neutral configuration, unless a move from there along what is free leads to fewer freedoms: then
    the first is singular. If none is found near, those near random configurations are tried.
    """
    rng = np.random.default_rng(0)
    q = np.zeros(model.nq)
    for body in model.leading:
        q[list(body.q_index)] = body.joint.neutral()
    found = [_closed(model, constraints, q)]
    while not found[0].is_closed and len(found) < RANDOM_STARTS:
        for body in model.leading:
            q[list(body.q_index)] = body.joint.random(rng)
        found.insert(0, _closed(model, constraints, q))
    first = found[0]
    for _ in range(MOVES):
        move = 0.3 * rng.normal(size=model.nv)
        move -= np.linalg.pinv(first.J, rcond=RANK) @ (first.J @ move)
        found.append(_closed(model, constraints, _moved(model, first.q, move)))
    return max(found, key=lambda r: (r.is_closed, r.rank))


def _moved(model: Model, q: Array, move: Array) -> Array:
    return np.array(integrate(model, q.tolist(), move.tolist()), dtype=float)


def _closed(model: Model, constraints: Sequence[Constraint], q: Array) -> Reference:
    """Return a near configuration in which the constraints hold, by the Levenberg–Marquardt method."""
    J, phi = _rows(model, constraints, q)
    damping = 1e-2
    for _ in range(STEPS):
        if not np.isfinite(J).all() or np.abs(phi).max(initial=0.0) < CLOSED:
            break
        step = -J.T @ np.linalg.solve(J @ J.T + damping * (phi @ phi) * np.eye(len(J)) + TINY * np.eye(len(J)), phi)
        there = _moved(model, q, step * min(1.0, LONGEST / max(float(np.abs(step).max()), LONGEST)))
        J_there, phi_there = _rows(model, constraints, there)
        if phi_there @ phi_there < phi @ phi:
            q, J, phi, damping = there, J_there, phi_there, damping / 4
        else:
            damping *= 8
    if not np.isfinite(J).all():
        return Reference(q, np.zeros_like(J), 0, False)
    return Reference(q, J, rank(J, J), bool(np.abs(phi).max(initial=0.0) < CLOSED))


def _rows(model: Model, constraints: Sequence[Constraint], q: Array) -> tuple[Array, Array]:
    """Return the Jacobian and the errors of positions."""
    zero = [0.0] * model.nv
    rows = [row for c in constraints for row in c.rows(model, q.tolist(), zero)]
    J = np.array([row.J for row in rows], dtype=float).reshape(len(rows), model.nv)
    return J, np.array([0.0 if row.phi is None else row.phi for row in rows], dtype=float)


def chosen(found: Reference, actuated: Collection[int]) -> tuple[int, ...]:
    """Return independent velocities: the actuated ones if they are independent and no others, else as many of them.

    The dependent ones come from Gram–Schmidt orthogonalisation of the columns of J, always the longest that is left
    first (QR with column pivoting; Golub and Van Loan, section 5.4.2): passive ones where they will do.
    """
    columns = found.J.T.copy()
    dependent: list[int] = []
    longest = float(np.linalg.norm(columns, axis=1).max(initial=0.0))
    passive = [k for k in range(len(columns)) if k not in actuated]
    for candidates, least in ((passive, PREFERRED * longest), (range(len(columns)), 0.0)):
        while len(dependent) < found.rank:
            left = {k: float(np.linalg.norm(columns[k])) for k in candidates if k not in dependent}
            most = max(left.values(), default=0.0)
            if most <= least:
                break
            k = next(k for k, x in left.items() if x >= most * (1.0 - 1e-6))  # the first of equals on every machine
            dependent.append(k)
            u = columns[k] / left[k]
            columns -= np.outer(columns @ u, u)
    return tuple(k for k in range(len(columns)) if k not in dependent)


def velocities_of_joints(model: Model, names: Iterable[str], what: str) -> tuple[int, ...]:
    """Return the indices of the velocities of these joints, in order; `what` they are for is in messages.

    Raises
    ------
    ArgumentError
        If there is no such joint, or one is named twice or follows another.
    """
    return _indices(model, names, what, {body.joint_name: body.v_index for body in model.leading})


def velocities_named(model: Model, names: Iterable[str]) -> tuple[int, ...]:
    """Return the indices of velocities that are given as joints, or as single entries such as ``root_joint.vx``."""
    joints = {body.joint_name: body.v_index for body in model.leading}
    entries = {name: (k,) for k, name in enumerate(model.v_names)}
    return _indices(model, names, "independent", entries | joints)


def _indices(model: Model, names: Iterable[str], what: str, known: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    if isinstance(names, str):
        raise ArgumentError(f"{what} is a sequence of names of joints; the str {names!r} was given")
    followers = {body.joint_name for body in model.bodies} - set(model.joint_names)
    found: list[int] = []
    for name in names:
        if isinstance(name, str) and name in followers:
            raise ArgumentError(f"{what}: {name!r} follows another joint: name that one")
        if not isinstance(name, str) or name not in known:
            raise ArgumentError(f"{what}: {unknown_name('joint', name, known)}")
        if again := set(known[name]) & set(found):
            raise ArgumentError(f"{what}: {model.v_names[min(again)]!r} is named twice")
        found += known[name]
    return tuple(sorted(found))


def check_independent(model: Model, found: Reference, given: Sequence[int], actuated: Collection[int]) -> None:
    """Raise `ArgumentError` where these velocities are not as many as the mobility, or depend on each other.

    Nothing is known, and nothing raised, where no configuration is found in which the constraints hold.
    """
    if not found.is_closed:
        return
    names = model.v_names
    instead = f"for example {listed([names[k] for k in chosen(found, actuated)], 20)}"
    if len(given) != found.mobility:
        raise ArgumentError(
            f"independent has {len(given)} velocities, and the mobility of this mechanism is {found.mobility}: take "
            f"as many, {instead}"
        )
    if found.depends(given):
        raise ArgumentError(
            f"the velocities {listed([names[k] for k in given], 20)} depend on each other through the constraints: "
            f"take others as independent, {instead}"
        )
