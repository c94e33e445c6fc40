"""Write controller.c and controller.h: computed torque for the Panda in float32, for ``main.c`` beside this file.

Run ``python make_controller.py [DIRECTORY]``; docs/c.md says how to compile it.
"""

from __future__ import annotations

import sys

import kinetree as kt

robot = kt.load("panda")


@robot.compile
def computed_torque(q, v, q_des, v_des, a_des, kp: float, kd: float):  # type: ignore[no-untyped-def]
    """Joint torques that let the errors of position and velocity decay like a spring with a damper."""
    return {"tau": robot.inverse_dynamics(q, v, a_des + kp * (q_des - q) + kd * (v_des - v))}


if __name__ == "__main__":
    directory = sys.argv[1] if len(sys.argv) > 1 else "."
    print("wrote", computed_torque.to_c("controller", dtype="float32").save(directory))
