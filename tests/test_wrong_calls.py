"""Calls with wrong arguments of the public classes, and of functions whose arguments have names: what to write."""

from __future__ import annotations

import contextlib
import inspect
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import CallError
from kinetree.joints import Revolute

NOT_CALLED = {"Array", "Constraint", "ContactSolution", "Model", "Number", "SimulationInterrupted", "StopReason"}
"""Public classes that users annotate with, derive from or are given, but do not make."""

CLASSES = [
    name
    for name in kt.__all__
    if isinstance(value := getattr(kt, name), type) and not issubclass(value, Exception) and name not in NOT_CALLED
]


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_names_its_arguments(name: str) -> None:
    cls: Any = getattr(kt, name)
    parameters = inspect.signature(cls).parameters
    with pytest.raises(
        CallError, match=rf"^{name} has no argument 'unknown_thing'; there are: {next(iter(parameters), 'none')}"
    ):
        cls(unknown_thing=1)
    with pytest.raises(TypeError, match=f"^{name}|its arguments are"):
        cls(*[None] * (len(parameters) + 1))


@pytest.mark.parametrize("wrong", [10**400, [1.0, "x"], {}, 1j], ids=["huge", "list", "dict", "complex"])
@pytest.mark.parametrize("name", CLASSES)
def test_what_is_no_number_is_an_error_of_ours_or_kept(name: str, wrong: Any) -> None:
    """Whatever an argument means: if its value cannot be taken, that is said by an error that can be caught."""
    cls: Any = getattr(kt, name)
    parameters = inspect.signature(cls).parameters.values()
    needed = {p.name: "panda_hand" for p in parameters if p.default is p.empty and p.kind is not p.VAR_POSITIONAL}
    for argument in parameters:
        with contextlib.suppress(kt.KinetreeError):
            cls(**needed | {argument.name: wrong})


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda r: r.with_frame("tip", "tool0", [[1.0]]),
            r"^with_frame takes one argument without a name: write with_frame\(name, on=…, placement=…\)$",
        ),
        (lambda r: r.with_frame("tip"), "missing 1 required keyword-only argument: 'on'; its arguments are name, on"),
        (lambda r: r.with_limits([1.0] * 6), r"takes no argument without a name: write with_limits\(lower=…\)$"),
        (lambda r: kt.load("ur5", True), r"^load takes one argument .* write load\(source, floating_base=…\)$"),
        (lambda r: kt.Contact("tool0", mu=0.5), "^Contact has no argument 'mu'; here it is 'friction'$"),
        (lambda r: kt.Contact("tool0", bounce=0.5), "^Contact has no argument 'bounce'; here it is 'restitution'$"),
        (
            lambda r: kt.solve_contacts([[1.0]], [1.0], tolerance=1e-3),
            r"^solve_contacts has no argument 'tolerance': write solver=kinetree.ContactSolver\(tolerance=…\)$",
        ),
        (lambda r: kt.load_mechanism("x", kut="y"), "^load_mechanism has no argument 'kut', did you mean 'cut'"),
        (lambda r: kt.box_contacts("tool0", mu=0.5), "^box_contacts has no argument 'mu'"),
        (lambda r: kt.Robot(), r"^Robot\(\) missing 1 required positional argument: 'model'; its arguments are model,"),
    ],
)
def test_what_to_write_is_said(call: Callable[[kt.Robot], object], message: str) -> None:
    with pytest.raises(CallError, match=message):
        call(kt.load("ur5"))


@pytest.mark.parametrize(
    "make",
    [
        lambda masked: kt.Inertia(1.0, masked, np.eye(3)),
        lambda masked: kt.Inertia(masked[2], [0.0] * 3, np.eye(3)),
        lambda masked: kt.Inertia(1.0, [0.0] * 3, [masked, masked, masked]),
        Revolute,
    ],
)
def test_masks_are_not_dropped(make: Callable[[Any], object]) -> None:
    with pytest.raises(kt.ModelError, match="has masked entries: fill them first"):
        make(np.ma.masked_array([0.0, 0.0, 1.0], [False, False, True]))


def test_errors_of_their_own_code_stay_as_they_are() -> None:
    with pytest.raises(kt.ArgumentError, match="friction"):
        kt.Contact("tool0", friction=-1.0)
    contact = kt.Contact("tool0", friction=0.4)
    assert pickle.loads(pickle.dumps(contact)) == contact


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: kt.box_contacts("tool0", size=[1.0, 2.0]), r"a box has the lengths of three edges, not \[1.0, 2.0"),
        (lambda r: kt.from_dh([kt.DHLink()], convention="Craig"), r"convention='Craig': give 'standard' \(Denavit"),
        (lambda r: r.inverse_kinematics("x", "tool0"), "target has dtype <U1, which is not a real number: give floats"),
        (lambda r: r.inverse_kinematics({}), "no target is given: the dict of targets by frame is empty"),
        (lambda r: r.gravity_forces(r.neutral(), q=r.neutral()), "gravity_forces got q twice, by position and by name"),
        (lambda r: r.inverse_kinematics_solver("tool0", fixed=["elbow"]), "fixed: no joint 'elbow', did you mean"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[kt.Robot], object], message: str) -> None:
    with pytest.raises(kt.errors.KinetreeError, match=message):
        call(kt.load("ur5"))
