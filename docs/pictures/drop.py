"""Draws docs/pictures/drop.svg: a quadruped dropped on the ground, as stick figures."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import kinetree as kt

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")


def picture() -> Figure:
    """Return the picture: four moments, seen from the side."""
    robot = kt.load("go2")
    joints, stance = robot.joint_names[1:], [0.0, 0.9, -1.8] * 4
    springs = {"stiffness": dict.fromkeys(joints, 60.0), "damping": dict.fromkeys(joints, 2.0)}
    rest = dict(zip(joints, stance, strict=True))
    soft = robot.with_joint_physics(**springs, rest_position=rest).with_friction(coulomb=False)
    mech = kt.Mechanism(soft, [kt.Contact(foot, radius=0.02) for foot in FEET])
    start = np.array([0.0, 0.0, 0.7, 0.0, 0.15, 0.0, 1.0, *stance])
    start[3:7] /= np.linalg.norm(start[3:7])
    motion = mech.simulate(start, [0.0] * 3 + [0.5, 0.0, 0.0] + [0.0] * 12, duration=1.0, record=kt.Record(every=20))
    return motion.plot_motion([0.0, 0.26, 0.36, 1.0], projection="side")
