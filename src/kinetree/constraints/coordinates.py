"""Independent velocities of a tree with constraints: how many there are, and which they can be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.algorithms.table import table_of
from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.model import Model
from kinetree.spatial import Scalar

if TYPE_CHECKING:
    from kinetree.constraints.model import ConstrainedModel

Array = NDArray[Any]

RANK = 1e-7
"""Singular values below this part of the largest are zero."""

SIMILAR = 0.1
"""Of rows or columns whose parts that are still independent have at least this part of the longest, order decides."""

PREFERENCE = 1e3
"""How many times its length the column of a passive velocity counts, where dependent velocities are chosen."""

MOVES = 4
"""Configurations that are looked at beside the first one."""


class Reference(NamedTuple):
    """The Jacobian of all constraints at a configuration in which they hold, if one is found.

    Attributes
    ----------
    q : sequence of nq floats
    J : (nrows, nv) array
    rank : int
    is_closed : bool
        Whether the constraints hold at q.
    """

    q: list[Scalar]
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


def reference(model: ConstrainedModel) -> Reference:
    """Return a configuration in which the constraints hold and leave as few freedoms as anywhere near.

    It is not far from the neutral configuration, and not there, where joints may be in line: a move along what is free
    leads away.
    """
    rng = np.random.default_rng(0)
    neutral = [0.0] * model.nq
    for body in model.leading:
        for k, x in zip(body.q_index, body.joint.neutral(), strict=True):
            neutral[k] = x
    found = [_closed(model, neutral)]
    for _ in range(MOVES):
        move = 0.3 * rng.normal(size=model.nv)
        move -= np.linalg.pinv(found[0].J, rcond=RANK) @ (found[0].J @ move)
        found.append(_closed(model, integrate(model, found[0].q, move.tolist())))
    return max(reversed(found), key=lambda r: (r.is_closed, r.rank))


def _closed(model: ConstrainedModel, q0: list[Scalar]) -> Reference:
    """Return a configuration near this one in which the constraints hold."""
    q, closed, *_ = table_of(model)["assemble"].function(model, q0)
    J = np.array([list(row.J) for row in model.constraint_rows(q)], dtype=float)
    return Reference(q, J, rank(J, J), closed > 0.5) if np.isfinite(J).all() else Reference(q, 0.0 * J, 0, False)


def chosen(found: Reference, actuated: Collection[int]) -> tuple[int, ...]:
    """Return independent velocities: the actuated ones if they are independent and no others, else as many of them.

    Dependent are passive velocities where they will do, and late ones rather than early ones.
    """
    late = sorted(range(found.J.shape[1]), key=lambda k: (k in actuated, -k))
    weights = np.array([1.0 if k in actuated else PREFERENCE for k in late])
    dependent = {late[k] for k in pivots(found.J[:, late] * weights, found.rank)}
    return tuple(sorted({*late} - dependent))


def pivots(A: Array, rank: int) -> list[int]:
    """Return the indices of as many independent columns: QR with pivots, and of similar columns the first.

    Examples
    --------
    >>> pivots(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]), 2)
    [0, 2]
    """
    rest, found = np.array(A, dtype=float), list[int]()
    for _ in range(rank):
        sizes = np.linalg.norm(rest, axis=0)
        k = int(np.argmax(sizes >= SIMILAR * sizes.max()))
        found.append(k)
        unit = rest[:, k] / sizes[k]
        for _ in range(2):  # twice, so that what is left is orthogonal to rounding
            rest -= np.outer(unit, unit @ rest)
        rest[:, k] = 0.0
    return found


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
