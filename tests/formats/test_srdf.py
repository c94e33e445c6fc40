"""Group states of SRDF files as named configurations: real files against Pinocchio, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.told import told
from kinetree.conventions import Pinocchio
from kinetree.formats.srdf import read_srdf
from robots import erd_srdfs, erd_urdf

ARM = "<robot><link name='a'/><link name='b'/><link name='c'/>{}</robot>".format(
    "".join(
        f"<joint name='{name}' type='continuous'><parent link='{parent}'/><child link='{child}'/>{mimic}</joint>"
        for name, parent, child, mimic in (
            ("shoulder", "a", "b", ""),
            ("hand", "b", "c", "<mimic joint='shoulder' multiplier='2' offset='0.5'/>"),
        )
    )
)


def srdf(states: str) -> str:
    return f"<robot name='arm'>{states}</robot>"


def state(name: str, **values: object) -> str:
    joints = "".join(f"<joint name='{joint}' value='{value}'/>" for joint, value in values.items())
    return f"<group_state name='{name}' group='arm'>{joints}</group_state>"


REAL = {
    "go2.srdf": ("go2.urdf", True),
    "panda.srdf": ("panda.urdf", False),
    "kinova.srdf": ("kinova.urdf", False),  # continuous joints
    "talos.srdf": ("talos_full_v2.urdf", True),
    "solo.srdf": ("solo.urdf", True),
}


@pytest.mark.filterwarnings("ignore::kinetree.formats.FormatWarning")
@pytest.mark.parametrize("name", REAL)
def test_real_files_say_what_pinocchio_reads(name: str) -> None:
    urdf, floats = REAL[name]
    path = next(path for path in erd_srdfs() if path.name == name)
    robot = kt.load(erd_urdf(urdf), srdf=path, floating_base=floats, mimic="independent")
    model = pin.buildModelFromUrdf(str(erd_urdf(urdf)), *([pin.JointModelFreeFlyer()] if floats else []))
    pin.loadReferenceConfigurations(model, str(path), False)
    theirs = {name: np.asarray(model.referenceConfigurations[name]) for name in robot.configurations}
    assert theirs
    there = Pinocchio(robot, model)
    for state, q in robot.configurations.items():
        assert there.to_q(q).tolist() == theirs[state].tolist()


def test_every_real_file_is_read() -> None:
    files = [read_srdf(path)[1] for path in erd_srdfs()]
    assert len(files) > 30
    assert sum(map(len, files)) > 25


def test_states_of_one_name_are_parts_of_one() -> None:
    text = srdf(state("up", shoulder=1.5) + state("down", shoulder=-1) + state("up", shoulder="1.5"))
    robot = kt.load(ARM, srdf=text)
    assert {name: q.tolist() for name, q in robot.configurations.items()} == {"up": [1.5], "down": [-1.0]}
    again = kt.load(ARM, srdf=text.encode())
    assert again == robot


def test_followers_follow_and_joints_that_are_not_there_are_left_out() -> None:
    text = srdf(state("up", hand=3.5, shoulder=1.5) + state("open", finger=1))
    with pytest.warns(kt.FormatWarning, match="no moving joints of these names; its states leave them out: finger$"):
        robot = kt.load(ARM, srdf=text)
    assert {name: q.tolist() for name, q in robot.configurations.items()} == {"up": [1.5]}


def test_a_follower_alone_says_where_its_leader_stands() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kt.load(ARM, srdf=srdf(state("up", hand=3.5))).configuration("up") == [1.5]
    with pytest.warns(kt.FormatWarning, match="follow others, whose values in its states put them elsewhere: hand$"):
        assert kt.load(ARM, srdf=srdf(state("up", hand=2, shoulder=1.5))).configuration("up") == [1.5]


def test_the_base() -> None:
    text = srdf(
        "<virtual_joint name='world' type='floating' parent_frame='w' child_link='a'/>"
        + state("up", world="1 2 3 0 0 2 2")
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", kt.FormatWarning)
        robot = kt.load(ARM, srdf=text, floating_base=True)
        assert not kt.load(ARM, srdf=text).configurations
    assert robot.configuration("up") == pytest.approx([1, 2, 3, 0, 0, 0.5**0.5, 0.5**0.5, 0])
    assert (
        kt.load(ARM, srdf=srdf(state("up", root_joint="1 2 3 0 0 0 1")), floating_base=True).configuration("up")[0] == 1
    )


BOMB = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>'
MISTAKES = {
    "number": (srdf(state("up", shoulder="1,5")), "value='1,5': '1,5' is not a number"),
    "count": (srdf(state("up", shoulder="1 2")), "2 numbers are given; joint 'shoulder' has 1 coordinates"),
    "contradiction": (
        srdf(state("up", shoulder=1) + "\n" + state("up", shoulder=2)),
        "line 2, <group_state name='up'> <joint name='shoulder'>: this state gives the joint another value on line 1",
    ),
    "URDF": ("<mujoco/>", "an SRDF file has the root element <robot>"),
    "bomb": (BOMB, "a document type declaration .* is refused"),
    "no file": ("nowhere/arm.srdf", "srdf: no file 'nowhere/arm.srdf'; looked from"),
}  # fmt: skip


test_mistakes_are_told = told(kt.KinetreeError, *MISTAKES.values(), of=lambda text: kt.load(ARM, srdf=text))


ZERO = srdf(state("up", root_joint="0 0 0 0 0 0 0"))
test_other_mistakes = told(
    kt.KinetreeError,
    (lambda: kt.load(ARM, srdf=ZERO, floating_base=True), "its quaternion is zero"),
    (lambda: kt.load(ARM, srdf=7), "srdf takes the path of a file, or its text; int was given"),
    (lambda: kt.load(ARM, srfd=Path("x")), TypeError, "srfd"),
)
