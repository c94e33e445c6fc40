"""Kinematics along the path of bodies from the base to one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.glossary.symbols import Vector
from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Motion, Transform
from kinetree.spatial.vector import ZERO, Vec3


class Link(NamedTuple):
    """A body of a path, its index, and the state of its joint."""

    i: int
    body: Body
    state: BodyState


class Path(NamedTuple):
    """The bodies that carry a frame, base first (κ(i) in RBDA), if any, and the transform X from the last to it."""

    links: tuple[Link, ...] = ()
    X: Transform = Transform.identity()

    def outward(self, X: Transform) -> list[Transform]:
        """Return the transforms to the bodies, base first; X is the one to the first body's parent."""
        to_body = []
        for _, body, state in self.links:
            X = state.X_J @ (body.X_T @ X)
            to_body.append(X)
        return to_body

    def inward(self) -> tuple[list[Transform], Transform]:
        """Return the transforms from the frame to the bodies, base first, and to the first body's parent."""
        X = self.X.inverse()
        to_body = []
        for _, body, state in reversed(self.links):
            to_body.append(X)
            X = body.X_T.inverse() @ (state.X_J.inverse() @ X)
        return to_body[::-1], X

    def transform(self) -> Transform:
        """Return the transform from the parent of the first body to the frame."""
        to_body = self.outward(Transform.identity())
        return self.X @ (to_body[-1] if to_body else Transform.identity())

    def columns(self, to_body: Sequence[Transform]) -> list[tuple[int, Motion]]:
        """Return the joints' velocity indices and columns of the Jacobian, in the reference of `to_body`."""
        found = []
        for (_, body, state), X in zip(self.links, to_body, strict=True):
            found += [(k, X.inv_apply(S_k)) for k, S_k in zip(body.v_index, state.S, strict=True)]
        return found

    def motion(self, a: Vector) -> tuple[Motion, Motion]:
        """Return the spatial velocity and acceleration of the last body, in its own coordinates."""
        v_i, a_i = Motion.zero(), Motion.zero()
        for _, body, (Xup, _, S, vJ, cJ) in self.links:
            v_i = Xup @ v_i + vJ
            a_i = Xup @ a_i + cJ + v_i.cross(vJ)
            for k, S_k in zip(body.v_index, S, strict=True):
                a_i = a_i + S_k * a[k]
        return v_i, a_i

    def acceleration(self, a: Vector, reference: str, kind: str) -> Motion:
        """Return the "spatial" or "classical" acceleration in the reference; the latter is formed at its point."""
        v_i, a_i = self.motion(a)
        if kind == "spatial":
            return self.in_reference(a_i, reference)
        if reference == "world":
            return _classical(*(self.in_reference(m, reference) for m in (v_i, a_i)))
        classical = _classical(*(self._shifted_to_frame_origin(m) for m in (v_i, a_i)))
        return self._rotated_to_reference(classical, reference)

    def in_reference(self, m: Motion, reference: str) -> Motion:
        """Return a motion of the last body in the coordinates of the reference: "body", "world" or "aligned"."""
        if reference != "world":
            return self._rotated_to_reference(self._shifted_to_frame_origin(m), reference)
        for _, body, state in reversed(self.links):
            m = body.X_T.inv_apply(state.X_J.inv_apply(m))
        return m

    def _shifted_to_frame_origin(self, m: Motion) -> Motion:
        return Transform.translation(self.X.r) @ m

    def _rotated_to_reference(self, m: Motion, reference: str) -> Motion:
        """Return a motion rotated from the axes of the last body to the frame's ("body") or the world's."""
        if reference == "body":
            return Transform(self.X.E, ZERO) @ m
        for _, body, state in reversed(self.links):
            for X in (state.X_J, body.X_T):
                m = Motion(X.E.to_a(m.ang), X.E.to_a(m.lin))
        return m


def path_to(model: Model, frame: str, q: Vector, v: Vector | None = None, point: Vector | None = None) -> Path:
    """Return the path to the frame of this name, at q and v, or to one parallel to it at a point in its axes."""
    where = model.frame(frame)
    support = []
    i = where.body
    while i != WORLD:
        support.append(Link(i, model.bodies[i], model.jcalc(i, q, v)))
        i = model.bodies[i].parent
    X = where.X if point is None else Transform(where.X.E, where.X.r + where.X.E.to_a(Vec3.of(point)))
    return Path(tuple(reversed(support)), X)


def without_common(to_a: Path, to_b: Path) -> tuple[Path, Path]:
    """Return two paths from the base without the bodies that they share: those move both ends."""
    n = 0
    while n < min(len(to_a.links), len(to_b.links)) and to_a.links[n].i == to_b.links[n].i:
        n += 1
    return Path(to_a.links[n:], to_a.X), Path(to_b.links[n:], to_b.X)


def reference_transforms(ours: Path, theirs: Path, reference: str) -> tuple[list[Transform], list[Transform]]:
    """Return the transforms from the reference to the bodies of two paths with the same first parent.

    It is the frame of `ours` ("body"), that of `theirs`, or ("aligned") the axes of the latter at the origin of the
    former.
    """
    if reference == "body":
        to_ours, root = ours.inward()
        return to_ours, theirs.outward(root)
    to_theirs, root = theirs.inward()
    to_ours = ours.outward(root)
    if reference == "aligned":
        origin = (ours.X @ (to_ours[-1] if to_ours else root)).r
        to_ours, to_theirs = ([Transform(X.E, X.r - origin) for X in side] for side in (to_ours, to_theirs))
    return to_ours, to_theirs


def _classical(v: Motion, a: Motion) -> Motion:
    """Return the acceleration whose linear part is that of the point at the origin."""
    return Motion(a.ang, a.lin + v.ang.cross(v.lin))
