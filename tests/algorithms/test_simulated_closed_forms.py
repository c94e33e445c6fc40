"""Motions of known form, and those of others: a free body, a top, Drake's chaotic pendulum, MuJoCo's steps."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipk

import kinetree as kt
from helpers import mujoco_oracle
from helpers.trees import Array
from kinetree.joints import FreeFlyer, Joint, Revolute, Spherical
from kinetree.model import ModelBuilder
from kinetree.spatial import Inertia
from robots import erd_urdf

METHODS = {"semi_implicit_euler": 1, "variational": 2, "rk4": 4}
methods = pytest.mark.parametrize("name", METHODS)


def single(joint: Joint, inertia: Inertia, gravity: float) -> kt.Robot:
    builder = ModelBuilder("body")
    builder.add_link("ground")
    builder.add_link("body", inertia)
    builder.add_joint("joint", parent="ground", child="body", joint=joint)
    return kt.Robot(builder.build(gravity=(0.0, 0.0, -gravity)))


def order(errors: list[float]) -> float:
    """Return the slope of errors at steps each half of the one before."""
    return float(-np.polyfit(np.arange(len(errors)), np.log2(errors), 1)[0])


# -- a free rigid body -----------------------------------------------------------------------------------------------

MOMENTS = (1.0, 2.0, 3.0)


@cache
def free_body() -> kt.Robot:
    return single(FreeFlyer(), Inertia.from_com(1.0, [0.0, 0.0, 0.0], np.diag(MOMENTS).tolist()), 0.0)


def euler_top(w1: float, w3: float, t: Array) -> Array:
    """Return ω(t) from ω = (w1, 0, w3), where L² > 2T I2 (Landau and Lifshitz, Mechanics, §37)."""
    I1, I2, I3 = MOMENTS
    twice_T, L2 = I1 * w1**2 + I3 * w3**2, (I1 * w1) ** 2 + (I3 * w3) ** 2
    assert twice_T * I2 < L2
    rate = np.sqrt((I3 - I2) * (L2 - twice_T * I1) / (I1 * I2 * I3))
    m = (I2 - I1) * (twice_T * I3 - L2) / ((I3 - I2) * (L2 - twice_T * I1))
    sn, cn, dn, _ = ellipj(rate * t, m)
    return np.stack([w1 * cn, np.sqrt((twice_T * I3 - L2) / (I2 * (I3 - I2))) * sn, w3 * dn], axis=-1)


@methods
def test_a_free_body_turns_as_elliptic_functions(name: str) -> None:
    w1, w3, T = 0.8, 1.5, 4.0
    errors = []
    for n in (100, 200, 400, 800):
        moved = free_body().simulate(
            free_body().neutral(), [w1, 0.0, w3, 0.0, 0.0, 0.0], steps=n, dt=T / n, integrator=name
        )
        w = euler_top(w1, w3, moved.t)
        errors.append(np.abs(moved.v[:, :3] - w).max())
        assert np.abs(moved.v[:, 3:]).max() < 1e-12
    assert np.abs(w[:, 1]).max() > 0.5
    assert order(errors) == pytest.approx(METHODS[name], abs=0.05)


# -- a heavy symmetric top -------------------------------------------------------------------------------------------


@methods
def test_a_top_nutates_as_elliptic_functions(name: str) -> None:
    """Let go at an angle, spinning: the height of its axis is such a function (Goldstein, §5.7)."""
    mass, length, across, along, g = 0.5, 0.2, 0.01, 0.02, 9.81
    spin, tilt, T = 20.0, 0.6, 0.8
    top = single(Spherical(), Inertia.from_com(mass, [0.0, 0.0, length], np.diag([across, across, along]).tolist()), g)
    I1 = across + mass * length**2
    a, beta, u0 = along * spin / I1, 2 * mass * g * length / I1, np.cos(tilt)
    # u̇² = (u0 − u) (β (1 − u²) − a² (u0 − u)), whose roots are u0, the cusp, the lowest height, and one above 1
    low, high = np.sort(np.roots([-beta, a**2, beta - a**2 * u0]).real)
    m, rate = (u0 - low) / (high - low), np.sqrt(beta * (high - low)) / 2
    q = np.array([np.sin(tilt / 2), 0.0, 0.0, np.cos(tilt / 2)])
    errors = []
    for n in (200, 400, 800, 1600):
        moved = top.simulate(q, [0.0, 0.0, spin], steps=n, dt=T / n, integrator=name)
        sn, *_ = ellipj(ellipk(m) - rate * moved.t, m)
        x, y, _, _ = moved.q.T
        height = 1.0 - 2.0 * (x * x + y * y)
        errors.append(np.abs(height - (low + (u0 - low) * sn**2)).max())
    assert np.ptp(height) > 0.2
    assert order(errors) == pytest.approx(METHODS[name], abs=0.05)


# -- Drake's chaotic double pendulum ---------------------------------------------------------------------------------


@cache
def babyboot() -> kt.Robot:
    """Return Drake's "chaotic babyboot": a plate B on a shoelace A, hinged across it, turns about the shoelace."""
    builder = ModelBuilder("babyboot")
    g_cm2 = 1e-7
    builder.add_link("N")
    builder.add_link("A", Inertia.from_com(0.01, [0.0, 0.0, -0.075], np.diag([50 * g_cm2, 50 * g_cm2, 0.0]).tolist()))
    builder.add_link(
        "B", Inertia.from_com(0.1, [0.0, 0.0, -0.2], np.diag([2500 * g_cm2, 500 * g_cm2, 2000 * g_cm2]).tolist())
    )
    builder.add_joint("qA", parent="N", child="A", joint=Revolute((1, 0, 0)))
    builder.add_joint("qB", parent="A", child="B", joint=Revolute((0, 0, 1)))
    return kt.Robot(builder.build(gravity=(0.0, 0.0, -9.81)))


BEGIN, AFTER_TEN_SECONDS = np.deg2rad([90.0, 1.0]), (-61.31298, -929.4779)
BOOT = "drake/multibody/benchmarks/chaotic_babyboot: what Drake's test expects, from several integrators"


def test_the_babyboot_by_the_classical_method() -> None:
    moved = babyboot().simulate(BEGIN, duration=10.0, dt=1e-4, integrator="rk4", record=kt.Record(every=10_000))
    qA, qB = np.rad2deg(moved.q[-1])
    assert qA == pytest.approx(AFTER_TEN_SECONDS[0], abs=0.5e-5), BOOT
    assert qB == pytest.approx(AFTER_TEN_SECONDS[1], abs=0.5e-4), BOOT


def test_the_babyboot_by_steps_as_tolerances_ask_for() -> None:
    moved = babyboot().simulate(BEGIN, duration=10.0, dt=1.0, integrator=kt.Tsitouras(rtol=1e-13, atol=1e-13))
    qA, qB = np.rad2deg(moved.q[-1])
    assert qA == pytest.approx(AFTER_TEN_SECONDS[0], abs=0.5e-5), BOOT
    assert qB == pytest.approx(AFTER_TEN_SECONDS[1], abs=0.5e-4), BOOT


def test_the_babyboot_by_scipys_method() -> None:
    """Which shows that the model is Drake's, whatever the integrator."""
    robot = babyboot()

    def rates(_: float, x: Array) -> Array:
        return np.concatenate([x[2:], robot.forward_dynamics(x[:2], x[2:], np.zeros(2))])

    x = solve_ivp(rates, (0.0, 10.0), [*BEGIN, 0.0, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    assert np.rad2deg(x[0]) == pytest.approx(AFTER_TEN_SECONDS[0], abs=0.5e-5), BOOT
    assert np.rad2deg(x[1]) == pytest.approx(AFTER_TEN_SECONDS[1], abs=0.5e-4), BOOT


# -- MuJoCo ----------------------------------------------------------------------------------------------------------

THEIRS = {
    "semi_implicit_euler": mujoco.mjtIntegrator.mjINT_EULER,
    "implicit_euler": mujoco.mjtIntegrator.mjINT_EULER,  # which takes damping at the new velocity
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}


@pytest.mark.parametrize("name", THEIRS)
def test_steps_are_mujocos(name: str) -> None:
    """A hundred of them, of an arm that falls, with damping where that is implicit there."""
    path = erd_urdf("ur5_robot.urdf")
    damping = 5.0 if name == "implicit_euler" else 0.0
    robot = kt.load(path).with_joint_physics(damping=damping).with_friction(coulomb=False)
    oracle = mujoco_oracle.load(path, robot.model)
    theirs, data = oracle.theirs, oracle.data
    theirs.opt.integrator, theirs.opt.timestep = THEIRS[name], 2e-3
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    theirs.dof_damping[:] = damping
    q, v, _ = robot.random_state(seed=3)
    data.qpos[:], data.qvel[:] = q, v
    for _ in range(100):
        mujoco.mj_step(theirs, data)
    moved = robot.simulate(q, v, steps=100, dt=2e-3, integrator=name, record=kt.Record(every=100))
    assert moved.q[-1] == pytest.approx(data.qpos, rel=0, abs=1e-11)
    assert moved.v[-1] == pytest.approx(data.qvel, rel=0, abs=1e-10)
    assert np.abs(moved.q[-1] - q).max() > 0.1


@pytest.mark.parametrize(("name", "order", "most"), [("semi_implicit_euler", 2, 1e-6), ("rk4", 4, 1e-12)])
def test_a_floating_robot_moves_as_mujocos_does(name: str, order: int, most: float) -> None:
    """As steps get shorter: MuJoCo's floating base moves by another rule, along its velocity in the world's axes.

    What is left of Euler's method after extrapolation to steps of no length falls with their square, RK4's error with
    the fourth power; both states are seen as coordinates around one of them.
    """
    path = erd_urdf("go2.urdf")
    robot = kt.load(path, floating_base=True).with_joint_physics(armature=0.01)
    oracle = mujoco_oracle.load(path, robot.model)
    oracle.theirs.opt.integrator = THEIRS[name]
    oracle.theirs.dof_armature[6:], oracle.theirs.dof_damping[:] = 0.01, 0.0
    q, v, _ = robot.random_state(seed=3)
    centre = robot.simulate(q, v, steps=100, dt=1e-3, integrator="rk4").q[-1]

    def apart(steps: int) -> Array:
        """Return the difference of the states after 0.1 s."""
        oracle.theirs.opt.timestep = 0.1 / steps
        ours = robot.simulate(q, v, steps=steps, dt=0.1 / steps, integrator=name, record=kt.Record(every=steps))
        (q_end, v_end), (theirs_q, theirs_v) = (ours.q[-1], ours.v[-1]), oracle.simulate(q, v, steps)
        change = robot.difference(centre, q_end) - robot.difference(centre, theirs_q)
        return np.concatenate([change, v_end - theirs_v])

    found = [apart(steps) for steps in (40, 80, 160)]
    if name == "semi_implicit_euler":
        found = [2 * near - far for far, near in pairwise(found)]
    left = [np.abs(x).max() for x in found[:2]]
    assert np.log2(left[0] / left[1]) == pytest.approx(order, abs=0.2)
    assert left[1] < most
    assert np.abs(centre - q).max() > 0.1
