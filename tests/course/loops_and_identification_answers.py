"""Answers to the exercises of chapter 5, and for each one that is wrong."""

import numpy as np

from helpers.chapters import chapter


def delta_torques(tree_forces, J):
    f = np.linalg.solve(J[:, 3:].T, tree_forces[3:])  # the platform has no motor: rods carry it
    return tree_forces[:3] - J[:, :3].T @ f


def wrong_delta_torques(tree_forces, J):
    return tree_forces[:3]


def misfits(robot, q, v, a, tau):
    """Yield the squared residual with each joint's sign changed, weighted by the noise that is found."""
    columns = vars(chapter("loops_and_identification"))["columns"]
    for k in range(robot.nv):
        sign = np.where(np.arange(robot.nv) == k, -1.0, 1.0)
        W = columns(q * sign, v * sign, a * sign)
        residual = tau.ravel() - W @ np.linalg.lstsq(W, tau.ravel(), rcond=None)[0]
        yield np.sum(np.log(residual.reshape(-1, robot.nv).std(axis=0)))


def reversed_joint(robot, q, v, a, tau):
    return robot.joint_names[int(np.argmin(list(misfits(robot, q, v, a, tau))))]


def wrong_reversed_joint(robot, q, v, a, tau):
    return robot.joint_names[int(np.argmax(list(misfits(robot, q, v, a, tau))))]
