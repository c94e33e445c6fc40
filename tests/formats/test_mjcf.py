# ruff: noqa: E501  (elements of files, each in a line)
"""MJCF through MuJoCo's compiler: what is read, what is named, and what is refused. MuJoCo is the oracle."""

from __future__ import annotations

import copy
import pickle
import sys
import types

import mujoco
import numpy as np
import pytest

import kinetree as kt
from helpers.mjcf import agreement, bias, state
from kinetree.errors import ArgumentError, FormatError, FormatWarning, ModelError
from kinetree.joints import FreeFlyer, Spherical

EVERYTHING = """
<mujoco model="everything">
  <compiler angle="radian"/>
  <option gravity="0.1 -0.2 -9.5"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction="0.7 0.01 0.002" rgba="0.1 0.2 0.3 1"/>
    <body name="hull" pos="0.1 0.2 0.3" euler="0.1 0.2 0.3">
      <freejoint name="free"/>
      <inertial pos="0.01 0.02 0.03" euler="0.3 0.2 0.1" mass="2" diaginertia="0.02 0.03 0.04"/>
      <site name="top" pos="0 0 0.2" euler="0.2 0 0"/>
      <site name="arm" pos="0.1 0 0"/>
      <body name="arm" pos="0.2 0 0.1" euler="0 0.4 0">
        <joint name="twist" type="hinge" axis="0 0 1" pos="0.01 0.02 0.03" ref="0.3" range="-1 2" limited="true"
          armature="0.05" damping="0.4" frictionloss="0.6" actuatorfrcrange="-7 7" actuatorfrclimited="true"/>
        <joint name="lift" type="slide" axis="1 1 0" ref="0.1" stiffness="30" springref="0.25"/>
        <joint type="hinge" axis="1 0 0" stiffness="3" springref="0.5"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="1" group="1"/>
        <geom type="box" size="0.1 0.02 0.03" mass="0.5" group="3" contype="4" conaffinity="8"/>
        <body pos="0.3 0 0">
          <joint name="ball" type="ball" pos="0 0.05 0"/>
          <geom type="ellipsoid" size="0.05 0.06 0.07" mass="0.7" contype="0" conaffinity="0"/>
          <body name="fin" pos="0 0 0.1"><geom type="sphere" size="0.02" mass="0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="m" joint="twist" gear="5" ctrlrange="-1 2" forcerange="-3 3" armature="0.01" damping="0.02"/>
    <general joint="lift" gainprm="4" gear="2" forcerange="-8 4"/>
    <motor name="gimbal" joint="ball" gear="1 2 3"/>
  </actuator>
  <keyframe><key name="ready" qpos="1 2 3 2 0 0 0 0.4 0.2 0.1 0 0 1 0"/><key qpos="0 0 0 1 0 0 0 0 0 0 1 0 0 0"/></keyframe>
</mujoco>
"""
ARM = """
<mujoco>
  <worldbody>
    <body name="base" pos="1 0 0"><geom size="0.1" mass="1"/>
      <body name="arm" pos="0 0 1"><joint name="elbow" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0" mass="1"/>
        <site name="tip" pos="0.5 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def put(text: str, *, before: str) -> str:
    """Return the arm with elements before a closing tag."""
    return ARM.replace(before, text + before)


def test_dynamics_of_everything_at_once():
    m = mujoco.MjModel.from_xml_string(EVERYTHING)
    assert agreement(kt.load(EVERYTHING), m) < 1e-13


def test_all_sources_are_one_robot(tmp_path):
    path = tmp_path / "everything.xml"
    path.write_text(EVERYTHING)
    robot = kt.load(path)
    m = mujoco.MjModel.from_xml_path(str(path))
    for source in (str(path), EVERYTHING, EVERYTHING.encode(), m, mujoco.MjSpec.from_string(EVERYTHING)):
        assert kt.load(source) == robot
        assert kt.load(source).geometry == robot.geometry
    assert pickle.loads(pickle.dumps(kt.load(m))) == robot


def test_an_edited_spec():
    spec = mujoco.MjSpec.from_string(ARM)
    spec.body("arm").add_joint(name="wrist", axis=[1, 0, 0])
    robot = kt.load(spec)
    assert robot.joint_names == ("elbow", "wrist")
    assert agreement(robot, spec.compile()) < 1e-13
    spec.body("arm").add_geom(size=[0, 0, 0])
    with pytest.raises(
        FormatError, match="MuJoCo does not compile this MjSpec: Error: size 0 must be positive in geom"
    ):
        kt.load(spec)


def test_warnings_about_a_spec_have_a_name(monkeypatch, tmp_path, capfd):
    monkeypatch.chdir(tmp_path)
    spec = mujoco.MjSpec.from_string(ARM)
    spec.compiler.settotalmass = 3.0
    with pytest.warns(FormatWarning, match="<MjSpec>: MuJoCo says: "):
        kt.load(spec)
    assert capfd.readouterr() == ("", "")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("option", [{"xacro": {"a": "b"}}, {"xacro": {}}, {"packages": {"p": "."}}])
@pytest.mark.parametrize("made", [mujoco.MjSpec.from_string, mujoco.MjModel.from_xml_string])
def test_options_of_files_alone(made, option):
    with pytest.raises(ArgumentError, match=r"xacro and packages are for files; Mj\w+ is compiled: leave them out"):
        kt.load(made(ARM), **option)


def test_a_model_that_changes_later():
    m = mujoco.MjModel.from_xml_string(ARM)
    robot = kt.load(m)
    m.geom_size[:] = 7.0
    assert {g.shape.radius for g in robot.visual_geometry} == {0.1}


def test_what_joints_have():
    robot = kt.load(EVERYTHING)
    assert robot.joint_names == ("root_joint", "twist", "lift", "joint_3", "ball")
    bodies = {body.joint_name: body for body in robot.model.bodies}
    assert bodies["twist"].limits == kt.JointLimits(-1.0, 2.0, effort=7.0)
    assert bodies["twist"].armature == (pytest.approx(0.05 + 25 * 0.01),)
    assert bodies["twist"].damping == (pytest.approx(0.4 + 25 * 0.02),)
    assert bodies["twist"].friction == (0.6,)
    assert (bodies["lift"].spring.stiffness, bodies["lift"].spring.rest) == (30.0, 0.25)
    assert (bodies["joint_3"].spring.stiffness, bodies["joint_3"].spring.rest) == (3.0, 0.5)
    assert [type(bodies[name].joint) for name in ("root_joint", "ball")] == [FreeFlyer, Spherical]
    assert robot.frame_names[:4] == ("world", "hull", "arm.0", "arm.1")
    assert {"top", "site:arm", "body_3", "fin"} <= {*robot.frame_names}


def test_places_of_bodies_and_sites():
    robot, m = kt.load(EVERYTHING), mujoco.MjModel.from_xml_string(EVERYTHING)
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(robot, m)
    data.qpos[:], _ = state(m, seed=4)
    mujoco.mj_forward(m, data)
    q = convention.from_q(data.qpos)
    placed = dict(zip(robot.frame_names, robot.frame_placements(q), strict=True))
    for name, ours in [("hull", "hull"), ("arm", "arm"), ("fin", "fin")]:
        np.testing.assert_allclose(placed[ours][:3, 3], data.body(name).xpos, atol=1e-13)
        np.testing.assert_allclose(placed[ours][:3, :3].ravel(), data.body(name).xmat, atol=1e-13)
    for name, ours in [("top", "top"), ("arm", "site:arm")]:
        np.testing.assert_allclose(placed[ours][:3, 3], data.site(name).xpos, atol=1e-13)
        np.testing.assert_allclose(placed[ours][:3, :3].ravel(), data.site(name).xmat, atol=1e-13)


def test_external_wrenches_and_states_are_mapped():
    robot, m = kt.load(EVERYTHING), mujoco.MjModel.from_xml_string(EVERYTHING)
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(robot, m)
    data.qpos[:], data.qvel[:] = state(m, seed=4)
    q, v = convention.from_q(data.qpos), convention.from_v(data.qpos, data.qvel)
    np.testing.assert_allclose(convention.to_q(q), data.qpos, atol=1e-15)
    wrenches = np.zeros((robot.nb, 6))
    there = [k for k, name in enumerate(robot.body_names) if "." not in name]
    wrenches[there] = np.random.default_rng(1).normal(size=(len(there), 6))
    data.xfrc_applied[:] = convention.to_f_ext(q, wrenches)
    mujoco.mj_forward(m, data)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, M)
    theirs = np.linalg.solve(M, data.qfrc_applied - data.qfrc_bias + data.qfrc_spring + forces(m, data))
    ours = robot.forward_dynamics(q, v, np.zeros(robot.nv), wrenches)
    np.testing.assert_allclose(convention.to_a(q, v, ours), theirs, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(convention.from_f_ext(data.qpos, data.xfrc_applied), wrenches, atol=1e-12)
    wrenches[robot.body_names.index("arm.0")] = 1.0
    with pytest.raises(ArgumentError, match=r"no such body there: \['arm.0'\]"):
        convention.to_f_ext(q, wrenches)


def forces(m, data):
    """Return the joint forces of xfrc_applied."""
    total, jacp, jacr = np.zeros(m.nv), np.zeros((3, m.nv)), np.zeros((3, m.nv))
    for i in range(1, m.nbody):
        mujoco.mj_jac(m, data, jacp, jacr, data.xipos[i], i)
        total += jacp.T @ data.xfrc_applied[i, :3] + jacr.T @ data.xfrc_applied[i, 3:]
    return total


def test_the_base_floats_where_the_file_has_it_float():
    robot = kt.load(EVERYTHING)
    assert (robot.model.root, robot.model.has_floating_base) == ("hull", True)
    held = kt.load(EVERYTHING, floating_base=False)
    assert (held.model.root, held.model.has_floating_base, held.nv) == ("hull", False, robot.nv - 6)
    pose = np.array(held.model.frame("hull").X.placement)
    np.testing.assert_allclose(pose[:3, 3], [0.1, 0.2, 0.3])
    moved = kt.load(EVERYTHING, floating_base=False, base_pose=np.eye(4))
    np.testing.assert_allclose(np.array(moved.model.frame("hull").X.placement), np.eye(4), atol=1e-15)
    with pytest.raises(ModelError, match="a floating base has its pose in q"):
        kt.load(EVERYTHING, base_pose=np.eye(4))
    with pytest.raises(FormatError, match="the robot floats already, by joint 'free': leave floating_base=True out"):
        kt.load(EVERYTHING, floating_base=True)


def test_a_fixed_robot_may_float():
    arm = kt.load(ARM)
    assert (arm.model.root, arm.model.has_floating_base, arm.nq) == ("world", False, 1)
    floating = kt.load(ARM, floating_base=True)
    assert (floating.model.root, floating.model.has_floating_base) == ("base", True)
    assert floating.joint_names == ("root_joint", "elbow")
    theirs = mujoco.MjModel.from_xml_string(ARM.replace('pos="1 0 0">', 'pos="1 0 0"><freejoint/>'))
    assert agreement(floating, theirs) < 1e-13
    two = put('<body><joint/><geom size="0.1"/></body>', before="</worldbody>")
    with pytest.raises(FormatError, match="takes one robot fixed to the world; this has base, body_3"):
        kt.load(two, floating_base=True)
    assert kt.load(two).model.root == "world"
    raised = kt.load(ARM, base_pose=[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 5], [0, 0, 0, 1]])
    assert raised.frame_placement([0.0], frame="arm")[2, 3] == 6.0


def test_several_trees_in_one_world():
    text = put('<body pos="0 0 3"><freejoint/><geom size="0.1"/></body>', before="</worldbody>")
    robot = kt.load(text)
    assert (robot.model.root, robot.nv) == ("world", 7)
    assert agreement(robot, mujoco.MjModel.from_xml_string(text)) < 1e-13


@pytest.mark.parametrize("flag", ["gravity", "spring"])
def test_flags_count(flag):
    text = EVERYTHING.replace("</option>", "").replace(
        '<option gravity="0.1 -0.2 -9.5"/>', f'<option gravity="0.1 -0.2 -9.5"><flag {flag}="disable"/></option>'
    )
    m = mujoco.MjModel.from_xml_string(text)
    assert agreement(kt.load(text), m) < 1e-13
    assert agreement(kt.load(EVERYTHING), m) > 1e-3


def test_flags_of_limits_and_friction():
    flags = '<option><flag limit="disable" damper="disable" frictionloss="disable"/></option>'
    robot = kt.load(EVERYTHING.replace('<option gravity="0.1 -0.2 -9.5"/>', flags))
    for body in robot.model.bodies:
        assert body.limits.lower == -np.inf
        assert not any((*body.damping, *body.friction))


def test_gravity_of_the_user_wins():
    assert tuple(kt.load(EVERYTHING).model.gravity) == (0.1, -0.2, -9.5)
    off = EVERYTHING.replace('-9.5"/>', '-9.5"><flag gravity="disable"/></option>')
    assert tuple(kt.load(off).model.gravity) == (0.0, 0.0, 0.0)
    assert tuple(kt.load(off, gravity=(0, 0, -1)).model.gravity) == (0.0, 0.0, -1.0)


def test_keyframes_are_configurations():
    robot, m = kt.load(EVERYTHING), mujoco.MjModel.from_xml_string(EVERYTHING)
    convention = kt.conventions.MuJoCo(robot, m)
    assert list(robot.configurations) == ["qpos0", "ready", "keyframe_1"]
    for name, qpos in zip(robot.configurations, [m.qpos0, *m.key_qpos], strict=True):
        np.testing.assert_allclose(convention.to_q(robot.configuration(name)), qpos, atol=1e-15)


def test_a_keyframe_with_the_name_of_the_start():
    text = put('<keyframe><key name="qpos0" qpos="0.7"/></keyframe>', before="</mujoco>")
    assert {name: q.tolist() for name, q in kt.load(text).configurations.items()} == {"qpos0": [0.7]}


def test_long_chains():
    """MuJoCo reads 500 elements in each other, and `to_mjcf` writes 400 bodies."""
    chain = '<body><joint name="j{}"/><geom size="0.1"/>'
    text = "<mujoco><worldbody>{}</worldbody></mujoco>"
    bodies = "".join(map(chain.format, range(400)))
    assert kt.load(text.format(bodies + "</body>" * 400)).nv == 400


def test_actuators():
    robot, m = kt.load(EVERYTHING), mujoco.MjModel.from_xml_string(EVERYTHING)
    motor, general, gimbal = robot.actuators
    assert motor == kt.Actuator("m", "twist", (5.0,), (-1.0, 2.0), (-3.0, 3.0))
    assert general == kt.Actuator("actuator_1", "lift", (8.0,), force_range=(-2.0, 1.0))
    assert gimbal.gear == (1.0, 2.0, 3.0)
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(robot, m)
    data.qpos[:], _ = state(m, seed=0)
    data.ctrl[:] = u = [0.3, 0.1, -0.2]
    mujoco.mj_forward(m, data)
    q = convention.from_q(data.qpos)
    np.testing.assert_allclose(convention.to_tau(q, robot.actuation @ u), data.qfrc_actuator, atol=1e-13)


def test_a_free_joint_with_a_moment():
    text = EVERYTHING.replace('name="gimbal" joint="ball" gear="1 2 3"', 'joint="free" gear="0 0 0 1 2 3"')
    robot, m = kt.load(text), mujoco.MjModel.from_xml_string(text)
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(robot, m)
    data.qpos[:], _ = state(m, seed=0)
    data.ctrl[2] = 2.0
    mujoco.mj_forward(m, data)
    tau = convention.to_tau(convention.from_q(data.qpos), robot.actuation @ data.ctrl)
    np.testing.assert_allclose(tau, data.qfrc_actuator, atol=1e-13)


def test_shapes():
    robot = kt.load(EVERYTHING)
    floor, capsule, _, _ = robot.visual_geometry
    assert [type(g.shape).__name__ for g in robot.visual_geometry] == ["Plane", "Capsule", "Ellipsoid", "Sphere"]
    assert [type(g.shape).__name__ for g in robot.collision_geometry] == ["Plane", "Capsule", "Box", "Sphere"]
    assert (floor.link, floor.name, floor.shape.size) == ("world", "floor", (np.inf, np.inf))
    assert floor.friction == (0.7, 0.01, 0.002)
    assert floor.color == pytest.approx((0.1, 0.2, 0.3, 1.0))
    assert (capsule.link, capsule.shape.radius, capsule.shape.length) == ("arm", 0.03, 0.3)
    np.testing.assert_allclose(np.array(capsule.placement.placement)[:3, 3], [0.15, 0, 0], atol=1e-15)
    box = robot.collision_geometry[2]
    assert (box.shape.size, box.contype, box.conaffinity) == ((0.2, 0.04, 0.06), 4, 8)


def test_meshes_materials_and_height_fields():
    asset = """<asset>
      <mesh name="tetra" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
      <hfield name="hills" nrow="2" ncol="3" size="3 2 0.5 0.1" elevation="0 1 2 3 4 5"/>
      <material name="red" rgba="1 0 0 1"/></asset>"""
    geoms = """<geom type="hfield" hfield="hills"/><geom type="mesh" mesh="tetra" material="red" pos="0 0 5"/>
      <geom type="mesh" mesh="tetra" material="red" rgba="0 1 0 1" contype="0" conaffinity="0" group="4"/>"""
    text = put(asset, before="</mujoco>").replace("<worldbody>", "<worldbody>" + geoms)
    seen, touching = kt.load(text).geometry
    hills, mesh = seen[0].shape, seen[1]
    assert hills.size == (6.0, 4.0)
    np.testing.assert_allclose(hills.heights, np.array([[3, 4, 5], [0, 1, 2]]) / 10, atol=1e-7)
    assert hills.base == pytest.approx(0.1)
    assert mesh.color == (1.0, 0.0, 0.0, 1.0)
    assert len(touching) == 4
    placed = (
        mesh.shape.vertices @ np.array(mesh.placement.placement)[:3, :3].T + np.array(mesh.placement.placement)[:3, 3]
    )
    expected = np.array([[0, 0, 5], [1, 0, 5], [0, 1, 5], [0, 0, 6]])
    assert np.linalg.norm(placed[:, None] - expected, axis=2).min(axis=0).max() < 1e-6
    corners = placed[mesh.shape.faces]
    inward = np.einsum(
        "fi,fi->f",
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]),
        placed.mean(0) - corners[:, 0],
    )
    assert (inward < 0).all()


UNREAD = {
    "gravity compensation": ARM.replace('name="arm"', 'name="arm" gravcomp="1"'),
    "polynomial springs": ARM.replace('name="elbow"', 'name="elbow" stiffness="1 2 3"'),
    "polynomial damping": ARM.replace('name="elbow"', 'name="elbow" damping="1 2 3"'),
    "springs that yield": ARM.replace('name="elbow"', 'name="elbow" stiffness="1" springyield="0.1"'),
    "springs of tendons": put('<tendon><fixed name="t" stiffness="1"><joint joint="elbow" coef="1"/></fixed></tendon>', before="</mujoco>"),
    "damping of tendons": put('<tendon><fixed name="t" damping="1"><joint joint="elbow" coef="1"/></fixed></tendon>', before="</mujoco>"),
    "friction of tendons": put('<tendon><fixed name="t" frictionloss="1"><joint joint="elbow" coef="1"/></fixed></tendon>', before="</mujoco>"),
    "limits of tendons": put('<tendon><fixed name="t" range="-1 1" limited="true"><joint joint="elbow" coef="1"/></fixed></tendon>', before="</mujoco>"),
    "forces of a fluid (1: density)": put('<option density="1.2"/>', before="</mujoco>"),
    "mocap bodies: they stand still (1: hand)": put('<body name="hand" mocap="true"/>', before="</worldbody>"),
    "springs of ball and free joints (1: elbow)": ARM.replace('"elbow" axis="0 1 0"', '"elbow" type="ball" stiffness="1"'),
    "limits of ball joints (1: elbow)": ARM.replace('"elbow" axis="0 1 0"', '"elbow" type="ball" range="0 1" limited="true"'),
    "equality constraints (load_mechanism reads them) (1: c)": put('<equality><connect name="c" body1="arm" anchor="0.5 0 0"/></equality>', before="</mujoco>"),
    "joints held at a value (robot.lock holds them) (1: elbow)": put('<equality><joint joint1="elbow" polycoef="0.2 0 0 0 0"/></equality>', before="</mujoco>"),
    "equality constraints that are not active (1: c)": put('<equality><connect name="c" active="false" body1="arm" anchor="0.5 0 0"/></equality>', before="</mujoco>"),
    "laws of actuators (servos, muscles, filters), so that u is the force (1: p)": put('<actuator><position name="p" joint="elbow" kp="3"/></actuator>', before="</mujoco>"),
    "actuators at tendons, sites and bodies (1: s)": put('<actuator><general name="s" site="tip"/></actuator>', before="</mujoco>"),
    "switch that turns all actuators off (1: p)": put('<option><flag actuation="disable"/></option><actuator><motor name="p" joint="elbow"/></actuator>', before="</mujoco>"),
}  # fmt: skip


@pytest.mark.parametrize("said", UNREAD)
def test_what_has_no_place_is_named_once_and_is_an_error_if_asked_for(said):
    with pytest.warns(FormatWarning) as caught:
        kt.load(UNREAD[said])
    (message,) = [str(w.message) for w in caught]
    assert message.startswith("<string>: left out, as kinetree does not have it: ")
    assert said in message
    with pytest.raises(FormatError, match="an error with strict=True"):
        kt.load(UNREAD[said], strict=True)


def test_a_file_with_a_place_for_all_is_strict(recwarn):
    kt.load(EVERYTHING, strict=True)
    assert not recwarn


def test_armature_of_tendons_changes_the_mass_matrix():
    text = put(
        '<tendon><fixed name="t" armature="1"><joint joint="elbow" coef="1"/></fixed></tendon>', before="</mujoco>"
    )
    with pytest.raises(
        FormatError, match=r"kinetree has no armature of tendons \(1: t\); with lenient=True, it is left out"
    ):
        kt.load(text)
    with pytest.warns(FormatWarning, match="armature of tendons"):
        kt.load(text, lenient=True)
    with pytest.raises(FormatError, match="strict=True"):
        kt.load(text, lenient=True, strict=True)


@pytest.mark.skipif(not mujoco.__version__.startswith("4.0"), reason="the fields of MuJoCo 4.0")
def test_no_field_of_joints_and_bodies_is_forgotten():
    """A field that MuJoCo gains has to be read, named, or put here with the reason why it does not matter."""
    read_or_named = {
        *(
            [
                "jnt_type",
                "jnt_qposadr",
                "jnt_dofadr",
                "jnt_pos",
                "jnt_axis",
                "jnt_range",
                "jnt_limited",
                "jnt_stiffness",
                "jnt_stiffnesspoly",
            ]
        ),
        *(
            [
                "jnt_springyield",
                "jnt_actfrclimited",
                "jnt_actfrcrange",
                "dof_armature",
                "dof_damping",
                "dof_dampingpoly",
                "dof_frictionloss",
            ]
        ),
        *(
            [
                "dof_jntid",
                "dof_bodyid",
                "body_parentid",
                "body_jntadr",
                "body_jntnum",
                "body_pos",
                "body_quat",
                "body_ipos",
                "body_iquat",
            ]
        ),
        *(
            [
                "body_mass",
                "body_inertia",
                "body_gravcomp",
                "body_mocapid",
                "body_rootid",
                "body_weldid",
                "tendon_armature",
                "tendon_stiffness",
            ]
        ),
        *(["tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly", "tendon_frictionloss", "tendon_limited"]),
    }
    follow_from_these = {
        *(
            [
                "body_subtreemass",
                "body_invweight0",
                "body_sameframe",
                "body_simple",
                "body_treeid",
                "body_bvhadr",
                "body_bvhnum",
            ]
        ),
        *(
            [
                "body_dofadr",
                "body_dofnum",
                "body_geomadr",
                "body_geomnum",
                "dof_invweight0",
                "dof_M0",
                "dof_Madr",
                "dof_parentid",
            ]
        ),
        *(
            [
                "dof_simplenum",
                "dof_treeid",
                "dof_length",
                "jnt_bodyid",
                "jnt_actuatorid",
                "jnt_plasticadr",
                "tendon_adr",
                "tendon_num",
            ]
        ),
        *(
            [
                "tendon_type",
                "tendon_length0",
                "tendon_invweight0",
                "tendon_treeid",
                "tendon_treenum",
                "tendon_actuatorid",
            ]
        ),
        *(["tendon_plasticadr", "body_contype", "body_conaffinity", "body_margin"]),
    }
    of_the_solver_or_the_eyes = {
        *(
            [
                "jnt_solref",
                "jnt_solimp",
                "jnt_margin",
                "jnt_group",
                "jnt_user",
                "dof_solref",
                "dof_solimp",
                "body_user",
                "tendon_solref_lim",
            ]
        ),
        *(
            [
                "tendon_solimp_lim",
                "tendon_solref_fri",
                "tendon_solimp_fri",
                "tendon_margin",
                "tendon_group",
                "tendon_user",
                "tendon_rgba",
            ]
        ),
        *(["tendon_matid", "tendon_width", "body_plugin"]),
    }
    of_what_is_named = {  # only with springs, limits or actuators of tendons; gravity compensation; plugins
        *(
            [
                "tendon_range",
                "tendon_lengthspring",
                "tendon_springyield",
                "tendon_actfrclimited",
                "tendon_actfrcrange",
                "jnt_actgravcomp",
            ]
        ),
    }
    m = mujoco.MjModel.from_xml_string(ARM)
    fields = {name for name in dir(m) if name.split("_")[0] in ("jnt", "dof", "body", "tendon") and "_" in name}
    assert fields == read_or_named | follow_from_these | of_the_solver_or_the_eyes | of_what_is_named


# -- constraints ------------------------------------------------------------------------------------------------------

LOOPS = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <body name="a" pos="0 0 1"><joint name="j1" axis="0 1 0" ref="0.2"/><geom size="0.1" pos="0.2 0 0"/>
      <body name="b" pos="0.5 0 0" euler="0.1 0.2 0.3"><joint name="j2" axis="0 1 0" ref="-0.1"/><joint name="j3" axis="1 0 0"/>
        <geom size="0.1" pos="0.2 0 0"/><site name="s1" pos="0.4 0 0" euler="0.5 0 0"/></body></body>
    <body name="c" pos="1 0 1"><freejoint/><geom size="0.1"/><site name="s2" euler="0 0.3 0"/></body>
    <site name="s3" pos="0 1 0"/>
  </worldbody>
  <equality>{}</equality>
</mujoco>
"""
EQUALITIES = {
    '<connect name="x" body1="b" body2="c" anchor="0.4 0.1 0"/>': "Loop",
    '<connect name="x" body1="b" anchor="0.4 0.1 0"/>': "Loop",
    '<connect name="x" site1="s1" site2="s2"/>': "Loop",
    '<weld name="x" body1="b" body2="c"/>': "Weld",
    '<weld name="x" body1="c" relpose="0.1 0.2 0.3 0.5 0.5 0.5 0.5"/>': "Weld",
    '<weld name="x" body1="b" body2="c" anchor="0.1 0 0"/>': "Weld",
    '<weld name="x" site1="s1" site2="s2"/>': "Weld",
    '<weld name="x" site1="s2" site2="s3"/>': "Weld",
    '<joint name="x" joint1="j1" joint2="j2" polycoef="0.3 -2 0 0 0"/>': "Gear",
}


@pytest.mark.parametrize("equality", EQUALITIES)
def test_constraints_are_mujocos(equality):
    """The rows span the same space where they hold, and they hold together: where MuJoCo's errors vanish, so do these."""
    text = LOOPS.format(equality)
    mech, m = kt.load_mechanism(text), mujoco.MjModel.from_xml_string(text)
    (constraint,) = mech.constraints
    assert (type(constraint).__name__, constraint.name) == (EQUALITIES[equality], "x")
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(mech.tree, m)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    closed = mech.assemble(convention.from_q(m.qpos0)).q
    data.qpos[:] = convention.to_q(closed)
    mujoco.mj_forward(m, data)
    assert data.ne == mech.nrows
    assert abs(data.efc_pos[: data.ne]).max() < 1e-8
    back = np.array([convention.to_v(closed, e) for e in np.eye(m.nv)]).T
    theirs, ours = data.efc_J.reshape(-1, m.nv)[: data.ne] @ back, np.asarray(mech.constraint_jacobian(closed))
    ranks = [np.linalg.matrix_rank(J, tol=1e-6) for J in (ours, theirs, np.vstack([ours, theirs]))]
    assert len({*ranks}) == 1
    assert ranks[0] >= min(mech.nrows, 2)


def test_what_a_mechanism_cannot_have_is_named():
    loop, bent = next(iter(EQUALITIES)), '<joint name="y" joint1="j1" joint2="j2" polycoef="0 1 1 0 0"/>'
    with pytest.warns(FormatWarning, match=r"couplings that are not linear \(1: y\)"):
        mech = kt.load_mechanism(LOOPS.format(loop + bent))
    assert mech.constraint_names == ("x",)
    with pytest.raises(FormatError, match=r"no constraint of this file closes a loop: kinetree\.load reads it"):
        kt.load_mechanism(ARM)
    with pytest.raises(ArgumentError, match="this file says itself where its loops close"):
        kt.load_mechanism(LOOPS.format(next(iter(EQUALITIES))), cut="j1")


def test_motors_of_a_mechanism():
    text = LOOPS.format(next(iter(EQUALITIES))).replace(
        "<equality>", '<actuator><motor joint="j2"/></actuator><equality>'
    )
    assert kt.load_mechanism(text).actuated == ("j2",)
    assert kt.load_mechanism(text, actuated=["j1"]).actuated == ("j1",)


def test_stabilization_has_its_own_method():
    mech = kt.load_mechanism(LOOPS.format(next(iter(EQUALITIES))))
    assert mech.with_stabilization(3.0).stabilization == 3.0
    assert mech.with_stabilization(3.0).with_stabilization(0.0) == mech
    with pytest.raises(ArgumentError, match="stabilization is -1"):
        mech.with_stabilization(-1)
    with pytest.raises(ArgumentError, match=r"load_mechanism has no argument 'stabilization'.*with_stabilization"):
        kt.load_mechanism("x", stabilization=1.0)


# -- files of strangers -----------------------------------------------------------------------------------------------

HEAD = '<mujoco><worldbody><body><joint/><geom size="0.1"/></body></worldbody>'
STANDS_FOR_MORE = "this stands for more than the 50000 elements that are read"
REFUSED = {
    '<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>': "a document type declaration",
    HEAD + '<asset><hfield name="h" nrow="65536" ncol="65536" size="1 1 1 1"/></asset></mujoco>': STANDS_FOR_MORE,
    HEAD + '<asset><hfield name="h" nrow="0x10000" ncol="65536" size="1 1 1 1"/></asset></mujoco>': "is not a number",
    HEAD + '<asset><texture name="h" builtin="checker" width="99999" height="99999"/></asset></mujoco>': STANDS_FOR_MORE,
    HEAD + '<size nuser_geom="1000000000"/></mujoco>': STANDS_FOR_MORE,
    HEAD + '<size nkey="2000000000"/></mujoco>': STANDS_FOR_MORE,
    HEAD + '<asset><mesh name="m" builtin="cone" params="100000000 0.5"/></asset></mujoco>': STANDS_FOR_MORE,
    HEAD + '<size nkey="5000"/>' + "<worldbody/>" * 20_000 + "</mujoco>": STANDS_FOR_MORE,
    HEAD.replace("<joint/>", "<body/>" * 5000) + "<keyframe>" + "<key/>" * 20_000 + "</keyframe></mujoco>": STANDS_FOR_MORE,
    HEAD + '<asset>' + '<hfield nrow="4000" ncol="4000" size="1 1 1 1"/>' * 8 + "</asset></mujoco>": STANDS_FOR_MORE,
    HEAD.replace('size="0.1"', 'size="0.1" mass="NAN(12)"') + "</mujoco>": "mass is not a number",
    HEAD + '<sensor><user dim="2000000000"/></sensor></mujoco>': STANDS_FOR_MORE,
    HEAD.replace("<body>", '<replicate count="100000"><body>').replace("</body>", "</body></replicate>") + "</mujoco>": STANDS_FOR_MORE,
    HEAD.replace('size="0.1"', 'size="0.1" mass="NaN"') + "</mujoco>": "mass is not a number",
    HEAD.replace('size="0.1"', 'size="2147483647"') + "</mujoco>": "size='2147483647': numbers of more than 1e+06",
    HEAD + '<include file="../../secret.xml"/></mujoco>': "'../../secret.xml' is outside the folder of the robot's file",
    HEAD + '<include file="/etc/passwd"/></mujoco>': "'/etc/passwd' is outside the folder",
    HEAD + '<asset><model file="sub/../../x.xml"/></asset></mujoco>': "is outside the folder",
    HEAD + '<include file="missing.xml"/></mujoco>': "MuJoCo does not compile it: XML Error: Error opening file 'missing.xml'",
    HEAD + '<asset><mesh name="m" file="missing.stl"/></asset></mujoco>': "MuJoCo does not compile it: Error: Error opening file",
    HEAD.replace("<joint/>", '<joint type="cog"/>') + "</mujoco>": "invalid keyword: 'cog', Element 'joint', line 1",
    "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>": "mass and inertia of moving bodies must be larger",
    "<mujocoinclude/>": "Unrecognized XML model type: 'mujocoinclude'",
    "<mujoco><worldbody>" + "<body>" * 550 + "</body>" * 550 + "</worldbody></mujoco>": "elements are nested more than 500 deep",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_files_that_are_refused(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "robot.xml"
    path.write_text(text)
    for source, name in ((path, str(path)), (text, "<string>")):
        with pytest.raises(FormatError) as caught:
            kt.load(source)
        assert REFUSED[text] in str(caught.value)
        assert str(caught.value).startswith(name)
    assert [file.name for file in tmp_path.iterdir()] == ["robot.xml"]  # MuJoCo has written no log


@pytest.mark.parametrize("element", ['<include file="{}"/>', '<asset><model name="m" file="{}"/></asset>'])
def test_circles(tmp_path, element):
    """MuJoCo 4.0 crashes the process for models that attach themselves."""
    attach = '<worldbody><attach model="m" prefix="p"/></worldbody>' if "model" in element else ""
    for name, other in (("a.xml", "b.xml"), ("b.xml", "sub/../a.xml")):
        (tmp_path / name).write_text(f"<mujoco>{element.format(other)}{attach}</mujoco>")
    with pytest.raises(FormatError, match=r"files include each other in a circle: a.xml → b.xml → a.xml"):
        kt.load(tmp_path / "a.xml")


def test_copies_of_what_is_attached_count(tmp_path):
    leaf = "<mujoco><worldbody><body>" + "<geom size='1'/>" * 1000 + "</body></worldbody></mujoco>"
    (tmp_path / "leaf.xml").write_text(leaf)
    copies = '<replicate count="100"><body><attach model="m" prefix="p"/></body></replicate>'
    (tmp_path / "a.xml").write_text(
        f'<mujoco><asset><model name="m" file="leaf.xml"/></asset><worldbody>{copies}</worldbody></mujoco>'
    )
    with pytest.raises(FormatError, match="this stands for more than the 50000 elements"):
        kt.load(tmp_path / "a.xml")


def test_what_is_included_passes_the_same_parser(tmp_path):
    (tmp_path / "a.xml").write_text(HEAD + '<include file="sub/b.xml"/></mujoco>')
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.xml").write_text('<!DOCTYPE x [<!ENTITY a "b">]><mujoco/>')
    with pytest.raises(FormatError, match=r"b\.xml, line 1: a document type declaration"):
        kt.load(tmp_path / "a.xml")
    (tmp_path / "sub" / "b.xml").write_text('<mujocoinclude><option gravity="0 0 -3"/></mujocoinclude>')
    assert kt.load(tmp_path / "a.xml").model.gravity.z == -3.0


def test_a_folder_that_the_user_trusts(tmp_path):
    (tmp_path / "robot").mkdir()
    (tmp_path / "robot" / "a.xml").write_text(HEAD + '<include file="../b.xml"/></mujoco>')
    (tmp_path / "b.xml").write_text('<mujocoinclude><option gravity="0 0 -3"/></mujocoinclude>')
    with pytest.raises(FormatError, match="with lenient=True, it is read"):
        kt.load(tmp_path / "robot" / "a.xml")
    with pytest.warns(FormatWarning, match=r"'\.\./b\.xml' is outside the folder"):
        assert kt.load(tmp_path / "robot" / "a.xml", lenient=True).model.gravity.z == -3.0


def test_other_encodings():
    latin = '<?xml version="1.0" encoding="latin-1"?>' + HEAD.replace("<body>", '<body name="é">') + "</mujoco>"
    with pytest.raises(FormatError, match="<bytes> is not encoded in UTF-8"):
        kt.load(latin.encode("latin-1"))
    assert "é" in kt.load(latin.encode("utf-8").replace(b"latin-1", b"utf-8")).frame_names


def test_warnings_of_mujoco_have_our_file_name(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    with pytest.warns(FormatWarning, match="<string>: MuJoCo says: compiler attribute 'settotalmass' is deprecated"):
        kt.load(HEAD + '<compiler settotalmass="3"/></mujoco>')
    assert capfd.readouterr() == ("", "")
    assert not [*tmp_path.iterdir()]
    assert mujoco.get_mju_user_warning() is None


def test_numbers_that_mujoco_lets_pass():
    m = mujoco.MjModel.from_xml_string(ARM)
    m.body_mass[1] = np.nan
    with pytest.raises(FormatError, match="<MjModel>: the inertia of link 'base' holds the number nan"):
        kt.load(m)
    m.body_mass[1] = 1.0
    m.body_quat[2] = 0.0
    with pytest.raises(FormatError, match="<MjModel>: "):
        kt.load(m)


@pytest.mark.parametrize(
    ("version", "said"), [(None, "needs MuJoCo .*pip install mujoco-core"), ("3.1.4", "MuJoCo 3.1.4 is too old, 3.3")]
)
def test_mujoco_missing_or_old(monkeypatch, version, said):
    monkeypatch.setitem(sys.modules, "mujoco", version and types.SimpleNamespace(__version__=version))
    with pytest.raises(FormatError, match=f"<string>: .*{said}"):
        kt.load(ARM)


def test_names_that_occur_twice():
    text = ARM.replace('name="tip"', 'name="arm"').replace('name="base"', 'name="site:arm"')
    assert kt.load(text).frame_names == ("world", "site:arm", "arm", "site:arm_")
    unnamed = ARM.replace('name="elbow"', "").replace(
        "</body>", '<body><joint name="joint_0"/><geom size="1"/></body></body>', 1
    )
    robot, m = kt.load(unnamed), mujoco.MjModel.from_xml_string(unnamed)
    assert robot.joint_names == ("joint_0_", "joint_0")
    assert kt.conventions.MuJoCo(robot, m).to_q([1.0, 2.0]).tolist() == [1.0, 2.0]


def test_bias_with_springs_is_the_oracles():
    """The helper of these tests sees what they are for: a spring, a reference, an armature that is not there."""
    m = mujoco.MjModel.from_xml_string(EVERYTHING)
    robot = kt.load(EVERYTHING)
    for field, value in (("jnt_stiffness", 1.0), ("qpos_spring", 0.1), ("dof_armature", 0.1), ("jnt_pos", 0.1)):
        other = copy.copy(m)
        getattr(other, field)[2:] += value
        assert agreement(robot, other) > 1e-6, field
    assert bias(robot, m) < 1e-13


@pytest.mark.parametrize("source", [str, mujoco.MjModel.from_xml_string])
def test_mimic_is_checked_in_every_format(source):
    with pytest.raises(ArgumentError, match="mimic='bogus'"):
        kt.load(source("<mujoco/>"), mimic="bogus")


def test_efforts_of_two_limits_are_told():
    with pytest.warns(FormatWarning, match="efforts with a limit of its own in each direction"):
        robot = kt.load(HEAD.replace("<joint/>", '<joint actuatorfrcrange="-1 5"/>') + "</mujoco>")
    assert robot.effort_limits.tolist() == [5.0]
