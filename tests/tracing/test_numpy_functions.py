"""NumPy's functions in users' functions: rounding and remainders to the bit, choices by conditions, elementary ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import run_batch, run_single
from helpers.programs import traced
from kinetree.graph.ops import interpret
from kinetree.scalars import functions

robot = kt.load("panda")
SPECIAL = np.array([0.0, -0.0, 1, -1, 2.5, -2.5, 0.5, 1.5, -0.5, 1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan, 3, -7])
RNG = np.random.default_rng(0)
A, B = (np.concatenate([special.ravel(), RNG.normal(size=200) * 9]) for special in np.meshgrid(SPECIAL, SPECIAL))


def into_an_array(function, x, *options):
    out = np.empty(np.shape(x), dtype=np.asarray(x).dtype)
    assert function(x, *options, out=out) is out
    return out[()]


TO_THE_BIT = {
    "%": lambda x, y: x % y,
    "//": lambda x, y: x // y,
    "% number": lambda x, y: x % 2.5 + y % -3.0,
    "number %": lambda x, y: 3.0 % x,
    "// number": lambda x, y: x // 3,
    "number //": lambda x, y: -7 // x,
    "remainder": np.remainder,
    "floor_divide": np.floor_divide,
    "fmod": np.fmod,
    "floor": lambda x, y: np.floor(x),
    "ceil": lambda x, y: np.ceil(x),
    "trunc": lambda x, y: np.trunc(x),
    "fix": lambda x, y: np.fix(x),
    "rint": lambda x, y: np.rint(x),
    "round": lambda x, y: np.round(x),
    "round to hundredths": lambda x, y: np.round(x, 2),
    "round to tens": lambda x, y: np.round(x, -1),
    "round into an array": lambda x, y: into_an_array(np.round, x, 2),
    "clip": lambda x, y: np.clip(x, -1.0, 1.5),
    "minimum of a list": lambda x, y: kt.minimum([x], 0.5)[0],
    "maximum of a list": lambda x, y: kt.maximum(0.5, [x])[0],
    "kt.abs": lambda x, y: kt.abs(x),
    "copysign": np.copysign,
    "sign": lambda x, y: np.sign(x),
    "deg2rad": lambda x, y: np.deg2rad(x),
    "rad2deg": lambda x, y: np.degrees(x),
    "reciprocal": lambda x, y: np.reciprocal(x),
    "and": lambda x, y: np.where(np.logical_and(x, y > 0), 1.0, 2.0),
    "or": lambda x, y: np.where(np.logical_or(x > 0, y), 1.0, 2.0),
    "xor": lambda x, y: np.where(np.logical_xor(x > 0, y > 0), 1.0, 2.0),
    "^": lambda x, y: np.where((x > 0) ^ (y > 0), 1.0, 2.0),
    "not": lambda x, y: np.where(np.logical_not(x > y), 1.0, 2.0),
    "not a number": lambda x, y: np.where(np.logical_not(x), 1.0, 2.0),
    "isfinite": lambda x, y: np.where(np.isfinite(x), 1.0, 2.0),
    "isinf": lambda x, y: np.where(np.isinf(x), 1.0, 2.0),
    "isnan": lambda x, y: np.where(np.isnan(x), 1.0, 2.0),
    "signbit": lambda x, y: np.where(np.signbit(x), 1.0, 2.0),
}


@pytest.mark.parametrize("case", TO_THE_BIT)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_to_the_bit(case: str) -> None:
    function = TO_THE_BIT[case]
    compiled = kt.compile(robot, lambda x, y: function(x, y), shapes={"x": (), "y": ()}, name="f")
    got, wanted = compiled(A, B), function(A, B)
    same = (got == wanted) & (np.signbit(got) == np.signbit(wanted)) | np.isnan(got) & np.isnan(wanted)
    assert same.all(), np.stack([A, B, got, wanted], 1)[~same][:5]
    assert np.array_equal([compiled(x, y) for x, y in zip(A, B, strict=True)], got, equal_nan=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_elementary_functions_and_powers() -> None:
    def f(x, y):
        size = abs(x)
        return {
            "a": np.exp(-size) + np.expm1(x / 10) + np.tanh(x) * np.sinh(x / 5) / np.cosh(y / 5),
            "b": np.log(size) + np.log1p(size) + np.cbrt(x) + np.hypot(x, y),
            "c": np.arcsin(np.tanh(x)) + np.arccos(np.tanh(y)) + np.arctan(x) + np.arctan2(x, y),
            "d": np.stack([size**y, size**2.5, 2.0**y, x**40, np.power(x, 3), x**-2, x**0.5, size ** np.round(y)]),
        }

    compiled = kt.compile(robot, f, shapes={"x": (), "y": ()})
    x, y = RNG.normal(size=(2, 50)) * 3
    got, wanted = compiled(x, y), f(x, y)
    for name in ("a", "b", "c"):
        np.testing.assert_allclose(getattr(got, name), wanted[name], rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(got.d, wanted["d"].T, rtol=1e-14)
    assert compiled.op_count["arctan2"] == 1


def test_pythons_rounding_of_traced_values() -> None:
    def f(x):
        return np.stack([round(x), math.floor(x), math.ceil(x), math.trunc(x), round(x, 1)])

    assert kt.compile(robot, f, shapes={"x": ()})(-2.56).tolist() == [-3.0, -3.0, -2.0, -2.0, -2.6]


def test_pages_may_use_them() -> None:
    """A page's functions of any scalar record the operations too."""

    def f(x, y):
        names = ("exp", "expm1", "log", "log1p", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan", "cbrt", "floor")
        one = [getattr(functions, name)(x) for name in (*names, "ceil", "trunc", "sqrt", "sin", "cos")]
        two = [getattr(functions, name)(x, y) for name in ("copysign", "hypot", "fmod", "power")]
        return np.stack([*one, *two, functions.copysign(1.0, y), functions.fmod(2.0, y)])

    x, y = 0.7, -0.4
    compiled = kt.compile(robot, f, shapes={"x": (), "y": ()})
    with np.errstate(invalid="ignore"):
        wanted = f(x, 2.0)
    np.testing.assert_allclose(compiled(x, 2.0), wanted, rtol=1e-15)
    assert compiled(x, y)[-2] == -1.0


def test_the_sign_of_nan_is_none_of_constants_either() -> None:
    negative = np.copysign(np.nan, -1.0)

    def f(x):
        return np.where(np.signbit(np.concatenate([x, [negative]])), 1.0, 0.0)

    assert kt.compile(robot, f, shapes={"x": (1,)})(np.array([negative])).tolist() == [0.0, 0.0]


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
