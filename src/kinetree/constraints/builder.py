"""A tree with constraints from what users give, checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace

from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.types import Constraint
from kinetree.errors import ArgumentError, listed, unknown_name
from kinetree.model import Model


def constrained(
    model: Model,
    constraints: Iterable[Constraint],
    stabilization: float = 0.0,
    *,
    actuated: Iterable[str] | None = None,
    independent: Iterable[str] | None = None,
) -> ConstrainedModel:
    """Return the model with these constraints, checked: see `Mechanism`, which says what is given.

    The joints named in `actuated` take the place of those that have an actuator by their type.
    """
    if not isinstance(constraints, Iterable):
        raise ArgumentError(f"a mechanism takes a sequence of constraints: write [{constraints!r}]")
    given = tuple(constraints)
    if not given:
        raise ArgumentError("a mechanism has at least one constraint; without any it is the robot itself")
    for constraint in given:
        if not isinstance(constraint, Constraint):
            raise ArgumentError(f"a mechanism takes constraints such as kinetree.Weld; {constraint!r} was given")
        if not isinstance(constraint.name, str):
            raise ArgumentError(f"the name of a constraint is a str; {constraint.name!r} was given")
    labels = [constraint.label for constraint in given]
    if twice := next((label for label in labels if labels.count(label) > 1), None):
        raise ArgumentError(f"two constraints are called {twice!r}: tell them apart with name=")
    for constraint in given:
        constraint.check(model)
    own = {field.name: getattr(model, field.name) for field in fields(Model)}
    joints = {body.joint_name: body.v_index for body in model.leading}
    if actuated is not None:
        own["actuated"] = _velocities(model, actuated, "actuated", joints)
    made = ConstrainedModel(**own, constraints=given, stabilization=float(stabilization))
    if independent is None:
        return made
    entries = {name: (k,) for k, name in enumerate(model.v_names)}
    velocities = _velocities(model, independent, "independent", entries | joints)
    _check_independent(made, velocities)
    return replace(made, independent=tuple(model.v_names[k] for k in velocities))


def _velocities(model: Model, names: Iterable[str], what: str, known: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the indices of the velocities that are named, in order; `what` they are for is in messages."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ArgumentError(f"{what} is a sequence of names of joints; {names!r} was given")
    followers = {body.joint_name for body in model.bodies} - set(model.joint_names)
    found: list[int] = []
    for name in names:
        if isinstance(name, str) and name in followers:
            raise ArgumentError(f"{what}: {name!r} follows another joint: name that one")
        if not isinstance(name, str) or name not in known:
            raise ArgumentError(f"{what}: {unknown_name('joint', name, known)}")
        if again := set(known[name]) & set(found):
            raise ArgumentError(f"{what}: {model.v_names[min(again)]!r} is named twice")
        found += known[name]
    return tuple(sorted(found))


def _check_independent(model: ConstrainedModel, given: Sequence[int]) -> None:
    """Raise `ArgumentError` where these velocities are not as many as the mobility, or depend on each other.

    Nothing is known, and nothing raised, where no configuration is found in which the constraints hold.
    """
    found, names = model.reference, model.v_names
    if not found.is_closed:
        return
    instead = f"for example {listed([names[k] for k in found.chosen], 20)}"
    if len(given) != found.mobility:
        raise ArgumentError(
            f"independent has {len(given)} velocities, and the mobility of this mechanism is {found.mobility}: take "
            f"as many, {instead}"
        )
    if found.depends(given):
        raise ArgumentError(
            f"the velocities {listed([names[k] for k in given], 20)} depend on each other through the constraints: "
            f"take others as independent, {instead}"
        )
