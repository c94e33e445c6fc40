"""What a simulation is given: arrays, states and times to begin with, physics of joints, constraints of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, checked
from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput
from kinetree.functions.of_robot import describe
from kinetree.glossary.symbols import RANGES, SHAPES
from kinetree.graph import Port
from kinetree.integrators import INTEGRATORS, Integrator
from kinetree.model import Model
from kinetree.model.body import JointFriction
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.options import count, names_of
from kinetree.robot.robot import Robot
from kinetree.validation import Array, as_number, check_finite, positive, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

JOINTS = ("stops", "effort", "friction")
"""What a file says of joints that a simulation may leave out."""

_CLOSE = 1e-6
"""By which part of a step a duration may differ from a whole number of steps."""

FIELDS = ("active", "restitution", "friction", "slots", "row_motion")
"""What is given of `ContactInputs` to a step."""


# -- arrays ----------------------------------------------------------------------------------------------------------


def as_given(
    model: Model, name: str, value: Any, shape: tuple[int, ...], lead: tuple[int, ...], over_time: bool = False
) -> Array:
    """Return an input of n states as an array (n, entries), or (n, steps, entries) where it changes.

    It does where it has one axis more than the states have, or where that is said, which may be for all of them.
    """
    with suppress(ValueError):  # lists of several lengths, of which the next line says more
        value = np.asarray(value, dtype=float) if name == "active" and np.asarray(value).dtype == bool else value
    array = real_array(name, value)
    axes = array.ndim - len(shape)
    if axes < 0 or array.shape[axes:] != shape:
        wanted = ", ".join(map(str, ("...", *shape)))
        parts = describe(model, Port(name, shape), SHAPES.get(name, ()))
        parts += "; of an inertia m, m c and I (xx, xy, yy, xz, yz, zz), or kt.Inertia(m, c, I_com)" * (shape == (10,))
        raise ArgumentError(f"{name} has shape {array.shape}, ({wanted}) is needed: {parts}")
    changes = over_time or axes == len(lead) + 1
    own_axes = array.shape[axes - changes :]
    try:
        wide = np.broadcast_to(array, (*lead, *own_axes))
    except ValueError:
        wide = None
    if wide is None or axes < changes:
        many = f"; the same over time for all is {(*(1,) * len(lead), 'steps', *shape)}" if lead else ""
        constant = f"{(*lead, *shape)}, or over time " if not over_time else ""
        raise ArgumentError(
            f"{name} has shape {array.shape}; q and v have the leading axes {lead}, so it takes {constant}"
            f"{(*lead, 'steps', *shape)}{many}"
        )
    check_finite(name, array)
    if name in RANGES:
        RANGES[name].check(name, array)
    return np.array(wide, order="C").reshape(math.prod(lead), *own_axes[: int(changes)], math.prod(shape))


# -- states ----------------------------------------------------------------------------------------------------------


class Start(NamedTuple):
    """Where simulations begin: what is given as q and v, the time, and the end of the motion that they go on from."""

    states: dict[str, Any]
    t: float | None
    before: End | None

    @classmethod
    def of(cls, robot: Robot | Mechanism, q: Any, v: Any) -> Start:
        """Return what is meant by q, which may be a configuration's name, a state or a motion."""
        t = before = None
        if isinstance(q, Trajectory | State):
            if v is not None:
                raise ArgumentError(f"v is not taken where this goes on from a {type(q).__name__}, which has it")
            last: Any = q if isinstance(q, State) else q.end or q.final
            if last is not q:
                before = last if isinstance(last, End) else End(last.t, last.q, last.v, {}, np.empty(0), "")
            q, v, t = last.q, last.v, last.t
        elif isinstance(q, str):
            q = (robot if isinstance(robot, Robot) else robot.tree).configuration(q)
        return cls({"q": q, "v": np.zeros(robot.nv) if v is None else v}, t, before)

    def own(self, ports: Iterable[Port]) -> dict[str, Array]:
        """Return the controller's own state at that end, by the names of these arguments."""
        carried = self.before.controller if self.before else {}
        return {port.name: carried[port.name] for port in ports if port.name in carried}


def lead_of(model: Model, q: Any, v: Any) -> tuple[int, ...]:
    """Return the leading axes of states."""
    shapes = [real_array(name, x, n).shape for name, x, n in (("q", q, model.nq), ("v", v, model.nv))]
    try:
        lead = np.broadcast_shapes(*(shape[:-1] for shape in shapes))
    except ValueError:
        raise ArgumentError(f"the leading axes of q {shapes[0]} and v {shapes[1]} do not fit together") from None
    if not math.prod(lead):
        raise ArgumentError(f"q and v have the leading axes {lead}: there is no robot to simulate")
    return lead


def check_configurations(model: Model, q: Array) -> None:
    """Raise where coordinates (n, nq) stand for no configuration, as those of a quaternion of zeros do."""
    for body in model.leading:
        if len(body.q_index) > len(body.v_index):
            own = q[:, body.q_index]
            with np.errstate(all="ignore"):
                reached = np.asarray(body.joint.integrate([*own.T], [0.0] * len(body.v_index)))
            if not np.isfinite(reached).all():
                wrong = own[~np.isfinite(reached).all(axis=0)][0]
                raise ArgumentError(
                    f"q: {wrong.tolist()} are no coordinates of {body.joint_name!r}; a quaternion need not be "
                    "normalised, but not be zero either: no rotation is (0, 0, 0, 1)"
                )


# -- times -----------------------------------------------------------------------------------------------------------


class Times(NamedTuple):
    """A number of steps of one length: step k, counted from 0, begins at ``(first + k) dt + rest``.

    A beginning at a multiple of dt, to rounding, is that multiple: a simulation that goes on has the times of one.
    """

    dt: float
    steps: int
    first: float
    rest: float

    def of(self, k: Any) -> Any:
        """Return the time at the beginning of step k."""
        return (self.first + k) * self.dt + self.rest

    def starting(self, t0: Any) -> Times:
        """Return as many steps from another time on."""
        if not math.isfinite(as_number(t0)):
            raise ArgumentError(f"t0 is {t0!r}, it must be a finite number of seconds")
        t0, dt, number = float(t0), self.dt, self.steps
        first = float(round(t0 / dt)) if abs(t0 / dt) < 2**52 else 0.0
        rest = t0 - first * dt
        found = Times(dt, number, first, 0.0 if abs(rest) <= 4 * math.ulp(t0) else rest)
        if number > 2**53 or not (found.of(0) < found.of(1) and found.of(number - 1) < found.of(number) < math.inf):
            raise ArgumentError(
                f"{number} steps of dt = {dt:g} s from t0 = {t0:g} s: floats cannot tell all times apart"
            )
        return found


def times(dt: Any, duration: Any, steps: Any, counted: Mapping[str, int], t0: Any) -> Times:
    """Return the times of the steps; `counted` are the numbers of steps that arrays over time have."""
    dt, known = positive("dt", dt), dict(counted)
    if duration is not None:
        exact = positive("duration", duration) / dt
        if exact > 2**53 or abs(exact - round(exact)) > _CLOSE or not round(exact):
            raise ArgumentError(f"duration = {duration:g} s is {exact:.9g} steps of dt = {dt:g} s: give a whole number")
        known["duration"] = round(exact)
    if steps is not None:
        known["steps"] = count("steps", steps)
    if not known:
        raise ArgumentError("how long? Give duration= in seconds, steps=, or forces over time, (steps, nv)")
    if len({*known.values()}) > 1 or min(known.values()) < 1:
        shown = ", ".join(f"{name}: {n}" for name, n in known.items())
        raise ArgumentError(
            f"the numbers of steps must be equal and 1 or more; they are {shown}. (A leading axis is time unless q or "
            "v has one too: for n robots give v of shape (n, nv), for a vector of gains its shape to compile)"
        )
    return Times(dt, min(known.values()), 0.0, 0.0).starting(t0)


# -- physics of the joints -------------------------------------------------------------------------------------------


def physics(model: Model, joints: object, inputs: Iterable[ModelInput]) -> tuple[str, JointFriction, str]:
    """Return which limits count (see `System.limits`), which friction, and the integrator where none is chosen.

    Friction is the robot's own choice, if it has made one, and counts where its figures are given; it may be stiff.
    """
    parts = names_of("joints", joints.replace(",", " ").split() if isinstance(joints, str) else joints)
    if len(parts) > 1 and not {"all", "none"}.isdisjoint(parts):
        raise ArgumentError(f"joints is {joints!r}; it takes names out of {', '.join(JOINTS)}, or 'all' or 'none'")
    if unknown := [x for x in parts if x not in (*JOINTS, "all", "none")]:
        raise ArgumentError(f"joints: {unknown_name('part of their physics', unknown[0], (*JOINTS, 'all', 'none'))}")
    stops, effort, rubs = (x in parts or parts == ("all",) for x in JOINTS)
    own, kinds = model.friction, {i.kind for i in inputs}
    if rubs and not (own.damping or own.coulomb):
        own = JointFriction(True, True, own.smoothing)
    has_damping = "damping" in kinds or any(any(body.damping) for body in model.bodies)
    has_coulomb = "friction" in kinds or any(any(body.friction) for body in model.bodies)
    friction = JointFriction(own.damping and has_damping, own.coulomb and has_coulomb, own.smoothing)
    counts = friction.damping or friction.coulomb or kinds & {"damping", "friction"}
    limits = ("all" if effort else "position") if stops else "effort" if effort else "none"
    return limits, friction, "implicit_euler" if counts else "semi_implicit_euler"


# -- constraints of a mechanism ----------------------------------------------------------------------------------------


def chosen_integrator(robot: Robot | Mechanism, integrator: object, contacts: ContactInputs) -> Integrator:
    """Return the integrator that is meant: where contacts are solved, the one with impulses."""
    if not isinstance(integrator, Integrator):
        if not isinstance(integrator, str) or integrator not in INTEGRATORS:
            raise ArgumentError(unknown_name("integrator", str(integrator), INTEGRATORS))
        integrator = INTEGRATORS[integrator]
    if isinstance(robot, Robot):
        return integrator
    from kinetree.constraints.pages.steps import TimeStepping, integrator_of

    integrator = integrator_of(robot.model, integrator, contacts.stick)
    if contacts.solver is None:
        return integrator
    if not isinstance(integrator, TimeStepping):
        raise ArgumentError(f"solver is for contacts that are solved; {integrator.name!r} solves none")
    given = {name: x for name in integrator.tolerances if (x := getattr(contacts.solver, name)) is not None}
    return replace(integrator, method=contacts.solver.method, **given)


def arrays_of(contacts: ContactInputs) -> dict[str, Any]:
    """Return what is given to constraints at run time, by the names of the step."""
    return {name: x for name in FIELDS if (x := getattr(contacts, name)) is not None}


def contacts_of(robot: Robot | Mechanism, contacts: object) -> ContactInputs:
    """Return the inputs of a mechanism's constraints."""
    if contacts is None:
        return NONE_GIVEN
    if isinstance(robot, Robot):
        raise ArgumentError("contacts is for the constraints of a mechanism; a robot has none")
    return checked(contacts)
