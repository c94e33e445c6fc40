"""A Panda that is carried to a posture and then pushed, under two controllers: ``python examples/controlled_panda.py``.

Both controllers are compiled, and are part of the simulation's native loop.
"""

from __future__ import annotations

import time

import numpy as np

import kinetree as kt

HAND = "panda_hand"
HOME = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
PUSH = 30.0  # N

robot = kt.load("panda")
GOAL = robot.frame_placement(HOME, frame=HAND)


@robot.compile
def computed_torque(q: kt.Array, v: kt.Array, q_des: kt.Array, kp: float) -> kt.Array:
    """Return torques under which the error of each joint is that of a critically damped spring."""
    return robot.inverse_dynamics(q, v, kp * (q_des - q) - 2.0 * np.sqrt(kp) * v)


@robot.compile
def impedance(q: kt.Array, v: kt.Array, stiffness: float) -> kt.Array:
    """Return torques under which the hand is a spring and a damper, wherever the joints are."""
    pose = robot.frame_placement(q, frame=HAND)
    jacobian = robot.jacobian(q, frame=HAND, reference="aligned")
    turn = 0.5 * sum(np.cross(pose[:3, k], GOAL[:3, k]) for k in range(3))
    twist = jacobian @ v
    moment = 30.0 * turn - 2.0 * twist[:3]
    force = stiffness * (GOAL[:3, 3] - pose[:3, 3]) - 60.0 * twist[3:]
    return robot.gravity_forces(q) + jacobian.T @ np.concatenate([moment, force]) - 0.5 * v


def main() -> None:
    """Print how far the controllers are from their goals, and how long the simulation of a step takes."""
    far = HOME + 0.3
    motion = robot.simulate(far, duration=2.0, controller=computed_torque, inputs={"q_des": HOME, "kp": 100.0})
    for t in (0.5, 1.0, 2.0):
        print(f"computed torque, {t:.1f} s: {np.degrees(abs(motion.at(t).q - HOME).max()):8.5f}° off")
    begin = time.perf_counter()
    robot.simulate(
        far, steps=10_000, controller=computed_torque, inputs={"q_des": HOME, "kp": 100.0}, record=kt.Record(every=100)
    )
    print(f"10,000 steps take {1000 * (time.perf_counter() - begin):.0f} ms")

    push = np.zeros((3000, 6))
    push[:1500, 4] = PUSH  # sideways, for 1.5 s
    body = robot.model.frame(HAND).body
    f_ext = np.zeros((3000, robot.nb, 6))
    f_ext[:, body] = push  # in the world's axes, at the world's origin: the moment about it is that of the hand's place
    f_ext[:, body, :3] = np.cross(GOAL[:3, 3], push[:, 3:])
    for stiffness in (300.0, 600.0):
        forces = kt.Forces(f_ext=f_ext, frame="world")
        pushed = robot.simulate(HOME, controller=impedance, inputs={"stiffness": stiffness}, forces=forces)
        way = np.linalg.norm(pushed.frame_placement(frame=HAND)[:, :3, 3] - GOAL[:3, 3], axis=-1)
        print(f"{stiffness:.0f} N/m: {1000 * way[1500]:6.2f} mm under {PUSH:.0f} N, {1000 * way[-1]:.2f} mm after it")


if __name__ == "__main__":
    main()
