"""A robot read from MJCF beside MuJoCo itself: mass matrix and bias forces with the springs of joints."""

import mujoco
import numpy as np

import kinetree as kt
from kinetree.algorithms import rnea


def state(m, seed):
    """Return qpos and qvel near the model's reference, all joints moved."""
    rng, q = np.random.default_rng(seed), np.array(m.qpos0)
    for kind, at in zip(m.jnt_type, m.jnt_qposadr, strict=True):
        if kind in (2, 3):
            q[at] += rng.uniform(-1, 1) * (1.0 if kind == 3 else 0.1)
            continue
        if kind == 0:
            q[at : at + 3] += rng.normal(size=3)
        turn = rng.normal(size=4)
        quaternion = slice(at + 3, at + 7) if kind == 0 else slice(at, at + 4)
        q[quaternion] = turn / np.linalg.norm(turn)
    return q, rng.normal(size=m.nv)


def errors(robot, m, seed=0, columns=None):
    """Return the errors of the mass matrix and of the bias, each of its largest entry.

    The algorithm runs on plain numbers, so that nothing is compiled. Of the mass matrix, that many random combinations
    of its columns are compared, all where none is said. Where there is next to no bias, its error is of the mass
    matrix's largest entry, times 1 (rad/s², m/s²).
    """
    data, convention = mujoco.MjData(m), kt.conventions.MuJoCo(robot, m)
    data.qpos[:], data.qvel[:] = state(m, seed)
    mujoco.mj_forward(m, data)
    M = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, data, M)
    q, v = convention.from_q(data.qpos), convention.from_v(data.qpos, data.qvel)

    def ours(acceleration):
        a = convention.from_a(data.qpos, data.qvel, acceleration)
        return convention.to_tau(q, np.array(rnea(robot.model, *([*map(float, x)] for x in (q, v, a)))))

    at_rest = ours(np.zeros(m.nv))
    theirs = data.qfrc_bias - data.qfrc_spring
    directions = np.eye(m.nv) if columns is None else np.random.default_rng(seed).normal(size=(columns, m.nv))
    difference = max(abs(ours(a) - at_rest - M @ a).max() / max(1.0, abs(a).max()) for a in directions)
    scale = max(abs(theirs).max(), abs(data.qfrc_bias).max())
    return difference / abs(M).max(), abs(at_rest - theirs).max() / max(scale, 1e-6 * abs(M).max())


def bias(robot, m):
    """Return the error of the bias alone."""
    return errors(robot, m)[1]


def agreement(robot, m):
    """Return the larger of the errors."""
    return max(errors(robot, m))
