"""Calls with wrong arguments: what to write; and choices as values, one thing in Python, shell and documentation."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinetree as kt
import kinetree.formats
import kinetree.identification.estimators
from helpers.told import told
from kinetree.cli.options import add_fields, value_of
from kinetree.cli.program import make_parser
from kinetree.errors import CallError
from kinetree.identification import prepare, read_log
from kinetree.joints import Revolute
from kinetree.options import options

NOT_CALLED = {
    "Array",
    "Constraint",
    "ContactSolution",
    "Model",
    "Number",
    "SimulationInterrupted",
    "Sparsity",
    "StopReason",
}
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


test_what_to_write_is_said = told(
    CallError,
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
    of=lambda call: call(kt.load("ur5")),
)


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


KINDS = (kt.Filter, kt.Sensors)
GIVEN: dict[str, tuple[list[str], Any]] = {
    "cutoff": (["10"], 10.0),
    "presliding": (["5e-5"], 5e-5),
    "smoothing": (["0.1"], 0.1),
    "decimate": (["3"], 3),
    "outliers": (["8"], 8.0),
    "standing": (["0.01"], 0.01),
    "gear_ratios": (["101,-54"], (101.0, -54.0)),
    "torque_constants": (["0.1"], 0.1),
    "motor_positions": ([], True),
    "topic": (["/joints"], "/joints"),
    "odometry": (["/odom"], "/odom"),
    "wrenches": (["foot=/ft/foot"], {"foot": "/ft/foot"}),
    "wrench_axes": (["world"], "world"),
    "skip_missing": ([], True),
}
"""What is given on the command line, and the value that it is."""


def parsed(kind: type, *arguments: str) -> Any:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_fields(parser.add_argument_group("data"), kind)
    return value_of(parser.parse_args(arguments), kind)


CALLS = [
    ("identify a b --presliding 1e-4,2e-4 --standing 0.1,0.2", kt.Filter(presliding=[1e-4, 2e-4], standing=[0.1, 0.2])),
    (
        "identify a b --prior-spread 0.2 --bounds l=0,1,2,3,4,5",
        kt.Bodies(spread=0.2, bounds={"l": [[0, 2, 4], [1, 3, 5]]}),
    ),
    ("excite a --fraction 0.5 --box f=0,1,2,3,4,5", kt.MotionLimits(fraction=0.5, boxes={"f": [[0, 2, 4], [1, 3, 5]]})),
    ("excite a --period 5", kt.Series(period=5.0)),
    ("simulate a --rtol 1e-9", kt.Tsitouras(1e-9)),
    ("simulate a --record-every 7", kt.Record(every=7)),
]


@pytest.mark.parametrize(("line", "value"), CALLS)
def test_commands_take_values(line: str, value: Any) -> None:
    name, *arguments = line.split()
    assert value_of(make_parser(name).parse_args(arguments), type(value)) == value


@pytest.mark.parametrize("kind", KINDS)
def test_each_field_is_an_option_and_is_documented(kind: type) -> None:
    identify = make_parser("identify")
    page = (Path(__file__).parents[1] / "docs" / "logs.md").read_text(encoding="utf-8")
    said = " ".join((kind.__doc__ or "").split())
    whole = {"gear_ratios": (["1"], 1.0)} if kind is kt.Sensors else {}
    for name, about in options(kind):
        texts, expected = GIVEN[name]
        needed = [y for x, (texts_of, _) in whole.items() if x != name for y in (f"--{x.replace('_', '-')}", *texts_of)]
        found = parsed(kind, *needed, f"--{about.name}", *texts)
        assert getattr(found, name) == expected
        assert found == kind(**{x: y for x, (_, y) in whole.items()} | {name: expected})
        action = identify._option_string_actions[f"--{about.name}"]
        assert (action.dest, action.help) == (name, about.help)
        assert about.help[1:] in said
        assert f"`{name}" in page
    assert parsed(kind) == kind()


@pytest.mark.parametrize(
    ("kind", "choice", "message"),
    [
        (kt.Filter, {"cutoff": -1.0}, r"cutoff is -1\.0, it must be a positive number"),
        (kt.Filter, {"decimate": 0}, "decimate is 0, it must be an integer ≥ 1"),
        (kt.Filter, {"standing": 0.0}, r"standing is 0\.0: it must be positive"),
        (kt.Filter, {"presliding": [[1.0]]}, r"presliding has shape \(1, 1\)"),
        (kt.Sensors, {"gear_ratios": [101, 0]}, "gear_ratios must be finite, and not zero"),
        (kt.Sensors, {"gear_ratios": 1.0, "wrench_axes": "body"}, "it must be 'frame' or 'world'"),
        (kt.Sensors, {"motor_positions": True}, "motor_positions are given without gear_ratios"),
        (kt.Sensors, {"wrenches": "foot"}, r"given as a list of frames: \['foot'\]"),
        (kt.Sensors, {"wrenches": None}, "wrenches are None: a list of frames"),
        (kt.Sensors, {"gear_ratios": 1.0, "wrench_axes": None}, "it must be 'frame' or 'world'"),
        (kt.Sensors, {"gear_ratios": 1.0, "motor_positions": "no"}, "motor_positions is 'no', it must be True or"),
        (kt.Sensors, {"skip_missing": "false"}, "skip_missing is 'false', it must be True or False"),
    ],
)
def test_the_shell_checks_what_python_checks(kind: type, choice: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        kind(**choice)
    name, given = list(choice.items())[-1]
    if given is None or isinstance(given, bool | str) or np.ndim(given) > 1:
        return  # of no reader, or of argparse's own
    text = ",".join(map(str, np.atleast_1d(given)))
    with pytest.raises((argparse.ArgumentError, kt.ArgumentError), match=re.escape(name)):
        parsed(kind, f"--{name.replace('_', '-')}={text}")


def test_values_are_equal_by_their_fields_and_are_shown_as_they_are_written() -> None:
    assert kt.Filter(standing=np.array([0.1, 0.2])) == kt.Filter(standing=[0.1, 0.2])
    for kind, choice in [
        (kt.ContactInputs, {"active": [1, 0], "friction": np.array([[0.5, 1.0]])}),
        (kt.Bodies, {"bounds": {"link": np.eye(4)}}),
        (kt.Sensors, {"wrenches": ["foot"]}),
    ]:
        made = kind(**choice)
        same = pickle.loads(pickle.dumps(made))
        assert (made, hash(made), repr(made)) == (same, hash(same), repr(same))
        assert made != kind()
        assert repr(made).startswith(f"{kind.__name__}({next(iter(choice))}=")
    assert repr(kt.Sensors(wrenches=["foot"])) == "Sensors(wrenches={'foot': 'foot'})"
    with pytest.raises(AttributeError):
        kt.Filter().cutoff = 1.0  # type: ignore[misc]


def test_arguments_that_are_fields_of_a_value_say_so() -> None:
    robot = kt.load("ur5")
    with pytest.raises(CallError, match=r"no argument 'topic': write sensors=kinetree\.Sensors\(topic=…\)"):
        read_log("a.mcap", robot, topic="/x")  # type: ignore[call-arg]
    with pytest.raises(CallError, match=r"no argument 'cutoff': write filter=kinetree\.Filter\(cutoff=…\)"):
        prepare(robot, [], [], [], cutoff=1.0)  # type: ignore[call-arg]
    with pytest.raises(CallError, match="no argument 'cut_off', did you mean 'cutoff'"):
        kt.Filter(cut_off=1.0)  # type: ignore[call-arg]
    with pytest.raises(AttributeError, match=r"read_log\(path, robot, block=131072\)"):
        kt.identification.stream_log  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"it is diagnose\(robot, log, terms\)"):
        kt.identification.suspicions  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"'LeastSquares': it is kinetree\.identification\.LeastSquares"):
        kinetree.identification.estimators.LeastSquares  # noqa: B018
    with pytest.raises(AttributeError, match="'read_urdf': it is read_graph"):
        kinetree.formats.read_urdf  # noqa: B018
