"""Pinocchio itself says whether states, forces and Jacobians mean the same there."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.pinocchio_oracle import build
from helpers.told import told
from helpers.trees import page, random_states, random_tree, toy
from kinetree.algorithms import crba, forward_kinematics, rnea
from kinetree.conventions import MuJoCo, Pinocchio
from kinetree.conventions.base import Rule
from kinetree.embedded import embedded_text
from kinetree.errors import ArgumentError, ModelError
from kinetree.joints import (
    Continuous,
    FreeFlyer,
    Helical,
    Joint,
    Planar,
    Prismatic,
    Revolute,
    RollPitchYaw,
    Spherical,
    Universal,
)

SHARED = (
    FreeFlyer(),
    Revolute((0.6, -0.3, 0.7)),
    Prismatic((0, 1, 0)),
    Spherical(),
    Planar(),
    Helical((0, 0, 1), 0.1),
    Continuous((1, 0, 0)),
)


def pair(seed: int) -> tuple[kt.Robot, pin.Model, Pinocchio]:
    """Return a random tree here and there (its joints in another order), and the map; armature is none."""
    model = random_tree(seed, n=9, joints=SHARED, armature=False)
    theirs = build(model).theirs
    robot = kt.Robot(model)
    return robot, theirs, Pinocchio(robot, theirs)


@pytest.mark.parametrize("seed", range(3))
def test_same_motion_same_forces(seed: int) -> None:
    """Pinocchio's RNEA of the converted state gives the converted forces, external wrenches included."""
    robot, theirs, to = pair(seed)
    q, v, a = random_states(robot.model, seed, size=5)
    f_ext = np.random.default_rng(seed).normal(size=(5, robot.nb, 6))
    data = theirs.createData()
    arrays = to.to_q(q), to.to_v(q, v), to.to_a(q, v, a), to.to_f_ext(q, f_ext)
    tau = [pin.rnea(theirs, data, *x[:3], [pin.Force(f) for f in x[3]]) for x in zip(*arrays, strict=True)]
    assert_close(to.to_tau(q, page(rnea, robot.model, q, v, a, f_ext=f_ext)), tau, ulps=300)


@pytest.mark.parametrize("seed", range(3))
def test_there_and_back(seed: int) -> None:
    robot, _, to = pair(seed)
    q, v, a = random_states(robot.model, seed, size=(2, 3))
    f_ext = np.random.default_rng(seed).normal(size=(2, 3, robot.nb, 6))
    their_q, their_v = to.to_q(q), to.to_v(q, v)
    # a turn of a circle is lost: compare where the bodies are
    poses = [page(forward_kinematics, robot.model, x) for x in (q, to.from_q(their_q))]
    assert_close(poses[1], poses[0], ulps=50)
    np.testing.assert_array_equal(to.from_v(their_q, their_v), v)
    np.testing.assert_array_equal(to.from_a(their_q, their_v, to.to_a(q, v, a)), a)
    np.testing.assert_array_equal(to.from_tau(their_q, to.to_tau(q, v)), v)
    np.testing.assert_array_equal(to.from_f_ext(their_q, to.to_f_ext(q, f_ext)), f_ext)


def test_jacobians() -> None:
    """Pinocchio's LOCAL Jacobian of each joint, its columns found by the mass matrix: Σ Jᵀ I J = M."""
    robot, theirs, to = pair(4)
    q, _, _ = random_states(robot.model, 4, size=1)
    data = theirs.createData()
    total = np.zeros((robot.nv, robot.nv))
    pin.computeJointJacobians(theirs, data, to.to_q(q)[0])
    from helpers.dense import of_inertia

    for body in robot.model.bodies:
        theirs_J = pin.getJointJacobian(theirs, data, theirs.getJointId(body.joint_name), pin.ReferenceFrame.LOCAL)
        J = to.from_jacobian(to.to_q(q)[0], theirs_J)
        np.testing.assert_array_equal(to.to_jacobian(q[0], J), theirs_J)
        total += J.T @ of_inertia(body.inertia) @ J
    assert_close(total, page(crba, robot.model, q)[0], ulps=300)


def test_an_embedded_robot_read_by_both() -> None:
    """A real file: Pinocchio sorts the joints as it likes, the free-flyer is named as here."""
    robot = kt.load("g1")
    theirs = pin.buildModelFromXML(embedded_text("g1"), pin.JointModelFreeFlyer())
    to, data = Pinocchio(robot, theirs), theirs.createData()
    q, v, a = robot.random_state(seed=0)
    tau = pin.rnea(theirs, data, to.to_q(q), to.to_v(q, v), to.to_a(q, v, a))
    assert_close(to.to_tau(q, robot.inverse_dynamics(q, v, a)), tau, ulps=300)


CONTINUOUS = """<robot name='wheel'><link name='base'/>
<link name='rim'><inertial><origin xyz='.5 0 0'/><mass value='1'/>
  <inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>
<joint name='axle' type='continuous'><parent link='base'/><child link='rim'/><axis xyz='1 2 2'/></joint></robot>"""


def test_continuous_joints_are_points_on_the_circle() -> None:
    robot, theirs = kt.load(CONTINUOUS), pin.buildModelFromXML(CONTINUOUS)
    to, data, angle = Pinocchio(robot, theirs), theirs.createData(), np.array([[2.5], [-3.0]])
    assert (theirs.nq, to.nq, to.nv) == (2, 2, 1)
    np.testing.assert_array_equal(to.to_q(angle), np.hstack([np.cos(angle), np.sin(angle)]))
    assert_close(to.from_q(to.to_q(angle)), angle, ulps=2)
    for q in angle:
        gravity = pin.computeGeneralizedGravity(theirs, data, to.to_q(q))
        assert_close(robot.gravity_forces(q), gravity, ulps=50)


MIMIC = """<robot name='hand'><link name='palm'/>
{links}
<joint name='lead' type='revolute'><parent link='palm'/><child link='l0'/><axis xyz='0 0 1'/>
  <limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
<joint name='copy' type='revolute'><parent link='l0'/><child link='l1'/><origin xyz='1 0 0'/><axis xyz='0 0 1'/>
  <mimic joint='lead' multiplier='0.5' offset='0.1'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>
</robot>""".format(
    links="".join(
        f"<link name='l{k}'><inertial><origin xyz='.5 0 0'/><mass value='1'/>"
        "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>"
        for k in range(2)
    )
)


def mimic_robot() -> kt.Robot:
    placement = [[1.0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    copy = "copy l0 l1", Revolute(), {"placement": placement, "mimic": ("lead", 0.5, 0.1)}
    links = dict.fromkeys(("l0", "l1"), kt.Inertia(1.0, [0.5, 0, 0], np.eye(3)))
    return kt.Robot(toy(("lead palm l0", Revolute()), copy, links=links))


def test_a_universal_joint_is_the_same_in_both() -> None:
    robot, theirs = kt.Robot(toy(("cross base shaft", Universal((0, 0, 1), (1, 0, 0))))), pin.Model()
    theirs.addJoint(
        0, pin.JointModelUniversal(np.array([0.0, 0, 1]), np.array([1.0, 0, 0])), pin.SE3.Identity(), "cross"
    )
    to, data, (q, v, _) = Pinocchio(robot, theirs), theirs.createData(), robot.random_state(seed=0)
    pin.forwardKinematics(theirs, data, to.to_q(q), to.to_v(q, v))
    joint = robot.model.bodies[0].joint.jcalc(q.tolist(), v.tolist())
    assert_close(np.array(joint.X.placement), data.oMi[1].homogeneous, ulps=8)
    assert_close(list(joint.vJ), [*data.v[1].angular, *data.v[1].linear], ulps=8)


def test_mimic_joints_have_no_coordinate_in_both() -> None:
    robot = mimic_robot()
    theirs = pin.buildModelFromXML(MIMIC, True)
    to, data = Pinocchio(robot, theirs), theirs.createData()
    assert (to.nq, to.nv, to.njoints) == (1, 1, 3)
    q, f_ext = np.array([0.4]), np.arange(12.0).reshape(2, 6)
    wrenches = [pin.Force(f) for f in to.to_f_ext(q, f_ext)]
    tau = pin.rnea(theirs, data, to.to_q(q), np.zeros(1), np.zeros(1), wrenches)
    assert_close(page(rnea, robot.model, q, np.zeros(1), np.zeros(1), f_ext=f_ext), tau, ulps=100)


# -- errors ------------------------------------------------------------------------------------------------------------


def test_joints_may_be_renamed() -> None:
    names = PANDA.joint_names
    rename = {f"theirs_{k}": name for k, name in enumerate(names[::-1])}
    to = Pinocchio(PANDA, list(rename), rename)
    np.testing.assert_array_equal(to.to_q(np.arange(7.0)), np.arange(7.0)[::-1])


def socket() -> pin.Model:
    theirs = pin.Model()
    theirs.addJoint(0, pin.JointModelSpherical(), pin.SE3.Identity(), "socket")
    return theirs


PANDA = kt.load("panda")
NAMES, TO = list(PANDA.joint_names), Pinocchio(PANDA, PANDA.joint_names)
WRIST, SOCKET = (kt.Robot(toy((f"{x} a b", joint))) for x, joint in (("wrist", RollPitchYaw()), ("socket", Revolute())))
test_mistakes_are_told = told(
    ArgumentError,
    (lambda: Pinocchio(mimic_robot(), pin.buildModelFromXML(MIMIC)), r"the joints \['copy'\] mimic others here"),
    (lambda: Pinocchio(PANDA, [*NAMES[:-1], "panda_joint9"]), "Pinocchio: no joint 'panda_joint9', did you mean"),
    (lambda: Pinocchio(PANDA, NAMES[:-1]), r"lacks \['panda_joint7'\]"),
    (lambda: Pinocchio(PANDA, [*NAMES, "panda_joint1"]), r"has \['panda_joint1'\] twice"),
    (lambda: Pinocchio(PANDA, 7), r"takes a pinocchio.Model or the names of joints; int was given"),
    (lambda: Pinocchio(WRIST, ["wrist"]), ModelError, r"Pinocchio has no joint like 'wrist' \(RollPitchYaw\): it"),
    (lambda: Pinocchio(SOCKET, socket()), r"'socket' .Revolute.: it has 4 coordinates there, 1 were expected"),
    (lambda: TO.to_q(np.zeros(6)), r"q has shape \(6,\), \(..., 7\) is needed"),
    (lambda: TO.from_v(np.zeros(7), np.zeros(3)), r"Pinocchio's v has shape \(3,\)"),
    (lambda: TO.to_v(np.zeros((2, 7)), np.zeros((3, 7))), "do not broadcast"),
)


@pytest.mark.parametrize("convention", [Pinocchio, MuJoCo])
def test_a_joint_type_without_a_rule_is_refused(convention: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user's own type too: that its coordinates are the same there is for its author to say."""

    class Knob(Revolute):
        pass

    Joint.registry.pop("Knob")
    robot = kt.Robot(toy(("knob box dial", Knob())))
    with pytest.raises(ModelError, match=r"has no joint like 'knob' \(Knob\): it has FreeFlyer, .*rules adds"):
        convention(robot, ["knob"])
    monkeypatch.setitem(convention.rules, Knob, Rule.plain(Knob))
    assert convention(robot, ["knob"]).to_q([0.5]).tolist() == [0.5]


def test_a_scaled_screw_is_refused() -> None:
    with pytest.warns(kt.FormatWarning, match="has the length 2"):
        robot = kt.from_screws([np.eye(4)], [np.eye(6)], 2.0 * np.eye(6)[:, [2]])
    with pytest.raises(ModelError, match=r"Pinocchio has no joint like 'joint1' \(Mimic\)"):
        Pinocchio(robot, ["joint1"])
