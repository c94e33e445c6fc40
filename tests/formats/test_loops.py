"""Files with closed loops: which joints are cut, and what the extensions of URDF say."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import pose
from helpers.told import told
from kinetree.errors import ArgumentError, FormatError, FormatWarning
from kinetree.formats import load_model
from kinetree.joints import Fixed, Prismatic, Revolute, Spherical

Array = np.ndarray[Any, Any]
MASS = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"


def hinge(name: str, parent: str, child: str, xyz: str, more: str = "", kind: str = "continuous") -> str:
    ends = f"<parent link='{parent}'/><child link='{child}'/><origin xyz='{xyz}'/>"
    return f"<joint name='{name}' type='{kind}'>{ends}<axis xyz='0 0 1'/>{more}</joint>"


def robot(*elements: str) -> str:
    links = "".join(f"<link name='{name}'>{MASS}</link>" for name in ("ground", "crank", "coupler", "rocker", "pin"))
    return f"<robot name='four-bar'>{links}{''.join(elements)}</robot>"


MOTOR = hinge("motor", "ground", "crank", "0 0 0")
ELBOW = hinge("elbow", "crank", "coupler", "0 1 0")
PIVOT = hinge("pivot", "ground", "rocker", "2 0 0")
PIN = hinge("pin", "coupler", "pin", "2 0 0", kind="fixed")
TIP = hinge("tip", "rocker", "pin", "0 1 0")  # a parallelogram of 2 by 1
OPEN = (MOTOR, ELBOW, PIVOT, PIN)
LOOP_JOINT = (
    "<loop_joint name='tip' type='{}'><link1 link='rocker' xyz='0 1 0' rpy='0 0 0'/>"
    "<link2 link='coupler' xyz='2 0 0'/>{}</loop_joint>"
)
URDF_PLUS = (
    "<loop name='tip' type='revolute'><predecessor link='rocker'><origin xyz='0 1 0'/></predecessor>"
    "<successor link='coupler'><origin xyz='2 0 0'/></successor><axis xyz='0 0 1'/></loop>"
)
GAZEBO = (
    "<gazebo><joint name='tip' type='revolute'><pose>2 0 0 0 0 0</pose><parent>rocker</parent>"
    "<child>coupler</child><axis>{}</axis></joint></gazebo>"
)
BALL = (
    "<drake:ball_constraint xmlns:drake='http://drake.mit.edu'><drake:ball_constraint_body_A{}/>"
    "<drake:ball_constraint_p_AP value='0 1 0'/><drake:ball_constraint_body_B name='coupler'/>"
    "<drake:ball_constraint_p_BQ value='2 0 0'/></drake:ball_constraint>"
)
CLOSED = {
    "two parents": (robot(*OPEN, TIP), Revolute()),
    "loop_joint": (robot(*OPEN, LOOP_JOINT.format("continuous", "<axis xyz='0 0 1'/>")), Revolute()),
    "spherical": (robot(*OPEN, LOOP_JOINT.format("spherical", "")), Spherical()),
    "fixed": (robot(*OPEN, LOOP_JOINT.format("fixed", "")), Fixed()),
    "urdf+": (robot(*OPEN, URDF_PLUS), Revolute()),
    "gazebo": (robot(*OPEN, GAZEBO.format("<xyz>0 0 1</xyz>")), Revolute()),
    "gazebo, in the model": (robot(*OPEN, GAZEBO.format("<xyz expressed_in='__model__'>0 0 2</xyz>")), Revolute()),
}


def errors(mech: kt.Mechanism, q: list[float]) -> Array:
    """Return φ of all rows, over floats."""
    return np.array([float(row.phi or 0.0) for row in mech.model.constraint_rows(q)])


@pytest.mark.parametrize("kind", CLOSED)
def test_each_way_to_write_a_four_bar(kind: str) -> None:
    text, joint = CLOSED[kind]
    mech = kt.load_mechanism(text)
    (loop,) = mech.constraints
    assert isinstance(loop, kt.Loop)
    assert (mech.constraint_names, loop.of) == (("tip",), ("tip.child", "tip.parent"))
    assert type(loop.joint).__name__.replace("Continuous", "Revolute") == type(joint).__name__
    assert mech.tree.joint_names == ("motor", "elbow", "pivot")
    angle = 0.0 if kind == "fixed" else 0.3
    np.testing.assert_allclose(errors(mech, [angle, -angle, angle]), 0.0, atol=1e-15)  # parallel bars stay parallel
    bent = errors(mech, [0.3, 0.0, 0.3])[-3:]  # the coupler turns with the crank
    np.testing.assert_allclose(np.linalg.norm(bent), 4 * np.sin(0.15), rtol=1e-12)
    assert pickle.loads(pickle.dumps(mech)) == mech
    with pytest.raises(FormatError, match=r"kinetree\.load_mechanism reads closed loops"):
        kt.load(text)
    if kind != "two parents":
        with pytest.warns(FormatWarning, match="the loop stays open"):
            assert load_model(text, lenient=True).nv == 3


def test_ball_constraints_of_drake() -> None:
    mech = kt.load_mechanism(robot(*OPEN, BALL.format(" name='rocker'")))
    assert mech.constraint_names == ("ball_constraint_1",)
    np.testing.assert_allclose(errors(mech, [0.3, -0.3, 0.3]), 0.0, atol=1e-15)
    links = "".join(f"<link name='{name}'><inertial/></link>" for name in "ab")
    joint = "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis/></joint>"
    parts = {"body_A": "a", "p_AP": "1 0 0", "body_B": "b", "p_BQ": "0 1 0"}
    ball = "".join(f"<d:ball_constraint_{tag}>{text}</d:ball_constraint_{tag}>" for tag, text in parts.items())
    ball = f"<d:ball_constraint xmlns:d='http://drake.mit.edu'>{ball}</d:ball_constraint>"
    mech = kt.load_mechanism(f"<sdf version='1.9'><model name='m'>{links}{joint}{ball}</model></sdf>")
    np.testing.assert_allclose(errors(mech, [*mech.tree.neutral()[:7], -np.pi / 2]), 0.0, atol=1e-15)
    with pytest.raises(FormatError, match="there are 0 elements <drake:ball_constraint_body_A>, one is needed"):
        kt.load_mechanism(robot(*OPEN, BALL.format(" name='rocker'").replace("body_A", "body_C")))
    with pytest.raises(FormatError, match="no link 'x'"):
        kt.load_mechanism(robot(*OPEN, BALL.format(" name='x'")))
    with pytest.raises(FormatError, match="there is no text in this element"):
        kt.load_mechanism(robot(*OPEN, BALL.format("")))


@pytest.mark.parametrize("cut", ["motor", "elbow", "pivot", "tip", ["tip"]])
def test_every_cut_describes_the_same_mechanism(cut: str | list[str]) -> None:
    """Also where joints have to be turned around: coordinates and weights are the same."""
    mech = kt.load_mechanism(robot(*OPEN, TIP), cut=cut, gravity=(0, -9.81, 0))
    angles = {"motor": 0.3, "elbow": -0.3, "pivot": 0.3, "tip": -0.3}
    q = [angles[name] for name in mech.tree.joint_names]
    assert mech.constraint_names == ((cut,) if isinstance(cut, str) else ("tip",))
    np.testing.assert_allclose(errors(mech, q), 0.0, atol=1e-15)
    for link, place in {"crank": (0, 0), "rocker": (2, 0), "coupler": (-np.sin(0.3), np.cos(0.3))}.items():
        np.testing.assert_allclose(pose(mech.tree.model, np.array(q), link)[:2, 3], place, atol=1e-15, err_msg=link)


def test_more_than_one_joint_may_be_cut_but_not_too_many() -> None:
    extra = hinge("again", "crank", "coupler", "0 1 0")
    mech = kt.load_mechanism(robot(*OPEN, TIP, extra), cut=["elbow"])
    assert mech.constraint_names == ("elbow", "again")
    with pytest.raises(
        FormatError, match="no joint that is left connects these links to 'ground': crank, coupler, pin"
    ):
        kt.load_mechanism(robot(*OPEN, TIP), cut=["motor", "tip"])


TRANSMISSION = "<transmission name='t'><joint name='{}'/><actuator name='a'/></transmission>"
CONTROL = (
    "<ros2_control name='c'><joint name='motor'><command_interface name='effort'/></joint><joint name='tip'/>"
    "</ros2_control>"
)
EFFORT = "<limit effort='{}' velocity='1'/>"


def tip(more: str) -> str:
    return hinge("tip", "rocker", "pin", "0 1 0", more)


@pytest.mark.parametrize(
    ("elements", "cut"),
    [
        ((MOTOR, ELBOW, PIVOT, PIN, TIP), "tip"),  # the last, since all are alike
        ((TIP, MOTOR, PIN, ELBOW, PIVOT), "tip"),  # without it no joint is turned around
        ((MOTOR, ELBOW, PIVOT, PIN, TIP, TRANSMISSION.format("tip")), "pivot"),
        ((MOTOR, ELBOW, PIVOT, PIN, TIP, CONTROL), "tip"),
        ((MOTOR, ELBOW, PIVOT, PIN, tip(EFFORT.format(5))), "pivot"),
        ((MOTOR, ELBOW, PIVOT, PIN, tip(EFFORT.format(0))), "tip"),
        ((MOTOR, hinge("elbow", "crank", "coupler", "0 1 0", kind="planar"), PIVOT, PIN, TIP), "elbow"),  # 3 rows
        ((MOTOR, ELBOW, PIVOT, PIN, tip("<mimic joint='motor'/>")), "pivot"),
    ],
)  # fmt: skip
def test_the_choice_of_the_cut(elements: tuple[str, ...], cut: str) -> None:
    assert kt.load_mechanism(robot(*elements)).constraint_names == (cut,)


LED = hinge("elbow", "crank", "coupler", "0 1 0", "<mimic joint='motor'/>")
FOLLOWER = hinge("pivot", "ground", "rocker", "2 0 0", "<mimic joint='elbow'/>")


@pytest.mark.parametrize(
    ("elements", "options", "actuated"),
    [
        ((MOTOR, ELBOW, PIVOT, PIN, TIP), {}, ("motor", "elbow", "pivot")),  # nothing is said of motors
        ((MOTOR, ELBOW, PIVOT, PIN, TIP, CONTROL), {}, ("motor",)),
        ((hinge("motor", "ground", "crank", "0 0 0", EFFORT.format(5)), ELBOW, PIVOT, PIN, TIP), {}, ("motor",)),
        ((MOTOR, ELBOW, PIVOT, PIN, tip(EFFORT.format("inf"))), {}, ("motor", "elbow", "pivot")),
        ((MOTOR, LED, FOLLOWER, PIN, TIP, TRANSMISSION.format("pivot")), {}, ("motor",)),  # it leads them
        ((MOTOR, ELBOW, PIVOT, PIN, TIP, CONTROL), {"actuated": ["pivot", "elbow"]}, ("elbow", "pivot")),
        ((MOTOR, ELBOW, PIVOT, PIN, TIP, CONTROL), {"cut": "motor"}, ()),  # there the motor is no more
    ],
)  # fmt: skip
def test_joints_with_motors_are_driven(elements: tuple[str, ...], options: Any, actuated: tuple[str, ...]) -> None:
    mech = kt.load_mechanism(robot(*elements), **options)
    assert mech.actuated == actuated
    assert pickle.loads(pickle.dumps(mech)) == mech


@pytest.mark.filterwarnings("ignore:.*mimics itself")
def test_a_motor_in_a_circle_of_followers() -> None:
    circle = LED.replace("motor", "pivot")
    mech = kt.load_mechanism(robot(MOTOR, circle, FOLLOWER, PIN, TIP, TRANSMISSION.format("pivot")), lenient=True)
    assert mech.actuated == ("elbow",)


@pytest.mark.filterwarnings("ignore:.*no position limits are given")
def test_a_loop_of_motors_says_so() -> None:
    motors = [hinge(n, p, c, o, EFFORT.format(5)) for n, p, c, o in (
        ("motor", "ground", "crank", "0 0 0"), ("elbow", "crank", "coupler", "0 1 0"),
        ("pivot", "ground", "rocker", "2 0 0"), ("tip", "rocker", "pin", "0 1 0"))]  # fmt: skip
    kept = PIN.replace("'fixed'", "'revolute'").replace("</joint>", EFFORT.format(5) + "</joint>")
    with pytest.raises(FormatError, match=r"loop of the joints 'pin', .*: every one has a motor; cut= names the one"):
        kt.load_mechanism(robot(*motors, kept))
    assert kt.load_mechanism(robot(*motors, kept), cut="elbow").constraint_names == ("elbow",)


def test_springs_are_not_cut() -> None:
    def joint(name: str, parent: str, child: str, more: str = "", kind: str = "revolute") -> str:
        ends = f"<parent>{parent}</parent><child>{child}</child>"
        return f"<joint name='{name}' type='{kind}'>{ends}<axis>{more}</axis><axis2><xyz>0 1 0</xyz></axis2></joint>"

    spring = "<dynamics><spring_stiffness>5</spring_stiffness></dynamics>"
    links = "".join(f"<link name='{name}'><inertial/></link>" for name in "abc")
    start, last = joint("j", "a", "b", spring), joint("k", "b", "c", kind="universal")
    sprung = f"<sdf version='1.9'><model name='m'>{links}{start}{last}{joint('l', 'a', 'c', spring)}</model></sdf>"
    with pytest.raises(FormatError, match="no loop can close at any of them"):
        kt.load_mechanism(sprung)
    with pytest.raises(ArgumentError, match="'j' has a spring or mimics, and needs its coordinate"):
        kt.load_mechanism(sprung, cut="j")
    with pytest.raises(kt.ModelError, match="a Universal bears forces in directions that turn"):
        kt.load_mechanism(sprung, cut="k")
    mech = kt.load_mechanism(sprung.replace(spring, "", 1))
    assert mech.constraint_names == ("j",)


def test_a_turned_joint_keeps_its_coordinate_and_limits() -> None:
    limit = "<limit><lower>0</lower><upper>2</upper></limit>"
    axis = f"<axis><xyz>1 0 0</xyz>{limit}</axis>"
    slide = f"<joint name='s' type='prismatic'><parent>b</parent><child>a</child>{axis}</joint>"
    world = "<joint name='w' type='fixed'><parent>world</parent><child>a</child></joint>"
    ball = "<joint name='p' type='ball'><parent>world</parent><child>b</child></joint>"
    links = "<link name='a'><inertial/></link><link name='b'><pose>0 0 1 0 0 0</pose><inertial/></link>"
    mech = kt.load_mechanism(f"<sdf version='1.9'><model name='m'>{links}{world}{slide}{ball}</model></sdf>")
    (body,) = mech.tree.model.bodies
    assert mech.constraint_names == ("p",)
    assert (body.joint, body.limits.upper) == (Prismatic((-1, 0, 0)), 2.0)
    assert pose(mech.tree.model, np.array([0.5]), "b")[:3, 3].tolist() == [-0.5, 0.0, 1.0]


test_what_cannot_be_read = told(
    FormatError,
    (robot(*OPEN), "there is no closed loop in this file: kinetree.load reads it"),
    (robot(*OPEN, "<loop_joint name='tip' type='revolute'/>"), "<link1> is missing"),
    (robot(*OPEN, LOOP_JOINT.format("x", "")), "joint type: no type 'x'"),
    (robot(*OPEN, LOOP_JOINT.format("floating", "")), "line [0-9]+, .*a floating joint bears no force"),
    (robot(*OPEN, LOOP_JOINT.format("revolute", "").replace("'tip'", "'motor'")), "a second joint of this name"),
    (robot(*OPEN, LOOP_JOINT.format("revolute", "").replace("'rocker'", "'x'")), "no link 'x'"),
    (robot(*OPEN, GAZEBO.format("").replace(">rocker<", ">x<")), "parent link: no link 'x'"),
    (robot(*OPEN, GAZEBO.format("<xyz expressed_in='x'>1 0 0</xyz>")), "expressed_in: no frame 'x'"),
    (robot(*OPEN, *(BALL.format(" name='rocker'") for _ in range(1001))), "there are 1001 closed loops, 1000 are"),
    (robot(*OPEN, "<coupling name='c'/>"), "a <coupling> of URDF[+] is not read"),
    (robot(*OPEN, TIP, hinge("x", "crank", "crank", "0 0 0")), "parent and child are the same link"),
    of=kt.load_mechanism,
)


BARS = robot(*OPEN, TIP)
test_bad_arguments = told(
    ArgumentError,
    (lambda: kt.load_mechanism(BARS, cut="tipp"), "cut: no joint 'tipp', did you mean 'tip'"),
    (lambda: kt.load_mechanism(BARS, cut=[1]), "cut takes names of joints"),  # type: ignore[list-item]
    (lambda: kt.load_mechanism(BARS, cut=None), "cut takes names of joints; None was given"),  # type: ignore[arg-type]
    (lambda: kt.load_mechanism(BARS, actuated=["mottor"]), "actuated: no joint 'mottor', did you mean 'motor'"),
    (lambda: kt.load_mechanism("no_such_file.sdf"), kt.RobotNotFoundError, "no_such_file"),
)


def test_what_load_takes_is_taken_here_too() -> None:
    follower = hinge("pivot", "ground", "rocker", "2 0 0", "<mimic joint='motor' multiplier='2'/>")
    text = robot(MOTOR, ELBOW, follower, PIN, TIP)
    assert kt.load_mechanism(text).tree.joint_names == ("motor", "elbow")
    assert kt.load_mechanism(text, mimic="independent").tree.joint_names == ("motor", "elbow", "pivot")
    placed = np.eye(4) + 0.5 * np.eye(4, k=3)
    tree = kt.load_mechanism(text, floating_base=True, gravity=(1.0, 2.0, 3.0)).tree
    assert tree.joint_names[0] == "root_joint"
    assert tree.gravity == (1.0, 2.0, 3.0)
    fixed = kt.load_mechanism(text, base_pose=placed).tree
    assert fixed.frame_placement(fixed.neutral(), frame="ground")[:3, 3].tolist() == [0.5, 0.0, 0.0]
    wrong = robot(MOTOR.replace("</joint>", "<dynamics damping='-1'/></joint>"), ELBOW, PIVOT, PIN, TIP)
    with pytest.warns(FormatWarning):
        kt.load_mechanism(wrong, lenient=True)
