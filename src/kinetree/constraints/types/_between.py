"""Constraints between two frames: kinematics of one seen from the other, and rows made of wrenches on them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from kinetree.algorithms.kinematics.frames import jacobian_between
from kinetree.algorithms.recursions.path import Path, path_to, without_common
from kinetree.algorithms.recursions.tree import next_motion
from kinetree.constraints.types.base import Constraint, Row
from kinetree.errors import ModelError, unknown_name
from kinetree.glossary.symbols import Vector
from kinetree.model import WORLD, Frame, Model
from kinetree.scalars.functions import is_zero, sqrt
from kinetree.scalars.linalg import dot, norm, transposed
from kinetree.spatial import Force, Mat3, Motion, Scalar, Transform, Vec3
from kinetree.spatial.rotation import rotation_vector, turn_between
from kinetree.spatial.vector import ZERO

THE_WORLD = Frame("the world", WORLD, Transform.identity())


class Relative(NamedTuple):
    """Frame s seen by an observer who moves with frame p, in the axes of p: the axes of s, and its origin r.

    The velocity is the angular velocity of s and the velocity ṙ of its origin, and the bias the rates of both while all
    joint accelerations are zero.
    """

    axes: tuple[Vec3, Vec3, Vec3]
    r: Vec3
    velocity: Motion
    bias: Motion

    def orientation_error(self, moments: Sequence[Vec3]) -> Vec3:
        """Return by how much s is turned against p about the directions of the moments, to first order in what it is.

        Where all directions are barred it is the axis of the rotation times the sine of its angle; where one axis a is
        free, ``a × R a`` for a unit vector, whatever the angle about it.
        """
        x, y, z = self.axes
        if len(moments) == 2:
            a = moments[0].cross(moments[1])
            return a.cross(self.carried(a) * (1.0 / a.dot(a)))
        return Vec3(y.z - z.y, z.x - x.z, x.y - y.x) * 0.5 if moments else ZERO

    def carried(self, a: Vec3) -> Vec3:
        """Return R a: a direction fixed to s, in the axes of p."""
        x, y, z = self.axes
        direction: Vec3 = x * a.x + y * a.y + z * a.z
        return direction


class FiniteRotation(Relative):
    """The same, with turns of up to half a turn in full."""

    __slots__ = ()

    def orientation_error(self, moments: Sequence[Vec3]) -> Vec3:
        """Return the rotation vector by which s, or the axis that is free, is turned against p."""
        if len(moments) == 2:
            a = moments[0].cross(moments[1])
            a = a * (1.0 / sqrt(a.dot(a)))
            return turn_between(a, self.carried(a))
        return rotation_vector(Mat3.of(zip(*self.axes, strict=True)))[0] if moments else ZERO


@dataclass(frozen=True)
class BetweenFrames(Constraint):
    """A constraint between frame s, `frame`, and frame p, which is `to` or the world.

    Its force acts on the body of s, and the opposite one on that of p.
    """

    frame: str
    to: str | None
    radius: ClassVar[float] = 0.0
    finite: ClassVar[bool] = True
    """See `Row`."""

    @abstractmethod
    def frame_rows(self, seen: Relative) -> Sequence[Row]:
        """Return the rows where s is seen from p as this: as J the wrench of a unit force, and what it adds to γ.

        The wrench t is that on s about its origin, in the axes of p; what its change adds to γ is ``ṫ · V``.
        """

    @property
    def offset(self) -> Transform:
        """From the frame `to` (or the world's) to p."""
        return Transform.identity()

    @property
    def place(self) -> Transform:
        """From `frame` to s."""
        return Transform.identity()

    @property
    def of(self) -> tuple[str, ...]:
        return (self.frame,) if self.to is None else (self.frame, self.to)

    def ends(self, model: Model) -> tuple[Frame, Frame]:
        """Return the frames s and p of a model."""
        to = THE_WORLD if self.to is None else model.frame(self.to)
        ours = model.frame(self.frame)
        return Frame(ours.name, ours.body, self.place @ ours.X), Frame(to.name, to.body, self.offset @ to.X)

    def reaches(self, model: Model) -> Mapping[int, Scalar]:
        return {end.body: norm([*end.X.r]) + self.radius for end in self.ends(model)}

    def check(self, model: Model) -> None:
        for name in self.of:
            if name not in model.frame_names:
                raise ModelError(f"constraint {self.label!r}: {unknown_name('frame', name, model.frame_names)}")
        ours, theirs = self.ends(model)
        if ours.body == theirs.body:
            where = "the world" if ours.body == WORLD else f"the body {model.bodies[ours.body].name!r}"
            raise ModelError(
                f"constraint {self.label!r}: {ours.name!r} and {theirs.name!r} are both fixed to {where}, so that no "
                "joint moves one against the other: name frames of two bodies"
            )

    def rows(self, model: Model, q: Vector, v: Vector) -> Sequence[Row]:
        paths, found = self._paths(model, q, v), list[Row]()
        seen, J = relative_motion(*paths, v), transposed(jacobian_between(*paths, model.nv, "aligned"))
        if self.ends(model)[1].body == WORLD:
            seen = seen._replace(bias=bias_in_the_world(*paths, seen, model))
        for row in self.frame_rows(seen):
            t = Force.of(row.J)
            along, gamma = [Motion.of(column).dot(t) for column in J], seen.bias.dot(t) + row.gamma
            found.append(row._replace(J=along, gamma=gamma, finite=self.finite, angular=all(map(is_zero, t.lin))))
        return found

    def relative(self, model: Model, q: Vector) -> Relative:
        """Return how s is seen from p, at rest."""
        zero = [0.0] * model.nv
        return relative_motion(*self._paths(model, q, zero), zero)

    def errors(self, model: Model, q: Vector) -> Sequence[Scalar | None]:
        return [row.phi for row in self.frame_rows(FiniteRotation(*self.relative(model, q)))]

    def wrenches(self, model: Model, q: Vector, f: Vector) -> Mapping[int, Force]:
        seen, (ours, theirs) = self.relative(model, q), self.ends(model)
        F = Force.of(dot(column, f) for column in transposed([row.J for row in self.frame_rows(seen)]))
        on_s = ours.X.T @ Force(*(Vec3.of(axis.dot(part) for axis in seen.axes) for part in (F.ang, F.lin)))
        on_p = theirs.X.T @ Force(-(F.ang + seen.r.cross(F.lin)), -F.lin)
        return {end.body: on for end, on in ((ours, on_s), (theirs, on_p)) if end.body != WORLD}

    def _paths(self, model: Model, q: Vector, v: Vector) -> tuple[Path, Path]:
        """Return the paths to s and p without the bodies that move both."""
        to = Path() if self.to is None else path_to(model, self.to, q, v)
        ours = path_to(model, self.frame, q, v)
        return without_common(Path(ours.links, self.place @ ours.X), Path(to.links, self.offset @ to.X))


def relative_motion(ours: Path, theirs: Path, v: Vector) -> Relative:
    """Return how s is seen from p.

    With X from p to s, the velocity is ``V = v_s − X v_p`` in coordinates of s, and its rate there
    ``V̊ = a_s − X a_p + V × X v_p``; the axes of p at the origin of s then make ``(R ω, R v̇ + R (ω × v))`` of it.
    """
    X, zero = ours.transform() @ theirs.transform().inverse(), [0.0] * len(v)
    (v_s, a_s), (v_p, a_p) = (
        tuple(path.X @ m for m in path.motion(zero)) if path.links else (Motion.zero(),) * 2 for path in (ours, theirs)
    )
    carried = X @ v_p
    V = v_s - carried
    A = a_s - X @ a_p + V.cross(carried)
    to_p = X.E.to_a
    bias = Motion(to_p(A.ang), to_p(A.lin + V.ang.cross(V.lin)))
    x, y, z = X.E.matrix.rows
    return Relative((x, y, z), X.r, Motion(to_p(V.ang), to_p(V.lin)), bias)


def bias_in_the_world(ours: Path, theirs: Path, seen: Relative, model: Model) -> Motion:
    """Return `Relative.bias` where p is fixed to the world, from the motions that inverse dynamics goes through too."""
    zero = [0.0] * model.nv
    v, a = Motion.zero(), Motion(ZERO, -model.gravity)
    for link in ours.links:
        v, a = next_motion(link.body, link.state, v, a, zero)
    _, a = ours.X.carry(v, a)
    return Motion(seen.carried(a.ang), seen.carried(a.lin) + theirs.X.E.to_b(model.gravity))
