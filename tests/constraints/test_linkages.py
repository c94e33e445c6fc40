"""Mechanisms against closed forms: a slider-crank, a Delta robot, wheels; a Stewart platform against Pinocchio."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.constraints import arms, by_null_space, near
from helpers.mechanisms import (
    FIGURES,
    Closed,
    delta,
    four_bar,
    slider_crank,
    stewart,
)
from helpers.pinocchio_oracle import build, constrained_dynamics
from helpers.trees import toy
from kinetree.constraints.pages.assembly import assemble
from kinetree.constraints.pages.dynamics import forward_dynamics, project_velocity
from kinetree.constraints.pages.equations import complete_velocity
from kinetree.joints import FreeFlyer, Revolute

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
    expected, forces = by_null_space(case.mech.model, case.q, v, tau)
    near(a, expected, 1e-12)
    near(f, forces, 1e-12)

    loops = [loop.of for loop in case.mech.constraints]
    other = build(case.mech.tree.model)
    theirs, _ = constrained_dynamics(other, pin.ContactType.CONTACT_3D, loops, case.q, v, tau)
    np.testing.assert_allclose(a, theirs, rtol=0.0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("askew", [0.0, 1e-10, 1e-8])
def test_a_planar_linkage_whose_axes_are_not_quite_parallel_still_moves(askew: float) -> None:
    """Rows that say nothing in a plane then say a little, and would lock it if they counted: one μ for all rows."""
    flat, tilted = four_bar(), four_bar(turned=(0.3, 0.5, -0.2), askew=askew)
    v, tau = admissible(flat), np.array([5.0, 0.0, 0.0])
    expected, _ = dynamics(flat, v, tau)
    a, f = dynamics(tilted, v, tau)
    np.testing.assert_allclose(a, expected, rtol=0.0, atol=(1e-13 + 2 * askew) * np.abs(expected).max())
    assert np.linalg.norm(f / arms(tilted.mech.model)[0]) < 10.0


# -- wheels that roll --------------------------------------------------------------------------------------------------

M, R = 2.0, 0.3


def disk(slope: float = 0.0) -> kt.Mechanism:
    """Return a thin uniform disk on a plane, seen with the plane level and gravity tilted by the slope towards x."""
    links = {"disk": kt.Inertia.from_com(M, (0, 0, 0), np.diag([0.25, 0.5, 0.25]) * M * R**2)}
    gravity = (G * np.sin(slope), 0.0, -G * np.cos(slope))
    robot = kt.Robot(toy(("root world disk", FreeFlyer()), links=links, gravity=gravity))
    return kt.Mechanism(robot, [kt.Wheel("disk", radius=R)])


def test_a_disk_rolls_down_a_slope_at_two_thirds_of_the_sliding_acceleration() -> None:
    slope = 0.4
    mech = disk(slope)
    q = mech.tree.neutral()
    q[mech.tree.joint("root").q_slice][:3] = 0.0, 0.0, R
    a, f = forward_dynamics(mech.model, q.tolist(), [0.0] * 6, [0.0] * 6)
    down = 2 / 3 * G * np.sin(slope)
    np.testing.assert_allclose(a, [0, down / R, 0, down, 0, 0], atol=1e-12)  # angular first
    np.testing.assert_allclose(f, [-M * down / 2, 0, M * G * np.cos(slope)], atol=1e-12)


@pytest.mark.parametrize("tilt", [0.3, -0.7])
def test_a_coin_runs_in_circles(tilt: float) -> None:
    """Steady rolling of a thin disk (Routh, Advanced Rigid Dynamics, 1905, section 244), tilted from the upright.

    Its centre stays on a circle of radius ρ at Ω about the vertical: Ω² (6 ρ cos α + R sin α cos α) = 4 G sin α.
    """
    mech, a, side = disk(), abs(tilt), np.sign(tilt)
    s, c, rho = np.sin(tilt), np.cos(tilt), 1.1
    q = mech.tree.neutral()
    q[mech.tree.joint("root").q_slice] = 0.0, 0.0, R * c, np.sin(tilt / 2), 0.0, 0.0, np.cos(tilt / 2)
    turn = np.sqrt(4 * G * np.sin(a) / (6 * rho * np.cos(a) + R * np.sin(a) * np.cos(a)))
    low, axis = np.array([0.0, s, -c]) * R, np.array([0.0, c, s])
    centre = np.array([rho * turn, 0.0, 0.0])  # forwards; it leans to the middle of the circle, to −y if tilt > 0
    upright = np.array([0.0, 0.0, -side * turn])
    spin = -(centre + np.cross(upright, low))[0] / np.cross(axis, low)[0]
    to_body = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
    v = np.concatenate([to_body @ (upright + spin * axis), to_body @ centre])
    np.testing.assert_allclose(project_velocity(mech.model, q.tolist(), v.tolist()), v, atol=1e-12)
    acceleration, _ = forward_dynamics(mech.model, q.tolist(), v.tolist(), [0.0] * 6)
    of_centre = to_body.T @ (np.array(acceleration[3:]) + np.cross(v[:3], v[3:]))
    np.testing.assert_allclose(of_centre, [0.0, -side * rho * turn**2, 0.0], atol=1e-11)


def test_a_cart_goes_where_its_wheels_roll() -> None:
    """Two wheels on one axle: it goes forwards with the mean of both, and turns with their difference."""
    b = kt.ModelBuilder("cart")
    b.add_link("world")
    b.add_link("cart", kt.Inertia.from_com(5.0, (0, 0, 0), np.eye(3) * 0.1))
    b.add_joint("root", parent="world", child="cart", joint=FreeFlyer())
    for side, y in (("left", 0.2), ("right", -0.2)):
        b.add_link(side, kt.Inertia.from_com(0.5, (0, 0, 0), np.diag([0.01, 0.02, 0.01])))
        T = np.eye(4)
        T[1, 3] = y
        b.add_joint(side, parent="cart", child=side, joint=Revolute((0, 1, 0)), placement=T)
    robot = kt.Robot(b.build())
    wheels = [kt.Wheel(side, radius=0.1) for side in ("left", "right")]
    mech = kt.Mechanism(robot, wheels, actuated=["left", "right"])
    assert mech.independent == ("root.wy", "left", "right")  # it also pitches; five of six rows count
    q = robot.neutral()
    q[robot.joint("root").q_slice][2] = 0.1
    v = complete_velocity(mech.model, q.tolist(), [0.0, 3.0, 5.0])
    np.testing.assert_allclose(v[:6], [0.0, 0.0, 0.1 * 2.0 / 0.4, 0.1 * 4.0, 0.0, 0.0], atol=1e-12)
