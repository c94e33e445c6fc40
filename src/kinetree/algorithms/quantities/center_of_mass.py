"""The centre of mass, its motion and its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.algorithms.registry import algorithm
from kinetree.errors import ModelError
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.scalars.functions import is_zero
from kinetree.spatial import Mat3, Motion, Scalar, Transform, Vec3
from kinetree.spatial.vector import ZERO


class Moment(NamedTuple):
    """Share m of a subtree in the robot's mass, m times its centre of mass, and the first two rates of that."""

    m: Scalar
    h: Vec3 = ZERO
    dh: Vec3 = ZERO
    ddh: Vec3 = ZERO

    def plus(self, b: Moment) -> Moment:
        """Return that of both together."""
        return Moment(self.m + b.m, self.h + b.h, self.dh + b.dh, self.ddh + b.ddh)

    def moving(self, v: Motion, a: Motion) -> Moment:
        """Return the same if its frame moves at v and a (spatial, in its own axes) besides."""
        w = v.ang
        spin = self.dh + w.cross(self.h)
        acc = a.lin + w.cross(v.lin)
        return Moment(
            self.m,
            self.h,
            spin + v.lin * self.m,
            self.ddh + w.cross(self.dh) + a.ang.cross(self.h) + w.cross(spin) + acc * self.m,
        )

    def before(self, X: Transform) -> Moment:
        """Return the same in the frame that X leads from."""
        E = X.E
        return Moment(self.m, E.to_a(self.h) + X.r * self.m, E.to_a(self.dh), E.to_a(self.ddh))


@algorithm("center_of_mass", inputs={"q": ("nq",)}, outputs={"c": (3,)})
def center_of_mass(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Centre of mass of the moving bodies, in the world.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., 3) array
        Position (m). What is fixed to the world has no part in it.

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("panda").center_of_mass([0.0] * 7).shape
    (3,)
    """
    return list(_whole(model, [model.jcalc(i, q) for i in range(model.nb)]).h)


@algorithm("center_of_mass_velocity", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"dc": (3,)})
def center_of_mass_velocity(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Velocity of the centre of mass of the moving bodies, in the world's axes.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., 3) array
        Velocity (m/s): the linear momentum divided by the mass.

    Raises
    ------
    ModelError
        If the moving bodies have no mass.
    """
    return list(_whole(model, [model.jcalc(i, q, v) for i in range(model.nb)]).dh)


@algorithm("center_of_mass_acceleration", inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)}, outputs={"ddc": (3,)})
def center_of_mass_acceleration(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar]
) -> list[Scalar]:
    """Acceleration of the centre of mass of the moving bodies, in the world's axes, gravity not counted.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².

    Returns
    -------
    (..., 3) array
        Acceleration (m/s²).

    Raises
    ------
    ModelError
        If the moving bodies have no mass.
    """
    return list(_whole(model, [model.jcalc(i, q, v) for i in range(model.nb)], a).ddh)


@algorithm("center_of_mass_jacobian", inputs={"q": ("nq",)}, outputs={"J": (3, "nv")})
def center_of_mass_jacobian(model: Model, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Jacobian of the centre of mass: ``J(q) v`` is its velocity in the world's axes.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., 3, nv) array

    Raises
    ------
    ModelError
        If the moving bodies have no mass.

    Notes
    -----
    A joint moves the subtree that it carries as one body: column k is the linear momentum of that subtree at unit
    velocity, over the mass of the robot.
    """
    states = [model.jcalc(i, q) for i in range(model.nb)]
    moments = _subtrees(model, states, None)
    J: list[list[Scalar]] = [[0.0] * model.nv for _ in range(3)]
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


def _subtrees(model: Model, states: Sequence[BodyState], a: Sequence[Scalar] | None) -> list[Moment]:
    """Return, for each body, the moment of the subtree that it carries, in its frame and seen from there.

    From the leaves to the base every joint adds its own motion to all that it carries, so no velocity of a body is
    needed; the last entry is the world's, the whole robot.
    """
    share = 1.0 / moving_mass(model)
    moments = [Moment(body.inertia.m * share, body.inertia.h * share) for body in model.bodies] + [Moment(0.0)]
    for i in reversed(range(model.nb)):
        body, (_, X_J, S, vJ, cJ) = model.bodies[i], states[i]
        aJ = cJ
        if a is not None:
            for k, S_k in zip(body.v_index, S, strict=True):
                aJ = aJ + S_k * a[k]
        carried = moments[i].moving(vJ, aJ).before(X_J).before(body.X_T)
        moments[body.parent] = moments[body.parent].plus(carried)
    return moments


def _whole(model: Model, states: Sequence[BodyState], a: Sequence[Scalar] | None = None) -> Moment:
    return _subtrees(model, states, a)[WORLD]


def moving_mass(model: Model) -> Scalar:
    """Return the mass of the moving bodies; `ModelError` where they have none."""
    mass: Scalar = 0.0
    for body in model.bodies:  # sum() of floats rounds otherwise from Python 3.12 on
        mass = mass + body.inertia.m
    if is_zero(mass):
        raise ModelError(f"robot {model.name!r} has no moving mass, so no centre of mass: give its links inertias")
    return mass
