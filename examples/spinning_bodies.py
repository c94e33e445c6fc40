"""A gyroscope that precesses, and a T-handle that turns over in space: ``python examples/spinning_bodies.py``.

Both have closed solutions: steady precession, and Jacobi's elliptic functions (Landau and Lifshitz, *Mechanics*, §37).
"""

from __future__ import annotations

import math

import numpy as np

import kinetree as kt
from kinetree.joints import Spherical

MASS, LENGTH, G = 0.5, 0.1, 9.81  # of the gyroscope: kg, m from the pivot to its centre, m/s²
DISC = np.array([8e-4, 8e-4, 1.5e-3])  # its moments of inertia about the centre of mass, kg m²
HANDLE = np.array([1.0e-4, 2.5e-4, 3.0e-4])  # those of the T-handle


def gyroscope() -> tuple[float, float]:
    """Return the rate of precession that the steady solution has, and the simulated one, in rad/s."""
    b = kt.ModelBuilder("gyroscope")
    b.add_link("stand")
    b.add_link("top", kt.Inertia.from_com(MASS, [0, 0, LENGTH], np.diag(DISC)))
    b.add_joint("pivot", parent="stand", child="top", joint=Spherical())
    robot = kt.Robot(b.build())
    tilt, rate = math.radians(60.0), 2.0
    across = DISC[0] + MASS * LENGTH**2  # moment about the pivot
    spin = (MASS * G * LENGTH + across * rate**2 * math.cos(tilt)) / (DISC[2] * rate)
    q = [0.0, math.sin(tilt / 2), 0.0, math.cos(tilt / 2)]  # tilted about y; x, y, z, w
    v = [-rate * math.sin(tilt), 0.0, spin]  # rad/s in the top's own axes
    motion = robot.simulate(q, v, duration=3.0, dt=1e-4, integrator="rk4", joints="none", record=kt.Record(every=10))
    axis = motion.frame_placement(frame="top")[:, :3, 2]
    azimuth = np.unwrap(np.arctan2(axis[:, 1], axis[:, 0]))
    wobble = np.degrees(np.ptp(np.arccos(axis[:, 2])))
    print(f"the gyroscope's tilt stays within {wobble:.0e}° of {np.degrees(tilt):.0f}°")
    return rate, (azimuth[-1] - azimuth[0]) / motion.duration


def quarter_period(k: float) -> float:
    """Return the complete elliptic integral K(k), by the arithmetic-geometric mean."""
    a, b = 1.0, math.sqrt(1.0 - k * k)
    while a - b > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / (2 * a)


def handle() -> tuple[float, float]:
    """Return the time between two turns of the T-handle by the closed solution, and the simulated one, in s."""
    b = kt.ModelBuilder("T-handle")
    b.add_link("handle", kt.Inertia(0.1, [0, 0, 0], np.diag(HANDLE)))
    robot = kt.Robot(b.build(floating_base=True, gravity=(0, 0, 0)))
    spin = np.array([0.05, 10.0, 0.01])  # about the middle axis, almost
    I1, I2, I3 = HANDLE
    twice_energy, momentum = HANDLE @ spin**2, (HANDLE**2) @ spin**2
    if momentum < twice_energy * I2:
        I1, I3 = I3, I1
    rate = math.sqrt((I3 - I2) * (momentum - twice_energy * I1) / (I1 * I2 * I3))
    k = math.sqrt((I2 - I1) * (twice_energy * I3 - momentum) / ((I3 - I2) * (momentum - twice_energy * I1)))
    motion = robot.simulate(robot.neutral(), [*spin, 0, 0, 0], duration=10.0, dt=1e-3, integrator="rk4", joints="none")
    around = motion.v[:, 1]
    before = np.flatnonzero(around[:-1] * around[1:] < 0)
    turns = motion.t[before] + 1e-3 * around[before] / (around[before] - around[before + 1])
    drift = motion.energy_drift
    print(f"the handle turns over {len(turns)} times in {motion.duration:.0f} s, its energy drifts by {drift:.0e}")
    return 2 * quarter_period(k) / rate, float(np.diff(turns).mean())


def main() -> None:
    """Print both motions beside their closed solutions."""
    print("precession: {:.6f} rad/s, simulated {:.6f}".format(*gyroscope()))
    print("from turn to turn: {:.6f} s, simulated {:.6f}".format(*handle()))


if __name__ == "__main__":
    main()
