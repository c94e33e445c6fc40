"""An arm of three joints for tests of identification: joint 0, and joint 2 on joint 1, all on one base."""

import numpy as np

import kinetree as kt
from helpers.trees import Array, random_tree
from kinetree.joints import Prismatic, Revolute

Motion = tuple[Array, ...]

NOISE = np.array([0.5, 0.05, 2.0])
"""Standard deviations of the forces."""


def bare_arm():
    """Return the arm without friction and rotors."""
    joints = [Revolute((0, 0, 1)), Revolute((0, 1, 0)), Prismatic((1, 0, 0))]
    return kt.Robot(random_tree(1, 3, joints, armature=False, shuffled=False))


def rubbing_arm():
    """Return the arm with friction and rotors."""
    physics = {"armature": [0.3, 0.2, 0.1], "damping": [0.5, 1.0, 0.2], "friction": [2.0, 1.0, 0.5]}
    return bare_arm().with_joint_physics(**physics).with_friction(smoothing=0.05)


def undescribed(robot):
    """Return a robot as its maker describes it: bodies half as heavy again, no friction known."""
    physics = {"armature": 0.0, "damping": 0.0, "friction": 0.0}
    return robot.with_inertial_parameters(1.5 * robot.inertial_parameters).with_joint_physics(**physics)


def noisy(motion, seed, noise=NOISE):
    """Return the motion with noise in its forces."""
    return *motion[:3], motion[3] + noise * np.random.default_rng(seed).normal(size=motion[3].shape)
