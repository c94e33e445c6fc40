"""Answers to the exercises of chapter 4, and for each one that is wrong."""

import numpy as np

from helpers.chapters import chapter


def inverse_from_hybrid(robot, q, v, a):
    return robot.hybrid_dynamics(q, v, a, np.zeros(robot.nv), prescribed=robot.joint_names).tau


def wrong_inverse_from_hybrid(robot, q, v, a):
    return robot.hybrid_dynamics(q, v, a, np.zeros(robot.nv)).tau


def forward_from_hybrid(robot, q, v, tau):
    ways = vars(chapter("hybrid_dynamics"))
    found = [ways[f"hybrid_{name}"](robot, q, v, np.zeros(robot.nv), tau, ())[0] for name in ("system", "recursion")]
    np.testing.assert_allclose(*found, atol=1e-7)
    return found[0]


def wrong_forward_from_hybrid(robot, q, v, tau):
    return np.linalg.solve(robot.mass_matrix(q), tau)


def reaction_of_the_drive(M, h, a1, tau2):
    a2 = np.linalg.solve(M[1:, 1:], tau2 - h[1:] - M[1:, 0] * a1)
    return M[0, 0] * a1 + M[0, 1:] @ a2 + h[0]


def wrong_reaction_of_the_drive(M, h, a1, tau2):
    return M[0, 0] * a1 + h[0]


def balance(angle, g=9.81):
    return g * np.tan(angle)


def wrong_balance(angle, g=9.81):
    return g * np.sin(angle)
