"""A hand that follows a circle, by one step of differential inverse kinematics a millisecond.

``python examples/follow_a_circle.py``
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

HAND, RADIUS, PERIOD, DT = "panda_hand", 0.1, 4.0, 1e-3  # m, s, s
HOME = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])


def main(seconds: float = PERIOD) -> None:
    """Print how far the hand is from the circle at most, and how fast the joints move."""
    robot = kt.load("panda")
    step = robot.differential_inverse_kinematics(HAND)
    q, target = HOME, robot.frame_placement(HOME, frame=HAND)
    centre = target[:3, 3] - np.array([0.0, RADIUS, 0.0])
    errors, speeds = [], []
    for k in range(1, round(seconds / DT) + 1):
        angle = 2.0 * np.pi * k * DT / PERIOD
        target[:3, 3] = centre + RADIUS * np.array([0.0, np.cos(angle), np.sin(angle)])
        q, v, *_ = step(q, target, DT, posture=HOME)
        errors.append(np.linalg.norm(robot.frame_placement(q, frame=HAND)[:3, 3] - target[:3, 3]))
        speeds.append(np.abs(v) / robot.velocity_limits)
    print(f"at most {1e6 * max(errors):.2f} µm from the circle, at {100 * np.max(speeds):.0f} % of the speed limits")
    print(f"after the last round {np.abs(q - HOME).max():.4f} rad from home")


if __name__ == "__main__":
    main()
