"""Elementary functions of plain numbers are those of compiled ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import kinetree as kt
from kinetree.graph import ieee
from kinetree.scalars import functions

SPECIAL = (math.inf, -math.inf, math.nan, -math.nan, 0.0, -0.0, 1.5, -1.5)


@pytest.mark.parametrize(("x", "y"), list(itertools.product(SPECIAL, SPECIAL)), ids=str)
def test_the_sign_of_nan_is_no_sign(x: float, y: float) -> None:
    """Computed NaNs have another sign on each processor: an interpreted page and a compiled one must agree."""
    wanted = ieee.copysign(x, y)
    got = functions.copysign(x, y)
    assert np.array_equal([got, math.copysign(1.0, got)], [wanted, math.copysign(1.0, wanted)], equal_nan=True)


def test_the_sign_of_nan_is_none_in_compiled_functions() -> None:
    compiled = kt.compile(kt.load("ur5"), lambda x, y: functions.copysign(x, y), shapes={"x": (), "y": ()})
    x, y = np.array(list(itertools.product(SPECIAL, SPECIAL))).T
    wanted = np.array([functions.copysign(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)])
    for got in (compiled(x, y), np.array([compiled(a, b) for a, b in zip(x, y, strict=True)])):
        assert np.array_equal(got, wanted, equal_nan=True)
        assert np.array_equal(np.signbit(got), np.signbit(wanted) & ~np.isnan(got) | np.signbit(got) & np.isnan(got))
