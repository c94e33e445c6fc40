"""The traced arctangent of two arguments, in the interpreter, against long doubles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.kernels import run_batch, run_single
from helpers.programs import traced
from kinetree.graph.ops import interpret

PROGRAM = traced(lambda y, x: [y[0].atan2(x[0])], 1, 1)


def angle(y: float, x: float) -> float:
    return float(np.ravel(interpret(PROGRAM, [[y], [x]])[0])[0])


@pytest.mark.parametrize(
    ("y", "x"),
    [
        *((0.0, 0.0), (0.0, 2.0), (0.0, -2.0), (3.0, 0.0), (-3.0, 0.0), (1e-320, 1.0), (math.inf, 1.0)),
        *((1.0, math.inf), (math.nan, 1.0), (1.0, math.nan), (math.inf, math.inf)),
    ],
)
def test_on_the_axes_and_what_has_no_angle(y: float, x: float) -> None:
    nothing = math.isnan(y + x) or y == x == math.inf
    assert math.isnan(angle(y, x)) if nothing else angle(y, x) == math.atan2(y, x)


def everywhere(dtype: str) -> np.ndarray:
    """Return points (n, 2) over all exponents: on rays around the origin, of any two sizes, and on the edges."""
    info, rng = np.finfo(dtype), np.random.default_rng(1)
    lowest, highest = np.log2(float(info.smallest_subnormal)), np.log2(float(info.max))
    around = np.concatenate([rng.uniform(-math.pi, math.pi, 400), np.arange(-16, 17) * math.pi / 16])
    radii = np.exp2(np.concatenate([np.linspace(lowest, highest - 1e-3, 60), [highest - 1e-6] * 3, [lowest + 2] * 3]))
    rays = radii[:, None, None] * np.stack([np.sin(around), np.cos(around)], axis=-1)
    sizes = np.exp2(rng.uniform(lowest, highest - 1e-3, (4000, 2))) * rng.choice([-1.0, 1.0], (4000, 2))
    edges = [0.0, float(info.smallest_subnormal), float(info.smallest_normal), 0.75, 1.0, 2.0, float(info.max)]
    corners = [(s * y, t * x) for y in edges for x in edges for s in (1, -1) for t in (1, -1)]
    small = float(info.smallest_subnormal) * np.array([(y, x) for y in range(12) for x in range(12)])
    return np.concatenate([rays.reshape(-1, 2), sizes, corners, small]).astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_within_three_ulp_at_all_sizes_in_kernels(dtype: str) -> None:
    points = everywhere(dtype)
    y, x = np.ascontiguousarray(points[:, 0]), np.ascontiguousarray(points[:, 1])
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    exact[(y == 0.0) & (x == 0.0)] = 0.0
    exact[(y == 0.0) & (x < 0.0)] = math.pi  # a zero has no sign here
    for lanes in (1, 8):
        (got,) = run_batch(PROGRAM, [y[:, None], x[:, None]], lanes, dtype)
        unit = np.spacing(np.abs(exact).astype(dtype))
        wrong = np.abs(got[:, 0] - exact) > 3 * unit
        assert not wrong.any(), (points[wrong][:5], got[wrong][:5], exact[wrong][:5])
    for k in range(0, len(y), 997):
        (one,) = run_single(PROGRAM, [y[k : k + 1], x[k : k + 1]], dtype)
        assert one == got[k]
