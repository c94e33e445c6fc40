"""Robots as URDF documents: read again they are the same; a patched original keeps every other letter."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinetree as kt
from helpers.trees import random_inertia, random_tree
from kinetree.embedded import embedded_text
from kinetree.joints import Continuous, FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.model import Model, ModelBuilder

TILTED = (0.6, -0.3, 0.7)
JOINTS = [Revolute(TILTED), Prismatic((0, -1, 0)), Continuous((0, 0, 1)), Planar(TILTED), FreeFlyer()]


def assert_same(a: Model, b: Model) -> None:
    assert (a.joint_names, a.v_names, {*a.frame_names}) == (b.joint_names, b.v_names, {*b.frame_names})
    assert (a.root, a.name) == (b.root, b.name)
    for name in a.frame_names:
        one, other = a.frame(name), b.frame(name)
        assert (one.body < 0) == (other.body < 0)
    there = {body.name: body for body in b.bodies}
    for body in a.bodies:
        other = there[body.name]
        np.testing.assert_allclose(np.array(body.X_T.placement), np.array(other.X_T.placement), atol=4e-15)
        np.testing.assert_allclose(np.array(body.inertia), np.array(other.inertia), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(body.damping, other.damping, rtol=1e-14)
        np.testing.assert_allclose(body.friction, other.friction, rtol=1e-14)
        assert body.limits == other.limits
        assert (body.q_index, body.v_index) == (other.q_index, other.v_index)


@pytest.mark.parametrize("name", ["panda", "ur5", "go2"])
def test_embedded_robots_read_again(name: str) -> None:
    robot = kt.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        assert_same(robot.model, kt.load(robot.to_urdf(), floating_base=name == "go2").model)


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_read_again(seed: int) -> None:
    model = random_tree(seed, 6, JOINTS, armature=False, gravity=(0, 0, -9.81))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)  # no limits
        again = kt.load(kt.Robot(model).to_urdf()).model
    placed = kt.Robot(model).with_base_pose(np.eye(4)).model if seed < 0 else model
    root = np.array(placed.frame(placed.root).X.placement)
    assert_same(model, kt.Robot(again).with_base_pose(root).model)


def test_followers_and_names_that_need_escapes() -> None:
    b = ModelBuilder('a "hand" & <more>')
    b.add_link("palm")
    for side in ("left", "right", "tilted"):
        b.add_link(side, random_inertia(np.random.default_rng(0)))
    limits = kt.JointLimits(-1.0, 1.0, 2.0, 30.0)
    b.add_joint("lead", parent="palm", child="left", joint=Revolute(), limits=limits, damping=0.1, friction=0.2)
    follower = {"mimic": ("lead", -2.0, 0.3), "damping": 0.4, "friction": 0.5}
    b.add_joint("follow", parent="palm", child="right", joint=Revolute((0, 1, 0)), **follower)  # type: ignore[arg-type]
    pitch = [[0, 0, 1, 0], [0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, 1]]
    b.add_joint("down", parent="left", child="tilted", joint=Prismatic(), placement=pitch, limits=limits)
    b.add_frame("tip", link="tilted", placement=pitch)
    b.add_frame("table", link="palm", placement=pitch)
    model = b.build(base_pose=pitch)
    text = kt.Robot(model).to_urdf()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        again = kt.load(text, base_pose=pitch).model
    assert_same(model, again)
    for name in ("tip", "table"):
        np.testing.assert_allclose(again.frame(name).X.placement, model.frame(name).X.placement, atol=1e-15)


def test_what_urdf_has_no_place_for() -> None:
    with pytest.raises(kt.ModelError, match="'joint0' is a Spherical"):
        kt.Robot(random_tree(0, 1, [Spherical()], armature=False)).to_urdf()
    with pytest.warns(kt.FormatWarning, match="armature and springs: those of joint0"):
        kt.Robot(random_tree(0, 1, [Revolute()])).to_urdf()


ARM = """<?xml version="1.0"?>
<!-- our arm -->
<robot name='arm'>
  <link name="base"><inertial><mass value="3"/>UNIT</inertial></link>
  <link  name='upper' >
    <visual><geometry><mesh filename="a > b.stl"/></geometry></visual>
    <inertial>
      <mass value="1"/> <!-- guessed -->
      UNIT
    </inertial>
  </link>
  <link name="tool"><inertial><mass value="0.5"/>UNIT</inertial></link>
  <link name="lower"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><limit lower="-1" upper="1" effort="1" velocity="1"/><axis xyz="0 1 0"/>
    <dynamics damping="0.1"/>
  </joint>
  <joint name="weld" type="fixed"><parent link="upper"/><child link="tool"/><origin xyz="0 0 1"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/></joint>
</robot>
"""


def test_a_patched_original_keeps_everything_else(tmp_path: Path) -> None:
    text = ARM.replace("UNIT", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    robot = kt.load(text)
    assert robot.to_urdf(text) == text
    J = np.diag([0.1, 0.2, 0.2])
    other = robot.with_inertial_parameters([*kt.Inertia(2.0, [0.1, 0, 0], J), *kt.Inertia(1.0, [0, 0, 0.2], J)])
    other = other.with_joint_physics(damping=[0.3, 0.0], friction=[0.0, 0.7])
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    patched = other.to_urdf(path)
    assert_same(other.model, kt.load(patched).model)
    for kept in (
        "<!-- our arm -->",
        'filename="a > b.stl"',
        "<link  name='upper' >",
        '<mass value="3"/>',
        "robot name='arm'",
    ):
        assert kept in patched
    assert patched.count("<inertial>") == 3, "base, upper and lower; the tool's is upper's now"
    only_friction = robot.with_joint_physics(friction=[0.5, 0.0]).to_urdf(text)
    assert only_friction == text.replace('<dynamics damping="0.1"/>', '<dynamics damping="0.1" friction="0.5"/>')


def test_what_is_put_into_an_original_is_indented_as_it_is() -> None:
    text = ARM.replace("UNIT", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    joint = '<joint name="elbow" type="continuous">'
    for indent in ("  ", "      ", "\t"):
        wide = text.replace(f"  {joint}", f"{indent}{joint}")
        patched = kt.load(wide).with_joint_physics(friction=[0.0, 0.5]).to_urdf(wide)
        assert f'{joint}\n{indent}  <dynamics damping="0" friction="0.5"/><parent' in patched


def test_a_document_that_is_read_leniently_is_patched() -> None:
    text = ARM.replace("UNIT", "").replace('<dynamics damping="0.1"/>', '<dynamics damping="-0.1"/>')
    with pytest.warns(kt.FormatWarning):
        robot = kt.load(text, lenient=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert '<dynamics damping="0.3" friction="0"/>' in robot.with_joint_physics(damping=[0.3, 0.0]).to_urdf(text)


def test_an_original_of_another_robot(tmp_path: Path) -> None:
    with pytest.raises(kt.ModelError, match=r"another robot's file: .*elbow_joint"):
        kt.load("panda").to_urdf("ur5")
    with pytest.raises(kt.FormatError, match="UTF-8"):
        kt.load("ur5").to_urdf(embedded_text("ur5").encode("utf-16"))


def test_an_embedded_floating_robot_is_patched() -> None:
    robot = kt.load("go2")
    heavier = robot.with_inertial_parameters(1.1 * robot.inertial_parameters)
    assert_same(heavier.model, kt.load(heavier.to_urdf("go2"), floating_base=True).model)
