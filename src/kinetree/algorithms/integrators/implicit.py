"""A linearly implicit method, for joints with stiff damping, friction and springs."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.dynamics.passive_forces import friction_slopes, sprung
from kinetree.algorithms.integrators.contract import State, integrator
from kinetree.algorithms.integrators.system import System
from kinetree.glossary.symbols import Vector
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar


@integrator("implicit_euler", order=1)
def implicit_euler(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Semi-implicit Euler, with what joints do by themselves taken at the end of the step.

    With D and K, the diagonal matrices of the joints' own damping and stiffness: ``(M + h D + h² K) a = τ − bias(q, v)
    − h K v``. That is forward dynamics with larger rotors: as cheap, and stable however large D and K are. Where joints
    do nothing by themselves it is semi-implicit Euler.

    References: Baraff and Witkin, Large steps in cloth simulation, 1998; MuJoCo's ``implicitfast``.
    """
    stiffness, damping = own_derivatives(system.model, v)
    model = with_rotors(system.model, dt * damping + (dt * dt) * stiffness)
    ahead = Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
    stiff = replace(system, model=model, motors=lambda *state: system.motor_forces(*state) - ahead)
    v = v + dt * stiff.acceleration(t, q, v)
    return system.moved(q, dt * v), v


def own_derivatives(model: Model, v: Vector) -> tuple[Column, Column]:
    """Return the diagonals of stiffness and damping in the joints: springs, and friction in proportion to v."""
    stiffness: list[Scalar] = [0.0] * model.nv
    for body in sprung(model):
        (k,) = body.v_index
        stiffness[k] = stiffness[k] + body.spring.stiffness
    return Column(stiffness), Column(friction_slopes(model, v))


def with_rotors(model: Model, inertias: Vector) -> Model:
    """Return the model with these (nv,) added to the diagonal of its mass matrix."""
    bodies = list(model.bodies)
    for i in model.joint_order:
        body = bodies[i]
        rotors = (own + inertias[k] for k, own in zip(body.v_index, body.armature, strict=True))
        bodies[i] = replace(body, armature=tuple(rotors))
    return replace(model, bodies=tuple(bodies))
