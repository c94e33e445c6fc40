"""Answers to the exercises of chapter 1, and for each one that is wrong."""

from dataclasses import dataclass

import numpy as np

from kinetree.joints import Joint, JointState
from kinetree.spatial import AxisRotation, Force, Motion, Transform, Vec3, cos, sin


def planar_arm(q, v, a, m1, m2, l1, l2, c1, c2, I1, I2, g=9.81):
    m12 = I2 + m2 * c2 * (c2 + l1 * np.cos(q[1]))
    m11 = I1 + m1 * c1**2 + I2 + m2 * (l1**2 + c2**2 + 2 * l1 * c2 * np.cos(q[1]))
    M = np.array([[m11, m12], [m12, I2 + m2 * c2**2]])
    k = m2 * l1 * c2 * np.sin(q[1])
    coriolis = np.array([-k * v[1] * (2 * v[0] + v[1]), k * v[0] ** 2])
    second = m2 * g * c2 * np.cos(q[0] + q[1])
    return M @ a + coriolis + [(m1 * c1 + m2 * l1) * g * np.cos(q[0]) + second, second]


def wrong_planar_arm(q, v, a, *sizes):
    return planar_arm(q, np.array([v[0], 0.0]), a, *sizes)


def world_force(F, p):
    return np.append(np.cross(p, F), F)


def wrong_world_force(F, p):
    return np.append(np.zeros(3), F)


def skew(u):
    return np.cross(u, np.eye(3)).T


def falling_body(I, R, v):
    w, v_O = skew(v[:3]), skew(v[3:])
    cross = np.block([[w, np.zeros((3, 3))], [v_O, w]])
    gravity = np.append(np.zeros(3), R.T @ [0.0, 0.0, -9.81])
    return gravity + np.linalg.solve(I, cross.T @ I @ v)


def wrong_falling_body(I, R, v):
    return np.append(np.zeros(3), R.T @ [0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Cam(Joint):
    h: float
    nq, nv = 1, 1

    def jcalc(self, q, v):
        c, s = cos(q[0]), sin(q[0])
        c2, s2 = cos(2.0 * q[0]), sin(2.0 * q[0])
        S = Motion(Vec3(0.0, 0.0, 1.0), Vec3(0.0, 0.0, 2.0 * self.h * s2))
        X = Transform(AxisRotation(2, c, s), Vec3(0.0, 0.0, self.h * (1.0 - c2)))
        return JointState(X, (S,), S * v[0], self.bias(c2, v))

    def bias(self, c2, v):
        return Motion(Vec3(0.0, 0.0, 0.0), Vec3(0.0, 0.0, 4.0 * self.h * c2)) * (v[0] * v[0])

    def constraint_subspace(self, q):
        across = [Force.of(float(j == k) for j in range(6)) for k in (0, 1, 3, 4)]
        return (*across, Force.of((0.0, 0.0, -2.0 * self.h * sin(2.0 * q[0]), 0.0, 0.0, 1.0)))


class Forgetful(Cam):
    def bias(self, c2, v):
        return Motion.zero()


def cam(h):
    return Cam(h)


def wrong_cam(h):
    return Forgetful(h)
