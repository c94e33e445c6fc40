"""Contact problems against Pinocchio's solvers: motions and resultants, as forces may be hyperstatic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

from helpers.contacts import Array, random_problem, solved, stack

SOLVERS = {
    "PGS": (pin.PGSConstraintSolver, pin.PGSSolverSettings, pin.PGSSolverResult),
    "ADMM": (pin.ADMMConstraintSolver, pin.ADMMSolverSettings, pin.ADMMSolverResult),
}


def theirs(solver: str, G: Array, g: Array, friction: Array) -> Array:
    """Return Pinocchio's forces; its model is there because contacts need one."""
    model = pin.Model()
    model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    contacts, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for mu in friction:
        contact = pin.PointContactConstraintModel(model, 1)
        contact.setFriction(float(mu))
        contacts.append(pin.ConstraintModel(contact))
        data.append(contacts[-1].createData())
    make, settings, result = SOLVERS[solver]
    how, found = settings(), result()
    how.absolute_feasibility_tol = how.absolute_complementarity_tol = 1e-10
    how.relative_feasibility_tol = how.relative_complementarity_tol = 0.0
    how.max_iterations = 20_000
    assert make(len(g)).solve(pin.DelassusOperatorDense(G), g, contacts, data, how, found)
    return np.array(found.retrieveConstraintImpulses())


CASES: dict[str, Any] = {
    "random": (*random_problem(1, 4, 0, 0)[:2], np.full(4, 0.3)),
    "singular": (*random_problem(2, 4, 0, 0, rank=7)[:2], np.full(4, 0.3)),
    "stack": (*stack([1.0, 1.5]), np.full(8, 0.5)),
}


@pytest.mark.parametrize(
    ("case", "solver"),
    [("random", "PGS"), ("random", "ADMM"), ("singular", "PGS"), ("singular", "ADMM"), ("stack", "PGS")],
)
def test_the_same_motion_as_pinocchio(case: str, solver: str) -> None:
    """Of the stack Pinocchio's two solvers find different motions, as ours do: the unrelaxed problem has several."""
    G, g, friction = CASES[case]
    force = theirs(solver, G, g, friction)
    found = solved(G, g, friction, tolerance=1e-10)
    np.testing.assert_allclose(found.sigma, G @ force + g, atol=3e-6 * np.abs(g).max())
    if case == "random":
        np.testing.assert_allclose(found.force, force, atol=3e-6 * np.abs(force).max())
    if case == "stack":
        mine, other = (np.reshape(x, (2, 4, 3)).sum(axis=1) for x in (found.force, force))
        np.testing.assert_allclose(mine, other, atol=1e-5 * np.abs(other).max())
