"""Robots made from robots: locked joints, attached robots, another base, other inertias and frames, in every form."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from scipy.spatial import transform as scipy_transform

import kinetree as kt
from helpers.dense import assert_close
from helpers.told import told
from helpers.trees import random_inertia, random_placement, random_tree, toy
from kinetree.algorithms import crba, forward_kinematics, rnea
from kinetree.inverse_kinematics import FrameTarget
from kinetree.joints import Fixed, Mimic, Prismatic, Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.model.checks import inertia_defect
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


def in_a_row(prefix: str, links: int, seed: int, builder: kt.ModelBuilder, root: str) -> None:
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
        in_a_row("a", 3, 1, b, "base")
        b.add_frame("tool", link="a2", placement=tool_pose)
    whole.add_link("palm", palm)
    whole.add_joint("mount", parent="a2", child="palm", joint=kt.joints.Fixed(), placement=tool_pose @ at)
    in_a_row("f", 2, 2, whole, "palm")
    hand.add_link("palm", palm)
    in_a_row("f", 2, 2, hand, "palm")
    one = kt.Robot(whole.build())
    # where the hand stands in its own world makes no difference
    two = kt.Robot(body.build()).attach(kt.Robot(hand.build(base_pose=base_pose)), "tool", placement=at)
    assert two.joint_names == one.joint_names
    assert set(two.frame_names) == set(one.frame_names)
    q, v, a = one.random_state(1)
    assert_close(rnea(two.model, q, v, a), rnea(one.model, q, v, a), ulps=300)
    for name in one.frame_names:
        assert_close(world_pose(two.model, name, q), world_pose(one.model, name, q), ulps=100, scale=10.0)


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
    in_a_row("a", 3, 1, b, "base")
    moved = kt.Robot(b.build(base_pose=first)).with_base_pose(second)
    there = kt.Robot(b.build(base_pose=second))
    q, v, a = there.random_state(2)
    assert_close(rnea(moved.model, q, v, a), rnea(there.model, q, v, a), ulps=300)
    assert_close(list(moved.model.base_inertia), list(there.model.base_inertia), ulps=300)


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


test_mistakes_are_told = told(
    kt.KinetreeError,
    (lambda: GO2.lock(["root_joint"], np.zeros(19)), "q holds a quaternion of norm zero"),
    (lambda: PANDA.lock({"panda_joint4": [1.0, 2.0]}), r"position of joint 'panda_joint4' has shape \(2,\)"),
    (lambda: PANDA.lock({"panda_joint4": -1.5}, q=np.zeros(7)), "q= is for a list of names"),
    (lambda: PANDA.attach(PANDA, "panda_hand"), "both robots have a joint named 'panda_joint1': give a prefix"),
    (lambda: PANDA.attach(Inertia.zero(), "panda_hand", prefix="x"), "prefix='x' is .* an Inertia has none"),
    (lambda: PANDA.attach(GO2, "panda_hand", prefix="dog_"), "'go2' has a floating base"),
    (lambda: GO2.with_base_pose(np.eye(4)), "a floating base has its pose in q"),
    (lambda: arm().with_frame("hand", on="base"), "there is a frame named 'hand' already"),
    (lambda: arm().with_frame("tip", on="hand", placement=[0, 0, 0.1]), "a translation p alone is a 4×4 matrix"),
    (lambda: arm(tip=I3), r"R alone is given as scipy.spatial.transform.Rotation.from_matrix\(R\)"),
)


def test_a_mimic_joint_that_follows_none_is_as_any_other() -> None:
    """Its factor scales its angle alone: limits, friction and springs are of its own coordinate."""
    builder = ModelBuilder("one")
    builder.add_link("base")
    builder.add_link("a", numbers(np.random.default_rng(0))[0])
    builder.add_joint("j", parent="base", child="a", joint=Mimic(Revolute((0, 0, 1)), 2.0, 0.5))
    robot = kt.Robot(builder.build())
    for limits in ({"lower": -1.0, "upper": 2.0}, {"lower": {"j": -1.0}, "upper": {"j": 2.0}}):
        assert robot.with_limits(**limits).joint("j").limits == kt.JointLimits(-1.0, 2.0)
    of_all = {"damping": 3.0, "friction": 0.5, "armature": 0.25, "stiffness": 7.0, "rest_position": 0.75}
    changed = robot.with_joint_physics(**of_all)
    assert changed == robot.with_joint_physics(**{what: {"j": x} for what, x in of_all.items()})
    body = changed.model.bodies[0]
    assert (body.spring.stiffness, body.spring.rest, *body.friction) == (7.0, 0.75, 0.5)


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
