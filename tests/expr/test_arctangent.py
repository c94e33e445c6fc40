"""The traced arctangent of two arguments, in the interpreter, against long doubles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kinetree.graph import Port
from kinetree.graph.interpret import interpret
from kinetree.tracing.tracer import Tracer


def program():  # type: ignore[no-untyped-def]
    t = Tracer()
    (y,) = t.input(Port("y", ()))
    (x,) = t.input(Port("x", ()))
    return t.program({"angle": ((), [y.atan2(x)])})


PROGRAM = program()


def angle(y: float, x: float) -> float:
    return float(np.ravel(interpret(PROGRAM, {"y": [y], "x": [x]})[0])[0])


def test_within_three_ulp_all_around() -> None:
    rng = np.random.default_rng(0)
    around = np.concatenate([rng.uniform(-math.pi, math.pi, 300), np.arange(-8, 9) * math.pi / 8])
    for theta in around:
        scale = 10.0 ** rng.integers(-200, 200)
        y, x = scale * math.sin(theta), scale * math.cos(theta)
        exact = np.arctan2(np.longdouble(y), np.longdouble(x))
        assert abs(angle(y, x) - exact) <= 3 * np.spacing(abs(float(exact)))


@pytest.mark.parametrize(
    ("y", "x"),
    [(0.0, 0.0), (0.0, 2.0), (0.0, -2.0), (3.0, 0.0), (-3.0, 0.0), (1e-320, 1.0), (math.inf, 1.0), (1.0, math.inf)],
)
def test_on_the_axes(y: float, x: float) -> None:
    assert angle(y, x) == math.atan2(y, x)


@pytest.mark.parametrize(("y", "x"), [(math.nan, 1.0), (1.0, math.nan), (math.inf, math.inf)])
def test_what_has_no_angle(y: float, x: float) -> None:
    assert math.isnan(angle(y, x))
