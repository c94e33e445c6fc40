"""Every algorithm of the table in C, with and without its options: the bits of the LLVM backend's functions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from helpers.c_backend import CBackend
from helpers.compiler import ALGORITHMS, shape_of, uses
from helpers.exact_trees import exact_tree
from helpers.kernels import same_bits
from helpers.sampling import sample
from helpers.trees import random_states
from kinetree.backends import BACKENDS, get_backend
from kinetree.functions.of_robot import robot_spec
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.runtime import Function

MODEL = exact_tree("floating", 2, [FreeFlyer(), Revolute((0, 0, 1)), Prismatic((1, 0, 0)), Spherical()])
STATES = 5  # for 4 lanes: a block, and one that overlaps it

CASES = [(algorithm, use) for algorithm in ALGORITHMS.values() for use in uses(algorithm, ("tip", "link1"), "joint1")]


@pytest.fixture(scope="module")
def c() -> Iterator[str]:
    BACKENDS["c"] = CBackend
    yield "c"
    del BACKENDS["c"]
    get_backend.cache_clear()


@pytest.mark.parametrize("k", sample(range(len(CASES)), 26), ids=lambda k: f"{CASES[k][0].name}({CASES[k][1].name})")
def test_every_algorithm(k: int, c: str) -> None:
    """In turn one state in float64 and some in float32: the text is the same."""
    algorithm, use = CASES[k]
    dtype, lead = ("float32", (STATES,)) if k % 2 else ("float64", ())
    rng = np.random.default_rng(k)
    shapes = {**algorithm.inputs, **{name: algorithm.optional[name] for name in use.optional}}
    arrays = {}
    for name, shape in shapes.items():
        size = shape_of(shape, MODEL, use.options.get("rows", "pose"))
        states = random_states(MODEL, k, STATES)[0] if shape == ("nq",) else rng.normal(size=(STATES, *size))
        arrays[name] = states[: STATES if lead else 1].reshape((*lead, *size)).astype(dtype)
    spec = robot_spec(MODEL, algorithm)
    got, expected = (Function(spec, backend=name)(**arrays, **use.options) for name in (c, "llvm"))
    pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (got, expected)), strict=True)
    for x, right in pairs:
        assert same_bits(np.asarray(x), np.asarray(right))
        assert np.isfinite(right).all()
