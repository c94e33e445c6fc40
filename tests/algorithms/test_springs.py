"""Springs in joints: against MuJoCo's, as what energy conserves, and where they count and where not."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.trees import STEP, Array, gradient, page, random_states, random_tree, rate
from kinetree.algorithms import aba, bias_forces, gravity_forces, rnea
from kinetree.algorithms.dynamics.aba import hybrid_dynamics
from kinetree.algorithms.quantities import mechanical_energy, potential_energy
from kinetree.joints import Mimic, Prismatic, Revolute
from kinetree.model import JointSpring, Model


def sprung(model: Model, seed: int) -> Model:
    """Return the model with a spring in each joint of one degree of freedom."""
    rng = np.random.default_rng(seed)
    bodies = (
        replace(b, spring=JointSpring(*rng.uniform(1.0, 20.0, 2).tolist())) if b.has_one_coordinate else b
        for b in model.bodies
    )
    return replace(model, bodies=tuple(bodies))


PLAIN = [random_tree(seed, n=len(MOVING)) for seed in range(2)]
trees = pytest.mark.parametrize("model", [sprung(model, 3) for model in PLAIN], ids=lambda m: m.name)

MJCF = """
<mujoco>
  <compiler angle="radian"/>
  <option gravity="0.3 -0.2 -9.81"/>
  <worldbody>
    <body name="arm">
      <joint name="turn" type="hinge" axis="0 1 0" stiffness="3" springref="0.4"/>
      <inertial pos="0.1 0.2 -0.5" mass="2" diaginertia="0.1 0.12 0.05"/>
      <body name="rod" pos="0 0 -1">
        <joint name="slide" type="slide" axis="0.6 0 0.8" stiffness="50" springref="-0.1"/>
        <inertial pos="0 0.1 -0.3" mass="1" diaginertia="0.02 0.03 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def arm_with_springs() -> kt.Robot:
    """Return the robot of MJCF, built with springs from the start."""
    b = kt.ModelBuilder("arm")
    b.add_link("world")
    b.add_link("arm", kt.Inertia(2.0, [0.1, 0.2, -0.5], np.diag([0.1, 0.12, 0.05])))
    b.add_link("rod", kt.Inertia(1.0, [0, 0.1, -0.3], np.diag([0.02, 0.03, 0.01])))
    b.add_joint("turn", parent="world", child="arm", joint=Revolute((0, 1, 0)), stiffness=3.0, rest_position=0.4)
    place = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]]
    slide = Prismatic((0.6, 0, 0.8))
    b.add_joint("slide", parent="arm", child="rod", joint=slide, placement=place, stiffness=50.0, rest_position=-0.1)
    return kt.Robot(b.build(gravity=(0.3, -0.2, -9.81)))


def test_against_mujoco() -> None:
    robot, theirs = arm_with_springs(), mujoco.MjModel.from_xml_string(MJCF)
    theirs.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    data = mujoco.MjData(theirs)
    at_zero = []
    for q, v, tau in np.random.default_rng(0).normal(size=(5, 3, 2)):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
        mujoco.mj_forward(theirs, data)
        assert_close(robot.forward_dynamics(q, v, tau), data.qacc, ulps=200)
        assert_close(robot.gravity_forces(q) - robot.bias_forces(q, 0 * v), data.qfrc_spring, ulps=200)
        at_zero.append(robot.mechanical_energy(q, v) - data.energy.sum())
    # they measure heights from elsewhere: all energies differ by the same
    assert_close(np.array(at_zero), np.full(5, at_zero[0]), ulps=200, scale=100.0)


@trees
def test_springs_and_gravity_are_the_gradient_of_potential_energy(model: Model) -> None:
    q, v, _ = random_states(model, 4)
    expected = gradient(lambda x: page(potential_energy, model, x), model, q)
    assert_close(page(bias_forces, model, q, 0 * v), expected, ulps=100)


@trees
def test_power_balance(model: Model) -> None:
    """d/dt (T + V) = τᵀ v, springs included: without other forces energy is conserved."""
    q, v, tau = random_states(model, 5)
    a = page(aba, model, q, v, tau)
    along_v = page(mechanical_energy, model, q, v + 1j * STEP * a).imag / STEP
    along_q = rate(lambda x: page(mechanical_energy, model, x, v), model, q, v)
    terms = np.abs(along_v).max() + np.abs(along_q).max()
    assert_close(along_v + along_q, np.einsum("ni,ni->n", tau, v), ulps=400, scale=terms)


def conditioned(found: Array, given: Array) -> None:
    """Assert that two inverse computations undo each other, up to what the solution of M costs."""
    np.testing.assert_allclose(found, given, rtol=0.0, atol=1e-9 * (1.0 + np.abs(given).max()))


@trees
def test_forward_dynamics_undoes_inverse_dynamics(model: Model) -> None:
    q, v, a = random_states(model, 6)
    tau = page(rnea, model, q, v, a)
    conditioned(page(aba, model, q, v, tau), a)
    for method in ("articulated", "system"):
        name = model.joint_names[0]
        known = np.isin(np.arange(model.nv), model.bodies[model.body_of_joint(name)].v_index)
        options = {"prescribed": [name], "method": method}
        ask = np.where(known, a, 0.0), np.where(known, 0.0, tau)
        a_out, tau_out = (
            page(lambda *x, k=k, o=options: hybrid_dynamics(*x, **o)[k], model, q, v, *ask) for k in (0, 1)
        )
        conditioned(a_out, a)
        conditioned(tau_out, tau)


@pytest.mark.parametrize("k", range(len(PLAIN)))
def test_gravity_forces_are_those_without_springs(k: int) -> None:
    q, _, _ = random_states(PLAIN[k], 7)
    assert np.array_equal(page(gravity_forces, sprung(PLAIN[k], 3), q), page(gravity_forces, PLAIN[k], q))


def fingers(**follower: float) -> kt.Robot:
    b = kt.ModelBuilder("fingers")
    for name in ("palm", "left", "right"):
        b.add_link(name, kt.Inertia.from_com(1.0, [0.1, 0, 0], np.eye(3)))
    b.add_joint("lead", parent="palm", child="left", joint=Revolute(), stiffness=2.0, rest_position=0.5)
    b.add_joint("follow", parent="palm", child="right", joint=Revolute(), mimic=("lead", -2.0, 0.3), **follower)
    return kt.Robot(b.build(gravity=(0, 0, 0)))


def test_a_followers_spring_is_felt_at_its_leader() -> None:
    robot, q = fingers(stiffness=3.0, rest_position=1.0), np.array([0.7])
    follower = -2.0 * q + 0.3
    energy = 0.5 * 2.0 * (q - 0.5) ** 2 + 0.5 * 3.0 * (follower - 1.0) ** 2
    assert_close(robot.potential_energy(q), energy[0], ulps=8)
    assert_close(robot.bias_forces(q, [0.0]), 2.0 * (q - 0.5) + 3.0 * (follower - 1.0) * -2.0, ulps=8)
    assert robot.stiffness.tolist() == [2.0 + 4 * 3.0]
    assert abs(robot.bias_forces(robot.rest_positions, [0.0])[0]) < 1e-14
    assert fingers().with_joint_physics(stiffness={"follow": 3.0}, rest_position={"follow": 1.0}) == robot
    # an array is one spring in all, of which the coordinate feels the same
    again = fingers(stiffness=9.0).with_joint_physics(stiffness=robot.stiffness, rest_position=robot.rest_positions)
    assert_close(again.bias_forces(q, [0.0]), robot.bias_forces(q, [0.0]), ulps=20)
    assert again.model.bodies[1].spring.stiffness == 0.0
    assert isinstance(again.model.bodies[1].joint, Mimic)


def test_no_spring_no_operation() -> None:
    robot = fingers(rest_position=4.0).with_joint_physics(stiffness=0.0)
    plain = kt.ModelBuilder("plain")
    for name in ("palm", "left", "right"):
        plain.add_link(name, kt.Inertia.from_com(1.0, [0.1, 0, 0], np.eye(3)))
    plain.add_joint("lead", parent="palm", child="left", joint=Revolute())
    plain.add_joint("follow", parent="palm", child="right", joint=Revolute(), mimic=("lead", -2.0, 0.3))
    without = kt.Robot(plain.build(gravity=(0, 0, 0)))
    assert robot.inverse_dynamics.op_count == without.inverse_dynamics.op_count
    assert fingers().inverse_dynamics.op_count != without.inverse_dynamics.op_count
