"""Stops and limits of effort: what their page says of depths and speeds, energy, derivatives, and signs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import mujoco
import numpy as np
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.joints import MOVING
from helpers.trees import Array, page, random_states, random_tree, toy
from kinetree.algorithms.dynamics.passive_forces import (
    FASTEST,
    SHARE,
    SLOWEST,
    friction_forces,
    limit_derivatives,
    limit_forces,
    passive_damping,
    passive_forces,
    passive_stiffness,
    saturated,
)
from kinetree.joints import Mimic, Prismatic, Revolute
from kinetree.model import JointFriction, JointLimits, JointSpring, Model
from kinetree.scalars.dual import Dual, rate_of

INERTIA, OMEGA = 0.3, SLOWEST


def pendulum(limits: JointLimits) -> Model:
    links = {"arm": kt.Inertia(1.0, [0, 0, 0], INERTIA * np.eye(3))}
    return toy(("pivot base arm", Revolute((0, 1, 0)), {"limits": limits}), links=links)


def force(model: Model, q: float, v: float) -> float:
    (f,) = limit_forces(model, [q], [v])
    return float(f)


def run(model: Model, q: float, v: float, dt: float, until: Callable[[float, float], bool]) -> Array:
    """Return the states of a rotor by semi-implicit Euler, without gravity."""
    found = [(q, v)]
    while not until(q, v) and len(found) < 100_000:
        v = v + dt * force(model, q, v) / INERTIA
        q = q + dt * v
        found.append((q, v))
    return np.array(found)


@pytest.mark.parametrize("speed", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_depth_and_rebound_at_any_speed(speed: float, side: float) -> None:
    model = pendulum(JointLimits(-1.0, 1.0, effort=0.0))
    states = run(model, side, side * speed, 2e-5, lambda q, _: side * q < 1.0)
    assert (side * states[:, 0]).max() - 1.0 == pytest.approx(0.687 * speed / OMEGA, rel=5e-3)
    assert -side * states[-1, 1] == pytest.approx(0.339 * speed, rel=5e-3)
    energy = INERTIA * (states[:, 1] ** 2 + OMEGA**2 * np.maximum(side * states[:, 0] - 1.0, 0.0) ** 2) / 2
    assert np.diff(energy).max() < 1e-3 * energy[0]  # what the step of a symplectic method gives and takes again
    assert energy[-1] == pytest.approx(0.339**2 * energy[0], rel=2e-2)


def test_energy_never_increases() -> None:
    """The power of a stop is never more than what its spring gives back: ``f v ≤ −k e ė``."""
    model, k = pendulum(JointLimits(-1.0, 1.0, effort=0.0)), INERTIA * OMEGA**2
    for q, v in np.random.default_rng(0).normal(scale=(1.5, 50.0), size=(200, 2)):
        e = max(abs(q) - 1.0, 0.0)
        assert force(model, q, v) * v <= -k * e * math.copysign(v, v * q) + 1e-9 * k


def test_it_pushes_back_alone_and_begins_with_nothing() -> None:
    model = pendulum(JointLimits(-1.0, 0.5, effort=0.0))
    for v in (-20.0, -1e-9, 0.0, 1e-9, 20.0):
        assert [force(model, q, v) for q in (-1.0, -0.3, 0.0, 0.5)] == [0.0] * 4
        assert 0.0 <= force(model, -1.0 - 1e-12, v) < 1e-8
        assert -1e-8 < force(model, 0.5 + 1e-12, v) <= 0.0
        assert all(force(model, -1.0 - e, v) >= 0.0 >= force(model, 0.5 + e, v) for e in np.geomspace(1e-9, 1.0, 30))
    assert force(model, 0.6, -20.0) == 0.0  # on its way back too fast for the stop to follow
    assert math.isnan(force(model, math.nan, 0.0))
    assert force(pendulum(JointLimits(upper=0.5)), -1e3, 0.0) == 0.0
    assert force(pendulum(JointLimits(upper=0.5)), 0.6, 0.0) == pytest.approx(-0.1 * INERTIA * OMEGA**2)
    assert force(pendulum(JointLimits()), 1e3, 0.0) == 0.0


def test_held_at_a_stop_it_is_critically_damped() -> None:
    model, load = pendulum(JointLimits(-1.0, 1.0, effort=0.0)), 20.0
    rest = 1.0 + load / (INERTIA * OMEGA**2)
    assert force(model, rest, 0.0) == pytest.approx(-load)
    (k,), (d,) = limit_derivatives(model, [rest], [0.0])
    assert d == pytest.approx(2.0 * math.sqrt(k * INERTIA))


def test_the_largest_effort_stays_within_a_share_of_the_range() -> None:
    at = {effort: pendulum(JointLimits(-1.0, 1.0, effort=effort)) for effort in (1.0, 1000.0, 1e9)}
    depth = {effort: 0.1 * effort / -force(model, 1.1, 0.0) for effort, model in at.items()}
    assert depth[1.0] == pytest.approx(1.0 / (INERTIA * SLOWEST**2))
    assert depth[1000.0] == pytest.approx(SHARE * 2.0)
    assert depth[1e9] == pytest.approx(1e9 / (INERTIA * FASTEST**2))


def limited(seed: int) -> Model:
    """Return a tree with limits, springs and friction in all joints that can have them."""
    model = random_tree(seed, n=len(MOVING))
    own = {"limits": JointLimits(-0.5, 0.4, effort=30.0), "spring": JointSpring(4.0, 0.3)}
    bodies = tuple(
        replace(
            b,
            **(own if b.has_one_coordinate else {}),
            damping=(0.2,) * len(b.v_index),
            friction=(0.1,) * len(b.v_index),
        )
        for b in model.bodies
    )
    return replace(model, bodies=bodies).with_friction(JointFriction(damping=True, coulomb=True, smoothing=0.1))


@pytest.mark.parametrize("seed", range(2))
def test_stiffness_and_damping_are_the_derivatives(seed: int) -> None:
    """By dual numbers, entry by entry: all of them together are diagonal."""
    model = limited(seed)
    states = random_states(model, seed, size=4)
    one = [b for b in model.leading if b.has_one_coordinate]
    for q, v in zip(*(x.tolist() for x in states[:2]), strict=True):
        stiff, damp = limit_derivatives(model, q, v)
        all_stiff, all_damp = passive_stiffness(model, q, v, limits=True), passive_damping(model, q, v, limits=True)
        assert min(*stiff, *damp) >= 0.0
        assert max(stiff) > 100.0  # some joint is beyond its limits
        for body in one:
            (i,), (k,) = body.q_index, body.v_index
            for entry, of, own, both in ((i, q, stiff, all_stiff), (k, v, damp, all_damp)):
                along = [Dual(x, float(j == entry)) for j, x in enumerate(of)]
                at = (along, v) if of is q else (q, along)
                rates = [-rate_of(f) for f in limit_forces(model, *at)]
                assert rates == pytest.approx([own[k] if j == k else 0.0 for j in range(model.nv)], abs=1e-9)
                passive = [rate_of(f) for f in passive_forces(model, *at)]
                chord = friction_forces(model, v)[k] / v[k]
                assert of is q or passive[k] < chord
                assert both[k] - own[k] == pytest.approx(passive[k] if of is q else chord, abs=1e-9)
        assert passive_stiffness(model, q, v) == pytest.approx([x - y for x, y in zip(all_stiff, stiff, strict=True)])
        assert passive_damping(model, q, v) == pytest.approx([x - y for x, y in zip(all_damp, damp, strict=True)])


def test_efforts_are_cut_where_there_are_limits() -> None:
    robot = kt.load("go2").with_limits(effort={"FL_hip_joint": 5.0, "FL_thigh_joint": np.inf})
    rng = np.random.default_rng(0)
    tau = rng.normal(scale=100.0, size=(50, robot.nv))
    most = np.where(robot.effort_limits > 0.0, robot.effort_limits, np.inf)
    assert np.array_equal(page(saturated, robot.model, tau), np.clip(tau, -most, most))
    assert math.isnan(saturated(robot.model, [math.nan] * robot.nv)[6])


def test_steps_count_the_limits_that_are_asked_for() -> None:
    model, dt = pendulum(JointLimits(-1.0, 1.0, effort=4.0)), 1e-3
    robot = kt.Robot(model)
    q, v, tau = 1.1, 2.0, 50.0
    for limits, total in {
        "none": tau,
        "position": tau + force(model, q, v),
        "effort": 4.0,
        "all": 4.0 + force(model, q, v),
    }.items():
        after = robot.step([q], [v], [tau], dt, limits=limits)
        assert after.v[0] == pytest.approx(v + dt * total / INERTIA, rel=1e-13)


# -- Springs in joints: against MuJoCo's, as what energy conserves, and where they count and where not ---------------


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
    links = {"arm": kt.Inertia(2.0, [0.1, 0.2, -0.5], np.diag([0.1, 0.12, 0.05]))}
    links["rod"] = kt.Inertia(1.0, [0, 0.1, -0.3], np.diag([0.02, 0.03, 0.01]))
    place = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, -1], [0, 0, 0, 1]]
    turn = "turn world arm", Revolute((0, 1, 0)), {"stiffness": 3.0, "rest_position": 0.4}
    slide = "slide arm rod", Prismatic((0.6, 0, 0.8)), {"placement": place, "stiffness": 50.0, "rest_position": -0.1}
    return kt.Robot(toy(turn, slide, links=links, gravity=(0.3, -0.2, -9.81)))


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


def fingers(lead: dict[str, float] = {"stiffness": 2.0, "rest_position": 0.5}, **follower: float) -> kt.Robot:  # noqa: B006
    other = "follow palm right", Revolute(), {"mimic": ("lead", -2.0, 0.3), **follower}
    return kt.Robot(toy(("lead palm left", Revolute(), lead), other, gravity=(0, 0, 0)))


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
    without = fingers({})
    assert robot.inverse_dynamics.op_count == without.inverse_dynamics.op_count
    assert fingers().inverse_dynamics.op_count != without.inverse_dynamics.op_count
