"""Robots with other inertias and more frames, poses in every form, warnings of inertias, arguments of wrong types."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial import transform as scipy_transform

import kinetree as kt
from helpers.trees import random_inertia, random_placement
from kinetree.inverse_kinematics import FrameTarget
from kinetree.joints import Fixed, Revolute
from kinetree.model.checks import inertia_defect

I3 = np.eye(3)
rng = np.random.default_rng(0)
PLACE, AT = random_placement(rng), random_placement(rng)
LOAD, FORE = random_inertia(rng), random_inertia(rng)


def arm(fore: kt.Inertia = FORE, tip: Any = None) -> kt.Robot:
    b = kt.ModelBuilder("arm")
    b.add_link("base", LOAD)
    b.add_link("fore", fore)
    b.add_link("hand")
    b.add_joint("elbow", parent="base", child="fore", joint=Revolute((0, 1, 0)), placement=PLACE)
    b.add_joint("weld", parent="fore", child="hand", joint=Fixed(), placement=AT)
    if tip is not None:
        b.add_frame("tip", link="hand", placement=tip)
    return kt.Robot(b.build())


def test_another_inertia_is_that_of_the_robot_built_so() -> None:
    assert arm(LOAD).with_inertia("fore", FORE) == arm(FORE)
    in_hand = arm().with_inertia("hand", LOAD).model.bodies[0].inertia  # of the whole body, in the frame of the hand
    at = arm().model.frame("hand")
    assert [*in_hand] == pytest.approx([*(at.X.T @ LOAD)])
    assert arm().with_inertia("base", FORE).model.base_inertia == FORE


def test_another_frame_is_that_of_the_robot_built_so() -> None:
    assert arm().with_frame("tip", on="hand", placement=PLACE) == arm(tip=PLACE)
    assert arm().with_frame("tip", on="hand").model.frame("tip").X == arm().model.frame("hand").X
    on_floor = arm().with_frame("mark", on="base", placement=PLACE)
    assert on_floor.frame_placement([0.3], frame="mark") == pytest.approx(PLACE)
    twice = arm(tip=PLACE).with_frame("end", on="tip", placement=AT)
    pose = arm(tip=PLACE).frame_placement([0.3], frame="tip") @ AT
    assert twice.frame_placement([0.3], frame="end") == pytest.approx(pose)


def test_poses_of_scipy_are_poses() -> None:
    turned = np.eye(4)
    turned[:3, :3] = PLACE[:3, :3]
    R = scipy_transform.Rotation.from_matrix(PLACE[:3, :3])
    forms: list[tuple[Any, Any]] = [(R, R.as_matrix())]
    if hasattr(scipy_transform, "RigidTransform"):  # SciPy ≥ 1.16
        T = scipy_transform.RigidTransform.from_matrix(PLACE)
        forms.append((T, T.as_matrix()))
    for given, matrix in forms:
        pose = np.eye(4)
        pose[: len(matrix), : len(matrix)] = matrix
        assert arm().with_frame("tip", on="hand", placement=given) == arm(tip=pose) == arm(tip=given)
        assert arm().with_base_pose(given) == arm().with_base_pose(pose)
        assert arm().attach(LOAD, "hand", placement=given) == arm().attach(LOAD, "hand", placement=pose)
        b = kt.ModelBuilder()
        b.add_link("base")
        assert b.build(base_pose=given) == b.build(base_pose=pose)


def test_targets_of_inverse_kinematics_are_poses_too() -> None:
    robot = kt.load("ur5")
    pose = robot.frame_placement(robot.random_configuration(seed=1), frame="tool0")
    R = scipy_transform.Rotation.from_matrix(pose[:3, :3])
    turned = robot.inverse_kinematics(R, "tool0")
    assert turned.converged
    with pytest.raises(kt.ArgumentError, match=r"target.pose has shape \(3, 3\).*FrameTarget\(R, position=0\)"):
        robot.inverse_kinematics(FrameTarget(R), "tool0")
    got = robot.frame_placement(turned.q, frame="tool0")[:3, :3]
    assert got == pytest.approx(pose[:3, :3], abs=1e-7)
    if hasattr(scipy_transform, "RigidTransform"):
        T = scipy_transform.RigidTransform.from_matrix(pose)
        solution = robot.inverse_kinematics(T, "tool0")
        assert solution.q.tolist() == robot.inverse_kinematics(T.as_matrix(), "tool0").q.tolist()


def test_a_rotation_matrix_is_no_pose() -> None:
    for ask in (lambda: arm(tip=I3), lambda: arm().with_frame("tip", on="hand", placement=I3)):
        with pytest.raises(
            kt.KinetreeError, match=r"R alone is given as scipy.spatial.transform.Rotation.from_matrix\(R\)"
        ):
            ask()


SPIKE = kt.Inertia(1.0, [0, 0, 0], np.diag([1.0, 1, 3]))  # more than a body can have
ENTRIES = {
    "ModelBuilder": (lambda: arm(SPIKE), "triangle inequality violated: fore"),
    "with_inertia": (lambda: arm().with_inertia("hand", SPIKE), "triangle inequality violated: fore"),
    "attach": (lambda: arm().attach(kt.Inertia(-2 * FORE.m, [0, 0, 0], 0 * I3), "fore"), "negative mass: fore"),
    "with_inertial_parameters": (
        lambda: arm().with_inertial_parameters(np.array(SPIKE)), "triangle inequality violated: fore"
    ),
    "moments without mass": (
        lambda: arm().with_inertial_parameters([0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "inertia without mass: fore"
    ),
}  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_body_has_this_inertia(entry: str) -> None:
    ask, message = ENTRIES[entry]
    with pytest.warns(kt.NonPhysicalInertiaWarning, match=message) as caught:
        ask()
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_what_is_wrong_with_an_inertia_does_not_depend_on_units(unit: float) -> None:
    for excess, message in ((2e-7, None), (1e-4, None), (2e-3, "triangle inequality violated")):
        assert inertia_defect(1.0, unit * np.diag([1.0, 1.0, 2.0 + excess]), error=1e-3 * unit) == message
    for least, message in ((-1e-4, None), (-2e-3, "not positive definite")):
        assert inertia_defect(1.0, unit * np.diag([least, 1.0, 1.0]), error=1e-3 * unit) == message


def test_point_masses_rods_and_what_is_taken_away_again_are_bodies() -> None:
    far = kt.Inertia(1.0, [30.0, 20, 10], np.diag([1e-6, 1e-6, 2e-6]))  # a disc: rounding must not count
    point = kt.Inertia(1.0, [0, 0, 7.1], 0 * I3)
    rod = kt.Inertia(0.2, [0.1, 0.2, -0.5], np.diag([0.01, 0.01, 0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for inertia in (far, point, rod, kt.Inertia.zero()):
            assert arm(inertia).with_inertia("hand", inertia).nb == 1
        heavy = arm().attach(LOAD, "hand", placement=PLACE)
        lighter = heavy.attach(kt.Inertia.from_parameters([-x for x in LOAD]), "hand", placement=PLACE)
        assert [*lighter.inertial_parameters] == pytest.approx([*arm().inertial_parameters], abs=1e-12)
        heavy.with_inertial_parameters(heavy.inertial_parameters)


def test_an_inertia_is_mass_centre_and_inertia_about_it() -> None:
    made = kt.Inertia(1.0, [0, 0, -0.5], np.eye(3))
    assert made == kt.Inertia.from_com(1.0, [0, 0, -0.5], np.eye(3).tolist())
    assert np.array(made).tolist() == [1, 0, 0, -0.5, 1.25, 0, 1.25, 0, 0, 1]
    assert pickle.loads(pickle.dumps(made)) == made
    assert all(type(x) is float for x in kt.Inertia(np.int64(1), np.zeros(3, int), np.ones((3, 3), int)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, [0, 0], I3), r"a centre of mass has three coordinates; \[0, 0\] was given: an Inertia takes mass, centre"),
        ((1, I3, [0, 0, 0]), "a centre of mass is made of numbers"),
        ((1, [0, 0, 0], [1, 1, 1]), "an inertia is a symmetric 3×3 matrix"),
        (([1.0], [0, 0, 0], I3), "a mass is made of numbers"),
        ((True, [0, 0, 0], I3), "a mass is made of numbers; True was given"),
        ((1, [0, 0, np.nan], I3), "a centre of mass holds the number nan"),
        ((1j, [0, 0, 0], I3), "a mass is made of real numbers; 1j was given"),
        ((1, {0.1, 0.2, 0.3}, I3), "a centre of mass has three coordinates"),
        ((1, [0, 0, 0], np.reshape(I3, (9, 1))), "an inertia is a symmetric 3×3 matrix"),
    ],
)
def test_an_inertia_explains_itself(arguments: Any, message: str) -> None:
    with pytest.raises(kt.ModelError, match=message):
        kt.Inertia(*arguments)


def test_a_payload_is_given_as_an_inertia() -> None:
    robot = arm()
    loaded = kt.compile(robot, "gravity_forces", inputs=[kt.payload("hand", name="load")])
    expected = robot.attach(LOAD, "hand").gravity_forces([0.4])
    assert loaded([0.4], LOAD) == pytest.approx(expected, rel=1e-13)
    assert loaded([0.4], [LOAD, kt.Inertia.zero()])[0] == pytest.approx(expected, rel=1e-13)
    replaced = kt.compile(robot, "gravity_forces", inputs=[kt.body_inertia("hand", name="I")])
    assert replaced([0.4], LOAD) == pytest.approx(robot.with_inertia("fore", LOAD).gravity_forces([0.4]), rel=1e-13)
    inside = robot.compile(lambda q: loaded(q, LOAD), shapes={"q": (1,)}, name="inside")
    assert inside([0.4]) == pytest.approx(expected, rel=1e-13)


def test_the_old_name_of_body_inertia_says_the_new_one() -> None:
    with pytest.raises(AttributeError, match=r"kinetree.inertia is now kinetree.body_inertia\(link\)"):
        kt.inertia  # noqa: B018


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.with_friction(damping=[1] * 6), r"damping is \[1, 1, .*\]: .* True or False; with_joint_physics"),
        (lambda r: r.with_friction(coulomb=0.5), r"coulomb is 0.5: .*; with_joint_physics\(friction=…\)"),
        (lambda r: r.with_friction(smoothing=True), "smoothing is True, it must be a positive number"),
        (lambda r: r.with_gravity(9.81), r"gravity has shape \(\), \(3,\) is needed"),
        (lambda r: r.with_gravity(True), "gravity has dtype bool"),
        (lambda r: r.with_gravity([I3] * 3), "gravity has shape"),
        (lambda r: r.with_gravity([0, 0, np.nan]), "gravity holds the number nan"),
        (lambda r: r.lock("elbow"), "joints takes a list of names"),
        (lambda r: r.lock([["elbow"]]), "the name of a joint is a str"),
        (lambda r: r.lock([True]), "the name of a joint is a str; True was given"),
        (lambda r: r.lock(["elbow"], q=[True]), "q has dtype bool"),
        (lambda r: r.attach(LOAD, ["hand"]), "the name of a frame is a str"),
        (lambda r: r.attach(LOAD, "hand", placement=True), "placement has dtype bool"),
        (lambda r: r.attach(arm(), "hand", prefix=2), "prefix is 2, it must be a str"),
        (lambda r: r.attach([1.0] * 10, "hand"), "attach takes a Robot or a kinetree.Inertia; builtins.list was"),
        (lambda r: r.with_inertia("hand", [1.0] * 10), r"with_inertia takes an Inertia\(mass, com, inertia about it\)"),
        (lambda r: r.with_inertia("hnd", LOAD), "no frame 'hnd', did you mean 'hand'"),
        (lambda r: r.with_frame(3, on="hand"), "name is 3, it must be a str"),
        (lambda r: r.with_frame("hand", on="base"), "there is a frame named 'hand' already"),
        (lambda r: r.with_frame("tip", on="hnd"), "no frame 'hnd', did you mean 'hand'"),
        (lambda r: r.with_base_pose(np.stack([np.eye(4)] * 2)), r"base_pose has shape \(2, 4, 4\), \(4, 4\) is needed"),
        (lambda r: r.with_frame("tip", on="hand", placement=[0, 0, 0.1]), "a translation p alone is a 4×4 matrix too"),
        (lambda r: r.with_inertial_parameters([True] * 10), "dtype bool"),
    ],
)  # fmt: skip
def test_wrong_types_are_errors(ask: Any, message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        ask(arm())
