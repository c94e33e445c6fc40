"""Every algorithm of the table in C, with and without its options: the bits of the LLVM backend's functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from helpers.c_backend import CBackend
from helpers.compiler import ALGORITHMS, shape_of, uses
from helpers.exact_trees import exact_tree
from helpers.kernels import same_bits
from helpers.sampling import cover
from helpers.trees import random_states
from kinetree.backends import BACKENDS, get_backend
from kinetree.functions.of_robot import robot_spec
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.runtime import Function

MODEL = exact_tree("floating", 2, [FreeFlyer(), Revolute((0, 0, 1)), Prismatic((1, 0, 0)), Spherical()])
STATES = 5  # for 4 lanes: a block, and one that overlaps it

USES = {name: uses(algorithm, ("tip", "link1"), "joint1") for name, algorithm in ALGORITHMS.items()}
CASES = cover(
    (name, way, dtype) for name, ways in USES.items() for way in range(len(ways)) for dtype in ("float64", "float32")
)


@pytest.fixture(scope="module")
def c() -> Iterator[str]:
    BACKENDS["c"] = CBackend
    yield "c"
    del BACKENDS["c"]
    get_backend.cache_clear()


@pytest.mark.parametrize(("name", "way", "dtype"), CASES)
def test_every_algorithm(name: str, way: int, dtype: str, c: str) -> None:
    """One state in float64, some in float32: the text is the same."""
    algorithm, use = ALGORITHMS[name], USES[name][way]
    lead = (STATES,) if dtype == "float32" else ()
    rng = np.random.default_rng(way)
    shapes = {**algorithm.inputs, **{given: algorithm.optional[given] for given in use.optional}}
    arrays = {}
    for given, shape in shapes.items():
        size = shape_of(shape, MODEL, use.options.get("rows", "pose"))
        states = random_states(MODEL, way, STATES)[0] if shape == ("nq",) else rng.normal(size=(STATES, *size))
        arrays[given] = states[: STATES if lead else 1].reshape((*lead, *size)).astype(dtype)
    if "dt" in arrays:
        arrays["dt"] *= 1e-3  # s: some methods solve equations, which have no solution for long steps
    spec = robot_spec(MODEL, algorithm)
    got, expected = (Function(spec, backend=backend)(**arrays, **use.options) for backend in (c, "llvm"))
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (got, expected)), strict=True)
    for x, right in pairs:
        assert same_bits(np.asarray(x), np.asarray(right))
        assert np.isfinite(right).all()
