"""Euler's methods: explicit, semi-implicit, and linearly implicit for stiff damping, friction, springs and stops."""

from __future__ import annotations

from dataclasses import replace

from kinetree.algorithms.dynamics.passive_forces import passive_damping, passive_stiffness
from kinetree.glossary.symbols import Vector
from kinetree.integrators.contract import State, System, integrator
from kinetree.model import Model
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import Column


@integrator("euler", order=1)
def euler(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Explicit Euler, as Lynch and Park print it (MR section 8.9.2, ``EulerStep``)."""
    a = system.acceleration(t, q, v)
    return system.moved(q, dt * v), v + dt * a


@integrator("semi_implicit_euler", order=1)
def semi_implicit_euler(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Semi-implicit (symplectic) Euler: the new velocity moves the configuration."""
    v = v + dt * system.acceleration(t, q, v)
    return system.moved(q, dt * v), v


@integrator("implicit_euler", order=1)
def implicit_euler(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
    """Semi-implicit Euler, with what joints do by themselves taken at the end of the step.

    With D and K, the diagonal matrices of the joints' own damping and stiffness: ``(M + h D + h² K) a = τ − bias(q, v)
    − h K v``. That is forward dynamics with larger rotors: as cheap, and stable however large D and K are. Where joints
    do nothing by themselves it is semi-implicit Euler.

    References: Baraff and Witkin, Large steps in cloth simulation, 1998; MuJoCo's ``implicitfast``.
    """
    stiffness, damping = own_derivatives(system, q, v)
    forces = system.forces(t, q, v) - Column(dt * k * x for k, x in zip(stiffness, v, strict=True))
    heavier = with_rotors(system.model, dt * damping + (dt * dt) * stiffness)
    v = v + dt * replace(system, model=heavier, motors=lambda *_: forces, limits="none").acceleration(t, q, v)
    return system.moved(q, dt * v), v


def own_derivatives(system: System, q: Column, v: Column) -> tuple[Column, Column]:
    """Return the diagonals of stiffness and damping in the joints: springs, friction, and stops if limits count."""
    model, limits = system.model, system.limits in ("position", "all")
    stiffness, damping = passive_stiffness(model, q, v, limits=limits), passive_damping(model, q, v, limits=limits)
    return Column(stiffness), Column(damping)


def with_rotors(model: Model, inertias: Vector) -> Model:
    """Return the model with these (nv,) added to the diagonal of its mass matrix."""
    bodies = list(model.bodies)
    for i in model.joint_order:
        body = bodies[i]
        rotors = (own + inertias[k] for k, own in zip(body.v_index, body.armature, strict=True))
        bodies[i] = replace(body, armature=tuple(rotors))
    return replace(model, bodies=tuple(bodies))
