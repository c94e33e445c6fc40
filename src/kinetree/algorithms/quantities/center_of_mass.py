"""The centre of mass, its motion and its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.errors import ModelError
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Mat3, Motion, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO

MASSLESS = "If the moving bodies have no mass."


class MassMoment(NamedTuple):
    """A subtree's fraction m of the robot's mass, its first moment h = m c, and the first two rates of h."""

    m: Scalar
    h: Vec3 = ZERO
    dh: Vec3 = ZERO
    ddh: Vec3 = ZERO

    def moving(self, v: Motion, a: Motion) -> MassMoment:
        """Return the moment with the motion of its frame added: spatial v and a, in its own axes."""
        m, h, dh, ddh = self
        w = v.ang
        spin = dh + w.cross(h)
        acc = a.lin + w.cross(v.lin)
        return MassMoment(m, h, spin + v.lin * m, ddh + w.cross(dh) + a.ang.cross(h) + w.cross(spin) + acc * m)

    def inv_apply(self, X: Transform) -> MassMoment:
        """Return the moment in the frame that X transforms from."""
        E = X.E
        return MassMoment(self.m, E.to_a(self.h) + X.r * self.m, E.to_a(self.dh), E.to_a(self.ddh))


@algorithm("center_of_mass", outputs="c", raises=MASSLESS)
def center_of_mass(model: Model, q: Vector) -> list[Scalar]:
    """Centre of mass of the moving bodies, in the world."""
    return list(_whole(model, q).h)


@algorithm("center_of_mass_velocity", outputs="dc", raises=MASSLESS)
def center_of_mass_velocity(model: Model, q: Vector, v: Vector) -> list[Scalar]:
    """Velocity of the centre of mass of the moving bodies, in the world's axes."""
    return list(_whole(model, q, v).dh)


@algorithm("center_of_mass_acceleration", outputs="ddc", raises=MASSLESS)
def center_of_mass_acceleration(model: Model, q: Vector, v: Vector, a: Vector) -> list[Scalar]:
    """Acceleration of the centre of mass of the moving bodies, in the world's axes; gravity is not included."""
    return list(_whole(model, q, v, a).ddh)


@algorithm("center_of_mass_jacobian", outputs={"J": (3, "nv")}, raises=MASSLESS)
def center_of_mass_jacobian(model: Model, q: Vector) -> Matrix:
    """Jacobian of the centre of mass: ``J(q) v`` is its velocity in the world's axes.

    A joint moves the subtree that it carries as one body: column k is that subtree's linear momentum at unit velocity,
    divided by the mass of the robot.

    Returns
    -------
    J
        Velocity of the centre of mass at unit velocity of each joint.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    moments = _subtrees(model, states, None)
    J: Matrix = [[0.0] * model.nv for _ in range(3)]
    to_world: list[Mat3] = []
    for i, (body, state) in enumerate(zip(model.bodies, states, strict=True)):
        E = state.X_J.E.matrix.times(body.X_T.E.matrix)
        E = E if body.parent == WORLD else E.times(to_world[body.parent])
        to_world.append(E)
        for k, S_k in zip(body.v_index, state.S, strict=True):
            column = E.transposed_times(S_k.lin * moments[i].m + S_k.ang.cross(moments[i].h))
            for row, x in zip(J, column, strict=True):
                row[k] = row[k] + x
    return J


def _subtrees(model: Model, states: Sequence[BodyState], a: Vector | None) -> list[MassMoment]:
    """Return the moment of every body's subtree, relative to the body and in its frame; the last is the whole robot's.

    From the leaves to the base, every joint adds its motion to the subtree that it carries.
    """
    share = 1.0 / moving_mass(model)
    moments = [MassMoment(body.inertia.m * share, body.inertia.h * share) for body in model.bodies] + [MassMoment(0.0)]
    for i in reversed(range(model.nb)):
        body, (_, X_J, S, vJ, cJ) = model.bodies[i], states[i]
        aJ = cJ
        if a is not None:
            for k, S_k in zip(body.v_index, S, strict=True):
                aJ = aJ + S_k * a[k]
        carried = moments[i].moving(vJ, aJ).inv_apply(X_J).inv_apply(body.X_T)
        moments[body.parent] = MassMoment(*(x + y for x, y in zip(moments[body.parent], carried, strict=True)))
    return moments


def _whole(model: Model, q: Vector, v: Vector | None = None, a: Vector | None = None) -> MassMoment:
    return _subtrees(model, [model.jcalc(i, q, v) for i in range(model.nb)], a)[WORLD]


def moving_mass(model: Model) -> Scalar:
    """Return the mass of the moving bodies; `ModelError` if they have none."""
    mass: Scalar = 0.0
    for body in model.bodies:  # sum() of floats rounds otherwise from Python 3.12 on
        mass = mass + body.inertia.m
    if is_zero(mass):
        raise ModelError(f"robot {model.name!r} has no moving mass, so no centre of mass: give its links inertias")
    return mass
