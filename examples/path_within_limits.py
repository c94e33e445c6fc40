"""A path between two postures, and how much faster it may be: ``python examples/path_within_limits.py``."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.motions import minimum_time

START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.8])
END = np.array([1.2, 0.3, 0.3, -1.2, 0.4, 1.9, 0.0])


def main() -> None:
    """Print duration and largest use of the effort limits for several accelerations."""
    robot = kt.load("panda")
    for acceleration in (2.0, 5.0, 10.0, 20.0, 40.0):
        path = minimum_time(robot, START, END, acceleration=acceleration)
        tau = robot.inverse_dynamics(*path(np.linspace(0.0, path.duration, 1000)))
        used = (np.abs(tau) / robot.effort_limits).max()
        print(f"{acceleration:4.0f} rad/s²: {path.duration:.3f} s, at most {100 * used:3.0f} % of the effort limits")


if __name__ == "__main__":
    main()
