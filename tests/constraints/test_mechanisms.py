"""The mechanisms of `helpers.mechanisms`: their constraints hold, and they have the freedoms that their sources say."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.mechanisms import Closed, bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart

ALL: dict[str, tuple[Closed, int]] = {
    "four-bar": (four_bar(), 1),
    "slider-crank": (slider_crank(), 1),
    "two four-bars": (n_four_bar(2), 1),
    "two four-bars in a line": (n_four_bar(2, motor=0.0), 3),
    "Bricard": (bricard(), 1),
    "Stewart": (stewart(), 6),
    "delta": (delta(), 3),
    "leg": (five_bar_leg(), 2),
    "floating leg": (five_bar_leg(floating=True), 8),
}


@pytest.mark.parametrize("name", ALL)
def test_the_constraints_hold_and_leave_as_many_freedoms_as_the_source_says(name: str) -> None:
    (mech, q), freedoms = ALL[name]
    rows = mech.model.constraint_rows(q.tolist())
    np.testing.assert_allclose([row.phi for row in rows], 0.0, atol=1e-15)
    assert mech.nv - np.linalg.matrix_rank([list(row.J) for row in rows], tol=1e-9) == freedoms
