"""Mechanisms whose equations of motion are in every book, and motions of known form."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise

import mujoco
import numpy as np
import pytest
import sympy
from scipy.special import ellipj, ellipk

import kinetree as kt
from helpers import mujoco_oracle
from helpers.dense import assert_close
from helpers.trees import Array, toy
from kinetree.algorithms import aba, crba, rnea
from kinetree.joints import FreeFlyer, Joint, Revolute, RollPitchYaw, Spherical
from kinetree.model import Model, ModelBuilder
from kinetree.spatial import Inertia, Scalar, Transform
from robots import erd_urdf

NOTHING = [[0.0] * 3 for _ in range(3)]


def chain(
    *links: tuple[Joint, tuple[float, float, float], Inertia], gravity: tuple[float, ...], **options: float
) -> Model:
    """Return a chain from (joint, its place in the link before, the link's inertia)."""
    b = ModelBuilder()
    b.add_link("link0")
    for k, (joint, place, inertia) in enumerate(links, start=1):
        b.add_link(f"link{k}", inertia)
        place_in_parent = Transform.translation(place)
        b.add_joint(f"j{k}", parent=f"link{k - 1}", child=f"link{k}", joint=joint, placement=place_in_parent, **options)
    return b.build(gravity=gravity)


@pytest.mark.parametrize("joint", [Spherical(), RollPitchYaw()], ids=["quaternion", "roll-pitch-yaw"])
@pytest.mark.parametrize(("theta", "precession"), [(0.6, 2.0), (1.2, -0.7), (2.0, 5.0)])
def test_symmetric_top(joint: Joint, theta: float, precession: float) -> None:
    """Steady precession: I₃ ω₃ Ω − I₁ Ω² cos θ = m g l, about the fixed point; then θ stays and no moment is needed."""
    m, l, I1, I3, g = 1.5, 0.3, 0.2, 0.05, 9.81
    top = Inertia.from_com(m, (0, 0, l), np.diag([I1 - m * l * l, I1 - m * l * l, I3]).tolist())
    model = chain((joint, (0.1, 0.2, 0.3), top), gravity=(0, 0, -g))
    c, s = math.cos(theta), math.sin(theta)
    w3 = (m * g * l + I1 * precession**2 * c) / (I3 * precession)
    spin = w3 - precession * c
    w, dw = [0.0, precession * s, w3], [precession * spin * s, 0.0, 0.0]  # in the body's axes, tilted about x
    if isinstance(joint, Spherical):
        q, v, a = [math.sin(theta / 2), 0.0, 0.0, math.cos(theta / 2)], w, dw
    else:  # at pitch and yaw zero the columns of S are x, (0, c, −s) and (0, s, c)
        q = [theta, 0.0, 0.0]
        E = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        v = np.linalg.solve(E, w).tolist()
        bias = np.array(list(joint.jcalc(q, v).cJ))[:3]
        a = np.linalg.solve(E, dw - bias).tolist()
    size = I3 * max(map(abs, v)) ** 2  # what cancels in the sum
    assert_close(rnea(model, q, v, a), [0.0, 0.0, 0.0], ulps=32, scale=size)
    assert_close(aba(model, q, v, [0.0] * 3), a, ulps=200, scale=size / I3)


def two_link(lengths: tuple[Scalar, Scalar], masses: tuple[Scalar, Scalar], g: Scalar) -> Model:
    """Return the planar arm of Modern Robotics, figure 8.1: point masses at the ends of two links, gravity along −y."""
    (l1, l2), (m1, m2) = lengths, masses
    links = (
        (Revolute((0, 0, 1)), (0.0, 0.0, 0.0), Inertia.from_com(m1, (l1, 0.0, 0.0), NOTHING)),
        (Revolute((0, 0, 1)), (l1, 0.0, 0.0), Inertia.from_com(m2, (l2, 0.0, 0.0), NOTHING)),
    )
    return chain(*links, gravity=(0.0, -g, 0.0))


def modern_robotics(q: list[Scalar], v: list[Scalar], l: tuple, m: tuple, g: Scalar, lib: object) -> tuple:
    """Return M, c and g of the 2R arm (Modern Robotics, equations 8.9 to 8.11)."""
    (L1, L2), (m1, m2) = l, m
    c1, c2, s2, c12 = lib.cos(q[0]), lib.cos(q[1]), lib.sin(q[1]), lib.cos(q[0] + q[1])
    coupling = m2 * (L1 * L2 * c2 + L2 * L2)
    M = [
        [m1 * L1 * L1 + m2 * (L1 * L1 + 2 * L1 * L2 * c2 + L2 * L2), coupling],
        [coupling, m2 * L2 * L2],
    ]
    c = [-m2 * L1 * L2 * s2 * (2 * v[0] * v[1] + v[1] * v[1]), m2 * L1 * L2 * v[0] * v[0] * s2]
    weight = [(m1 + m2) * L1 * g * c1 + m2 * g * L2 * c12, m2 * g * L2 * c12]
    return M, c, weight


def test_two_link_arm_as_formulas() -> None:
    """Over SymPy symbols, lengths and masses too, the pages simplify to the book's formulas."""
    L1, L2, m1, m2, g = sympy.symbols("L1 L2 m1 m2 g", positive=True)
    q, v, a = ([*sympy.symbols(f"{x}1 {x}2", real=True)] for x in ("q", "v", "a"))
    model = two_link((L1, L2), (m1, m2), g)
    M, c, weight = modern_robotics(q, v, (L1, L2), (m1, m2), g, sympy)
    book = [sum(M[i][j] * a[j] for j in range(2)) + c[i] + weight[i] for i in range(2)]
    for got, expected in zip(rnea(model, q, v, a), book, strict=True):
        difference = sympy.expand(sympy.expand_trig(sympy.expand(sympy.nsimplify(got - expected))))
        cosines = {sympy.cos(x) ** 2: 1 - sympy.sin(x) ** 2 for x in q}
        assert sympy.expand(difference.subs(cosines)) == 0
    for row, expected_row in zip(crba(model, q), M, strict=True):
        for got, expected in zip(row, expected_row, strict=True):
            assert sympy.simplify(sympy.nsimplify(got - expected)) == 0


# -- Motions of known form, and those of others: a free body, a top, Drake's chaotic pendulum, MuJoCo's steps --------


METHODS = {"semi_implicit_euler": 1, "variational": 2, "rk4": 4}
methods = pytest.mark.parametrize("name", METHODS)


def single(joint: Joint, inertia: Inertia, gravity: float) -> kt.Robot:
    return kt.Robot(toy(("joint ground body", joint), links={"body": inertia}, gravity=(0.0, 0.0, -gravity)))


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
    assert order(errors) == pytest.approx(METHODS[name], abs=0.05)  # a slope over three halvings of dt


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
    assert order(errors) == pytest.approx(METHODS[name], abs=0.05)  # a slope over three halvings of dt


# -- Drake's chaotic double pendulum ---------------------------------------------------------------------------------


@cache
def babyboot() -> kt.Robot:
    """Return Drake's "chaotic babyboot": a plate B on a shoelace A, hinged across it, turns about the shoelace."""
    links = {
        "A": Inertia.from_com(0.01, [0.0, 0.0, -0.075], np.diag([50e-7, 50e-7, 0.0]).tolist()),
        "B": Inertia.from_com(0.1, [0.0, 0.0, -0.2], np.diag([2500e-7, 500e-7, 2000e-7]).tolist()),
    }
    return kt.Robot(toy(("qA N A", Revolute((1, 0, 0))), ("qB A B", Revolute((0, 0, 1))), links=links))


BEGIN, AFTER_TEN_SECONDS = np.deg2rad([90.0, 1.0]), (-61.31298, -929.4779)  # °, of which all digits are known
BOOT = "drake/multibody/benchmarks/chaotic_babyboot: what Drake's test expects, from several integrators"


@pytest.mark.parametrize("integrator", ["rk4", kt.Tsitouras(rtol=1e-13, atol=1e-13)], ids=str)
def test_the_babyboot_after_ten_seconds(integrator: object) -> None:
    dt, every = (1e-4, 10_000) if integrator == "rk4" else (1.0, 1)
    moved = babyboot().simulate(BEGIN, duration=10.0, dt=dt, integrator=integrator, record=kt.Record(every=every))
    qA, qB = np.rad2deg(moved.q[-1])
    assert qA == pytest.approx(AFTER_TEN_SECONDS[0], abs=0.5e-5), BOOT
    assert qB == pytest.approx(AFTER_TEN_SECONDS[1], abs=0.5e-4), BOOT


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
