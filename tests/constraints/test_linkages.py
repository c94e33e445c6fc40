"""Mechanisms against closed forms: a slider-crank and a Delta robot; a Stewart platform against Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from helpers.constraints import arms, near, null_space_dynamics
from helpers.mechanisms import (
    FIGURES,
    Closed,
    bricard,
    delta,
    five_bar_leg,
    four_bar,
    n_four_bar,
    slider_crank,
    stewart,
)
from helpers.pinocchio_oracle import build, se3
from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.rnea import bias_forces
from kinetree.constraints.pages.assembly import assemble
from kinetree.constraints.pages.dynamics import forward_dynamics, project_velocity

Array = np.ndarray[Any, Any]
G = 9.81


def dynamics(case: Closed, v: Array, tau: Array) -> tuple[Array, Array]:
    """Return a and f, by the page over floats."""
    a, f = forward_dynamics(case.mech.model, case.q.tolist(), v.tolist(), tau.tolist())
    return np.array(a), np.array(f)


def admissible(case: Closed, seed: int = 0) -> Array:
    """Return a random velocity that the constraints allow."""
    v = np.random.default_rng(seed).normal(size=case.mech.nv)
    return np.array(project_velocity(case.mech.model, case.q.tolist(), v.tolist()))


def oracle(case: Closed, v: Array, tau: Array) -> tuple[Array, Array]:
    """Return a and the f of minimum norm by the null-space method."""
    model, q = case.mech.model, case.q.tolist()
    rows = model.constraint_rows(q, v.tolist())
    J, gamma = np.array([list(row.J) for row in rows], dtype=float), np.array([row.gamma for row in rows], dtype=float)
    return null_space_dynamics(
        np.array(crba(model, q)), np.array(bias_forces(model, q, v.tolist())), J, gamma, tau, arms(case.mech.model)[0]
    )


class SliderCrank:
    """A slider-crank's closed form: s is the crank's angle, its speed u and its acceleration w."""

    r, l = 0.3, 1.0
    masses = (2.0, 1.0, 3.0)
    spin = (2.0 * (0.3**2 / 12 + 1e-4), 1.0 * (1.0 / 12 + 1e-4))  # of crank and rod about their middles

    def __init__(self, s: float, u: float, w: float) -> None:
        self.p = -np.arcsin(self.r / self.l * np.sin(s))  # the rod's angle; both turn x towards −z
        self.dp = -self.r * np.cos(s) * u / (self.l * np.cos(self.p))
        self.ddp = (self.r * (np.sin(s) * u**2 - np.cos(s) * w) / self.l + np.sin(self.p) * self.dp**2) / np.cos(self.p)
        self.x = self.r * np.cos(s) + self.l * np.cos(self.p)
        self.dx = -self.r * np.sin(s) * u - self.l * np.sin(self.p) * self.dp
        self.elbow = self.turning(self.r, s, u, w)
        self.rod = self.elbow + self.turning(self.l / 2, self.p, self.dp, self.ddp)
        self.crank = self.turning(self.r / 2, s, u, w)
        self.ddx = (self.elbow + self.turning(self.l, self.p, self.dp, self.ddp))[0]

    @staticmethod
    def turning(length: float, angle: float, rate: float, acceleration: float) -> Array:
        """Return the acceleration (x, z) of the end of a bar that turns."""
        inwards, onwards = -np.array([np.cos(angle), -np.sin(angle)]), -np.array([np.sin(angle), np.cos(angle)])
        end: Array = length * (inwards * rate**2 + onwards * acceleration)
        return end


@pytest.mark.parametrize(("s", "u", "w"), [(-0.7, 2.0, -3.0), (0.4, -5.0, 7.0), (2.5, 1.0, 0.0)])
def test_a_slider_crank(s: float, u: float, w: float) -> None:
    case, known = slider_crank(motor=s), SliderCrank(s, u, w)
    np.testing.assert_allclose(case.q, [s, known.p - s, known.x], atol=1e-15)
    off = case.q + np.array([0.0, 0.2, 0.1])
    found, converged, *_ = assemble(case.mech.model, off.tolist(), fixed=("motor",))
    assert converged
    np.testing.assert_allclose(found, case.q, atol=1e-14)
    v = np.array([u, known.dp - u, known.dx])
    rows = case.mech.model.constraint_rows(case.q.tolist(), v.tolist())
    np.testing.assert_allclose([np.dot(row.J, v) for row in rows], 0.0, atol=1e-13)

    # the force (x, z) of the piston's pin on the rod: along x from the piston, along z from the rod about the elbow
    _, m, piston = known.masses
    push = -piston * known.ddx
    x, z = known.l * np.cos(known.p), -known.l * np.sin(known.p)
    inertial = m * (known.rod + np.array([0.0, G]))
    turn = known.spin[1] * known.ddp + (z / 2 * inertial[0] - x / 2 * inertial[1])  # moments about y: z f_x − x f_z
    lift = (z * push - turn) / x
    at_elbow = inertial - np.array([push, lift])  # of the crank on the rod
    X, Z = known.r * np.cos(s), -known.r * np.sin(s)
    weight = known.masses[0] * (known.crank + np.array([0.0, G]))
    torque = known.spin[0] * w + Z / 2 * weight[0] - X / 2 * weight[1] + Z * at_elbow[0] - X * at_elbow[1]
    a, f = dynamics(case, v, np.array([torque, 0.0, 0.0]))
    np.testing.assert_allclose(a, [w, known.ddp - w, known.ddx], atol=1e-12 * (1 + abs(w) + u**2))
    np.testing.assert_allclose(f[2:], [push, 0.0, lift], atol=1e-11 * (1 + abs(push) + abs(lift)))


@pytest.mark.parametrize("centre", [(0.05, -0.03, -0.5), (0.0, 0.0, -0.45), (-0.12, 0.1, -0.55)])
def test_a_delta_robot(centre: tuple[float, float, float]) -> None:
    case, x = delta(centre=centre), np.array(centre)
    model = case.mech.model
    found, converged, *_ = assemble(model, (case.q + np.r_[np.zeros(7), 0.3, -0.2, 0.4]).tolist(), fixed=("root",))
    assert converged
    np.testing.assert_allclose(found[7:], FIGURES.arm_angles(x), atol=1e-13)

    rng = np.random.default_rng(3)
    dx, ddx = rng.normal(size=3), rng.normal(size=3, scale=5.0)
    torque, speed, acceleration, along, thrust = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros((3, 3)), np.zeros(3)
    lever, mass = np.zeros(3), FIGURES.arm_mass
    for k, s in enumerate(FIGURES.arm_angles(x)):
        out, _ = FIGURES.directions(k)
        down = np.array([0.0, 0.0, -1.0])
        reach, onwards = np.cos(s) * out + np.sin(s) * down, -np.sin(s) * out + np.cos(s) * down
        d = x + (FIGURES.platform - FIGURES.base) * out - FIGURES.upper * reach  # from the elbow to the wrist
        lever[k] = FIGURES.upper * (d @ onwards)
        speed[k] = d @ dx / lever[k]
        apart = dx - FIGURES.upper * onwards * speed[k]
        acceleration[k] = (d @ (ddx + FIGURES.upper * reach * speed[k] ** 2) + apart @ apart) / lever[k]
        along[:, k] = d / FIGURES.forearm
        inertia = mass * (FIGURES.upper**2 / 3 + 1e-4)
        torque[k] = inertia * acceleration[k] - mass * G * FIGURES.upper / 2 * (down @ onwards)
    thrust = np.linalg.solve(along, FIGURES.platform_mass * (ddx + np.array([0.0, 0.0, G])))  # of both rods of a pair
    torque += lever / FIGURES.forearm * thrust
    v = np.r_[np.zeros(3), dx, speed]
    rows = model.constraint_rows(case.q.tolist(), v.tolist())
    np.testing.assert_allclose([np.dot(row.J, v) for row in rows], 0.0, atol=1e-13)
    a, f = dynamics(case, v, np.r_[np.zeros(6), torque])
    np.testing.assert_allclose(a, np.r_[np.zeros(3), ddx, acceleration], atol=1e-10 * np.abs(acceleration).max())
    np.testing.assert_allclose(f[::2] + f[1::2], thrust, atol=1e-10 * np.abs(thrust).max())


def test_a_stewart_platform_against_pinocchio_and_the_null_space_method() -> None:
    case = stewart()
    rng = np.random.default_rng(0)
    q = case.q.copy()
    q[:3] += rng.normal(size=3, scale=0.05)
    q, converged, *_ = assemble(case.mech.model, q.tolist(), fixed=("root",))
    assert converged
    case = Closed(case.mech, np.array(q))
    v, tau = admissible(case), rng.normal(size=24, scale=30.0)
    a, f = dynamics(case, v, tau)
    expected, forces = oracle(case, v, tau)
    near(a, expected, 1e-12)
    near(f, forces, 1e-12)

    o = build(case.mech.tree.model)
    balls, data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in case.mech.constraints:
        ends = [o.ours.frame(name) for name in loop.of]
        joints = [o.theirs.getJointId(o.ours.bodies[frame.body].joint_name) for frame in ends]
        (first, second), (X, Y) = joints, map(se3, (frame.X for frame in ends))
        kind = pin.ContactType.CONTACT_3D
        balls.append(pin.RigidConstraintModel(kind, o.theirs, first, X, second, Y, pin.ReferenceFrame.LOCAL))
    for ball in balls:
        data.append(ball.createData())
    pin.initConstraintDynamics(o.theirs, o.data, balls, data)
    state = (x[0] for x in (o.to_pin_q(case.q[None]), o.to_pin_v(v[None]), o.to_pin_v(tau[None])))
    settings = pin.ProximalSettings(1e-14, 1e-12, 20)
    theirs = o.from_pin_v(pin.constraintDynamics(o.theirs, o.data, *state, balls, data, settings)[None])[0]
    np.testing.assert_allclose(a, theirs, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("make", "moves"),
    [(bricard, True), (five_bar_leg, True), (n_four_bar, True), (lambda: n_four_bar(motor=0.0), False)],
)
def test_redundant_rows_give_the_acceleration_and_the_least_forces(make: Any, moves: bool) -> None:
    """Bricard's hinge has five rows of rank four, planar loops one of rank two; bars in a line lose more at rest."""
    case = make()
    v = admissible(case) if moves else np.zeros(case.mech.nv)
    tau = np.random.default_rng(1).normal(size=case.mech.nv, scale=10.0)
    a, f = dynamics(case, v, tau)
    expected, forces = oracle(case, v, tau)
    near(a, expected, 1e-10)
    near(f, forces, 1e-10)
    M, h = np.array(crba(case.mech.model, case.q.tolist())), bias_forces(case.mech.model, case.q.tolist(), v.tolist())
    power = v @ (M @ a + h - tau)  # of the constraints: ideal ones do no work
    assert abs(power) < 1e-11 * np.abs(forces).max() * np.linalg.norm(v) + 1e-30


@pytest.mark.parametrize("askew", [0.0, 1e-10, 1e-8])
def test_a_planar_linkage_whose_axes_are_not_quite_parallel_still_moves(askew: float) -> None:
    """Rows that say nothing in a plane then say a little, and would lock it if they counted: one μ for all rows."""
    flat, tilted = four_bar(), four_bar(turned=(0.3, 0.5, -0.2), askew=askew)
    v, tau = admissible(flat), np.array([5.0, 0.0, 0.0])
    expected, _ = dynamics(flat, v, tau)
    a, f = dynamics(tilted, v, tau)
    np.testing.assert_allclose(a, expected, rtol=0.0, atol=(1e-13 + 2 * askew) * np.abs(expected).max())
    assert np.linalg.norm(f / arms(tilted.mech.model)[0]) < 10.0
