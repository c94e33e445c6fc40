"""What a simulation is given: arrays, states and times to begin with, physics of joints, constraints of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, checked
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import SHAPES, shape_of
from kinetree.integrators import INTEGRATORS, Integrator
from kinetree.model import Model
from kinetree.model.body import JointFriction
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.options import count
from kinetree.robot.robot import Robot
from kinetree.validation import Array, as_number, check_finite, positive, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

JOINTS = ("stops", "effort", "friction")
"""What a file says of joints that a simulation may leave out."""

_CLOSE = 1e-6
"""By which part of a step a duration may differ from a whole number of steps."""

OPEN = 1e-3
"""Errors (m, rad) that are no rounding: the first step takes away smaller ones."""

FIELDS = ("active", "restitution", "friction", "slots", "row_motion")
"""What is given of `ContactInputs` to a step."""


# -- arrays ----------------------------------------------------------------------------------------------------------


def as_given(name: str, value: Any, shape: tuple[int, ...], lead: tuple[int, ...], over_time: bool = False) -> Array:
    """Return an input of n states as an array (n, entries), or (n, steps, entries) where it changes.

    It does where it has one axis more than the states have, or where that is said, which may be for all of them.
    """
    array = real_array(name, value, *shape)
    axes = array.ndim - len(shape)
    changes = over_time or axes == len(lead) + 1
    own_axes = array.shape[axes - changes :]
    try:
        if axes < changes:
            raise ValueError("there is no axis of steps")
        wide = array if array.shape == (*lead, *own_axes) else np.broadcast_to(array, (*lead, *own_axes))
    except ValueError:
        many = f"; the same over time for all is {(*(1,) * len(lead), 'steps', *shape)}" if lead else ""
        constant = f"{(*lead, *shape)}, or over time " if not over_time else ""
        raise ArgumentError(
            f"{name} has shape {array.shape}; q and v have the leading axes {lead}, so it takes {constant}"
            f"{(*lead, 'steps', *shape)}{many}"
        ) from None
    check_finite(name, array)
    flat = np.ascontiguousarray(wide)
    return (flat if flat.flags.aligned else flat.copy()).reshape(
        math.prod(lead), *own_axes[: int(changes)], math.prod(shape)
    )


# -- states ----------------------------------------------------------------------------------------------------------


def start(robot: Robot | Mechanism, q: Any, v: Any) -> tuple[dict[str, Array], tuple[int, ...]]:
    """Return the states to begin with, n to a row, and their leading axes."""
    Q, V = real_array("q", q, robot.nq), np.zeros(robot.nv) if v is None else real_array("v", v, robot.nv)
    try:
        lead = np.broadcast_shapes(Q.shape[:-1], V.shape[:-1])
    except ValueError:
        raise ArgumentError(f"the leading axes of q {Q.shape} and v {V.shape} do not fit together") from None
    if not math.prod(lead):
        raise ArgumentError(f"q and v have the leading axes {lead}: there is no robot to simulate")
    states = {name: as_given(name, x, x.shape[-1:], lead).copy() for name, x in (("q", Q), ("v", V))}
    check_configurations(robot.model, states["q"])
    return states, lead


def state(robot: Robot | Mechanism, q: Any, v: Any) -> tuple[Any, Any, float | None, End | None]:
    """Return q, v and the time of what is given as q, and where the trajectory ended that is gone on from, if any."""
    if isinstance(q, str):
        return (robot if isinstance(robot, Robot) else robot.tree).configuration(q), v, None, None
    if not isinstance(q, Trajectory | State):
        return q, v, None, None
    if v is not None:
        raise ArgumentError(f"v is not taken where the simulation goes on from a {type(q).__name__}, which has it")
    if isinstance(q, State):
        return q.q, q.v, q.t, None
    last: Any = q.end or q.final
    return last.q, last.v, last.t, q.end or End(last.t, last.q, last.v, {}, np.empty(0), "")


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
    number = next(iter(known.values()))
    if number < 1 or any(other != number for other in known.values()):
        shown = ", ".join(f"{name}: {n}" for name, n in known.items())
        raise ArgumentError(
            f"the numbers of steps must be equal and 1 or more; they are {shown}. (A leading axis is time unless q or "
            "v has one too: for n robots give v of shape (n, nv), for a vector of gains its shape to compile)"
        )
    return Times(dt, number, 0.0, 0.0).starting(t0)


# -- physics of the joints -------------------------------------------------------------------------------------------


def physics(model: Model, joints: object, inputs: Iterable[Any]) -> tuple[str, JointFriction, str]:
    """Return which limits count (see `System.limits`), which friction, and the integrator where none is chosen.

    Friction is the robot's own choice, if it has made one, and counts where its figures are given; it may be stiff.
    """
    parts = joints.replace(",", " ").split() if isinstance(joints, str) else joints
    parts = list(parts) if isinstance(parts, Iterable) else [None]
    if None in parts or (len(parts) > 1 and ("all" in parts or "none" in parts)):
        raise ArgumentError(f"joints is {joints!r}; it takes names out of {', '.join(JOINTS)}, or 'all' or 'none'")
    chosen = set(JOINTS) if parts == ["all"] else set() if parts == ["none"] else set(parts)
    for name in chosen:
        if name not in JOINTS:
            raise ArgumentError(f"joints: {unknown_name('part of their physics', name, (*JOINTS, 'all', 'none'))}")
    limits = {(True, True): "all", (True, False): "position", (False, True): "effort", (False, False): "none"}
    friction = model.friction
    if "friction" in chosen and not (friction.damping or friction.coulomb):
        friction = JointFriction(True, True, friction.smoothing)
    kinds = {i.kind for i in inputs}
    has_damping = "damping" in kinds or any(any(body.damping) for body in model.bodies)
    has_coulomb = "friction" in kinds or any(any(body.friction) for body in model.bodies)
    friction = JointFriction(friction.damping and has_damping, friction.coulomb and has_coulomb, friction.smoothing)
    counts = friction.damping or friction.coulomb or kinds & {"damping", "friction"}
    usual = "implicit_euler" if counts else "semi_implicit_euler"
    return limits["stops" in chosen, "effort" in chosen], friction, usual


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


def contacts_of(robot: Robot | Mechanism, contacts: object) -> ContactInputs:
    """Return the inputs of a mechanism's constraints."""
    if contacts is None:
        return NONE_GIVEN
    if isinstance(robot, Robot):
        raise ArgumentError("contacts is for the constraints of a mechanism; a robot has none")
    return checked(contacts)


def constraint_arrays(robot: Robot | Mechanism, contacts: ContactInputs) -> dict[str, Array]:
    """Return the inputs of constraints as arrays, by the names of the step."""
    found: dict[str, Array] = {}
    for name in FIELDS:
        if (value := getattr(contacts, name)) is None:
            continue
        is_bool = name == "active" and np.asarray(value).dtype == bool
        found[name] = array = real_array(name, np.asarray(value, dtype=float) if is_bool else value)
        shape = shape_of(SHAPES[name], robot.model)
        if array.shape[-len(shape) :] != shape:
            parts = "; ".join(robot.model.describe(x) for x in SHAPES[name] if isinstance(x, str))
            wanted = ", ".join(map(str, ("...", *shape)))
            raise ArgumentError(f"{name} has shape {array.shape}, ({wanted}) is needed: {parts}")
    return found


def loops_of(robot: Robot | Mechanism, integrator: Integrator) -> list[tuple[Any, slice]]:
    """Return the constraints that must hold where a simulation begins, those that no impulses reach, and their rows."""
    if isinstance(robot, Robot):
        return []
    rows = zip(robot.constraints, robot.row_slices.values(), strict=True)
    return [(c, own) for c, own in rows if not integrator.impulses or c.force_set() is None]


def check_closed(
    mech: Mechanism, loops: list[tuple[Any, slice]], q: Array, given: Mapping[str, Array], t: float
) -> None:
    """Raise where one of these constraints acts and does not hold at the configurations q (n, nq), at the time t."""
    from kinetree.constraints.inputs import moved_anchors

    first = {name: given[name][:, 0] if given[name].ndim == 3 else given[name] for name in given}
    error = mech.constraint_error(q)
    if "row_motion" in first:
        motion = list[Any](first["row_motion"].reshape(-1, 3, mech.nrows).transpose(1, 2, 0))
        error = error - np.transpose(moved_anchors(motion, t - first["since"][:, 0])[0])
    error = abs(error)
    if "active" in first:
        error = error * (first["active"][:, list(mech.model.constraint_of_row)] != 0.0)
    for constraint, own in loops:
        worst = error[:, own].max(axis=1, initial=0.0)
        if worst.max() > OPEN:
            state = f" of state {np.argmax(worst)}" if len(q) > 1 else ""
            raise ArgumentError(
                f"the simulation begins with {constraint.label!r} open by {worst.max():.3g} (m or rad) at q{state}: "
                "give a configuration in which the constraints hold, or active = 0 for those that do not act"
            )
