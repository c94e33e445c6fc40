"""Robots made from robots: locked joints, payloads, attached robots, another base, other inertias."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.trees import random_tree, toy
from kinetree.algorithms import crba, forward_kinematics, rnea
from kinetree.joints import Prismatic, Revolute
from kinetree.model import Model
from kinetree.spatial import Inertia, Transform

PANDA, GO2 = kt.load("panda"), kt.load("go2")


def numbers(rng: np.random.Generator) -> tuple[Inertia, np.ndarray]:
    A = rng.normal(size=(3, 3))
    pose = np.eye(4)
    pose[:3, :3] = np.linalg.qr(A)[0] * np.sign(np.linalg.det(np.linalg.qr(A)[0]))
    pose[:3, 3] = rng.normal(size=3)
    return Inertia.from_com(rng.uniform(1, 2), rng.normal(size=3), np.trace(A @ A.T) * np.eye(3) - A @ A.T), pose


@pytest.mark.parametrize("seed", range(5))
def test_a_locked_robot_is_the_robot_with_those_joints_at_rest(seed: int) -> None:
    model = random_tree(seed, 9)
    robot = kt.Robot(model)
    rng = np.random.default_rng(seed)
    names = list(rng.choice(robot.joint_names, 4, replace=False))
    q, v, a = robot.random_state(seed)
    small = robot.lock(names, q)
    kept = np.concatenate([np.r_[robot.joint(n).v_slice] for n in robot.joint_names if n not in names])
    kept_q = np.concatenate([np.r_[robot.joint(n).q_slice] for n in robot.joint_names if n not in names])
    assert small.joint_names == tuple(n for n in robot.joint_names if n not in names)
    assert (small.nq, small.nv) == (len(kept_q), len(kept))
    still = np.zeros(robot.nv)
    still[kept] = 1
    full = np.array(rnea(model, q, v * still, a * still))
    assert_close(rnea(small.model, q[kept_q], v[kept], a[kept]), full[kept], ulps=300, scale=np.abs(full).max())
    M = np.array(crba(model, q))
    assert_close(crba(small.model, q[kept_q]), M[np.ix_(kept, kept)], ulps=300, scale=np.abs(M).max())
    assert small.frame_names == robot.frame_names
    for name in robot.frame_names:
        assert_close(world_pose(small.model, name, q[kept_q]), world_pose(model, name, q), ulps=300, scale=10.0)


def world_pose(model: Model, frame: str, q: np.ndarray) -> np.ndarray:
    at = model.frame(frame)
    local = np.array(at.X.placement)
    return local if at.body < 0 else np.array(forward_kinematics(model, list(q))[at.body]) @ local


def test_positions_by_name_lock_as_a_configuration_does() -> None:
    panda, go2 = kt.load("panda"), kt.load("go2")
    by_name = panda.lock({"panda_joint4": -1.5, "panda_joint6": np.float64(1.6)})
    assert by_name == panda.lock(["panda_joint4", "panda_joint6"], [0, 0, 0, -1.5, 0, 1.6, 0])
    pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.6, 0.8]
    assert go2.lock({"root_joint": pose}) == go2.lock(["root_joint"], [*pose, *go2.neutral()[7:]])


def test_a_joint_locked_outside_its_limits_is_told() -> None:
    panda = kt.load("panda")
    text = r"'panda_joint4' at 0, with limits -3\.\d+ and -0\.\d+\. Give positions by name"
    with pytest.warns(kt.LimitWarning, match=text) as told:
        panda.lock(["panda_joint4", "panda_joint1"])
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        panda.lock(["panda_joint4", "panda_joint1"], panda.lower_limits.astype(np.float32))
        kt.load("go2").lock(["root_joint"])


def followers() -> kt.Robot:
    follow = "follow base y", Prismatic((0, 1, 0)), {"mimic": ("lead", -1.0, 0.5)}
    return kt.Robot(toy(("lead base x", Prismatic((1, 0, 0))), follow, ("other y z", Revolute((0, 0, 1)))))


def test_locking_a_leader_locks_its_followers() -> None:
    robot = followers().lock(["lead"], [0.2, 0.0])
    assert robot == followers().lock(["follow"], [0.2, 0.0]) == followers().lock({"lead": 0.2})
    with pytest.raises(kt.ArgumentError, match="joint 'follow' follows 'lead': give the position of that one"):
        followers().lock({"follow": 0.3})
    assert (robot.joint_names, robot.nb) == (("other",), 1)
    assert robot.model.frame("y").X.r.y == pytest.approx(0.3)


def arm(prefix: str, links: int, seed: int, builder: kt.ModelBuilder, root: str) -> None:
    rng = np.random.default_rng(seed)
    for k in range(links):
        inertia, pose = numbers(rng)
        builder.add_link(f"{prefix}{k}", inertia)
        joint = Revolute(rng.normal(size=3))
        parent = root if k == 0 else f"{prefix}{k - 1}"
        builder.add_joint(f"j{prefix}{k}", parent=parent, child=f"{prefix}{k}", joint=joint, placement=pose)


def test_attaching_is_building_in_one_piece() -> None:
    palm, at = numbers(np.random.default_rng(3))
    tool_pose = numbers(np.random.default_rng(4))[1]
    base_pose = numbers(np.random.default_rng(5))[1]
    whole, body, hand = kt.ModelBuilder(), kt.ModelBuilder(), kt.ModelBuilder()
    for b in (whole, body):
        b.add_link("base")
        arm("a", 3, 1, b, "base")
        b.add_frame("tool", link="a2", placement=tool_pose)
    whole.add_link("palm", palm)
    whole.add_joint("mount", parent="a2", child="palm", joint=kt.joints.Fixed(), placement=tool_pose @ at)
    arm("f", 2, 2, whole, "palm")
    hand.add_link("palm", palm)
    arm("f", 2, 2, hand, "palm")
    one = kt.Robot(whole.build())
    # where the hand stands in its own world makes no difference
    two = kt.Robot(body.build()).attach(kt.Robot(hand.build(base_pose=base_pose)), "tool", placement=at)
    assert two.joint_names == one.joint_names
    assert set(two.frame_names) == set(one.frame_names)
    q, v, a = one.random_state(1)
    assert_close(rnea(two.model, q, v, a), rnea(one.model, q, v, a), ulps=300)
    for name in one.frame_names:
        assert_close(world_pose(two.model, name, q), world_pose(one.model, name, q), ulps=100, scale=10.0)


def test_names_must_differ() -> None:
    two = PANDA.attach(PANDA, "panda_hand", prefix="second_")
    assert two.nv == 14
    assert two.joint_names[7] == "second_panda_joint1"


def test_names_of_followers_must_differ_too() -> None:
    def gripper(leader: str, follower: str) -> kt.Robot:
        lead = f"{leader} {leader}palm {leader}left", Revolute()
        return kt.Robot(toy(lead, (f"{follower} {leader}palm {leader}right", Revolute(), {"mimic": (leader, 1, 0)})))

    for follower in ("f", "b"):
        with pytest.raises(kt.ModelError, match=f"both robots have a joint named '{follower}'"):
            gripper("a", follower).attach(gripper("b", "f"), "apalm")


def test_a_payload_is_a_link_fixed_to_the_frame() -> None:
    load, pose = numbers(np.random.default_rng(7))
    panda = kt.load("panda")
    heavy = panda.attach(load, "panda_hand", placement=pose)
    at = panda.model.frame("panda_hand")
    expected = panda.model.bodies[at.body].inertia + (Transform.placed(pose[:3, :3], pose[:3, 3]) @ at.X).T @ load
    assert_close(list(heavy.model.bodies[at.body].inertia), list(expected), ulps=50)
    on_the_floor = panda.attach(load, panda.model.root)
    assert on_the_floor.inertial_parameters.tolist() == panda.inertial_parameters.tolist()


def test_another_base_pose() -> None:
    _, first = numbers(np.random.default_rng(8))
    _, second = numbers(np.random.default_rng(9))
    b = kt.ModelBuilder()
    b.add_link("base", Inertia.from_com(1.0, [0.1, 0.2, 0.3], np.eye(3)))
    arm("a", 3, 1, b, "base")
    moved = kt.Robot(b.build(base_pose=first)).with_base_pose(second)
    there = kt.Robot(b.build(base_pose=second))
    q, v, a = there.random_state(2)
    assert_close(rnea(moved.model, q, v, a), rnea(there.model, q, v, a), ulps=300)
    assert_close(list(moved.model.base_inertia), list(there.model.base_inertia), ulps=300)


def test_inertial_parameters_go_out_and_in() -> None:
    robot = kt.load("g1")
    phi = robot.inertial_parameters
    assert phi.shape == (10 * robot.nb,)
    assert phi[10] == robot.model.bodies[1].inertia.m
    assert robot.with_inertial_parameters(phi) == robot
    assert robot.with_inertial_parameters(2 * phi).mass == pytest.approx(2 * robot.mass)


def test_friction_counts_only_when_asked_for() -> None:
    own = {"damping": 0.5, "friction": 2.0, "rotor_inertia": 1e-3, "gear_ratio": 100}
    robot = kt.Robot(toy(("j base a", Revolute((0, 0, 1)), own)))
    v = np.array([0.3])
    frictionless = robot.inverse_dynamics([0.1], v, [2.0])
    assert frictionless == pytest.approx([(1 + 0.01 + 10.0) * 2.0])
    assert_close(robot.with_friction(coulomb=False).inverse_dynamics([0.1], v, [2.0]), frictionless + 0.5 * v, ulps=2)
    both = robot.with_friction(smoothing=1e-9)
    tau = both.inverse_dynamics([0.1], v, [2.0])
    assert_close(tau, frictionless + 0.5 * v + 2.0, ulps=4)
    assert_close(both.forward_dynamics([0.1], v, tau), [2.0], ulps=20)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: GO2.lock(["root_joint"], np.zeros(19)), "q holds a quaternion of norm zero"),
        (lambda: PANDA.lock({"panda_joint4": [1.0, 2.0]}), r"position of joint 'panda_joint4' has shape \(2,\)"),
        (lambda: PANDA.lock({"panda_joint4": np.nan}), "lock takes finite positions"),
        (lambda: PANDA.lock({"panda_joint4": -1.5}, q=np.zeros(7)), "q= is for a list of names"),
        (lambda: PANDA.lock({"panda_joint": -1.5}), "no joint 'panda_joint', did you mean"),
        (lambda: PANDA.attach(PANDA, "panda_hand"), "both robots have a joint named 'panda_joint1': give a prefix"),
        (lambda: PANDA.attach(Inertia.zero(), "panda_hnd"), "no frame 'panda_hnd', did you mean 'panda_hand'"),
        (lambda: PANDA.attach(Inertia.zero(), "panda_hand", prefix="x"), "prefix='x' is .* an Inertia has none"),
        (lambda: PANDA.attach("hand", "panda_hand"), r"attach takes a Robot or a kinetree\.Inertia; builtins"),
        (lambda: PANDA.attach(GO2, "panda_hand", prefix="dog_"), "'go2' has a floating base"),
        (lambda: PANDA.attach(Inertia.zero(), "panda_hand", placement=[[1], [1, 2]]), "placement is not an array of"),
        (lambda: GO2.with_base_pose(np.eye(4)), "a floating base has its pose in q"),
        (lambda: PANDA.with_base_pose("upright"), "base_pose has dtype <U7, which is not a real number"),
        (lambda: PANDA.with_inertial_parameters(np.ones(69)), "ten for each of the nb = .* has shape"),
        (lambda: PANDA.with_inertial_parameters(np.full(70, np.nan)), "nan"),
        (lambda: PANDA.with_friction(smoothing=0), "smoothing is 0, it must be a positive number"),
        (lambda: PANDA.with_friction(smoothing="little"), "smoothing is 'little', it must be a positive number"),
        (lambda: PANDA.with_friction(smoothing=float("nan")), "smoothing is nan, it must be a positive number"),
    ],
)
def test_mistakes_are_told(ask, message):  # type: ignore[no-untyped-def]
    with pytest.raises(kt.KinetreeError, match=message):
        ask()
