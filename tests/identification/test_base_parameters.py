"""Base parameters: as many as the rank of the regressor at random states, and the same joint forces."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from helpers.joints import EXAMPLES
from helpers.trees import Array, page, random_inertia, random_placement, random_states, random_tree
from kinetree.algorithms.dynamics.passive_forces import joint_physics_regressor
from kinetree.algorithms.regressors import joint_torque_regressor
from kinetree.joints import FreeFlyer, Planar, Prismatic, Revolute, Spherical, Universal
from kinetree.model import Model, ModelBuilder

PUMA = [(0.0, 0.0, 0.0), (0.0, -90, 0.2435), (0.4318, 0, -0.0934), (-0.0203, 90, 0.4331), (0, -90, 0), (0, 90, 0)]
"""Modified Denavit–Hartenberg (a, α, d) of Armstrong, Khatib and Burdick, "The explicit dynamic model and inertial
parameters of the PUMA 560 arm", 1986."""


def puma() -> kt.Robot:
    links = [kt.DHLink(a=a, alpha=np.radians(alpha), d=d) for a, alpha, d in PUMA]
    return kt.from_dh(links, convention="modified")


def stacked_regressor(model: Model, *, terms: bool, size: int, seed: int = 0) -> Array:
    """Return the regressor of the inertial parameters, and of armature and offset, at random states."""
    q, v, a = random_states(model, seed, size)
    Y = page(joint_torque_regressor, model, q, v, a)
    if terms:
        own = list(model.actuated)
        rotors = page(joint_physics_regressor, model, v, a)[..., own]
        Y = np.concatenate([Y, rotors, np.broadcast_to(np.eye(model.nv)[:, own], rotors.shape)], axis=-1)
    return Y.reshape(-1, Y.shape[-1])


def check(model: Model, *, terms: bool = False) -> kt.identification.BaseParameters:
    """Hold the base parameters to the rank and to the joint forces; return them."""
    base = kt.Robot(model).base_parameters(["armature", "offset"] * terms)
    Y = stacked_regressor(model, terms=terms, size=4 + 40 * model.nb // model.nv)
    kept = Y[:, list(base.independent)]
    scale = np.abs(Y).max()
    assert np.abs(kept @ base.projection - Y).max() < 1e-9 * scale, "the dependent columns do not follow"
    lengths = np.linalg.norm(kept, axis=0)
    assert (lengths > 1e-9 * scale).all(), "a column is zero"
    s = np.linalg.svd(kept / lengths, compute_uv=False)
    assert s[-1] > 1e-7 * s[0], f"the columns are dependent: {s[-3:] / s[0]}"
    return base


@pytest.mark.parametrize(
    ("robot", "dimension", "any_gravity"),
    [("puma", 36, 38), ("ur5", 36, 38), ("panda", 43, 45), ("go2", 94, 94), ("g1", 213, 213)],
)
def test_the_published_numbers(robot: str, dimension: int, any_gravity: int) -> None:
    # Puma 560: Gautier and Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", IEEE
    # Trans. Robotics and Automation 6(3), 1990: 36 with gravity along the first axis. Panda: Gaz et al., "Dynamic
    # identification of the Franka Emika Panda robot", IEEE RA-L 4(4), 2019: 43. A floating base has ten, each
    # revolute joint of a tree seven more.
    arm = puma() if robot == "puma" else kt.load(robot)
    assert arm.base_parameters().dimension == dimension
    assert arm.base_parameters(gravity="any").dimension == any_gravity


@pytest.mark.parametrize("terms", [False, True])
@pytest.mark.parametrize("robot", ["ur5", "panda", "go2", *EXAMPLES])
def test_robots_and_every_joint_type(robot: str, terms: bool) -> None:
    """The rank of the regressor, of trees of every joint type too."""
    joints = [joint for joint in EXAMPLES.get(robot, ()) if joint.nv]
    if joints or robot not in EXAMPLES:
        check(random_tree(3, 4, joints) if joints else kt.load(robot).model, terms=terms)


SIMPLE = (Revolute((0, 0, 1)), Prismatic((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0)))


@pytest.mark.parametrize("seed", range(12))
def test_axes_that_are_parallel_or_meet(seed: int) -> None:
    """Joints along the coordinate axes and along gravity, without offsets: where structure shows in the numbers."""
    rng = np.random.default_rng(seed)
    b = ModelBuilder("aligned")
    b.add_link("base")
    for i in range(4):
        b.add_link(f"link{i}", random_inertia(rng))
        placement = np.eye(4)
        placement[:3, 3] = rng.integers(0, 2, 3)
        placement[:3, :3] = np.eye(3)[:, rng.permutation(3)]
        placement[:3, 2] *= np.linalg.det(placement[:3, :3])
        parent = "base" if i == 0 else f"link{rng.integers(i)}" if i > 2 else f"link{i - 1}"
        joint = SIMPLE[rng.integers(4)]
        b.add_joint(f"joint{i}", parent=parent, child=f"link{i}", joint=joint, placement=placement.tolist())
    check(b.build(), terms=bool(seed % 2))


LEADERS: dict[str, list[tuple[str, int | None]]] = {
    "siblings": [("palm", None), ("palm", 0)],
    "in series": [("palm", None), ("link0", 0), ("link1", None)],
    "with a free joint between": [("palm", None), ("link0", None), ("link1", 0), ("link2", None)],
    "of two branches": [("palm", None), ("palm", None), ("link0", None), ("link1", 2), ("link3", None)],
    "two pairs that cross": [("palm", None), ("link0", None), ("link1", 0), ("link2", 1)],
    "from the world": [("base", None), ("link0", None), ("base", 1)],
    "siblings on the way of another": [("palm", None), ("link0", None), ("link0", 1), ("link1", 0)],
}


@pytest.mark.parametrize("shape", LEADERS)
@pytest.mark.parametrize("terms", [False, True])
def test_joints_that_share_a_coordinate(shape: str, terms: bool) -> None:
    rng = np.random.default_rng(5)
    b = ModelBuilder(shape)
    b.add_link("base")
    b.add_link("palm", random_inertia(rng))
    b.add_joint("arm", parent="base", child="palm", joint=Revolute((0, 1, 0)))
    for i, (parent, leader) in enumerate(LEADERS[shape]):
        b.add_link(f"link{i}", random_inertia(rng))
        joint = Prismatic((0, 1, 0)) if shape.startswith("siblings") else Revolute((0, 0, 1))
        mimic = None if leader is None else (f"joint{leader}", -1.0 if shape.startswith("siblings") else 0.5, 0.2)
        placement = np.eye(4).tolist() if shape.startswith("siblings") else random_placement(rng).tolist()
        b.add_joint(f"joint{i}", parent=parent, child=f"link{i}", joint=joint, placement=placement, mimic=mimic)
    check(b.build(gravity=(0.7, -1.1, -9.6)), terms=terms)


def test_angles_that_are_rounded_need_a_tolerance() -> None:
    half_a_turn = 3.14159  # the first axis is not quite along gravity
    c, s = np.cos(half_a_turn), np.sin(half_a_turn)
    hanging = kt.load("ur5").with_base_pose([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    assert hanging.base_parameters().dimension == 38
    assert hanging.base_parameters(tolerance=1e-5).dimension == 36


def test_without_gravity_and_without_bodies() -> None:
    check(kt.load("ur5").with_gravity([0, 0, 0]).model, terms=True)
    b = ModelBuilder("stone")
    b.add_link("stone")
    base = kt.Robot(b.build()).base_parameters()
    assert (base.dimension, base.projection.shape) == (0, (0, 0))


def test_a_gravity_of_any_direction_is_three_gravities() -> None:
    model = random_tree(2, 4, [Revolute((0, 0, 1)), Spherical(), Universal(), Planar()])
    base = kt.Robot(model).base_parameters(gravity="any")
    Y = np.vstack([stacked_regressor(model.with_gravity(g), terms=False, size=60) for g in np.eye(3).tolist()])
    kept = Y[:, list(base.independent)]
    assert np.linalg.matrix_rank(Y, tol=1e-9 * np.abs(Y).max()) == base.dimension
    np.testing.assert_allclose(kept @ base.projection, Y, atol=1e-9 * np.abs(Y).max())


def test_the_pendulum_as_a_reader_writes_it() -> None:
    b = ModelBuilder("pendulum")
    b.add_link("world")
    b.add_link("arm", random_inertia(np.random.default_rng(0)))
    b.add_link("bob", random_inertia(np.random.default_rng(1)))
    b.add_joint("shoulder", parent="world", child="arm", joint=Revolute((0, 1, 0)))
    at = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -0.25], [0, 0, 0, 1]]
    b.add_joint("elbow", parent="arm", child="bob", joint=Revolute((0, 1, 0)), placement=at)
    robot = kt.Robot(b.build())
    base = robot.base_parameters(["armature", "damping"])
    assert base.combinations == (
        "m c_x of arm",
        "m c_z of arm - 0.25 m of bob",
        "I_yy of arm + 0.0625 m of bob + armature of shoulder",
        "m c_x of bob",
        "m c_z of bob",
        "I_yy of bob",
        "armature of elbow",
        "damping of shoulder",
        "damping of elbow",
    )
    assert str(base).splitlines()[0] == "pendulum: 9 base parameters of 24"
    assert "I_yy of arm + 0.0625 m of bob + armature of shoulder" in str(base)


@pytest.fixture(scope="module")
def tree() -> kt.Robot:
    return kt.Robot(random_tree(1, 3, [Revolute((0, 0, 1)), Prismatic((1, 0, 0)), Revolute((0, 1, 0))]))


def test_the_compiled_regressor(tree: kt.Robot) -> None:
    terms = ["armature", "damping", "friction", "offset", "stiffness", "damping_asymmetry", "stribeck"]
    base = tree.base_parameters(terms)
    physics = {"damping": 0.3, "friction": 0.2, "stiffness": 2.0, "rest_position": 0.4}
    arm = tree.with_joint_physics(**{name: {"joint0": x} for name, x in physics.items()})
    q, v, a = arm.random_state(0, 5)
    values = base.of(arm, {"stribeck": [0.0, 0.5, 0.0], "damping_asymmetry": [0.1, 0.0, 0.0]})
    np.testing.assert_allclose(base.projection @ base.representative(values), values, atol=1e-12)
    speed = np.array([1.0, 2.0, 3.0])
    tau = base.regressor(q, v, a, speed) @ values
    sign = v / np.sqrt(v**2 + 1e-6)
    expected = arm.with_friction().inverse_dynamics(q, v, a)
    expected += [0.0, 0.5, 0.0] * sign / (1 + (v / speed) ** 2) + [0.1, 0.0, 0.0] * v * sign
    np.testing.assert_allclose(tau, expected, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(base.regressor(q[0], v[0], a[0], speed), base.regressor(q, v, a, speed)[0])
    panda = kt.load("panda")
    counts = (sum(f.op_count.values()) for f in (panda.base_parameters().regressor, panda.joint_torque_regressor))
    assert next(counts) < 0.8 * next(counts)


def test_a_pickle_is_the_same_and_equal_robots_share_what_was_found(tree: kt.Robot) -> None:
    base = tree.base_parameters(["friction"], smoothing=0.01)
    again = pickle.loads(pickle.dumps(base))
    assert (again.names, again.smoothing) == (base.names, 0.01)
    q, v, a = tree.random_state(0)
    np.testing.assert_array_equal(again.regressor(q, v, a), base.regressor(q, v, a))
    assert pickle.loads(pickle.dumps(base.regressor))(q, v, a).shape == (tree.nv, base.dimension)
    equal, tilted = kt.Robot(pickle.loads(pickle.dumps(tree.model))), tree.with_gravity([0.0, 1.0, -9.0])
    base = tree.base_parameters(["friction"])
    assert equal.base_parameters(["friction"]).projection is base.projection
    assert equal.base_parameters(["friction"]).rows is base.rows
    assert tilted.base_parameters(["friction"]).rows is not base.rows
    column = {"spring": lambda q, v, a: q**3}  # what it computes may change
    assert equal.base_parameters(column).rows is not tree.base_parameters(column).rows


def test_what_is_refused_and_what_only_some_joints_have(tree: kt.Robot) -> None:
    floating, ball = kt.Robot(random_tree(0, 2, [FreeFlyer(), Revolute()])), kt.Robot(random_tree(0, 1, [Spherical()]))
    b = kt.ModelBuilder("gripper")
    for name, mimic in (("hand", None), ("left", None), ("right", ("left", -1.0, 0.0))):
        b.add_link(name, kt.Inertia.from_com(1.0, [0, 0.1, 0], np.eye(3)))
        if name != "hand":
            b.add_joint(name, parent="hand", child=name, joint=Revolute((1, 0, 0)), mimic=mimic)
    for robot, choices, message in [
        (tree, {"gravity": "unknown"}, "'known' or 'any'"),
        (tree, {"terms": ["dampin"]}, r"'dampin'.*damping"),
        (tree, {"terms": "damping"}, r"\['damping'\]"),
        (tree, {"tolerance": 0}, "tolerance is 0"),
        (tree, {"tolerance": 1.0}, "tolerance is 1"),
        (floating, {"terms": {"armature": ["joint0"]}}, "'joint0' is a floating base: it has no armature"),
        (ball, {"terms": {"stiffness": ["joint0"]}}, "'joint0' has several degrees of freedom: springs"),
        (
            kt.Robot(b.build()),
            {"terms": {"friction": ["right"]}},
            "'right' follows 'left': give that one, whose friction is of both",
        ),
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            robot.base_parameters(**choices)
    assert sum(name.startswith("armature") for name in floating.base_parameters(["armature"]).all_names) == 1
    assert len(ball.base_parameters({"friction": ["joint0"]}).places) == 3
