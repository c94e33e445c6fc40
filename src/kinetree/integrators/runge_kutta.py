"""Explicit Runge–Kutta methods on the manifold (Runge–Kutta–Munthe-Kaas)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.integrators.contract import State, Step, integrator
from kinetree.integrators.system import System
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar


class Tableau(NamedTuple):
    """An explicit method of this order: the rows of A below its diagonal, the weights b; c are the sums of rows."""

    order: int
    A: Sequence[Sequence[float]]
    b: Sequence[float]


CLASSICAL = Tableau(4, [[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])


class Stages(NamedTuple):
    """The rates of the stages: of the coordinates u, for which the configuration is ``q ⊕ u``, and of v."""

    rates: list[Column]
    accelerations: list[Column]


def stages(system: System, t: Scalar, q: Column, v: Column, dt: Scalar, tableau: Tableau) -> Stages:
    """Return the rates of all stages, in the coordinates of each joint's group around q.

    With ``q(t) = q ⊕ u(t)`` the manifold's equation ``q̇ = v`` becomes ``u̇ = dexp⁻¹_u v`` in a vector space
    (Munthe-Kaas, High order Runge–Kutta methods on manifolds, 1999), where any Runge–Kutta method keeps its order,
    also where the series of dexp⁻¹ ends one power of u below the order.
    """
    found = Stages([], [])
    for row in tableau.A:
        u, v_i = dt * weighted(row, found.rates, system.model.nv), v + dt * weighted(row, found.accelerations, len(v))
        q_i = system.moved(q, u) if found.rates else q
        found.rates.append(system.rate(u, v_i, tableau.order - 1))
        found.accelerations.append(system.called_acceleration(t + sum(row) * dt, q_i, v_i))
    return found


def weighted(weights: Sequence[Scalar], columns: Sequence[Column], n: int) -> Column:
    """Return the weighted sum of columns of n entries."""
    total = Column.zeros(n)
    for weight, column in zip(weights, columns, strict=True):
        total = total + weight * column if not isinstance(weight, float | int) or weight else total
    return total


def runge_kutta(tableau: Tableau) -> Step:
    """Return a step of the explicit method with these coefficients."""

    def step(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
        rates, accelerations = stages(system, t, q, v, dt, tableau)
        u = dt * weighted(tableau.b, rates, len(v))
        return system.moved(q, u), v + dt * weighted(tableau.b, accelerations, len(v))

    return step


rk4 = integrator("rk4", order=CLASSICAL.order)(runge_kutta(CLASSICAL))
