"""What a simulation asks of a mechanism: an integrator that knows its contacts, and loops that are closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, checked
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import SHAPES, shape_of
from kinetree.integrators import INTEGRATORS, Integrator
from kinetree.robot.robot import Robot
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

OPEN = 1e-3
"""Errors (m, rad) that are no rounding: the first step takes away smaller ones."""

FIELDS = ("active", "restitution", "friction", "slots", "row_motion")
"""What is given of `ContactInputs` to a step."""


def chosen_integrator(robot: Robot | Mechanism, integrator: object, contacts: ContactInputs) -> Integrator:
    """Return the integrator that is meant: where contacts are solved, the one with impulses."""
    if not isinstance(integrator, Integrator):
        if not isinstance(integrator, str) or integrator not in INTEGRATORS:
            raise ArgumentError(unknown_name("integrator", str(integrator), INTEGRATORS))
        integrator = INTEGRATORS[integrator]
    if isinstance(robot, Robot):
        return integrator
    from kinetree.constraints.time_stepping import TimeStepping, integrator_of

    integrator = integrator_of(robot.model, integrator, "stick" if contacts.stick else "solved")
    if contacts.solver is None:
        return integrator
    if not isinstance(integrator, TimeStepping):
        raise ArgumentError(f"solver is for contacts that are solved; {integrator.name!r} solves none")
    given = {name: x for name in integrator.tolerances if (x := getattr(contacts.solver, name)) is not None}
    return replace(integrator, method=contacts.solver.method, **given)


def inputs_of(robot: Robot | Mechanism, contacts: object) -> ContactInputs:
    """Return what is given for the constraints of a mechanism."""
    if contacts is None:
        return NONE_GIVEN
    if isinstance(robot, Robot):
        raise ArgumentError("contacts is for the constraints of a mechanism; a robot has none")
    return checked(contacts)


def arrays(robot: Robot | Mechanism, contacts: ContactInputs) -> dict[str, Array]:
    """Return what is given for constraints as arrays, by the names of the step."""
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
    from kinetree.constraints.anchors import moved_anchors

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
