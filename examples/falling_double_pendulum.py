"""The two-link arm of *Modern Robotics* falls: ``python examples/falling_double_pendulum.py``.

Beside it the book's own formulas for this arm, stepped by the book's own method.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.joints import Revolute

M1, M2, L1, L2, G = 1.0, 0.7, 0.5, 0.4, 9.81
DT, STEPS = 1e-3, 1000
START = np.array([0.2, 0.5])


def arm() -> kt.Robot:
    """Return two links with a point mass at the end of each, in a vertical plane (figure 8.1 of the book)."""
    b = kt.ModelBuilder("two-link arm")
    b.add_link("base")
    b.add_link("upper", kt.Inertia.from_com(M1, [L1, 0, 0], np.zeros((3, 3))))
    b.add_link("lower", kt.Inertia.from_com(M2, [L2, 0, 0], np.zeros((3, 3))))
    elbow = np.eye(4)
    elbow[0, 3] = L1
    b.add_joint("shoulder", parent="base", child="upper", joint=Revolute((0, 0, 1)))
    b.add_joint("elbow", parent="upper", child="lower", joint=Revolute((0, 0, 1)), placement=elbow)
    return kt.Robot(b.build(gravity=(0, -G, 0)))


def acceleration(theta: kt.Array, rate: kt.Array) -> kt.Array:
    """Return the book's ``M(θ)⁻¹ (−c(θ, θ̇) − g(θ))``, equation 8.9."""
    (a, b), (da, db) = theta, rate
    near = M2 * (L1 * L2 * np.cos(b) + L2**2)
    M = np.array([[M1 * L1**2 + M2 * (L1**2 + 2 * L1 * L2 * np.cos(b) + L2**2), near], [near, M2 * L2**2]])
    c = M2 * L1 * L2 * np.sin(b) * np.array([-2 * da * db - db**2, da**2])
    far = M2 * L2 * G * np.cos(a + b)
    g = np.array([(M1 + M2) * L1 * G * np.cos(a) + far, far])
    return np.linalg.solve(M, -c - g)


def main() -> None:
    """Let the arm fall for a second, and print how far three methods are from the book and from the truth."""
    robot = arm()
    theta, rate = START.copy(), np.zeros(2)
    for _ in range(STEPS):  # EulerStep, section 8.9.2
        theta, rate = theta + DT * rate, rate + DT * acceleration(theta, rate)
    exact = robot.simulate(START, steps=10 * STEPS, dt=DT / 10, integrator="rk4", joints="none")
    euler = robot.simulate(START, steps=STEPS, dt=DT, integrator="euler", joints="none")
    off = abs(euler.q[-1] - theta).max()
    print(f"after {DT * STEPS:g} s the book's arm is at {np.degrees(theta).round(4)}°, ours within {off:.0e} rad of it")
    for name in ("euler", "semi_implicit_euler", "rk4"):
        motion = robot.simulate(START, steps=STEPS, dt=DT, integrator=name, joints="none")
        error = abs(motion.q[-1] - exact.q[-1]).max()
        print(f"{name:20s} {error:.1e} rad from the truth, energy drifts by {100 * motion.energy_drift:.1e} %")


if __name__ == "__main__":
    main()
