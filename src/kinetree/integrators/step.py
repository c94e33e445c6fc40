"""One step in time as a function of a robot."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.glossary.symbols import Choices
from kinetree.integrators.adaptive import tsitouras
from kinetree.integrators.contract import Integrator
from kinetree.integrators.euler import euler, semi_implicit_euler
from kinetree.integrators.implicit import implicit_euler
from kinetree.integrators.runge_kutta import rk4
from kinetree.integrators.system import System
from kinetree.integrators.variational import variational
from kinetree.model import Model
from kinetree.scalars.functions import Scalar

_OWN = {i.name: i for i in (semi_implicit_euler, euler, rk4, tsitouras, implicit_euler, variational)}
OWN = tuple(_OWN)
YOURS = "; integrators of your own are for simulate: robot.simulate(q, v, tau=tau, dt=dt, steps=1, integrator=...)"
LIMITS = ("none", "position", "effort", "all")


@algorithm(
    "step",
    outputs={"q": ("nq",), "v": ("nv",)},
    options={"integrator": Choices(OWN, YOURS), "limits": LIMITS},
    raises=SINGULAR,
)
def step(
    model: Model,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector]:
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

    `simulate` takes many steps, with controllers and events.

    >>> after = robot.step(robot.neutral(), [0.0] * 7, [0.0] * 7, 1e-3)
    >>> bool(abs(after.v - 1e-3 * robot.forward_dynamics(robot.neutral(), [0.0] * 7, [0.0] * 7)).max() < 1e-15)
    True
    """
    wrenches = None if f_ext is None else lambda _: f_ext
    system = System(model, lambda *_: tau, wrenches, f_ext_frame, limits)
    return _OWN[integrator](system, 0.0, q, v, dt)


def is_own(integrator: Integrator) -> bool:
    """Return whether it is one of kinetree's, whose name and source say all: not one made of their parts."""
    return integrator == _OWN.get(integrator.name)
