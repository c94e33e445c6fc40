"""Independent velocities of a tree with constraints: how many there are, and which they can be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kinetree.algorithms.kinematics.manifold import integrate
from kinetree.algorithms.table import table_of
from kinetree.constraints.lengths import angles, units
from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.lazy import cached_property
from kinetree.model import Model
from kinetree.spatial import Scalar

if TYPE_CHECKING:
    from kinetree.constraints.model import ConstrainedModel

Array = NDArray[Any]

RANK = 1e-7
"""Singular values below this part of the largest are zero."""

ROUNDING = 1e-12
"""Singular values below this are zero, whatever the largest is (between angles, lengths being in ℓ)."""

SIMILAR = 0.1
"""Of rows or columns whose parts that are still independent have at least this part of the longest, order decides."""

PREFERENCE = 1e3
"""How many times its length a column counts that is not preferred, where dependent velocities are chosen."""

MOVES = 6
"""Configurations that are looked at beside the one nearest to the neutral one."""


class Place(NamedTuple):
    """A configuration, the Jacobian of all constraints there as between angles, its rank, and whether they hold."""

    q: list[Scalar]
    J: Array
    rank: int
    is_closed: bool


class Reference:
    """What the constraints of a model say at configurations in which they hold, and which have no pattern.

    Should none be found in which all hold, these are beside where they come next to it.

    The rank is the highest not far from the neutral configuration. There joints may be in line: moves along what is
    free lead away, and to other ways to assemble the mechanism, of which one may tie velocities to each other that are
    independent in another.
    """

    def __init__(self, model: ConstrainedModel) -> None:
        self.model, rng = model, np.random.default_rng(0)
        neutral = [0.0] * model.nq
        for body in model.leading:
            for k, x in zip(body.q_index, body.joint.neutral(), strict=True):
                neutral[k] = x
        first = _closed(model, neutral)
        found = [first]
        for _ in range(MOVES):
            move, unit = 0.3 * rng.normal(size=model.nv), np.array(units(model, model.turning), dtype=float)
            if first.is_closed:
                move -= np.linalg.pinv(first.J, rcond=RANK) @ (first.J @ move)
            beside = integrate(model, first.q, (unit * move).tolist())
            found.insert(0, _closed(model, beside) if first.is_closed else _place(model, beside, is_closed=False))
        self.is_closed, self.rank = max((place.is_closed, place.rank) for place in found)
        self.near = [x.J for x in found if (x.is_closed, x.rank) == (self.is_closed, self.rank)]

    @property
    def mobility(self) -> int:
        """The number of independent velocities."""
        return self.model.nv - self.rank

    def depends(self, known: Collection[int]) -> bool:
        """Return whether the constraints tie these velocities to each other, wherever they are looked at."""
        return self._place_of(known) is None

    @cached_property
    def chosen(self) -> tuple[int, ...]:
        """Independent velocities, those of actuated joints where they can be, and early ones rather than late ones."""
        model = self.model
        J = self._place_of(model.actuated) if len(model.actuated) <= self.mobility else None
        return independent_columns(self.near[0] if J is None else J, self.rank, model.actuated)

    def _place_of(self, known: Collection[int]) -> Array | None:
        """Return J where these velocities are independent; None if it is nowhere found."""
        return next((J for J in self.near if rank(np.delete(J, sorted(known), axis=1), J) == self.rank), None)


def rank(A: Array, beside: Array) -> int:
    """Return the rank of a part of a matrix, with what is nothing beside the whole taken for zero."""
    s = np.linalg.svd(A, compute_uv=False) if A.size else np.zeros(0)
    most = np.linalg.norm(beside, 2) if beside.size else 0.0
    return int((s > max(RANK * most, ROUNDING)).sum())


def _closed(model: ConstrainedModel, q0: list[Scalar]) -> Place:
    """Return a place near this configuration in which the constraints hold."""
    q, closed, *_ = table_of(model)["assemble"].function(model, q0)
    return _place(model, q, is_closed=bool(closed > 0.5))


def _place(model: ConstrainedModel, q: list[Scalar], is_closed: bool) -> Place:
    J = angles(model, model.constraint_rows(q))
    return Place(q, J, rank(J, J), is_closed) if np.isfinite(J).all() else Place(q, np.zeros_like(J), 0, False)


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


def independent_columns(J: Array, of_rank: int, preferred: Collection[int]) -> tuple[int, ...]:
    """Return the indices of velocities that determine all others: those preferred where they do, else some of them.

    Late velocities are dependent rather than early ones.
    """
    n = J.shape[1]
    if len(preferred) == n - of_rank == n - rank(np.delete(J, sorted(preferred), axis=1), J):
        return tuple(sorted(preferred))
    late = sorted(range(n), key=lambda k: (k in preferred, -k))
    weights = np.array([1.0 if k in preferred else PREFERENCE for k in late])
    return tuple(sorted({*late} - {late[k] for k in pivots(J[:, late] * weights, of_rank)}))


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
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentError(f"{what} is a sequence of names of joints; {names!r} was given")
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


def check_independent(model: ConstrainedModel, given: Sequence[int]) -> None:
    """Raise `ArgumentError` where these velocities are not as many as the mobility, or depend on each other.

    Nothing is known, and nothing raised, where no configuration is found in which the constraints hold.
    """
    found, names = model.reference, model.v_names
    if not found.is_closed:
        return
    instead = f"for example {listed([names[k] for k in found.chosen], 20)}"
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
