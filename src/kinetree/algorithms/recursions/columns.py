"""Symmetric matrices over the joints, of which a column is what a force leaves at the joints on its way to the base."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence

from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.loops import map_columns
from kinetree.spatial import Force, Scalar

SEGMENT = 6
"""Most velocities in a segment: among themselves they are straight-line code."""

Column = tuple[int, Force]
"""The velocity at which a force began, and the force."""


class Columns:
    """Forces that begin at joints and go to the base, and leave something at each joint that they meet.

    Leaves first, what has arrived at a body is sent on (`pass_on`), and then the forces that begin there (`begin`): all
    the way at once, or in loops, for large trees, to the end of a segment, a few bodies in a row. `joints` are the
    velocities of each body's joint in the order in which forces meet them; ``meet(j, n, F)`` is what a force leaves at
    ``joints[j][n]``, and the force that goes on; ``add(k, l, x)`` takes what a force of k leaves at l.
    """

    def __init__(
        self,
        model: Model,
        states: Sequence[BodyState],
        joints: Sequence[Sequence[int]],
        meet: Callable[[int, int, Force], tuple[Scalar, Force]],
        add: Callable[[int, int, Scalar], None],
        like: Scalar,
        *,
        loops: bool,
    ) -> None:
        self._bodies, self._states, self._joints = model.bodies, states, joints
        self._meet, self._add, self._like = meet, add, like
        self._ways = _through_segments(model) if loops else _to_the_base(model)
        self._arrived: dict[int, dict[int, list[Column]]] = {}

    def begin(self, i: int, k: int, F: Force, own: range) -> None:
        """Send off the force of velocity k from body i, of whose own joint it meets only these, by number."""
        self._keep(i, k, self._passed(i, F, own, functools.partial(self._add, k)))

    def branches(self, i: int) -> list[list[Column]]:
        """Return the forces that have arrived at body i, one list for each of the bodies that they come from."""
        return list(self._arrived.get(i, {}).values())

    def pass_on(self, i: int) -> None:
        """Send on all that has arrived at body i."""
        arrived = [column for branch in self.branches(i) for column in branch]
        if not arrived:
            return
        velocities = [l for j in self._ways[i] for l in self._joints[j]]

        def passed(F: list[Scalar]) -> list[Scalar]:
            left: list[Scalar] = []
            end = self._passed(i, Force.of(F), range(len(self._joints[i])), lambda l, x: left.append(x))
            return left if self._end(i) == WORLD else [*left, *end]

        columns = map_columns(passed, [list(F) for _, F in arrived], self._like)
        for (k, _), column in zip(arrived, columns, strict=True):
            for l, x in zip(velocities, column, strict=False):
                self._add(k, l, x)
            self._keep(i, k, column[len(velocities) :])

    def _passed(self, i: int, F: Force, own: range, leave: Callable[[int, Scalar], None]) -> Force:
        """Return the force on the body after i's way, and give what it leaves on the way."""
        for j in self._ways[i]:
            for n in own if j == i else range(len(self._joints[j])):
                x, F = self._meet(j, n, F)
                leave(self._joints[j][n], x)
            if self._bodies[j].parent != WORLD:
                F = self._states[j].Xup.T @ F
        return F

    def _keep(self, i: int, k: int, F: Iterable[Scalar]) -> None:
        """Keep the force of velocity k that has passed body i's way, for the body where that ends."""
        if self._end(i) != WORLD:
            self._arrived.setdefault(self._end(i), {}).setdefault(self._ways[i][-1], []).append((k, Force.of(F)))

    def _end(self, i: int) -> int:
        return self._bodies[self._ways[i][-1]].parent


def path_lengths(model: Model, without: Collection[int] = ()) -> int:
    """Return how many velocities carry each velocity, itself included, in all (entries of ``L⁻¹``), but of these."""
    lengths: list[int] = []
    for body in model.bodies:
        lengths.append(len(body.v_index) + (0 if body.parent == WORLD else lengths[body.parent]))
    return sum(length for i, length in enumerate(lengths) if i not in without)


def _to_the_base(model: Model) -> list[list[int]]:
    """Return for each body those that carry it, itself first."""
    ways: list[list[int]] = []
    for i, body in enumerate(model.bodies):
        ways.append([i] if body.parent == WORLD else [i, *ways[body.parent]])
    return ways


def _through_segments(model: Model) -> list[list[int]]:
    """Return for each body those of its segment that carry it, itself first: up to a branch, at most `SEGMENT`."""
    children = Counter(body.parent for body in model.bodies)
    ways: dict[int, list[int]] = {}
    for i in reversed(range(model.nb)):
        segment: list[int] = []
        size = 0
        while i not in ways and i != WORLD and (not segment or children[i] == 1):
            size += len(model.bodies[i].v_index)
            if segment and size > SEGMENT:
                break
            segment.append(i)
            i = model.bodies[i].parent
        ways |= {j: segment[n:] for n, j in enumerate(segment)}
    return [ways[i] for i in range(model.nb)]
