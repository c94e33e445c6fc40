"""Robots as URDF documents: read again they are the same; a patched original keeps every other letter."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.trees import random_inertia, random_tree, toy
from kinetree.embedded import embedded_text
from kinetree.joints import Continuous, FreeFlyer, Planar, Prismatic, Revolute, Spherical
from kinetree.model import JointLimits, Model

TILTED = (0.6, -0.3, 0.7)
JOINTS = [Revolute(TILTED), Prismatic((0, -1, 0)), Continuous((0, 0, 1)), Planar(TILTED), FreeFlyer()]


def assert_same(a: Model, b: Model, world: bool = False) -> None:
    """Compare two models; `world` is whether the second has a fixed joint to the world instead of a base pose."""
    assert (a.joint_names, a.v_names) == (b.joint_names, b.v_names)
    assert {*a.frame_names, *["world"] * world} == {*b.frame_names}
    assert ("world" if world else a.root, a.name) == (b.root, b.name)
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


@pytest.mark.parametrize("seed", range(3))
def test_random_trees_read_again(seed: int) -> None:
    model = random_tree(seed, 6, JOINTS, armature=False, gravity=(0, 0, -9.81))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)  # no limits
        again = kt.load(kt.Robot(model).to_urdf()).model
    assert_same(model, again, world=True)


def test_what_urdf_has_no_place_for() -> None:
    with pytest.raises(kt.ModelError, match="'joint0' is a Spherical"):
        kt.Robot(random_tree(0, 1, [Spherical()], armature=False)).to_urdf()


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
    assert robot.to_urdf(original=text) == text
    J = np.diag([0.1, 0.2, 0.2])
    other = robot.with_inertial_parameters([*kt.Inertia(2.0, [0.1, 0, 0], J), *kt.Inertia(1.0, [0, 0, 0.2], J)])
    other = other.with_joint_physics(damping=[0.3, 0.0], friction=[0.0, 0.7])
    path = tmp_path / "arm.urdf"
    path.write_text(text)
    patched = other.to_urdf(original=path)
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
    only_friction = robot.with_joint_physics(friction=[0.5, 0.0]).to_urdf(original=text)
    assert only_friction == text.replace('<dynamics damping="0.1"/>', '<dynamics damping="0.1" friction="0.5"/>')


def test_what_is_put_into_an_original_is_indented_as_it_is() -> None:
    text = ARM.replace("UNIT", '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>')
    joint = '<joint name="elbow" type="continuous">'
    for indent in ("  ", "      ", "\t"):
        wide = text.replace(f"  {joint}", f"{indent}{joint}")
        patched = kt.load(wide).with_joint_physics(friction=[0.0, 0.5]).to_urdf(original=wide)
        assert f'{joint}\n{indent}  <dynamics damping="0" friction="0.5"/><parent' in patched


def test_a_document_that_is_read_leniently_is_patched() -> None:
    text = ARM.replace("UNIT", "").replace('<dynamics damping="0.1"/>', '<dynamics damping="-0.1"/>')
    with pytest.warns(kt.FormatWarning):
        robot = kt.load(text, lenient=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert '<dynamics damping="0.3" friction="0"/>' in robot.with_joint_physics(damping=[0.3, 0.0]).to_urdf(
            original=text
        )


def test_an_original_of_another_robot() -> None:
    with pytest.raises(kt.ModelError, match=r"another robot's file: .*elbow_joint"):
        kt.load("panda").to_urdf(original="ur5")
    longer = embedded_text("ur5").replace("0.39225", "0.5")
    with pytest.raises(kt.ModelError, match="original is another robot's file: the placement of wrist_1_joint"):
        kt.load("ur5").to_urdf(original=longer)
    with pytest.raises(kt.FormatError, match="is not a URDF file"):
        kt.load(ROCK).to_urdf(original=ROCK)
    with pytest.raises(kt.FormatError, match="UTF-8"):
        kt.load("ur5").to_urdf(original=embedded_text("ur5").encode("utf-16"))


def links_off_their_joints() -> kt.Robot:
    turned = {"child_placement": [[0, -1, 0, 0.1], [1, 0, 0, 0.2], [0, 0, 1, 0.3], [0, 0, 0, 1]]}
    links = {f"link{k}": random_inertia(np.random.default_rng(k)) for k in range(3)}
    joints = ((f"joint{k} link{k} link{k + 1}", Revolute((0, 1, 0)), turned) for k in range(2))
    return kt.Robot(toy(*joints, links=links, name="off"))


def test_links_that_are_not_at_their_joint_stay_where_they_are() -> None:
    """In URDF a link is at its joint: what moves is another one, to which it is fixed."""
    robot = links_off_their_joints()
    with pytest.warns(kt.FormatWarning, match="the moving bodies of joint0, joint1 have other names"):
        text = robot.to_urdf()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        again = kt.load(text)
    assert again.body_names == ("link1_at_joint", "link2_at_joint")
    q, v, a = robot.random_state(0)
    np.testing.assert_allclose(again.inverse_dynamics(q, v, a), robot.inverse_dynamics(q, v, a), rtol=1e-12, atol=1e-12)
    for name in robot.frame_names:
        one, other = (r.frame_placement(q, frame=name) for r in (robot, again))
        np.testing.assert_allclose(one, other, atol=1e-14)


def test_a_joint_may_have_the_name_of_a_floating_bases() -> None:
    inertia = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    robot = kt.load(ARM.replace("UNIT", inertia).replace("shoulder", "root_joint"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kt.FormatWarning)
        assert kt.load(robot.to_urdf()).joint_names == ("root_joint", "elbow")


@pytest.mark.filterwarnings("ignore::kinetree.NonPhysicalInertiaWarning")
@pytest.mark.parametrize("original", [None, "ur5"])
@pytest.mark.parametrize("mass", [-1.0, 0.0])
def test_what_no_body_can_weigh_is_an_error(mass: float, original: str | None) -> None:
    robot = kt.load("ur5")
    ten = robot.inertial_parameters.copy()
    ten[10] = mass
    with pytest.raises(kt.ModelError, match=r"mass.*cannot be negative|inertia of shoulder_lift_joint differ"):
        robot.with_inertial_parameters(ten).to_urdf(original=original)


ROCK = "<sdf version='1.9'><model name='rock'><static>true</static><link name='stone'/></model></sdf>"


def test_bodies_in_an_order_that_a_file_cannot_have_are_named() -> None:
    joints = ((names, Continuous((0, 0, 1))) for names in ("jb0 b3 b0", "jb1 base b1", "jb3 base b3"))
    robot = kt.Robot(toy(*joints)).lock(["jb3"])
    with pytest.warns(kt.FormatWarning, match=r"the order of the bodies, \('b1', 'b0'\)"):
        robot.to_urdf()


MOST = 'velocity="1.7976931348623157e+308" effort="1.7976931348623157e+308"'


def test_infinite_limits_are_read_by_others_and_are_infinite_again() -> None:
    """The largest float64: urdfdom, by which Pinocchio reads, takes no inf and wants a velocity and an effort."""
    pinocchio = pytest.importorskip("pinocchio")
    inf, joints = np.inf, []
    given = [(Revolute, -1.0, inf, 2.0, inf), (Prismatic, -inf, inf, inf, 3.0), (Prismatic, -inf, 1.0, inf, inf)]
    given += [(Continuous, -inf, inf, inf, 4.0), (Continuous, -inf, inf, inf, inf), (Revolute, -1.0, 1.0, inf, inf)]
    for k, (kind, *limits) in enumerate(given):
        joints.append((f"j{k} b{k} b{k + 1}", kind((0, 0, 1)), {"limits": JointLimits(*limits)}))
    robot = kt.Robot(toy(*joints))
    for text in (robot.to_urdf(), robot.to_urdf(original=robot.with_limits(velocity=1.0, effort=1.0).to_urdf())):
        again = kt.load(text)
        assert [body.limits for body in again.model.bodies] == [body.limits for body in robot.model.bodies]
        theirs = pinocchio.buildModelFromXML(text)
        finite = np.isfinite(robot.effort_limits)
        np.testing.assert_array_equal(theirs.effortLimit[finite], robot.effort_limits[finite])
        assert (theirs.effortLimit[~finite] > 1e300).all()


@pytest.mark.parametrize("patched", [False, True])
def test_a_base_that_is_moved_again_and_again_has_one_world(patched: bool) -> None:
    robot, text = kt.load("ur5"), None
    q = robot.random_configuration(0)
    for k in range(3):
        pose = Rotation.from_rotvec([0.3, k, -0.2 * k]).as_matrix()
        moved = robot.with_base_pose(np.block([[pose, np.array([[0.1], [k], [1.0]])], [np.zeros((1, 3)), 1.0]]))
        text = moved.to_urdf(original=text) if patched and text else moved.to_urdf()
        robot = kt.load(text)
        assert [name for name in robot.frame_names if "world" in name] == ["world"]
        np.testing.assert_allclose(robot.gravity_forces(q), moved.gravity_forces(q), atol=1e-12)
        placements = [r.frame_placement(q, frame="tool0") for r in (robot, moved)]
        np.testing.assert_allclose(*placements, atol=1e-12)


def test_limits_are_patched_in_their_element() -> None:
    text = ARM.replace("UNIT", "").replace('velocity="1"', 'velocity="1" jerk="9"')
    with pytest.warns(kt.FormatWarning):
        robot = kt.load(text, lenient=True).with_limits(
            lower={"elbow": -2.0, "shoulder": -np.inf},
            upper={"elbow": 2.0, "shoulder": np.inf},
            effort={"shoulder": 3.0},
        )
    patched = robot.to_urdf(original=text)
    assert f'<joint name="elbow" type="revolute">\n    <limit lower="-2" upper="2" {MOST}/>' in patched
    assert '<joint name="shoulder" type="continuous">' in patched
    assert '<limit effort="3" velocity="1" jerk="9"/>' in patched
    with pytest.warns(kt.FormatWarning):
        assert_same(robot.model, kt.load(patched, lenient=True).model)


NAMED = """<robot name="r"><link name="world"/><link name="base"/><link name="b"/><link name="a"><inertial>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="world_fixed" type="fixed"><parent link="world"/><child link="base"/></joint>
<joint name="x type='p'" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="t_fixed" type="fixed"><parent link="a"/><child link="b"/></joint></robot>
"""


def test_names_of_an_original_are_no_trouble() -> None:
    robot = kt.load(NAMED)
    moved = robot.with_base_pose([[1, 0, 0, 3], [0, 1, 0, 2], [0, 0, 1, 1], [0, 0, 0, 1]]).with_frame("t", on="a")
    held = '<joint name="world_fixed" type="fixed"><origin xyz="3 2 1" rpy="0 0 0"/><parent link="world"/>'
    assert held in re.sub(r"\s*(<[^j])", r"\1", moved.to_urdf(original=NAMED))
    assert '<joint name="t_fixed_" type="fixed">' in moved.to_urdf(original=NAMED)
    without = robot.with_limits(lower=-np.inf, upper=np.inf)
    assert """name="x type='p'" type="continuous">""" in without.to_urdf(original=NAMED)


def test_what_a_text_declares_of_its_encoding_does_not_count() -> None:
    text = '<?xml version="1.0" encoding="{}"?>\n' + NAMED.replace('"a"', '"é"')
    for encoding in ("iso-8859-1", "utf-16", "ascii"):
        declared = text.format(encoding)
        heavy = kt.load(declared).with_inertial_parameters(2 * kt.load(declared).inertial_parameters)
        assert '<mass value="2"/>' in heavy.to_urdf(original=declared)


def test_lines_of_a_patched_file_end_as_its_own_do() -> None:
    crlf = NAMED.replace("\n", "\r\n")
    text = kt.load(crlf).with_frame("tip", on="a").with_joint_physics(damping=0.2).to_urdf(original=crlf)
    assert text.count("\n") == text.count("\r\n") > crlf.count("\n")


def test_a_new_joint_has_not_the_name_of_one_that_follows() -> None:
    following = (
        '<joint name="tip_fixed" type="continuous"><parent link="a"/><child link="b"/><mimic joint="x type=\'p\'"/>'
    )
    text = re.sub('<joint name="t_fixed".*</joint>', following + "</joint>", NAMED)
    robot = kt.load(text).with_frame("tip", on="a")
    for written in (robot.to_urdf(), robot.to_urdf(original=text)):
        assert '<joint name="tip_fixed_" type="fixed">' in written
