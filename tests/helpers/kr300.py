"""The KR300 as it is published: Denavit–Hartenberg parameters, masses, rotors; and the recorded motions."""

from math import pi
from pathlib import Path

import numpy as np

import kinetree as kt
from kinetree.identification import prepare

FOLDER = Path(__file__).parents[1] / "identification" / "kr300"
GEARS = np.array([1798 / 7, 1872 / 7, 757 / 3, 221, 5032 / 21, 206793 / 1340])
ROTORS = (0.00923, 0.0118, 0.0118, 0.00173, 0.00173, 0.00173)
ROWS = ((-0.675, 0.350, pi / 2, 0), (-0.189, 1.15, 0, -pi / 2), (0.189, 0.041, -pi / 2, pi), (-1, 0, pi / 2, 0))
ROWS += ((0, 0, -pi / 2, 0), (-0.24, 0, pi, 0))
"""d, a, α and the offset of θ: standard convention, the recorded angles plus (0, −90°, 90°, 0, 0, 0)."""

LINKS = (
    (395.40, (-353, 174, -4), (16.73, 29.80, 32.81, -1.70, 0.13, 4.40)),
    (339.12, (-709, -1, 23), (7.51, 88.89, 88.67, 0.43, 0.17, -4.40)),
    (105.21, (-18, -18, -76), (10.78, 10.19, 1.94, 0.12, -0.61, -0.10)),
    (35.80, (0, 236, 1), (0.43, 0.22, 0.43, 0, -0.01, 0)),
    (31.46, (0, -80, -9), (0.28, 0.23, 0.26, 0, -0.02, 0)),
    (117.78, (0, 0, 100), (5, 5, 5, 0, 0, 0)),
)
"""Mass (kg), centre of mass (mm), inertia about it (xx, yy, zz, xy, yz, xz); the last with a payload of 100 kg."""


def kr300():
    links = []
    for (d, a, alpha, theta), (m, c, (xx, yy, zz, xy, yz, xz)), J, G in zip(ROWS, LINKS, ROTORS, GEARS, strict=True):
        body = kt.Inertia(m, [x / 1000 for x in c], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        links.append(kt.DHLink(d=d, a=a, alpha=alpha, theta=theta, inertia=body, rotor_inertia=J, gear_ratio=float(G)))
    return kt.from_dh(links, convention="standard", base_pose=np.diag([1.0, -1.0, -1.0, 1.0]), name="kr300")


def motion(robot, name, **choices):
    with np.load(FOLDER / f"repeat_{name}.npz") as data:
        q, tau = np.cumsum(data["q_1e7"], axis=0) * 1e-7, data["motor_torque_1e2"] * 1e-2 * GEARS
    return prepare(robot, 0.004 * np.arange(len(q)), q, tau, filter=kt.Filter(**choices))
