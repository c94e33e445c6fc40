"""A linearly implicit method, for joints with stiff damping, friction and springs."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.dynamics.friction import friction_slopes
from kinetree.algorithms.integrators.contract import State, integrator
from kinetree.algorithms.integrators.system import System
from kinetree.glossary.symbols import Vector
from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar


@integrator("implicit_euler", order=1)
def implicit_euler(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Semi-implicit Euler, with the joints' own friction taken at the new velocity.

    With D, a diagonal matrix, the slopes of friction: ``(M + h D) a = τ − bias(q, v)``. That is forward dynamics with
    larger rotors: as cheap, and stable however large D is. Where nothing resists it is semi-implicit Euler.

    References: Baraff and Witkin, Large steps in cloth simulation, 1998; MuJoCo's ``implicitfast``.
    """
    model = with_rotors(system.model, dt * Column(friction_slopes(system.model, v)))
    v = v + dt * replace(system, model=model).acceleration(t, q, v)
    return system.moved(q, dt * v), v


def with_rotors(model: Model, inertias: Vector) -> Model:
    """Return the model with these (nv,) added to the diagonal of its mass matrix."""
    bodies = list(model.bodies)
    for i in model.joint_order:
        body = bodies[i]
        rotors = (own + inertias[k] for k, own in zip(body.v_index, body.armature, strict=True))
        bodies[i] = replace(body, armature=tuple(rotors))
    return replace(model, bodies=tuple(bodies))
