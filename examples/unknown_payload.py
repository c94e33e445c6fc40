"""How much an arm can carry, in 100,000 postures a call: ``python examples/unknown_payload.py``."""

from __future__ import annotations

import sys

import numpy as np

import kinetree as kt

HAND = "panda_hand"


def main(count: int = 100_000) -> None:
    """Print the share of postures in which the joints' effort limits allow to hold each mass."""
    robot = kt.load("panda")
    holding = kt.compile(robot, "gravity_forces", inputs=[kt.payload(HAND, name="load")])
    q = robot.random_configuration(seed=0, size=count)
    for mass in (0.0, 1.0, 3.0, 6.0, 9.0):
        load = np.asarray(kt.Inertia(mass, [0.0, 0.0, 0.1], np.zeros((3, 3))))
        within = np.abs(holding(q, load)) <= robot.effort_limits
        print(f"{mass:4.1f} kg: {100 * within.all(axis=1).mean():5.1f} % of all postures")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
