"""A robot without joints: every function has results of empty shape, or says what is missing."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from kinetree.algorithms import ALGORITHMS, Algorithm, shape_of

LINK = (
    '<link name="base"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
ROBOT = kt.load(f'<robot name="block">{LINK}</link></robot>')
NO_CENTRE = {name for name in ALGORITHMS if name.startswith(("center_of_mass", "centroidal"))}
DEFINED = sorted(ALGORITHMS.keys() - NO_CENTRE)


def options(algorithm: Algorithm) -> dict[str, str]:
    return {name: "base" for name, option in algorithm.options.items() if getattr(option, "required", False)}


def ones(shapes: object, lead: tuple[int, ...]) -> dict[str, np.ndarray]:
    return {name: np.ones(lead + shape_of(shape, ROBOT.model)) for name, shape in shapes.items()}  # type: ignore[attr-defined]


@pytest.mark.parametrize("lead", [(), (3,), (0,), (2, 3)])
@pytest.mark.parametrize("name", DEFINED)
def test_results_have_their_shapes(name: str, lead: tuple[int, ...]) -> None:
    algorithm = ALGORITHMS[name]
    for optional in {}, ones(algorithm.optional, lead):
        results = getattr(ROBOT, name)(**ones(algorithm.inputs, lead), **optional, **options(algorithm))
        results = results if len(algorithm.outputs) > 1 else (results,)
        for result, shape in zip(results, algorithm.outputs.values(), strict=True):
            assert np.shape(result) == lead + shape_of(shape, ROBOT.model)
            assert np.isfinite(result).all()


@pytest.mark.parametrize("name", sorted(NO_CENTRE))
def test_what_is_not_defined_is_said(name: str) -> None:
    algorithm = ALGORITHMS[name]
    with pytest.raises(kt.ModelError, match="no moving mass"):
        getattr(ROBOT, name)(**ones(algorithm.inputs, ()), **options(algorithm))


@pytest.mark.parametrize("lead", [(), (2,), (0,), (2, 4)])
def test_inverse_kinematics(lead: tuple[int, ...]) -> None:
    for x, converged in ((0.0, True), (1.0, False)):
        point = np.broadcast_to([x, 0.0, 0.0], (*lead, 3))
        for start in None, np.zeros((*lead, 0)):
            solution = ROBOT.inverse_kinematics(point, "base", q0=start)
            assert solution.q.shape == (*lead, 0)
            assert np.shape(solution.converged) == lead
            assert (solution.converged == converged).all()
            assert np.allclose(solution.position_error, x)


def test_compiled_together() -> None:
    def f(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return ROBOT.inverse_dynamics(q, v, v), ROBOT.frame_placement(q, frame="base")

    together = kt.compile(ROBOT, f)
    for lead in (), (3,):
        tau, pose = together(np.zeros((*lead, 0)), np.zeros((*lead, 0)))
        assert tau.shape == (*lead, 0)
        assert (pose == np.broadcast_to(np.eye(4), (*lead, 4, 4))).all()
