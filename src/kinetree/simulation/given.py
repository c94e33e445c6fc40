"""What is given to a simulation, for all robots or for each, as the arrays that its step takes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput, check_inputs
from kinetree.model import Model
from kinetree.simulation.calls import own
from kinetree.simulation.compiled import Plan
from kinetree.validation import Array, real_array


def as_given(name: str, value: Any, shape: tuple[int, ...], lead: tuple[int, ...], over_time: bool = False) -> Array:
    """Return what is given for n states as an array (n, entries), or (n, steps, entries) where it changes.

    It changes from step to step where it has one axis more than the states have, or where that is said: then the axis
    before the entries is that of the steps, whether there are axes of states before it or not.
    """
    array = real_array(name, value, *shape)
    axes = array.ndim - len(shape)
    changes = over_time or axes == len(lead) + 1
    if axes < changes or not fits(array.shape[: axes - changes], lead):
        many = f"; the same over time for all is {(*(1,) * len(lead), 'steps', *shape)}" if lead else ""
        constant = f"{(*lead, *shape)}, or over time " if not over_time else ""
        raise ArgumentError(
            f"{name} has shape {array.shape}; q and v have the leading axes {lead}, so it takes {constant}"
            f"{(*lead, 'steps', *shape)}{many}"
        )
    check_finite(name, array)
    own_axes = array.shape[axes - changes :]
    wide = array if array.shape == (*lead, *own_axes) else np.broadcast_to(array, (*lead, *own_axes))
    flat = np.ascontiguousarray(wide)
    return flat.reshape(math.prod(lead), *own_axes[: int(changes)], math.prod(shape))


def fits(axes: tuple[int, ...], lead: tuple[int, ...]) -> bool:
    """Return whether leading axes broadcast to these."""
    try:
        return np.broadcast_shapes(axes, lead) == lead
    except ValueError:
        return False


def check_finite(name: str, array: Array, consequence: str = "") -> None:
    """Raise where an array holds NaN or inf."""
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf), at {where}{consequence}")


def model_inputs(model: Model, given: Mapping[Any, Any]) -> tuple[ModelInput, ...]:
    """Return which of the robot's numbers are given."""
    numbers = tuple(key for key in given if isinstance(key, ModelInput))
    check_inputs(model, numbers)
    return numbers


def ports_of(model: Model, plan: Plan) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Return the names in the step, and the shapes, of all arguments and of the robot's numbers that are given."""
    ports = {i.name: (i.name, i.port(model).shape) for i in plan.inputs}
    for name in {*plan.carried(model), *plan.given(model)} & {*ports}:
        raise ArgumentError(
            f"inputs: {name!r} is a name of the simulation's own: give that number of the robot another"
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
    return ports


def input_arrays(
    model: Model, plan: Plan, given: Mapping[str, Any], over_time: Mapping[str, Any], lead: tuple[int, ...]
) -> dict[str, Array]:
    """Return the arrays of all arguments and of the robot's numbers, by the names of the step."""
    ports, state = ports_of(model, plan), {port.name for port in plan.state}
    for name in (*given, *over_time):
        if name not in ports:
            hint = "; a number of the robot is given as inputs={kt.gravity: …}"
            raise ArgumentError(f"inputs: {unknown_name('argument', name, ports)}{hint}")
        if name in given and name in over_time:
            raise ArgumentError(f"inputs: {name!r} is given twice, as a constant and over time")
    usual = _defaults(plan, {*given, *over_time})
    if missing := [name for name in ports if name not in {*given, *over_time, *usual}]:
        who = "the controller takes" if not plan.events else "the controller and the events take"
        raise ArgumentError(
            f"{who} {', '.join(missing)} too: give values by inputs={{{missing[0]!r}: …}}, of a "
            "controller's own state the first ones"
        )
    found = {}
    for name, (inner, shape) in ports.items():
        value = over_time[name] if name in over_time else given.get(name, usual.get(name))
        found[inner] = array = as_given(f"inputs[{name!r}]", value, shape, lead, name in over_time)
        if name in state and array.ndim == 3:
            raise ArgumentError(f"inputs[{name!r}] is the controller's own state, of which the first value is given")
    return found


def _defaults(plan: Plan, given: set[str]) -> dict[str, Any]:
    """Return what arguments are that are not given, of all functions the same."""
    found: dict[str, Any] = {}
    for function in (*plan.events, *((plan.controller,) if plan.controller else ())):
        for name, value in function.defaults.items():
            if name not in given and not np.array_equal(found.setdefault(name, value), value):
                raise ArgumentError(
                    f"inputs: {name!r} has two defaults, {found[name]} and {value}: it is one number to all "
                    "functions, so give it, or give it two names"
                )
    return found
