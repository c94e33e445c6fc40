"""Answers to the exercises of chapter 6, and for each one that is wrong."""

import numpy as np


def complex_gradient(cost, x):
    h = 1e-100
    return np.array([cost(x + 1j * h * e).imag / h for e in np.eye(len(x))])


def wrong_complex_gradient(cost, x):
    h = 1e-8
    return np.array([(cost(x + h * e) - cost(x)) / h for e in np.eye(len(x))])


def slope_of_acceleration(M, dtau_dv):
    return -np.linalg.solve(M, dtau_dv)


def wrong_slope_of_acceleration(M, dtau_dv):
    return np.linalg.solve(M, dtau_dv)


def gravity_in_the_body(R, g):
    x, y, z = R.T @ g
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def wrong_gravity_in_the_body(R, g):
    x, y, z = g  # in the world's axes
    return R.T @ np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
