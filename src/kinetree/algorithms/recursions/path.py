"""The chain of bodies that carries a frame: what the kinematics of one frame needs, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.model import WORLD, Body, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Motion, Scalar, Transform
from kinetree.spatial.vector import ZERO, Vec3

REFERENCES = ("body", "world", "aligned")
"""Whose axes, and motion of which point: the frame's own; the world's, at its origin; the world's, at the frame's."""


class Link(NamedTuple):
    """A body of a path, its index, and the state of its joint."""

    i: int
    body: Body
    state: BodyState


class Path(NamedTuple):
    """The bodies from the base to the one that carries a frame, and the transform from that one to the frame.

    In the book κ(i), the support of body i. No body for a frame fixed to the world.
    """

    links: tuple[Link, ...]
    X: Transform


FROM_WORLD = Path((), Transform.identity())
"""The path to the world's own frame."""


def path_to(model: Model, frame: str, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> Path:
    """Return the path to the frame of this name, at the configuration q and, if given, the velocity v."""
    where = model.frame(frame)
    support = []
    i = where.body
    while i != WORLD:
        support.append(Link(i, model.bodies[i], model.jcalc(i, q, v)))
        i = model.bodies[i].parent
    return Path(tuple(reversed(support)), where.X)


def without_common(a: Path, b: Path) -> tuple[Path, Path]:
    """Return both paths from the last body that they share: what is before moves both frames alike."""
    n = 0
    while n < min(len(a.links), len(b.links)) and a.links[n].i == b.links[n].i:
        n += 1
    return Path(a.links[n:], a.X), Path(b.links[n:], b.X)


def outward(X: Transform, path: Path) -> list[Transform]:
    """Return the transforms to the bodies of a path, base first, X being the one to what carries the first body."""
    to_body = []
    for _, body, state in path.links:
        X = state.X_J @ (body.X_T @ X)
        to_body.append(X)
    return to_body


def inward(path: Path) -> tuple[list[Transform], Transform]:
    """Return the transforms from the frame to the bodies of its path, base first, and to what carries the first."""
    X = path.X.inverse()
    to_body = []
    for _, body, state in reversed(path.links):
        to_body.append(X)
        X = body.X_T.inverse() @ (state.X_J.inverse() @ X)
    return to_body[::-1], X


def placement_of(path: Path) -> Transform:
    """Return the transform from the world, or from what carries the path's first body, to its frame."""
    to_body = outward(Transform.identity(), path)
    return path.X @ (to_body[-1] if to_body else Transform.identity())


def back(X: Transform, m: Motion) -> Motion:
    """Return ``X⁻¹ m``."""
    w = X.E.to_a(m.ang)
    return Motion(w, X.E.to_a(m.lin) + X.r.cross(w))


def moved_origin(X: Transform, p: Vec3) -> Transform:
    """Return the transform from the frame with the same axes and its origin at p to where X leads."""
    return Transform(X.E, X.r - p)


def in_reference(path: Path, m: Motion, reference: str) -> Motion:
    """Return a motion of the path's last body, in its coordinates, as seen from the reference (one of `REFERENCES`)."""
    if reference != "world":
        return turned(path, of_origin(path, m), reference)
    for _, body, state in reversed(path.links):
        m = back(body.X_T, back(state.X_J, m))
    return m


def of_origin(path: Path, m: Motion) -> Motion:
    """Return a motion of the path's last body about the origin of the frame, still in the body's axes."""
    return Transform.translation(path.X.r) @ m


def turned(path: Path, m: Motion, reference: str) -> Motion:
    """Return the same from the axes of the path's last body to those of the frame ("body") or the world ("aligned")."""
    if reference == "body":
        return Transform(path.X.E, ZERO) @ m
    for _, body, state in reversed(path.links):
        for X in (state.X_J, body.X_T):
            m = Motion(X.E.to_a(m.ang), X.E.to_a(m.lin))
    return m
