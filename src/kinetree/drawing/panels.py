"""Curves for people: the units of a robot's entries, and long curves as few points."""

from __future__ import annotations

import importlib.util
from itertools import chain

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.validation import Array

POINTS = 4000
"""Points drawn of one joint; of more samples, the extremes of each stretch are drawn."""


def check_matplotlib() -> None:
    """Raise `ArgumentError` where matplotlib is not installed."""
    if importlib.util.find_spec("matplotlib") is None:
        raise ArgumentError("a picture needs matplotlib: pip install matplotlib")


def turning(robot: Robot) -> list[bool]:
    """Return whether each entry of v turns, or only slides."""
    turns = [False] * robot.nv
    for body in robot.model.leading:
        columns = body.joint.jcalc(body.joint.neutral(), (0.0,) * body.joint.nv).S
        for k, column in zip(body.v_index, columns, strict=True):
            turns[k] = any(map(float, column.ang))
    return turns


def torque_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of tau: N·m where its velocity turns, N where it only slides."""
    return ["N·m" if turns else "N" for turns in turning(robot)]


def velocity_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of v: rad/s or m/s."""
    return ["rad/s" if turns else "m/s" for turns in turning(robot)]


def position_units(robot: Robot) -> list[str]:
    """Return the unit of each entry of q: rad where it turns the body, m where it only moves it, 1 of a quaternion."""
    units = [""] * robot.nq
    for body in robot.model.leading:
        neutral = list(body.joint.neutral())
        for j, k in enumerate(body.q_index):
            moved = [x + 0.1 * (i == j) for i, x in enumerate(neutral)]
            still, turned = (
                list(chain(*(row[:3] for row in body.joint.jcalc(q, [0.0] * body.joint.nv).X.placement[:3])))
                for q in (neutral, moved)
            )
            turns = not np.allclose(np.array(still, float), np.array(turned, float), rtol=0.0, atol=1e-6)
            units[k] = "1" if robot.q_names[k].endswith((".qx", ".qy", ".qz", ".qw")) else "rad" if turns else "m"
    return units


def extremes(when: Array, tau: Array, *, points: int = POINTS) -> tuple[Array, Array]:
    """Return at most so many points of each curve: of every stretch its lowest and its highest, in their order.

    `when` is (n,) and `tau` is (n, nv); both results are (m, nv).
    """
    n, nv = tau.shape
    if n <= points:
        return np.repeat(when[:, None], nv, axis=1), tau
    edges = np.linspace(0, n, points // 2 + 1).astype(np.int_)
    picked = [
        np.sort([start + part.argmin(axis=0), start + part.argmax(axis=0)], axis=0)
        for start, part in zip(edges[:-1], np.split(tau, edges[1:-1]), strict=True)
    ]
    rows = np.concatenate(picked)
    return when[rows], np.take_along_axis(tau, rows, axis=0)
