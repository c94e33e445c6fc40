"""A hand that behaves like a spring and a damper, and is pushed: ``python examples/impedance_control.py``.

The arm is simulated with semi-implicit Euler steps of a millisecond, controller included, as one native loop.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

HAND = "panda_hand"
HOME = np.array([0.0, -0.3, 0.0, -2.2, 0.0, 2.0, 0.8])
STIFFNESS, DAMPING = np.repeat([30.0, 600.0], 3), np.repeat([2.0, 60.0], 3)  # of rotation, of translation
DT = 1e-3

robot = kt.load("panda")
GOAL = robot.frame_placement(HOME, frame=HAND)


@robot.compile(shapes={"push": (3,)})
def step(q: kt.Array, v: kt.Array, push: kt.Array) -> dict[str, kt.Array]:
    """Return the state a millisecond later, and the hand's distance from its goal."""
    pose = robot.frame_placement(q, frame=HAND)
    jacobian = robot.jacobian(q, frame=HAND, reference="aligned")
    turn = 0.5 * sum(np.cross(pose[:3, k], GOAL[:3, k]) for k in range(3))
    shift = GOAL[:3, 3] - pose[:3, 3]
    spring = STIFFNESS * np.concatenate([turn, shift]) - DAMPING * (jacobian @ v)
    tau = robot.gravity_forces(q) + jacobian.T @ spring - 0.5 * v
    pushed = jacobian[3:].T @ push
    v = v + DT * robot.forward_dynamics(q, v, tau + pushed)
    return {"q": robot.integrate(q, DT * v), "v": v, "distance": np.linalg.norm(shift)}


def main() -> None:
    """Push the hand with 30 N sideways for two seconds, let go, and print how far it is from its goal."""
    rollout = kt.scan(step, {"q": "q", "v": "v"}, per_step=["push"], record=["distance"])
    push = np.zeros((4000, 3))
    push[:2000, 1] = 30.0
    _, record = rollout(HOME, np.zeros(7), push, every=500)
    for k, distance in enumerate(record.distance, start=1):
        print(f"{0.5 * k:.1f} s: {1000 * distance:6.2f} mm")
    print(f"a spring of {STIFFNESS[3]:.0f} N/m gives way {1000 * 30.0 / STIFFNESS[3]:.0f} mm to 30 N")


if __name__ == "__main__":
    main()
