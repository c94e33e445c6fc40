"""One step in time as a function of a mechanism."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector
from kinetree.constraints.contacts import count
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.system import ConstrainedSystem
from kinetree.constraints.time_stepping import TIME_STEPPING, integrator_of, stepped
from kinetree.glossary.symbols import FORWARDS
from kinetree.integrators.step import OWN, held
from kinetree.scalars.linalg import Column
from kinetree.spatial import Scalar

INTEGRATORS = tuple(name for name in OWN if name != "variational")


@mechanism_algorithm(
    "step",
    outputs={"q": ("nq",), "v": ("nv",)},
    options={"integrator": INTEGRATORS},
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "friction", "slots", "row_motion", "stick"),
)
def step(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector]:
    """Return the configuration and velocity a time dt later, under constant joint forces and wrenches.

    A mechanism with `Contact`s takes a step with impulses, as `contact_step` does, unless they stick. At the end of a
    step loops and the like are closed again, and velocities along them taken away, by the smallest change in the metric
    of M. `simulate` takes many steps, with controllers and events.

    Anchors that move do so by the `row_motion` at the beginning of the step; they accelerate evenly.

    >>> falling = mech.step(q, v, [0.0] * robot.nv, 1e-3, contacts=kt.ContactInputs(stick=True, active=[0] * 4))
    >>> bool(abs(falling.v - robot.step(q, v, [0.0] * robot.nv, 1e-3).v).max() < 1e-9)
    True
    """
    system = ConstrainedSystem(model, lambda *_: tau, held(f_ext), f_ext_frame, limits, False, {}, contacts)
    return integrator_of(model, integrator, contacts.stick)(system, 0.0, q, v, dt)


@mechanism_algorithm(
    "contact_step",
    outputs={"q": ("nq",), "v": ("nv",), "f": ("nrows",), "iterations": (), "dual": ()},
    options={"integrator": tuple(TIME_STEPPING)},
    raises=SINGULAR,
    joint_space=True,
    ranges=FORWARDS,
    group=taking("active", "restitution", "friction", "slots", "row_motion"),
)
def contact_step(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    dt: Scalar,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    f_start: Vector | None = None,
    *,
    integrator: str = "semi_implicit_euler",
    limits: str = "none",
    f_ext_frame: str = "body",
) -> tuple[Vector, Vector, list[Scalar], Scalar, Scalar]:
    """Return the configuration and velocity a time dt later, with the impulses of contacts that push and rub.

    Contacts touch, slide and rebound by Signorini's and Coulomb's laws, unrelaxed, and so do the stops of joints where
    limits of position count, and their Coulomb friction if it is turned on. What has penetrated is moved back without a
    velocity, so that impulses add no energy. Time goes forwards: dt is positive. Anchors that move do so by the
    `row_motion` at the beginning of the step; they accelerate evenly.

    Returns
    -------
    f
        The impulses of the step divided by dt (N, N·m); as the next step's `f_start` they save iterations.

    References: Stewart and Trinkle, An implicit time-stepping scheme for rigid body dynamics with inelastic collisions
    and Coulomb friction (1996); Anitescu and Potra (1997).

    >>> standing = mech.contact_step(robot.neutral(), 0 * v, [0.0] * robot.nv, 1e-3)
    >>> standing.f.shape, bool(standing.dual < 1e-6)
    ((12,), True)
    """
    system = ConstrainedSystem(model, lambda *_: tau, held(f_ext), f_ext_frame, limits, False, {}, contacts)
    start = [0.0] * count(model)
    if f_start is not None:
        start[: model.nrows] = [x * dt for x in f_start]
    x = stepped(system, 0.0, Column(q), Column(v), dt, start, integrator == "implicit_euler")
    return x.q, x.v, [y / dt for y in x.impulses[: model.nrows]], x.iterations, x.residual
