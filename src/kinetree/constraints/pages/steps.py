"""One step in time as a function of a mechanism."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.system import ConstrainedSystem
from kinetree.constraints.table import MECHANISM_ALGORITHMS
from kinetree.integrators.step import LIMITS, OWN, held, stepped
from kinetree.spatial import Scalar

INTEGRATORS = tuple(name for name in OWN if name != "variational")


@algorithm(
    "step",
    outputs={"q": ("nq",), "v": ("nv",)},
    options={"integrator": INTEGRATORS, "limits": LIMITS},
    raises=SINGULAR,
    joint_space=True,
    table=MECHANISM_ALGORITHMS,
)
def step(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    active: Vector | None = None,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector]:
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

    At the end of the step, positions and velocities are brought back to what the constraints allow, by the smallest
    change in the metric of M: loops do not drift apart. `simulate` takes many steps, with controllers and events.

    >>> after = mech.step(q, v, [0.0] * robot.nv, 1e-3, active=[0] * 4)  # in the air
    >>> bool(abs(after.v - robot.step(q, v, [0.0] * robot.nv, 1e-3).v).max() < 1e-9)
    True
    """
    system = ConstrainedSystem(model, lambda *_: tau, held(f_ext), f_ext_frame, limits, active=active)
    return stepped(system, integrator, q, v, dt)
