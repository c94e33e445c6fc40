"""Mistakes that type checkers find: on all lines that say WRONG, and on no other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import kinetree as kt

robot = kt.load("ur5")
q, v, a = robot.random_state(seed=0)

robot.inverse_dynamic(q, v, a)  # WRONG
robot.inverse_dynamics(q, v)  # WRONG
robot.inverse_dynamics(q, v, accel=a)  # WRONG
robot.inverse_dynamics(q, v, a, f_ext_frame="wolrd")  # WRONG
robot.jacobian(q)  # WRONG
robot.jacobian(q, frame=3)  # WRONG
robot.jacobian(q, frame="tool0", reference="relative_to")  # WRONG
robot.jacobian.bind(fram="tool0")  # WRONG
robot.jacobian.bind(frame="tool0")(q, frame="tool0")  # WRONG
robot.hybrid_dynamics(q, v, a, a).torques  # WRONG
robot.gravity_forces(q, out=[0.0] * 6)  # WRONG
robot.gravity_forces(q).shap  # WRONG
robot.gravity_forces.warmpu()  # WRONG
robot.mass_matrix = np.eye(6)  # WRONG
robot.lock("wrist_3_joint", joint="x")  # WRONG
text: str = robot.gravity_forces(q)  # WRONG


@robot.compile
def hold(q: kt.Array, q_des: kt.Array, kp: kt.Number = 100.0, n: int = 2) -> NDArray[np.float64]:
    result: NDArray[np.float64] = n * kp * (q_des - q)
    return result


hold(q)  # WRONG
hold(q, q, gain=3.0)  # WRONG
hold(q, q, n="two")  # WRONG
hold(q, q).shap  # WRONG
kt.compile(robot, hold, shape={})  # WRONG
robot.compile(inputs=[3])  # WRONG
