"""4096 Pandas with loads, friction and gravity of their own, in one call: ``python examples/randomised_pandas.py``."""

from __future__ import annotations

import time

import numpy as np

import kinetree as kt

N, SECONDS = 4096, 1.0
HOME = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])

STIFFNESS, DAMPING = np.array([600, 600, 600, 600, 250, 150, 50.0]), np.array([40, 40, 40, 40, 10, 6, 1.0])

robot = kt.load("panda").with_friction(smoothing=0.1)


@robot.compile
def hold(q: kt.Array, v: kt.Array, q_des: kt.Array, scale: float) -> kt.Array:
    """Return torques that hold a robot as the controller knows it: without load and friction, on level ground."""
    return robot.gravity_forces(q) + scale * (STIFFNESS * (q_des - q) - DAMPING * v)


def main() -> None:
    """Print how the error after a second depends on what is not known, and how long all of it takes."""
    rng = np.random.default_rng(0)
    mass, tilt = rng.uniform(0.0, 3.0, N), rng.normal(0.0, np.radians(2.0), (N, 2))
    loads = np.zeros((N, 10))
    loads[:, 0], loads[:, 3] = mass, 0.1 * mass  # kg, kg·m: point masses 0.1 m ahead of the hand
    loads[:, [4, 6]] = 0.01 * mass[:, None]
    ground = 9.81 * np.stack([np.sin(tilt[:, 0]), np.sin(tilt[:, 1]), -np.cos(tilt).prod(axis=1)], axis=1)
    scale = rng.uniform(0.5, 1.5, N)
    unknown: dict[object, kt.Array] = {
        kt.payload("panda_hand"): loads,
        kt.gravity: ground,
        kt.joint_damping: rng.uniform(0.0, 0.5, (N, 7)),
        kt.joint_friction: rng.uniform(0.0, 0.3, (N, 7)),
    }
    inputs = {**unknown, "q_des": HOME, "scale": scale}
    q = HOME + rng.normal(0.0, 0.05, (N, 7))
    robot.simulate(q, steps=1, controller=hold, inputs=inputs)  # compiles
    begin = time.perf_counter()
    motion = robot.simulate(q, duration=SECONDS, controller=hold, inputs=inputs, record=kt.Record(every=100))
    spent = time.perf_counter() - begin
    error = np.degrees(abs(motion.q[:, -1] - HOME).max(axis=-1))
    for low, high in ((0, 1), (1, 2), (2, 3)):
        chosen = (low <= mass) & (mass < high)
        middle, most = np.median(error[chosen]), error[chosen].max()
        print(f"{low} to {high} kg: {middle:.2f}° off in the middle, {most:.2f}° at most")
    stopped = int(np.isfinite(motion.stopped_at).sum())
    steps = round(1000 * SECONDS)
    print(f"{N} robots, {steps} steps, {stopped} stopped: {spent:.2f} s, {1e6 * spent / N / steps:.2f} µs a step")


if __name__ == "__main__":
    main()
