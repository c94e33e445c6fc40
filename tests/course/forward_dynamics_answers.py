"""Answers to the exercises of chapter 3, and for each one that is wrong."""

import numpy as np


def incline(slope, mu, m, g=9.81):
    friction = min(m * g * np.sin(slope), mu * m * g * np.cos(slope))
    return g * np.sin(slope) - friction / m, friction


def wrong_incline(slope, mu, m, g=9.81):
    friction = mu * m * g * np.cos(slope)  # pushes a block that rests up the plane
    return g * np.sin(slope) - friction / m, friction


def bounces(h, e, n, g=9.81):
    first = np.sqrt(2 * h / g)
    return first + 2 * first * np.append(0.0, np.cumsum(e ** np.arange(1, n)))


def wrong_bounces(h, e, n, g=9.81):
    first = np.sqrt(2 * h / g)
    return first + first * np.append(0.0, np.cumsum(e ** np.arange(1, n)))


def feet_forces(m, com, corners, g=9.81):
    x, y = np.transpose(corners)
    return np.linalg.pinv([np.ones(4), x, y]) @ np.multiply(m * g, [1.0, *com])


def wrong_feet_forces(m, com, corners, g=9.81):
    x, y = np.transpose(corners)
    return np.append(np.linalg.solve(np.array([np.ones(4), x, y])[:, :3], np.multiply(m * g, [1.0, *com])), 0.0)


def painleve(angle):
    s, c = np.sin(angle), np.cos(angle)
    return (1 + 3 * c**2) / (3 * s * c)


def wrong_painleve(angle):
    return 1 / np.tan(angle)
