"""Estimators: one file each, under one contract."""

from kinetree.identification.estimators.contract import Equations, Estimator, Prior, Solution
from kinetree.identification.estimators.generalised import Generalised
from kinetree.identification.estimators.instrumental import Instrumental
from kinetree.identification.estimators.least_squares import LeastSquares
from kinetree.identification.estimators.output_error import OutputError
from kinetree.identification.estimators.robust import Robust

ESTIMATORS = (LeastSquares, Robust, Generalised, Instrumental, OutputError)
"""All of them: `tests/identification/test_estimators.py` has a row for each."""

__all__ = [
    "ESTIMATORS",
    "Equations",
    "Estimator",
    "Generalised",
    "Instrumental",
    "LeastSquares",
    "OutputError",
    "Prior",
    "Robust",
    "Solution",
]
