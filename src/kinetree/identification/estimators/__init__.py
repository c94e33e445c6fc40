"""Estimators: one file each, under one contract."""

from kinetree.lazy import lazy_names

ESTIMATORS = {
    "least_squares": "LeastSquares",
    "robust": "Robust",
    "generalised": "Generalised",
    "instrumental": "Instrumental",
    "output_error": "OutputError",
}
"""All of them, by their files: `tests/identification/test_estimators.py` has a row for each."""

__getattr__, _ = lazy_names(__name__, {}, {x: f"kinetree.identification.{x}" for x in ESTIMATORS.values()})
