"""How many operations a robot's functions take: far below the published bounds, and no more than they did.

The bounds are those of RBDA Table 10.1 for n revolute joints placed by Denavit–Hartenberg parameters, counted in
multiplications and additions; a fused multiply-add is one of each. A change that raises a count on purpose raises
it here. Forward dynamics takes a tenth more than it could: regrouped inertias would be cheaper but cost digits
(test_accuracy.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import kinetree as kt
from helpers.programs import code_size
from helpers.trees import chain, random_inertia, random_placement
from kinetree.functions.of_robot import robot_function
from kinetree.joints import Revolute
from kinetree.model import Model

N = 7
PUBLISHED = {
    "inverse_dynamics": (200 * N - 40, 150 * N - 40),
    "forward_dynamics": (300 * N - 200, 300 * N - 100),
    "mass_matrix": (12 * N**2 + 100 * N, 7 * N**2 + 100 * N),
}


def hinges(n: int, placement: Callable[[np.random.Generator], list[list[float]]]) -> Model:
    """Return n revolute joints in a row with random inertias."""
    rng = np.random.default_rng(0)
    drawn = [(random_inertia(rng), placement(rng)) for _ in range(n)]
    return chain([Revolute()] * n, *zip(*drawn, strict=True))


def denavit_hartenberg(rng: np.random.Generator) -> list[list[float]]:
    """Return a pose with random Denavit–Hartenberg parameters: the geometry of the published bounds."""
    twist, a, d = rng.uniform(0.1, 1.0, 3)
    c, s = np.cos(twist), np.sin(twist)
    return [[1.0, 0.0, 0.0, a], [0.0, c, -s, -s * d], [0.0, s, c, c * d], [0.0, 0.0, 0.0, 1.0]]


def any_pose(rng: np.random.Generator) -> list[list[float]]:
    """Return a pose of twelve numbers, as a URDF may have it: more than the bounds are for."""
    return random_placement(rng).tolist()


MODELS = {
    "DH chain": hinges(N, denavit_hartenberg),
    "any chain": hinges(N, any_pose),
    "panda": kt.load("panda").model,
    "ur5": kt.load("ur5").model,
}

MOST = {
    ("DH chain", "inverse_dynamics"): (533, 456),
    ("DH chain", "forward_dynamics"): (1455, 1226),
    ("DH chain", "mass_matrix"): (543, 433),
    ("any chain", "inverse_dynamics"): (677, 571),
    ("any chain", "forward_dynamics"): (2024, 1661),
    ("any chain", "mass_matrix"): (882, 690),
    ("panda", "inverse_dynamics"): (323, 298),
    ("panda", "forward_dynamics"): (765, 704),
    ("panda", "mass_matrix"): (186, 179),
    ("ur5", "inverse_dynamics"): (177, 130),
    ("ur5", "forward_dynamics"): (427, 315),
    ("ur5", "mass_matrix"): (84, 80),
}

FEW = 4  # two constants of "any chain" may round to the same number, or not, with another version of NumPy or SciPy


def count(model: Model, name: str) -> tuple[int, int]:
    """Return multiplications (divisions and roots too) and additions, the sines and cosines left out."""
    ops = robot_function(model, name).op_count
    fused = sum(ops.get(op, 0) for op in ("fma", "fms", "fnma"))
    products = sum(ops.get(op, 0) for op in ("mul", "div", "sqrt"))
    sums = sum(ops.get(op, 0) for op in ("add", "sub"))
    assert set(ops) <= {"fma", "fms", "fnma", "mul", "div", "sqrt", "add", "sub", "neg", "sin", "cos"}
    return products + fused, sums + fused


@pytest.mark.parametrize(("robot", "name"), MOST)
def test_no_more_operations_than_there_were(robot: str, name: str) -> None:
    products, sums = count(MODELS[robot], name)
    most = MOST[robot, name]
    assert products <= most[0] + FEW
    assert sums <= most[1] + FEW
    assert products + sums > 0.9 * sum(most), "far fewer than before: lower the figures above"
    if robot in ("DH chain", "panda"):
        share = 0.8 if robot == "DH chain" else 0.42
        assert all(x < share * bound for x, bound in zip((products, sums), PUBLISHED[name], strict=True))


def test_the_cost_of_a_chain_is_linear() -> None:
    """Twice the joints, twice the operations of inverse and forward dynamics."""

    for name in ("inverse_dynamics", "forward_dynamics"):
        ten, twenty, forty = (sum(count(hinges(n, any_pose), name)) for n in (10, 20, 40))
        # the ends of a chain fold: a few operations that do not double
        assert forty - twenty == pytest.approx(2 * (twenty - ten), rel=0.02)


@pytest.mark.parametrize(("integrator", "most"), [("rk4", 1.1), ("tsitouras", 1.35), ("variational", 1.2)])
def test_a_step_has_one_forward_dynamics(integrator: str, most: float) -> None:
    """Four or seven stages, or the two solutions with M of the variational rule, are compiled once."""

    def size(name: str) -> int:
        step = kt.Robot(MODELS["any chain"]).step.bind(integrator=name)
        return code_size(step)

    assert size(integrator) < most * size("semi_implicit_euler")
