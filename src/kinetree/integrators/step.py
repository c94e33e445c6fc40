"""One step in time as a function of a robot."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.glossary.symbols import Choices
from kinetree.integrators.contract import INTEGRATORS, Integrator, System, module_of
from kinetree.model import Model
from kinetree.scalars.functions import Scalar

USUAL, PACKAGE = "semi_implicit_euler", __name__.rpartition(".")[0]
for _file in iter_modules(sys.modules[PACKAGE].__path__):
    if _file.name != "step":
        import_module(f"{PACKAGE}.{_file.name}")

_OWN = {name: i for name, i in INTEGRATORS.items() if module_of(i).startswith(PACKAGE)}
OWN = tuple(sorted(_OWN, key=lambda name: (name != USUAL, name)))
"""The names of those that files beside this one register; the usual one is the first."""

YOURS = "; integrators of your own are for simulate: robot.simulate(q, v, forces=tau, dt=dt, steps=1, integrator=...)"


@algorithm(
    "step",
    outputs={"q": ("nq",), "v": ("nv",)},
    options={"integrator": Choices(OWN, YOURS)},
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
    return stepped(System(model, lambda *_: tau, held(f_ext), f_ext_frame, limits), integrator, q, v, dt)


def stepped(system: System, name: str, q: Vector, v: Vector, dt: Scalar) -> tuple[Vector, Vector]:
    """Return the state after a step of an integrator of kinetree's."""
    return _OWN[name](system, 0.0, q, v, dt)


def held(f_ext: Wrenches) -> Callable[[Scalar], Wrenches] | None:
    """Return wrenches that do not change during a step."""
    return None if f_ext is None else lambda _: f_ext


def is_own(integrator: Integrator) -> bool:
    """Return whether it is one of kinetree's, whose name and source say all: not one made of their parts."""
    return integrator == _OWN.get(integrator.name)
