"""Pinocchio's solvers of contact problems on given matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

SOLVERS = {
    "PGS": (pin.PGSConstraintSolver, pin.PGSSolverSettings, pin.PGSSolverResult),
    "ADMM": (pin.ADMMConstraintSolver, pin.ADMMSolverSettings, pin.ADMMSolverResult),
}


class ContactSolver:
    """One solver for contacts of three rows; the model is there because contacts need one."""

    def __init__(
        self, name: str, friction: np.ndarray[Any, Any], feasible: float, work: float, most: int = 1000
    ) -> None:
        model = pin.Model()
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
        self.constraints, self.data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for mu in friction:
            contact = pin.PointContactConstraintModel(model, 1)
            contact.setFriction(float(mu))
            wrapped = pin.ConstraintModel(contact)
            self.constraints.append(wrapped)
            self.data.append(wrapped.createData())
        make, settings, result = SOLVERS[name]
        self.solver, self.settings, self.result = make(3 * len(friction)), settings(), result()
        self.settings.absolute_feasibility_tol, self.settings.absolute_complementarity_tol = feasible, work
        self.settings.relative_feasibility_tol = self.settings.relative_complementarity_tol = 0.0
        self.settings.max_iterations = most

    def __call__(self, G: Any, g: Any) -> Any:
        """Solve from zero; G is a `DelassusOperatorDense`."""
        self.result.clearConstraintImpulseGuess()
        self.solver.solve(G, g, self.constraints, self.data, self.settings, self.result)
        return self.result

    def forces(self) -> np.ndarray[Any, Any]:
        return np.array(self.result.retrieveConstraintImpulses())
