"""Explicit Runge–Kutta methods on the manifold (Runge–Kutta–Munthe-Kaas), and their coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kinetree.integrators.contract import State, Step, System, integrator
from kinetree.scalars.functions import Scalar
from kinetree.scalars.linalg import Column


class Tableau(NamedTuple):
    """An explicit method of this order: the rows of A below its diagonal, the weights b; c are the sums of rows."""

    order: int
    A: Sequence[Sequence[float]]
    b: Sequence[float]


CLASSICAL = Tableau(4, [[], [1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])

_B = [
    0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774,
]  # fmt: skip

TSITOURAS = Tableau(
    5,
    [
        [],
        [0.161],
        [-0.008480655492356989, 0.335480655492357],
        [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
        [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
        [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383],
        _B,
    ],
    [*_B, 0.0],
)
"""The last stage is the first one of the next step (FSAL)."""

ERROR = (
    -0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629, 0.5823571654525552,
    -0.45808210592918697, 1 / 66,
)  # fmt: skip
"""The weights of the embedded method of order 4 minus those of order 5."""

DENSE = (
    (1.0, -2.763706197274826, 2.9132554618219126, -1.0530884977290216),
    (0.0, 0.1317, -0.2234, 0.1017),
    (0.0, 3.9302962368947516, -5.941033872131505, 2.490627285651253),
    (0.0, -12.411077166933676, 30.33818863028232, -16.548102889244902),
    (0.0, 37.50931341651104, -88.1789048947664, 47.37952196281928),
    (0.0, -27.896526289197286, 65.09189467479366, -34.87065786149661),
    (0.0, 1.5, -4.0, 2.5),
)
"""The weights at the part θ of a step: of each stage, the coefficients of θ, θ², θ³ and θ⁴; the error is of order 4."""


def weighted(weights: Sequence[Scalar], columns: Sequence[Column], n: int) -> Column:
    """Return the weighted sum of columns of n entries."""
    total = Column.zeros(n)
    for weight, column in zip(weights, columns, strict=True):
        total = total + weight * column if not isinstance(weight, float | int) or weight else total
    return total


def runge_kutta(tableau: Tableau) -> Step:
    """Return a step of the explicit method with these coefficients, in coordinates of each joint's group around q.

    With ``q(t) = q ⊕ u(t)`` the equation ``q̇ = v`` becomes ``u̇ = dexp⁻¹_u v`` in a vector space, where any method
    keeps its order (Munthe-Kaas, High order Runge–Kutta methods on manifolds, 1999), even with that series cut one
    power below.
    """

    def step(system: System, t: Scalar, q: Column, v: Column, dt: Scalar) -> State:
        rates, accelerations = list[Column](), list[Column]()
        for row in tableau.A:
            u, v_i = dt * weighted(row, rates, len(v)), v + dt * weighted(row, accelerations, len(v))
            q_i = system.moved(q, u) if rates else q
            rates.append(system.rate(u, v_i, tableau.order - 1))
            accelerations.append(system.called_acceleration(t + sum(row) * dt, q_i, v_i))
        u = dt * weighted(tableau.b, rates, len(v))
        return system.moved(q, u), v + dt * weighted(tableau.b, accelerations, len(v))

    return step


rk4 = integrator("rk4", order=CLASSICAL.order)(runge_kutta(CLASSICAL))
