"""Estimators: one file each, under one contract."""

ESTIMATORS = {
    "least_squares": "LeastSquares",
    "robust": "Robust",
    "generalised": "Generalised",
    "instrumental": "Instrumental",
    "output_error": "OutputError",
}
"""All of them, by their files: `tests/identification/test_estimators.py` has a row for each."""
