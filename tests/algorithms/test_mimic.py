"""Mimic joints: one coordinate that moves several bodies, against the same tree without them (projection by G)."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.trees import toy
from kinetree.algorithms import aba, bias_forces, crba, gravity_forces, rnea
from kinetree.algorithms.dynamics.aba import hybrid_dynamics
from kinetree.algorithms.dynamics.coriolis import coriolis_matrix
from kinetree.algorithms.quantities import centroidal_momentum_matrix, centroidal_momentum_matrix_rate
from kinetree.algorithms.regressors import joint_torque_regressor
from kinetree.joints import Helical, Joint, Prismatic, Revolute
from kinetree.model import JointLimits, Model, ModelBuilder
from kinetree.model.edit import regrouped
from kinetree.spatial import Inertia, Transform

JOINTS: list[tuple[str, str, Joint, tuple[str, float, float] | None]] = [
    # parent, name, type, what it follows; "b" and "e" hang in other branches than their leaders
    ("base", "a", Revolute((0, 0, 1)), None),
    ("a", "b", Revolute((0, 1, 0)), ("d", -0.7, 0.3)),
    ("b", "c", Prismatic((1, 0, 0)), None),
    ("a", "d", Revolute((0.3, 0.5, 1)), None),
    ("d", "e", Prismatic((0, 1, 1)), ("c", 2.0, 0.1)),
    ("e", "f", Helical((0, 0, 1), 0.2), ("b", 0.5, -0.2)),  # follows a follower
    ("f", "g", Revolute((1, 0, 0)), None),
]


def tree(mimic: bool) -> Model:
    rng = np.random.default_rng(5)
    b = ModelBuilder("gripper")
    b.add_link("base")
    for parent, name, joint, leader in JOINTS:
        A = rng.normal(size=(3, 3))
        b.add_link(name, Inertia.from_com(rng.uniform(1, 2), rng.normal(size=3), A @ A.T + np.eye(3)))
        X = Transform.placed(np.linalg.qr(rng.normal(size=(3, 3)))[0].tolist(), rng.normal(size=3).tolist())
        b.add_joint(
            name,
            parent=parent,
            child=name,
            joint=joint,
            placement=X,
            armature=rng.uniform(0, 1),
            mimic=leader if mimic else None,
        )
    return b.build(floating_base=True)


FOLLOWING, FREE = tree(True), tree(False)
NV = FOLLOWING.nv
# the free tree's velocities from the following one's: base, a, b = -0.7 d, c, d, e = 2 c, f = -0.35 d, g
G = np.zeros((FREE.nv, NV))
G[:6, :6] = np.eye(6)
for row, (column, factor) in enumerate([(6, 1), (8, -0.7), (7, 1), (8, 1), (7, 2), (8, -0.35), (9, 1)]):
    G[6 + row, column] = factor
OFFSET = np.array([0, 0.3, 0, 0, 0.1, 0.5 * 0.3 - 0.2, 0])


def state(seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    quaternion = rng.normal(size=4)
    q = np.r_[rng.normal(size=3), quaternion, rng.normal(size=NV - 6)]
    q_free = np.r_[q[:7], G[6:, 6:] @ q[7:] + OFFSET]
    return q, q_free, *rng.normal(size=(3, NV))


@pytest.fixture(params=range(4))
def case(request: pytest.FixtureRequest) -> tuple[np.ndarray, ...]:
    return state(request.param)


@pytest.mark.parametrize("model", [FOLLOWING, regrouped(FOLLOWING)], ids=["as given", "regrouped"])
def test_everything_is_the_projection_by_g(case: tuple[np.ndarray, ...], model: Model) -> None:
    q, q_free, v, a, tau = case
    assert (model.nq, model.nv, model.nb) == (11, 10, 8)
    projected = np.array(rnea(FREE, q_free, G @ v, G @ a))
    # armature of a follower counts at its own speed, in the direction of the leader's
    assert_close(rnea(model, q, v, a), G.T @ projected, ulps=200, scale=np.abs(projected).max())
    assert_close(bias_forces(model, q, v), G.T @ bias_forces(FREE, q_free, G @ v), ulps=500)
    assert_close(gravity_forces(model, q), G.T @ gravity_forces(FREE, q_free), ulps=200)
    M = np.array(crba(model, q))
    assert_close(M, G.T @ np.array(crba(FREE, q_free)) @ G, ulps=200)
    h = np.array(bias_forces(model, q, v))
    # two solves: each is off by the condition number, and by what the forces that cancel in tau - h are larger
    assert_close(aba(model, q, v, tau), np.linalg.solve(M, tau - h), ulps=4 * np.linalg.cond(M))


def test_quantities_are_projections_too(case: tuple[np.ndarray, ...]) -> None:
    q, q_free, v, a, _ = case
    A = centroidal_momentum_matrix
    assert_close(A(FOLLOWING, q), A(FREE, q_free) @ G, ulps=100)
    A_dot = centroidal_momentum_matrix_rate
    assert_close(A_dot(FOLLOWING, q, v), A_dot(FREE, q_free, G @ v) @ G, ulps=100)
    Y = joint_torque_regressor
    assert_close(Y(FOLLOWING, q, v, a), G.T @ Y(FREE, q_free, G @ v, G @ a), ulps=100)
    C = coriolis_matrix
    assert_close(C(FOLLOWING, q, v), G.T @ C(FREE, q_free, G @ v) @ G, ulps=100)


@pytest.mark.parametrize("prescribed", [(), ("a", "d"), ("root_joint", "c"), ("root_joint", "a", "c", "d", "g")])
def test_hybrid_dynamics(case: tuple[np.ndarray, ...], prescribed: tuple[str, ...]) -> None:
    q, _, v, a, _ = case
    tau = np.array(rnea(FOLLOWING, q, v, a))
    known = np.zeros(NV, bool)
    for name in prescribed:
        known[list(FOLLOWING.bodies[FOLLOWING.body_of_joint(name)].v_index)] = True
    a_in, tau_in = np.where(known, a, np.nan), np.where(known, np.nan, tau)
    a_out, tau_out = (np.array(x) for x in hybrid_dynamics(FOLLOWING, q, v, a_in, tau_in, prescribed=prescribed))
    assert (a_out[known] == a[known]).all()
    assert (tau_out[~known] == tau[~known]).all()
    assert_close(rnea(FOLLOWING, q, v, a_out), tau_out, ulps=200, scale=np.abs(tau).max())
    M = np.array(crba(FOLLOWING, q))[np.ix_(~known, ~known)]
    assert_close(a_out, a, ulps=2 * (np.linalg.cond(M) if M.size else 1.0))


def fingers(**follower: object) -> kt.Robot:
    own = {"limits": JointLimits(-1.0, 1.0, velocity=3.0), "armature": 0.5, "damping": 0.1, "friction": 1.0}
    other = "follow palm right", Revolute(), {"mimic": ("lead", -2.0, 0.3), **follower}
    return kt.Robot(toy(("lead palm left", Revolute(), own), other))


def test_a_follower_narrows_its_leaders_limits() -> None:
    robot = fingers(limits=JointLimits(-1.0, 1.0, velocity=3.0))
    assert (robot.lower_limits[0], robot.upper_limits[0]) == ((1.0 - 0.3) / -2.0, (-1.0 - 0.3) / -2.0)
    assert robot.velocity_limits[0] == 1.5
    q = robot.random_configuration(0, 1000)
    assert (abs(-2.0 * q + 0.3) <= 1.0).all()
    assert fingers(limits=JointLimits(velocity=0.0)).velocity_limits[0] == 3.0  # 0 is not given
    contradiction = fingers(limits=JointLimits(5.0, 6.0))
    assert (contradiction.lower_limits[0], contradiction.upper_limits[0]) == (-1.0, 1.0)


def test_what_resists_counts_the_followers_and_is_what_the_regressor_multiplies() -> None:
    robot = fingers(armature=0.2, damping=0.05, friction=0.4)
    assert_close(robot.armature, [0.5 + 4 * 0.2], ulps=2)
    assert_close(robot.damping, [0.1 + 4 * 0.05], ulps=2)
    assert_close(robot.friction, [1.0 + 2 * 0.4], ulps=2)
    q, v, a = robot.random_state(1, 5)
    links = robot.joint_torque_regressor(q, v, a) @ robot.inertial_parameters
    joints = robot.joint_physics_regressor(v, a) @ np.r_[robot.armature, robot.damping, robot.friction]
    assert_close(links + joints, robot.with_friction().inverse_dynamics(q, v, a), ulps=50)


@pytest.mark.parametrize("mimic", ["lead", ("lead", 1.0), (1.0, "lead", 0.0)])
def test_mimic_takes_a_name_and_two_numbers(mimic: object) -> None:
    with pytest.raises(kt.ModelError, match=r"joint 'f': mimic takes \(leader, factor, offset\)"):
        ModelBuilder().add_joint("f", parent="a", child="b", joint=Revolute(), mimic=mimic)  # type: ignore[arg-type]
