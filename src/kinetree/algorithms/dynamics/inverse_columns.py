"""The inverse of the mass matrix in loops over its columns, where straight-line code would be too long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from kinetree.algorithms.recursions.articulated import Pivot, articulated_bodies
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Force, Mobility, Motion, Scalar

UNROLLED = 450
"""The `path_lengths` above which loops take over: G1 has 326, a chain of 30 joints 465."""

SEGMENT = 6
"""Most velocities in a segment: among themselves they are straight-line code."""


def path_lengths(model: Model) -> int:
    """Return how many velocities carry each velocity, itself included, in all: the entries of ``L⁻¹``."""
    lengths: list[int] = []
    for body in model.bodies:
        lengths.append(len(body.v_index) + (0 if body.parent == WORLD else lengths[body.parent]))
    return sum(lengths)


def articulated_model(model: Model, q: Vector) -> tuple[list[BodyState], dict[int, list[Pivot]]]:
    """Return the states of all bodies, and the pivots of the articulated-body recursion by body."""
    states = [model.jcalc(i, q) for i in range(model.nb)]
    return states, {i: met for i, met, _ in articulated_bodies(model, states)}


def inverse_by_segments(model: Model, q: Vector) -> Matrix:
    """Return ``M⁻¹``, whose column k is the response to a unit force at k alone.

    Leaves first, the bodies are taken in segments, a few in a row. The forces that arrive at one from the joints beyond
    go through it in a loop; at a joint they leave ``a = D⁻¹ u + g·p`` with ``g = Ω U D⁻¹``, where Ω is the mobility of
    the body that carries it. Where branches meet, forces ``p`` of joints of two of them leave ``p·Ω p``.
    """
    tree = _Responses(model, q)
    M_inverse: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    arrived: dict[int, list[dict[int, Force]]] = {}
    for segment in segments(model):
        branches = arrived.pop(segment[0], [])
        columns: dict[int, Force] = {}
        entries: list[tuple[int, int, Scalar]] = []
        for branch in branches:
            entries += tree.between(segment[0], columns, branch)
            columns |= branch
        found, leaving = tree.through(segment, columns)
        for k, l, x in (*entries, *found):
            M_inverse[k][l] = M_inverse[l][k] = x
        arrived.setdefault(model.bodies[segment[-1]].parent, []).append(leaving)
    return M_inverse


def segments(model: Model) -> Iterator[list[int]]:
    """Yield all bodies, leaves first: each with those that carry it, up to a branch and to `SEGMENT` velocities."""
    children = Counter(body.parent for body in model.bodies)
    seen: set[int] = set()
    for i in reversed(range(model.nb)):
        segment: list[int] = []
        size = 0
        while i not in seen and i != WORLD and (not segment or children[i] == 1):
            size += len(model.bodies[i].v_index)
            if segment and size > SEGMENT:
                break
            segment.append(i)
            i = model.bodies[i].parent
        if segment:
            seen.update(segment)
            yield segment


class _Responses:
    """The responses of a model at q to unit forces at its joints."""

    def __init__(self, model: Model, q: Vector) -> None:
        self._bodies, self._like = model.bodies, q[0]
        self._states, self._pivots = articulated_model(model, q)
        self._mobility: list[Mobility] = []
        self._g: dict[int, Motion] = {}
        for i, body in enumerate(model.bodies):
            ground = body.parent == WORLD
            mobility = Mobility.zero() if ground else self._mobility[body.parent].at(self._states[i].Xup)
            for pivot, rotor in zip(reversed(self._pivots[i]), body.armature, strict=True):
                self._g[pivot.k] = mobility @ pivot.UD
                mobility = mobility.freed(pivot.S, pivot.UD, pivot.D_inverse, rotor)
            self._mobility.append(mobility)

    def between(
        self, i: int, columns: Mapping[int, Force], rows: Mapping[int, Force]
    ) -> Iterator[tuple[int, int, Scalar]]:
        """Yield the entries of joints of two sides of body i, where the forces have arrived."""

        def products(p: list[Scalar]) -> list[Scalar]:
            a = self._mobility[i] @ Force.of(p)
            return [a.dot(f) for f in rows.values()]

        for l, column in zip(columns, self._map(products, columns), strict=True):
            yield from ((k, l, x) for k, x in zip(rows, column, strict=True))

    def through(
        self, segment: Sequence[int], columns: Mapping[int, Force]
    ) -> tuple[list[tuple[int, int, Scalar]], dict[int, Force]]:
        """Return the entries at the joints of a segment, and the forces that leave it.

        They are those of these columns, which arrive at the first body, and of the segment's own joints.
        """
        met = [pivot.k for i in segment for pivot in self._pivots[i]]

        def passed(p: list[Scalar]) -> list[Scalar]:
            return self._passed(Force.of(p), segment, self._pivots[segment[0]])

        entries: list[tuple[int, int, Scalar]] = []
        left = {l: (met, column) for l, column in zip(columns, self._map(passed, columns), strict=True)}
        for first, i in enumerate(segment):
            for n, (l, _, UD, D_inverse) in enumerate(self._pivots[i], 1):
                entries.append((l, l, D_inverse + self._g[l].dot(UD)))
                left[l] = met[met.index(l) + 1 :], self._passed(UD, segment[first:], self._pivots[i][n:])
        for l, (rows, column) in left.items():
            entries += ((k, l, x) for k, x in zip(rows, column, strict=False))
        grounded = self._bodies[segment[-1]].parent == WORLD
        return entries, {} if grounded else {l: Force.of(column[-6:]) for l, (_, column) in left.items()}

    def _passed(self, p: Force, path: Sequence[int], first: Sequence[Pivot]) -> list[Scalar]:
        """Return what a force on a body leaves at the joints of a path from it, and the force on the next body.

        Of the first body's joint only the pivots `first` are still to be met.
        """
        left: list[Scalar] = []
        for i in path:
            for k, S, UD, D_inverse in first if i == path[0] else self._pivots[i]:
                u = -S.dot(p)
                p = p + UD * u
                left.append(u * D_inverse + self._g[k].dot(p))
            if self._bodies[i].parent == WORLD:
                return left
            p = self._states[i].Xup.T @ p
        return [*left, *p]

    def _map(self, function: Callable[[list[Scalar]], list[Scalar]], forces: Mapping[int, Force]) -> list[list[Scalar]]:
        return map_columns(function, [list(p) for p in forces.values()], self._like) if forces else []


def accelerations(
    model: Model, states: Sequence[BodyState], pivots: Mapping[int, Sequence[Pivot]], force: Mapping[int, Scalar]
) -> dict[int, Scalar]:
    """Return what forces at these velocities cause, up to the last body that has one: RBDA Table 7.1 at rest."""
    last = max(i for i, met in pivots.items() if any(pivot.k in force for pivot in met))
    p: dict[int, Force] = {}
    u: dict[int, Scalar] = {}
    for i in range(last, -1, -1):
        for k, S_k, UD, _ in pivots[i]:
            u[k] = force.get(k, 0.0) - (S_k.dot(p[i]) if i in p else 0.0)
            if not is_zero(u[k]):
                p[i] = p.get(i, Force.zero()) + UD * u[k]
        parent = model.bodies[i].parent
        if parent != WORLD and i in p:
            p[parent] = p.get(parent, Force.zero()) + states[i].Xup.T @ p[i]
    a: dict[int, Scalar] = {}
    da: list[Motion] = []
    for i, body in enumerate(model.bodies[: last + 1]):
        da_i = Motion.zero() if body.parent == WORLD else states[i].Xup @ da[body.parent]
        for k, S_k, UD, D_inverse in reversed(pivots[i]):
            a[k] = u[k] * D_inverse - da_i.dot(UD)
            da_i = da_i + S_k * a[k]
        da.append(da_i)
    return a
