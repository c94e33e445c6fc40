"""Inverse dynamics by the recursive Newton–Euler algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.friction import friction_forces
from kinetree.algorithms.kinematics.forward import world_transforms
from kinetree.algorithms.recursions.motions import body_motions
from kinetree.algorithms.registry import algorithm
from kinetree.model import WORLD, Model
from kinetree.model.model import BodyState
from kinetree.spatial import Force, Scalar

Wrenches = Sequence[Sequence[Scalar]]
FRAMES = ("body", "world")


@algorithm(
    "inverse_dynamics",
    inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)},
    optional={"f_ext": ("nb", 6)},
    options={"f_ext_frame": FRAMES},
    outputs={"tau": ("nv",)},
    joint_space=True,
)
def rnea(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    f_ext: Wrenches | None = None,
    *,
    f_ext_frame: str = "body",
) -> list[Scalar]:
    """Joint forces that give the accelerations a: ``τ = M(q) a + h(q, v) − Jᵀ f_ext``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².
    f_ext : (..., nb, 6) array, optional
        Wrench (n, f) exerted on each moving body (N·m, N), in the order of ``robot.body_names``.
    f_ext_frame : {"body", "world"}
        Axes and reference point of f_ext: the body's frame, or the world's.

    Returns
    -------
    (..., nv) array
        Joint forces (N·m, N); for a floating base also the wrench that would have to act on it.

    References
    ----------
    RBDA Table 5.1; armature adds ``I_rotor a`` at each joint, and friction what `Robot.with_friction` turned on.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    f = net_forces(model, states, a, body_wrenches(states, model, f_ext, f_ext_frame))
    tau = friction_forces(model, v)
    for i in reversed(range(model.nb)):
        body, (Xup, _, S, _, _) = model.bodies[i], states[i]
        for k, S_k, rotor in zip(body.v_index, S, body.armature, strict=True):
            tau[k] = tau[k] + S_k.dot(f[i]) + rotor * a[k]
        if body.parent != WORLD:
            f[body.parent] = f[body.parent] + Xup.T @ f[i]
    return tau


def net_forces(model: Model, states: Sequence[BodyState], a: Sequence[Scalar], f_ext: Sequence[Force]) -> list[Force]:
    """Return ``f_i = I_i a_i + v_i ×* I_i v_i − f_i^x``, the outward half of the recursion.

    The motions are those of `body_motions`: seen from another inertial frame, where the forces are the same.
    """
    motions = body_motions(model, states, a)
    return [body.inertia.wrench(*m) - f for body, m, f in zip(model.bodies, motions, f_ext, strict=True)]


def body_wrenches(states: Sequence[BodyState], model: Model, f_ext: Wrenches | None, frame: str) -> list[Force]:
    """Return the external forces in body coordinates, ``f_i^x``."""
    if f_ext is None:
        return [Force.zero()] * model.nb
    if frame == "body":
        return [Force.of(f) for f in f_ext]
    return [X @ Force.of(f) for X, f in zip(world_transforms(model, states), f_ext, strict=True)]


@algorithm("bias_forces", inputs={"q": ("nq",), "v": ("nv",)}, outputs={"h": ("nv",)}, joint_space=True)
def bias_forces(model: Model, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
    """Joint forces that hold the acceleration at zero: ``h = C(q, v) v + g(q)``, and friction if it is on.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.

    Returns
    -------
    (..., nv) array
        Coriolis, centrifugal and gravity forces (N·m, N).

    References
    ----------
    RBDA eq. 6.2: ``C = ID(q, v, 0)``.
    """
    return rnea(model, q, v, [0.0] * model.nv)


@algorithm("gravity_forces", inputs={"q": ("nq",)}, outputs={"g": ("nv",)}, joint_space=True)
def gravity_forces(model: Model, q: Sequence[Scalar]) -> list[Scalar]:
    """Joint forces that hold the robot still against gravity.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).

    Returns
    -------
    (..., nv) array
        Gravity forces g(q) (N·m, N).

    References
    ----------
    RBDA Table 5.1 at zero velocity and acceleration.
    """
    zero = [0.0] * model.nv
    return rnea(model, q, zero, zero)
