"""Euler's methods."""

from __future__ import annotations

from kinetree.integrators.contract import State, integrator
from kinetree.integrators.system import System
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar


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
