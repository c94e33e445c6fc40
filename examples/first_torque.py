"""A robot, its torques, and the way back to the accelerations: ``python examples/first_torque.py [ROBOT]``."""

from __future__ import annotations

import sys

import numpy as np

import kinetree as kt


def main(source: str = "panda") -> None:
    """Print what a robot is made of, and the joint forces of a random state of motion."""
    robot = kt.load(source)
    print(robot)
    q, v, a = robot.random_state(seed=0)
    tau = robot.inverse_dynamics(q, v, a)
    for name, force in zip(robot.v_names, tau, strict=True):
        print(f"{name:24} {force:9.3f}")
    error = np.abs(robot.forward_dynamics(q, v, tau) - a).max()
    print(f"forward dynamics gives the accelerations back, but for {error:.0e}")


if __name__ == "__main__":
    main(*sys.argv[1:])
