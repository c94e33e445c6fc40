"""A quadruped in free fall that turns itself by circling with its legs: ``python examples/turning_quadruped.py``.

Nothing but gravity acts from outside: the angular momentum about the centre of mass stays what it is, zero, and yet the
body ends up turned, as a falling cat does.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

CIRCLES, SECONDS = 12, 4.0  # of the feet; how long it takes
WIDE = 0.9  # rad, of hips and thighs

robot = kt.load("go2", floating_base=True)
JOINTS = robot.joint_names[1:]
HIPS = np.array([float("hip" in name) for name in JOINTS])
THIGHS = np.array([float("thigh" in name) for name in JOINTS])
STANCE = np.array([0.0 if "hip" in name else 0.8 if "thigh" in name else -1.5 for name in JOINTS])


@robot.compile
def circling(q: kt.Array, v: kt.Array, t: float) -> kt.Array:
    """Return motor torques that lead the feet around circles, which grow from nothing and shrink again."""
    angle = 2 * np.pi * CIRCLES * t / SECONDS
    width = WIDE * np.sin(np.pi * t / SECONDS) ** 2
    wanted = STANCE + width * (np.sin(angle) * HIPS + np.cos(angle) * THIGHS)
    return np.concatenate([np.zeros(6), 60.0 * (wanted - q[7:]) - 2.0 * v[6:]])


def main() -> None:
    """Print how far the body turns, and what its momentum and centre of mass do meanwhile."""
    start = np.concatenate([robot.neutral()[:7], STANCE])
    motion = robot.simulate(
        start,
        duration=SECONDS,
        controller=circling,
        dt=2e-4,
        integrator="rk4",
        joints="none",
        record=kt.Record(every=50),
    )
    momentum = motion.momentum()
    body = motion.frame_placement(frame=robot.body_names[0])
    turned = np.degrees(np.arctan2(body[-1, 1, 0], body[-1, 0, 0]))
    fall = robot.center_of_mass(motion.q[-1]) - robot.center_of_mass(motion.q[0])
    left = abs(motion.q[-1, 7:] - STANCE).max()
    print(f"the body has turned by {turned:.1f}°, the legs are within {left:.2f} rad of where they were")
    print(f"angular momentum: at most {abs(momentum[:, :3]).max():.0e} N·m·s")
    print(f"the centre of mass fell {-fall[2]:.6f} m; g t²/2 is {9.81 * SECONDS**2 / 2:.6f} m")


if __name__ == "__main__":
    main()
