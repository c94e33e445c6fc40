"""Derivatives that are declared: of solvers by their residuals, of functions by rules, and of loops by their steps."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import same_bits
from helpers.told import told
from kinetree.errors import ArgumentError

ARM = kt.load("ur5")


def roots(a, b):
    """Newton's method, stopped early, for two equations in two unknowns."""

    def newton(x):
        F, J = equations(x, a, b), np.stack([np.stack([3.0 * x[0] ** 2, b]), np.stack([-x[1], 2.0 + np.exp(x[1]) - x[0]])])
        return x - np.linalg.solve(J, F)

    return kt.repeat(newton, np.array([1.0, 0.5]), until=lambda x: np.max(np.abs(equations(x, a, b))) < 1e-4, most=40)


def equations(x, a, b):
    return np.stack([x[0] ** 3 + b * x[1] - a[0], 2.0 * x[1] + np.exp(x[1]) - x[0] * x[1] - a[1]])


PARTS = {"shapes": {"a": (2,), "b": ()}}
solved = ARM.compile(kt.implicit(roots, equations), name="solved", **PARTS)
rough = ARM.compile(roots, name="rough", **PARTS)
A, B = np.array([2.0, 1.7]), 0.4


def converged(a, b):
    x = rough(a, b)
    for _ in range(8):
        J = np.array([[3.0 * x[0] ** 2, b], [-x[1], 2.0 + np.exp(x[1]) - x[0]]])
        x = x - np.linalg.solve(J, equations(x, a, b))
    return x, J


def exact(a, b):
    """The derivatives by a and b at the solution."""
    x, J = converged(a, b)
    return np.linalg.inv(J), np.linalg.solve(J, [-x[1], 0.0])


def test_a_solver_has_the_derivatives_of_its_equation():
    by_a, by_b = exact(A, B)
    found = solved.derivatives(A, B, value=True)
    assert same_bits(found[0], solved(A, B))
    assert same_bits(found[0], rough(A, B))
    error = np.abs(found[0] - converged(A, B)[0]).max()
    assert 1e-9 < error < 1e-4
    assert max(np.abs(found.dresult_da - by_a).max(), np.abs(found.dresult_db - by_b).max()) < 5.0 * error
    h = 1e-6
    numeric = (converged(A, B + h)[0] - converged(A, B - h)[0]) / (2 * h)
    assert np.abs(found.dresult_db - numeric).max() < 5.0 * error
