"""Draws docs/pictures/jumps.svg: a quadruped that jumps and turns, as a moving picture without a script in it."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from kinetree.drawing.panels import Skeleton

FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
JUMP, JUMPS, RATE = 1.0, 4, 25  # s; how many; pictures a second
SIZE, SCALE = (640, 260), 300.0  # pixels; pixels a metre
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e")
STRETCH, TRIM, TURN = 0.2, 0.57, 0.1  # rad of the legs; more by the hind ones; of the hips


def motion() -> kt.Trajectory:
    """Return the motion: each second the legs bend, stretch, are drawn in, and land a quarter turn further."""
    robot = kt.load("go2").with_friction(coulomb=False)
    thigh = np.array([float("thigh" in name) for name in robot.joint_names[1:]])
    calf = np.array([float("calf" in name) for name in robot.joint_names[1:]])
    hip = np.array([float("hip" in name) for name in robot.joint_names[1:]])
    front = np.array([1.0 if name.startswith("F") else -1.0 for name in robot.joint_names[1:]])

    @robot.compile
    def jumping(q: kt.Array, v: kt.Array, t: float) -> kt.Array:
        phase = t - np.floor(t / JUMP) * JUMP
        push = kt.where(phase > 0.45, kt.where(phase < 0.55, 1.0, 0.0), 0.0)
        low = kt.where(phase < 0.45, 1.0, 0.0)
        bend = 0.85 + 0.25 * low - STRETCH * push * (1.0 - TRIM * front)
        wanted = bend * thigh - 2.0 * bend * calf + TURN * push * front * hip
        return np.concatenate([np.zeros(6), 90.0 * (wanted - q[7:]) - 3.0 * v[6:]])

    mech = kt.Mechanism(robot, [kt.Contact(foot, radius=0.02, friction=0.8) for foot in FEET])
    start = np.array([0.0, 0.0, 0.33, 0.0, 0.0, 0.0, 1.0, *(0.9 * thigh - 1.8 * calf)])
    return mech.simulate(
        start, duration=JUMP * JUMPS, controller=jumping, dt=1e-3, record=kt.Record(every=1000 // RATE)
    )


def seen(points: kt.Array) -> kt.Array:
    """Return points (..., 3) as pixels (..., 2), seen from the right and from a little above."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    across, up = x + 0.35 * y, z + 0.25 * y
    return np.stack([SIZE[0] / 2 + SCALE * (across + 0.1), SIZE[1] - 70 - SCALE * up], -1)


def text(points: kt.Array) -> str:
    """Return pixels as SVG has them."""
    return " ".join(f"{x:.0f},{y:.0f}" for x, y in seen(points))


def line(kind: str, points: kt.Array, style: str) -> str:
    """Return a line that moves through the pictures of points (pictures, n, 3)."""
    values = ";".join(map(text, points))
    moves = f'<animate attributeName="points" dur="{JUMP * JUMPS:g}s" repeatCount="indefinite" values="{values}"/>'
    return f'<{kind} points="{text(points[0])}" {style}>{moves}</{kind}>'


def picture() -> str:
    """Return the picture, as SVG: lines whose points move."""
    made = motion()
    points = Skeleton(made.robot).points(made.q)
    hips = points[:, [1, 4, 10, 7]]
    ground = np.array([[[x, y, 0.0] for x in (-1.0, 1.0)] for y in np.linspace(-0.6, 0.6, 7)])
    ground = np.concatenate([ground, [[[x, y, 0.0] for y in (-0.6, 0.6)] for x in np.linspace(-1.0, 1.0, 11)]])
    grid = "".join(f'<polyline points="{text(ends)}" stroke="#8888" stroke-width="0.7"/>' for ends in ground)
    thick = 'stroke-width="5" stroke-linecap="round" stroke-linejoin="round"'
    body = line("polygon", hips, f'stroke="#777" fill="#9996" {thick}')
    legs = "".join(
        line("polyline", points[:, [3 * k + 1, 3 * k + 2, 3 * k + 3, made.robot.nb + k]], f'stroke="{colour}" {thick}')
        for k, colour in enumerate(COLOURS)
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE[0]} {SIZE[1]}" fill="none">'
    return f"{head}\n{grid}\n{legs}\n{body}\n</svg>\n"
