"""Real robots against Pinocchio and MuJoCo, and against ourselves: the same bits however a function is called.

Each compiled function is held against three things: Pinocchio (or MuJoCo) in the same precision, the algorithm's page
in extended precision (long double), which tells whose rounding it is, and, for forward dynamics, the forces that its
accelerations need: ``τ − ID(FD(τ))``, which is small whatever M's condition number.
"""

from __future__ import annotations

import itertools
import warnings
from functools import lru_cache
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers import mujoco_oracle
from helpers.dense import assert_close
from helpers.joints import EXAMPLES
from helpers.pinocchio_oracle import Oracle
from helpers.sampling import cover, few
from helpers.trees import page, random_states, random_tree
from kinetree.algorithms import ALGORITHMS, rnea
from kinetree.functions.of_robot import robot_spec
from kinetree.runtime.function import Function
from robots import erd_urdf, erd_urdfs

STATES = 1000
SAMPLE = ("panda.urdf", "ur5_robot.urdf", "kinova.urdf", "solo12.urdf", "double_pendulum_continuous.urdf")
IN_MUJOCO = (*SAMPLE, "talos_left_arm.urdf", "g1_29dof_rev_1_0.urdf", "tiago_pro.urdf", "centauro.urdf")

# Fingers without mass: no forward dynamics, and Pinocchio's is NaN.
SINGULAR = {"romeo.urdf": "RThumb3", "romeo_laas_small.urdf": "r_gripper_joint"}


def load(path: Path, floating_base: bool) -> kt.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the robots with non-physical inertias: tests/formats looks at the warnings
        return kt.load(path, floating_base=floating_base, mimic="independent")


def pinocchio(path: Path, robot: kt.Robot, floating_base: bool) -> Oracle:
    root = (pin.JointModelFreeFlyer(),) if floating_base else ()
    return Oracle(robot.model, pin.buildModelFromUrdf(str(path), *root))


def pinocchio_loads(path: Path) -> bool:
    try:
        pin.buildModelFromUrdf(str(path))
    except ValueError:
        return False
    return True


bases = pytest.mark.parametrize("floating_base", [False, True], ids=["fixed", "floating"])


def check_against_pinocchio(path: Path, floating_base: bool) -> None:
    robot = load(path, floating_base)
    if robot.nv == 0:
        return
    oracle = pinocchio(path, robot, floating_base)
    q, v, a = robot.random_state(seed=1, size=STATES)
    tau = robot.inverse_dynamics(q, v, a)
    assert_close(tau, oracle.inverse_dynamics(q, v, a), ulps=30)
    exact = page(rnea, robot.model, *(x.astype(np.longdouble) for x in (q, v, a)))
    assert_close(tau, exact, ulps=5)
    assert_close(robot.mass_matrix(q[:100]), oracle.mass_matrix(q[:100]), ulps=30)
    if path.name in SINGULAR:
        joint = SINGULAR[path.name]
        with pytest.raises(kt.ModelError, match=f"joint '{joint}' meets no inertia"):
            robot.forward_dynamics(q, v, tau)
        assert not robot.mass_matrix(q[0])[robot.joint(joint).v_slice].any()
    else:
        check_forward_dynamics(robot, oracle, q, v, tau)


def check_forward_dynamics(robot: kt.Robot, oracle: Oracle, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    """The backward error is at most twice Pinocchio's, each by its own inverse dynamics, the largest of all states."""
    ours = robot.forward_dynamics(q, v, tau)
    error = np.abs(tau - robot.inverse_dynamics(q, v, ours)).max()
    theirs = np.abs(tau - oracle.inverse_dynamics(q, v, oracle.forward_dynamics(q, v, tau))).max()
    assert error <= 2 * theirs


@bases
@pytest.mark.parametrize("name", SAMPLE)
def test_robots_against_pinocchio(name: str, floating_base: bool) -> None:
    check_against_pinocchio(erd_urdf(name), floating_base)


@pytest.mark.slow
@bases
@pytest.mark.parametrize("path", few(erd_urdfs(), 4), ids=lambda p: f"{p.parent.parent.name}-{p.stem}")
def test_every_robot_against_pinocchio(path: Path, floating_base: bool) -> None:
    """Every robot of example-robot-data that Pinocchio loads; what it refuses, we refuse too."""
    if pinocchio_loads(path):
        check_against_pinocchio(path, floating_base)
    else:
        with pytest.raises(kt.KinetreeError):
            load(path, floating_base)


def test_there_are_robots_to_test() -> None:
    assert sum(map(pinocchio_loads, erd_urdfs())) >= 60


@bases
@pytest.mark.parametrize("name", SAMPLE)
def test_external_forces_and_bias_against_pinocchio(name: str, floating_base: bool) -> None:
    """Wrenches in body axes: Pinocchio's are (linear, angular), in its joints' order."""
    path = erd_urdf(name)
    robot = load(path, floating_base)
    oracle = pinocchio(path, robot, floating_base)
    q, v, a = robot.random_state(seed=2, size=20)
    f_ext = np.random.default_rng(3).normal(scale=5.0, size=(20, robot.nb, 6))
    names = list(oracle.theirs.names)
    expected = []
    for k in range(20):
        forces = pin.StdVec_Force()
        by_joint = {b.joint_name: pin.Force(f[3:], f[:3]) for b, f in zip(robot.model.bodies, f_ext[k], strict=True)}
        forces.extend([by_joint.get(joint, pin.Force.Zero()) for joint in names])
        state = oracle.to_pin_q(q[k]), oracle.to_pin_v(v[k]), oracle.to_pin_v(a[k])
        expected.append(oracle.from_pin_v(pin.rnea(oracle.theirs, oracle.data, *state, forces)))
    assert_close(robot.inverse_dynamics(q, v, a, f_ext=f_ext), np.array(expected), ulps=30)
    assert_close(robot.bias_forces(q, v), oracle.inverse_dynamics(q, v, 0 * a), ulps=30)
    assert_close(robot.gravity_forces(q), oracle.inverse_dynamics(q, 0 * v, 0 * a), ulps=30)


@bases
@pytest.mark.parametrize("name", IN_MUJOCO)
def test_robots_against_mujoco(name: str, floating_base: bool) -> None:
    """A second opinion. MuJoCo turns each inertia into principal axes first: a few ulp more."""
    path = erd_urdf(name)
    robot = load(path, floating_base)
    oracle = mujoco_oracle.load(path, robot.model)
    q, v, a = robot.random_state(seed=4, size=20)
    # the pages, not the compiled functions: nine robots more to compile would show nothing new
    tau = page(rnea, robot.model, q, v, a)
    assert_close(tau, oracle.inverse_dynamics(q, v, a), ulps=50)
    M = page(ALGORITHMS["mass_matrix"].function, robot.model, q)
    assert_close(M, oracle.mass_matrix(q), ulps=50)


# -- the same bits --------------------------------------------------------------------------------------------------

ONE_OF_EACH = random_tree(7, n=len(EXAMPLES) - 1, joints=[row[-1] for row in EXAMPLES.values() if row[-1].nv > 0])
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
LANES = (1, 2, 4, 8, 16)


@lru_cache
def robot_of(name: str) -> kt.Robot:
    return kt.Robot(ONE_OF_EACH) if name == "one of each" else kt.load(name)


def inputs(robot: kt.Robot, function: str, n: int) -> tuple[np.ndarray, ...]:
    q, v, a = random_states(robot.model, 5, n)
    return (q, v, a)[: len(ALGORITHMS[function].inputs)]


reproducible = pytest.mark.parametrize(
    ("name", "function"), cover(itertools.product(("panda", "g1", "one of each"), FUNCTIONS))
)


@reproducible
def test_the_same_bits_for_one_state_and_any_batch_and_lane_count(name: str, function: str) -> None:
    robot = robot_of(name)
    arguments = inputs(robot, function, 67)
    single = getattr(robot, function)
    expected = np.array([single(*(x[k] for x in arguments)) for k in range(67)])
    assert np.isfinite(expected).all()
    for lanes in LANES:
        forced = Function(robot_spec(robot.model, ALGORITHMS[function]), lanes=lanes)
        for n in (1, 2, 3, lanes, lanes + 1, 67):
            np.testing.assert_array_equal(forced(*(x[:n] for x in arguments)), expected[:n])
        np.testing.assert_array_equal(forced(*(x[::-3] for x in arguments)), expected[::-3])
