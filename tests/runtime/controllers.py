"""Compiled functions of a module, as users have them."""

from __future__ import annotations

import numpy as np

import kinetree as kt

robot = kt.load("panda")


@robot.compile(shapes={"kp": (), "kd": (7,)})
def computed_torque(q, v, q_des, v_des, kp, kd):
    """Torques that make the errors of a robot those of seven springs with dampers."""
    return robot.inverse_dynamics(q, v, kp * (q_des - q) + kd * (v_des - v))


def task_forces(q, v, force: float):
    """A function that is compiled under another name."""
    J = robot.jacobian(q, frame="panda_hand", reference="aligned")
    return {
        "tau": robot.bias_forces(q, v) + J.T[:, 5] * force,
        "height": robot.frame_placement(q, frame="panda_hand")[2, 3],
    }


compiled_task_forces = kt.compile(robot, task_forces)


def plain_computed_torque(q, v, q_des, v_des, kp, kd):
    return robot.inverse_dynamics(q, v, np.asarray(kp)[..., None] * (q_des - q) + kd * (v_des - v))


GAIN = 2.0


def scaled_position(q):
    """A function that takes a value from around it."""
    return GAIN * q
