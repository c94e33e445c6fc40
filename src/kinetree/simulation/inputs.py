"""The values of a controller's arguments, and of the robot's numbers that are given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput, check_inputs
from kinetree.model import Model
from kinetree.robot.robot import Robot
from kinetree.simulation.calls import own
from kinetree.simulation.compiled import Plan
from kinetree.validation import Array, real_array


class Given(NamedTuple):
    """Arrays by the names of the step, each n × entries or n × steps × entries, and how many steps the latter have."""

    arrays: dict[str, Array]
    counts: dict[str, int]


def separated(model: Model, inputs: Any) -> tuple[tuple[ModelInput, ...], dict[str, Any]]:
    """Return which of the robot's numbers are given, and all values by name."""
    if inputs is None:
        return (), {}
    if not isinstance(inputs, Mapping):
        raise ArgumentError(
            "inputs takes a dict of values by the names of the controller's arguments, and by the robot's numbers: "
            "{'kp': 100.0, kt.gravity: (0, 0, -1.62)}"
        )
    numbers = tuple(key for key in inputs if isinstance(key, ModelInput))
    values = {key.name if isinstance(key, ModelInput) else str(key): value for key, value in inputs.items()}
    if len(values) < len(inputs):
        shown = [key.name if isinstance(key, ModelInput) else str(key) for key in inputs]
        raise ArgumentError(f"inputs: these do not have different names: {shown}")
    check_inputs(model, numbers)
    return numbers, values


def names(what: str, given: Any) -> tuple[str, ...]:
    """Return names given as a list; of the robot's numbers, they may be these themselves."""
    if isinstance(given, str | ModelInput) or not isinstance(given, Iterable):
        given = (given,)
    found = tuple(x.name if isinstance(x, ModelInput) else x for x in given)
    if not all(isinstance(x, str) for x in found):
        raise ArgumentError(f"{what} takes names, not {given!r}")
    return found


def ports_of(model: Model, plan: Plan) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the names in the step, and the shapes, of all arguments and of the robot's numbers that are given."""
    ports = {i.name: (i.name, i.port(model).shape) for i in plan.inputs}
    return ports | {port.name: (own(port), port.shape) for port in (*plan.parameters, *plan.state)}


def values(model: Model, plan: Plan, given: Mapping[str, Any], per_step: Sequence[str], lead: tuple[int, ...]) -> Given:
    """Return the arrays of all arguments, by the names of the step."""
    ports: dict[str, tuple[str, tuple[int, ...]]] = {i.name: (i.name, i.port(model).shape) for i in plan.inputs}
    for name in {*plan.carried(model), *plan.given(model)} & {*ports}:
        raise ArgumentError(
            f"inputs: {name!r} is a name of the simulation's own: give that number of the robot another"
        )
    state = {port.name for port in plan.state}
    defaults: dict[str, Any] = {}
    for function in (*plan.events, *((plan.controller,) if plan.controller else ())):
        for name, value in function.defaults.items():
            if name not in given and not np.array_equal(defaults.setdefault(name, value), value):
                raise ArgumentError(
                    f"inputs: {name!r} has two defaults, {defaults[name]} and {value}: it is one number to all "
                    "functions, so give it, or give it two names"
                )
    for port in (*plan.parameters, *plan.state):
        if port.name in ports:
            raise ArgumentError(f"inputs: {port.name!r} is an argument of a function and a number of the robot")
        ports[port.name] = own(port), port.shape
    for event in plan.events:
        for port in event.parameters:
            if port.shape != ports[port.name][1]:
                raise ArgumentError(
                    f"event {event.name!r} takes {port.name} of shape {port.shape}, where others take one of shape "
                    f"{ports[port.name][1]}"
                )
    for name in (*given, *per_step):
        if name not in ports:
            more = "; a number of the robot is given as inputs={kt.gravity: …}" if name in given else ""
            raise ArgumentError(f"inputs: {unknown_name('argument', name, ports)}{more}")
        if name in per_step and name in state:
            raise ArgumentError(f"per_step: {name!r} is the controller's own state, of which the first value is given")
    missing = [name for name in ports if name not in given and name not in defaults]
    if missing:
        who = "the controller takes" if not plan.events else "the controller and the events take"
        raise ArgumentError(
            f"{who} {', '.join(missing)} too: give values by inputs={{{missing[0]!r}: …}}, of a "
            "controller's own state the first ones"
        )
    found = Given({}, {})
    for name, (inner, shape) in ports.items():
        array = real_array(f"inputs[{name!r}]", given.get(name, defaults.get(name)), *shape)
        axes = array.ndim - len(shape) - (name in per_step)
        if axes < 0 or not fits(array.shape[:axes], lead):
            one = (*(("steps",) if name in per_step else ()), *shape)
            needed = " or ".join(dict.fromkeys((str(one), str((*lead, *one)))))
            raise ArgumentError(f"inputs[{name!r}] has shape {array.shape}; {needed} is needed")
        check_finite(f"inputs[{name!r}]", array)
        found.arrays[inner] = flat = flattened(array, lead, len(shape), name in per_step)
        if name in per_step:
            found.counts[name] = flat.shape[1]
    return found


def named_forces(robot: Robot, given: Mapping[str, Any]) -> Array:
    """Return joint forces (..., nv) from those of some joints by name, zero at the others.

    That of a joint of one degree of freedom has the leading axes of the result; others have an axis of their own.
    """
    parts: dict[str, tuple[slice, Array]] = {}
    for name, value in given.items():
        joint = robot.joint(name)
        if joint.mimic is not None:
            raise ArgumentError(f"tau: {name!r} follows {joint.mimic[0]!r}: name that one")
        size = joint.v_slice.stop - joint.v_slice.start
        array = real_array(f"tau[{name!r}]", value, *((size,) if size != 1 else ()))
        parts[name] = joint.v_slice, array if size != 1 else array[..., None]
    try:
        lead = np.broadcast_shapes(*(array.shape[:-1] for _, array in parts.values()))
    except ValueError:
        shown = ", ".join(f"{name}: {array.shape[:-1]}" for name, (_, array) in parts.items())
        raise ArgumentError(f"tau: the leading axes of the joints' forces do not fit together: {shown}") from None
    tau = np.zeros((*lead, robot.nv))
    for place, array in parts.values():
        tau[..., place] = array
    return tau


def fits(own: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    """Return whether leading axes broadcast to these."""
    try:
        return np.broadcast_shapes(own, lead) == lead
    except ValueError:
        return False


def check_finite(name: str, array: Array, consequence: str = "") -> None:
    """Raise where an array holds NaN or inf."""
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf), at {where}{consequence}")


def flattened(array: Array, lead: tuple[int, ...], axes: int, over_time: bool) -> Array:
    """Return an array with one axis of states, one of steps if it has one, and one of the entries of its last axes."""
    own = array.shape[array.ndim - axes - over_time :]
    wide = array if array.shape == (*lead, *own) else np.broadcast_to(array, (*lead, *own))
    entries = math.prod(own[over_time:])
    return np.ascontiguousarray(wide).reshape(math.prod(lead), *own[: int(over_time)], entries)
