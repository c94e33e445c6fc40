"""Every algorithm of the table, called in every way that there is: the same bits, and the page's numbers.

A new algorithm is tested by being in `kinetree.algorithms.ALGORITHMS`, or in the table of mechanisms. What is promised
is that the bits of a state depend neither on the states beside it, nor on lanes, threads, strides and ``out=``; that
they are those of the page on Python floats but for rounding; and that float32 is as exact as float32 can be.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
import pytest

import kinetree as kt
from helpers.compiler import Algorithm, Use, robot_function, shape_of, share_small_batches, table_of, uses
from helpers.exact_trees import exact_tree, one_of_each
from helpers.joints import TILTED
from helpers.kernels import same_bits
from helpers.sampling import cover
from helpers.trees import random_states
from kinetree.constraints.builder import constrained
from kinetree.joints import FreeFlyer, Joint, Prismatic, Revolute, Spherical
from kinetree.model import Model

Array = np.ndarray[Any, Any]

STATES = 19  # for 16 lanes a block and a part of one, so two chunks for two threads
LANES = (1, 2, 4, 8, 16)

# Ulp of the largest entry of a result, of all states. Measured: 243 and 294, where a mass matrix is solved (the page is
# of the whole model, unoptimised), and below 50 and 80 elsewhere.
PAGE_ULPS = 500.0
FLOAT32_ULPS = 500.0

ARM: list[Joint] = [Revolute((0, 0, 1)), Revolute(TILTED), Prismatic((1, 0, 0)), Revolute((0, 1, 0)), Spherical()]
ROBOTS: dict[str, Model] = {
    "mimic": exact_tree("mimic", 1, ARM, followers=1, straight=1.0),
    "floating": exact_tree("floating", 2, [FreeFlyer(), *ARM[1:4]]),
    "every other joint": exact_tree("every other joint", 3, one_of_each(-1)[::2], straight=0.8),
    "the others": exact_tree("the others", 4, one_of_each(-1)[1::2], straight=0.8),
}
SLIDERS: list[Joint] = [Prismatic((1, 0, 0)), Revolute(TILTED), Prismatic((0, 1, 0)), Prismatic((0, 0, 1))]
HELD = [kt.Rod("tip", None, length=0.75), kt.Gear({"joint0": 1, "joint1": -2}), kt.Gear({"joint1": 1, "joint2": 1})]
MECHANISM = constrained(exact_tree("held", 5, SLIDERS, straight=1.0), HELD, actuated=["joint1"], independent=["joint1"])
MODELS: dict[str, Model] = {**ROBOTS, "mechanism": MECHANISM}
ITERATIVE = {"assemble", "contact_inverse_dynamics"}  # the bits of these are tested beside what they find


class Case(NamedTuple):
    """A robot, an algorithm, a way to call it, and the number of lanes in a batch."""

    robot: str
    algorithm_name: str
    way: int
    lanes: int

    @property
    def algorithm(self) -> Algorithm:
        """The algorithm."""
        return table_of(MODELS[self.robot])[self.algorithm_name]

    @property
    def use(self) -> Use:
        """The way to call it."""
        return ways(self.robot, self.algorithm)[self.way]

    @property
    def name(self) -> str:
        """The test's."""
        return f"{self.robot}-{self.algorithm_name}({self.use.name})-{self.lanes}"


def ways(robot: str, algorithm: Algorithm) -> list[Use]:
    """Return the ways to call an algorithm of a robot: a frame that joints move, one on the way, the first joint.

    Of the mechanism it is the last joint, the only one that may be prescribed whatever is switched off.
    """
    names = MODELS[robot].joint_names
    return uses(algorithm, ("tip", "link1"), names[-1 if robot == "mechanism" else 0])


CASES = cover(
    Case(robot, name, way, lanes)
    for robot, model in MODELS.items()
    for name, algorithm in table_of(model).items()
    if name not in ITERATIVE
    for way in range(len(ways(robot, algorithm)))
    for lanes in LANES
)


@lru_cache
def inputs(robot: str, algorithm: str, rows: str) -> dict[str, Array]:
    """Return a random array (STATES, …) for each input, the optional ones too, for these rows of Jacobians."""
    model = MODELS[robot]
    row = table_of(model)[algorithm]
    rng = np.random.default_rng(len(algorithm))
    arrays = {}
    for k, (name, shape) in enumerate({**row.inputs, **row.optional}.items()):
        is_configuration = shape == ("nq",)
        arrays[name] = (
            random_states(model, (25 if robot == "mechanism" else 10) + k, STATES)[
                0
            ]  # 25: no rows are nearly dependent
            if is_configuration
            else rng.normal(size=(STATES, *shape_of(shape, model, rows)))
        )
        if name in ("active", "restitution"):
            arrays[name] = np.float64(arrays[name] > 0.0)
        elif name in row.ranges or name == "tolerance":
            arrays[name] = np.abs(arrays[name])
    if algorithm == "step":
        arrays["dt"] *= 1e-3  # s: some methods solve equations, which have no solution for long steps
    return arrays


@cache
def function(robot: str, algorithm: str, lanes: int) -> Callable[..., Any]:
    """Return the robot's function with so many lanes in a batch."""
    with mock.patch.dict(os.environ, KINETREE_LANES=str(lanes)):
        return robot_function(MODELS[robot], algorithm)


def as_list(results: Any) -> list[Array]:
    """Return one array an output."""
    return [np.asarray(x) for x in (results if isinstance(results, tuple) else (results,))]


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, list | tuple) else [value]


class Calls:
    """A case with inputs of one dtype, called in every way."""

    def __init__(self, case: Case, dtype: str) -> None:
        self.case, self.dtype = case, np.dtype(dtype)
        algorithm, use = case.algorithm, case.use
        rows = use.options.get("rows", "pose")
        given = inputs(case.robot, algorithm.name, rows)
        self.names = [*algorithm.inputs, *use.optional]
        self.arrays = [given[name].astype(dtype) for name in self.names]
        self.shapes = [shape_of(shape, MODELS[case.robot], rows) for shape in algorithm.outputs.values()]

    def __call__(self, lanes: int, arrays: Sequence[Array], **kwargs: Any) -> list[Array]:
        call = function(self.case.robot, self.case.algorithm.name, lanes)
        given = dict(zip(self.names, arrays, strict=True)) | self.case.use.options
        return as_list(call(**{call.spec.spelled(name): x for name, x in given.items()}, **kwargs))

    def singles(self, change: Callable[[Array], Array] = lambda x: x) -> list[Array]:
        """Return the results of the states one by one, each input changed in this way before."""
        results = [self(LANES[0], [change(x[k]) for x in self.arrays]) for k in range(STATES)]
        return [np.stack(column) for column in zip(*results, strict=True)]

    def empty(self, lead: tuple[int, ...], step: int = 1) -> tuple[Array, ...]:
        """Return an array full of NaN for each output, every `step`-th row of a larger one."""
        lead = (lead[0] * step, *lead[1:]) if lead else ()
        whole = [np.full((*lead, *shape), np.nan, self.dtype) for shape in self.shapes]
        return tuple(x[::step] if lead else x for x in whole)

    def page(self, k: int) -> list[Array]:
        """Return what the page says of one state, on Python floats."""
        arguments = {name: x[k].tolist() for name, x in zip(self.names, self.arrays, strict=True)}
        results = self.case.algorithm(MODELS[self.case.robot], arguments, self.case.use.options)
        each = (results,) if len(self.shapes) == 1 else results
        return [np.array(flat(x)).reshape(shape) for x, shape in zip(each, self.shapes, strict=True)]


def assert_same_bits(got: Sequence[Array], expected: Sequence[Array], how: str) -> None:
    for a, b in zip(got, expected, strict=True):
        assert same_bits(np.ascontiguousarray(a), np.ascontiguousarray(b)), how


def only(out: tuple[Array, ...]) -> Any:
    """Return what ``out=`` takes: the array where there is one result."""
    return out[0] if len(out) == 1 else out


def spaced(x: Array) -> Array:
    """Return an equal array of which no two entries are neighbours in memory."""
    wide = np.zeros((*x.shape, 2), x.dtype)
    wide[..., 0] = x
    return wide[..., 0]


def check_bits(calls: Calls, taken_part: list[int]) -> list[Array]:
    """Check that all ways to compute the states give the same bits, and return them."""
    arrays, expected, width = calls.arrays, calls.singles(), calls.case.lanes
    for x, shape in zip(expected, calls.shapes, strict=True):
        assert x.shape == (STATES, *shape)
        assert x.dtype == calls.dtype
        assert np.isfinite(x).all()
    assert_same_bits(calls.singles(spaced), expected, "one state, strided")
    out = calls.empty(())
    calls(LANES[0], [x[3] for x in arrays], out=only(out))
    assert_same_bits(out, [x[3] for x in expected], "one state, out=")
    how = f"{width} lanes"
    for n in sorted({1, 2, width, width + 1, STATES}):
        assert_same_bits(calls(width, [x[:n] for x in arrays]), [x[:n] for x in expected], f"{how}, {n} states")
    for threads in (1, 2):
        kt.set_num_threads(threads)
        taken_part.clear()
        assert_same_bits(calls(width, arrays), expected, f"{how}, {threads} threads")
        assert taken_part == ([2] if threads == 2 else [])
        for step in (1, 2):
            out = calls.empty((STATES,), step)
            calls(width, arrays, out=only(out))
            assert_same_bits(out, expected, f"{how}, out= of stride {step}, {threads} threads")
        assert_same_bits(calls(width, [x[::-3] for x in arrays]), [x[::-3] for x in expected], f"{how}, [::-3]")
        assert_same_bits(calls(width, [*map(spaced, arrays)]), expected, f"{how}, strided")
    return expected


def ulps(got: Array, right: Array, dtype: str) -> float:
    """Return the largest error in units of the last place of the largest number."""
    scale = np.abs(right).max(initial=0.0)
    error = np.abs(got.astype(float) - right).max(initial=0.0)
    return float(error / (np.finfo(dtype).eps * scale)) if error else 0.0


def slack(case: Case) -> float:
    """Return how much more rounding there may be: velocities made of momenta have that of M's condition number.

    What constraints determine has that of their rows', which is 9 here.
    """
    return 4.0 if case.robot == "mechanism" or case.use.options.get("integrator") == "variational" else 1.0


def is_nothing(case: Case, name: str, x: Array) -> bool:
    """Return whether a result is zero but for rounding: gravity turns nothing that floats, and nothing is missing."""
    known = case.robot == "floating" and name == "p" and case.use.options.get("rows") == "orientation"
    return (known or name == "missing") and bool(np.abs(x).max() < 1e-11)


@pytest.fixture
def taken_part(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    before = kt.get_num_threads()
    yield share_small_batches(monkeypatch)
    kt.set_num_threads(before)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_algorithm(case: Case, taken_part: list[int]) -> None:
    calls = Calls(case, "float64")
    right = check_bits(calls, taken_part)
    pages = [calls.page(k) for k in range(4)]
    for j, name in enumerate(case.algorithm.outputs):
        error = ulps(right[j][:4], np.array([p[j] for p in pages]), "float64")
        assert error <= PAGE_ULPS * slack(case) or is_nothing(case, name, right[j]), name
    rounded = Calls(case, "float32")
    got = check_bits(rounded, taken_part)
    exact = Calls(case, "float64")
    exact.arrays = [x.astype(float) for x in rounded.arrays]
    for j, (name, x) in enumerate(zip(case.algorithm.outputs, exact(case.lanes, exact.arrays), strict=True)):
        error = ulps(got[j], x, "float32")
        assert error <= FLOAT32_ULPS * slack(case) or is_nothing(case, name, x), name
