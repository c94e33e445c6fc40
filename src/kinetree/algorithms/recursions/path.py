"""Kinematics along the path of bodies from the base to one frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.symbols import Vector
from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Motion, Transform
from kinetree.spatial.vector import ZERO


class Link(NamedTuple):
    """A body of a path, its index, and the state of its joint."""

    i: int
    body: Body
    state: BodyState


class Path(NamedTuple):
    """The bodies that carry a frame, base first (κ(i) in RBDA), and the transform X from the last one to the frame.

    A frame that is fixed to the world has no bodies.
    """

    links: tuple[Link, ...]
    X: Transform


FROM_WORLD = Path((), Transform.identity())
"""The path to the world's own frame."""


def path_to(model: Model, frame: str, q: Vector, v: Vector | None = None) -> Path:
    """Return the path to the frame of this name, at the configuration q and the velocity v."""
    where = model.frame(frame)
    support = []
    i = where.body
    while i != WORLD:
        support.append(Link(i, model.bodies[i], model.jcalc(i, q, v)))
        i = model.bodies[i].parent
    return Path(tuple(reversed(support)), where.X)


def without_common(a: Path, b: Path) -> tuple[Path, Path]:
    """Return both paths without the bodies that they share, which move both frames alike."""
    n = 0
    while n < min(len(a.links), len(b.links)) and a.links[n].i == b.links[n].i:
        n += 1
    return Path(a.links[n:], a.X), Path(b.links[n:], b.X)


def outward(X: Transform, path: Path) -> list[Transform]:
    """Return the transforms to the bodies of a path, base first; X is the one to the first body's parent."""
    to_body = []
    for _, body, state in path.links:
        X = state.X_J @ (body.X_T @ X)
        to_body.append(X)
    return to_body


def inward(path: Path) -> tuple[list[Transform], Transform]:
    """Return the transforms from the frame to the bodies of its path, base first, and to the first body's parent."""
    X = path.X.inverse()
    to_body = []
    for _, body, state in reversed(path.links):
        to_body.append(X)
        X = body.X_T.inverse() @ (state.X_J.inverse() @ X)
    return to_body[::-1], X


def placement_of(path: Path) -> Transform:
    """Return the transform from the parent of the path's first body to the frame."""
    to_body = outward(Transform.identity(), path)
    return path.X @ (to_body[-1] if to_body else Transform.identity())


def reference_transforms(ours: Path, theirs: Path, reference: str) -> tuple[list[Transform], list[Transform]]:
    """Return the transforms from the reference to the bodies of two paths with the same first parent.

    The reference is the frame of `ours` ("body"), the frame of `theirs`, or ("aligned") the axes of the latter at the
    origin of the former.
    """
    if reference == "body":
        to_ours, root = inward(ours)
        return to_ours, outward(root, theirs)
    to_theirs, root = inward(theirs)
    to_ours = outward(root, ours)
    if reference == "aligned":
        origin = (ours.X @ (to_ours[-1] if to_ours else root)).r
        to_ours, to_theirs = ([Transform(X.E, X.r - origin) for X in side] for side in (to_ours, to_theirs))
    return to_ours, to_theirs


def jacobian_columns(path: Path, to_body: Sequence[Transform]) -> list[tuple[Motion, int]]:
    """Return the Jacobian's columns for the joints along a path, in the reference, with their velocity indices."""
    found = []
    for (_, body, state), X in zip(path.links, to_body, strict=True):
        found += [(X.inv_apply(S_k), k) for k, S_k in zip(body.v_index, state.S, strict=True)]
    return found


def motion_of(path: Path, a: Vector) -> tuple[Motion, Motion]:
    """Return the spatial velocity and acceleration of a path's last body, in its own coordinates."""
    v_i, a_i = Motion.zero(), Motion.zero()
    for _, body, (Xup, _, S, vJ, cJ) in path.links:
        v_i = Xup @ v_i + vJ
        a_i = Xup @ a_i + cJ + v_i.cross(vJ)
        for k, S_k in zip(body.v_index, S, strict=True):
            a_i = a_i + S_k * a[k]
    return v_i, a_i


def in_reference(path: Path, m: Motion, reference: str) -> Motion:
    """Return a motion of the path's last body in the coordinates of the reference: "body", "world" or "aligned"."""
    if reference != "world":
        return rotated_to_reference(path, shifted_to_frame_origin(path, m), reference)
    for _, body, state in reversed(path.links):
        m = body.X_T.inv_apply(state.X_J.inv_apply(m))
    return m


def shifted_to_frame_origin(path: Path, m: Motion) -> Motion:
    """Return a motion of the path's last body about the frame's origin, still in the body's axes."""
    return Transform.translation(path.X.r) @ m


def rotated_to_reference(path: Path, m: Motion, reference: str) -> Motion:
    """Return a motion rotated from the axes of the path's last body to the frame's ("body") or the world's."""
    if reference == "body":
        return Transform(path.X.E, ZERO) @ m
    for _, body, state in reversed(path.links):
        for X in (state.X_J, body.X_T):
            m = Motion(X.E.to_a(m.ang), X.E.to_a(m.lin))
    return m


def point_acceleration(path: Path, v_i: Motion, a_i: Motion, reference: str) -> Motion:
    """Return the classical acceleration in the reference, from the last body's v_i and a_i.

    It does not transform like a motion, so it is formed at the point that the reference names, in any axes.
    """
    if reference == "world":
        return _classical(*(in_reference(path, m, reference) for m in (v_i, a_i)))
    classical = _classical(*(shifted_to_frame_origin(path, m) for m in (v_i, a_i)))
    return rotated_to_reference(path, classical, reference)


def _classical(v: Motion, a: Motion) -> Motion:
    """Return the acceleration whose linear part is that of the point at the origin."""
    return Motion(a.ang, a.lin + v.ang.cross(v.lin))
