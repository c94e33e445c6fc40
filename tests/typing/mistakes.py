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
robot.gravity_forces.warmup(bach=False)  # WRONG
robot.gravity_forces.bind(frame="tool0")  # WRONG
robot.jacobian.warmup()  # WRONG
robot.mass_matrix = np.eye(6)  # WRONG
robot.lock("wrist_3_joint", joint="x")  # WRONG
text: str = robot.gravity_forces(q)  # WRONG
robot.simulate(q, stepps=1)  # WRONG
robot.identify(q, weight=None)  # WRONG
robot.identify(q).robot.simulat(q)  # WRONG
robot.excit(period=3.0)  # WRONG

kt.laod("ur5")  # WRONG
kt.minimun(1.0, 2.0)  # WRONG
kt.load("ur5", floatingbase=True)  # WRONG
kt.load()  # WRONG
kt.from_dh([], nme="x")  # WRONG
kt.from_screws([], [])  # WRONG

step = robot.differential_inverse_kinematics("tool0")
step(q, np.eye(4), 0.01, postur=q)  # WRONG
step(q, np.eye(4))  # WRONG
step(q, np.eye(4), 0.01).qq  # WRONG
step.warmup(bach=False)  # WRONG
step.bind(frame="tool0")  # WRONG
robot.inverse_kinematics_solver("tool0")(q, np.eye(4), max_iteration=3)  # WRONG
robot.inverse_kinematics_solver({"tool0": "position"})(q, np.zeros(3)).errors  # WRONG
robot.inverse_kinematics_solver(3)  # WRONG


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


@robot.compile(inputs=[kt.gravity])
def loaded(q: kt.Array) -> NDArray[np.float64]:
    return robot.gravity_forces(q)


loaded(q, [0, 0, -1.62]).shap  # WRONG
