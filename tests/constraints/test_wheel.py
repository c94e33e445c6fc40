"""Wheels that roll: closed forms of disks."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.constraints.pages.dynamics import forward_dynamics, project_velocity
from kinetree.constraints.pages.reduced import complete_velocity
from kinetree.joints import FreeFlyer, Revolute

M, R, G = 2.0, 0.3, 9.81


def disk(slope: float = 0.0) -> kt.Mechanism:
    """Return a thin uniform disk on a plane, seen with the plane level and gravity tilted by the slope towards x."""
    b = kt.ModelBuilder("disk")
    b.add_link("world")
    b.add_link("disk", kt.Inertia.from_com(M, (0, 0, 0), np.diag([0.25, 0.5, 0.25]) * M * R**2))
    b.add_joint("root", parent="world", child="disk", joint=FreeFlyer())
    robot = kt.Robot(b.build(gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope))))
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
