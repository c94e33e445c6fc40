"""Sine and cosine in C: the LLVM backend's bits on all kinds of angles; without fused multiply-adds, near them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from test_llvm_sincos import near_multiples

from helpers.c_backend import COMPILERS, CBackend, run_c
from helpers.kernels import run_batch, same_bits
from helpers.programs import traced
from helpers.sampling import cover
from kinetree.graph.elementary.circular import LIMIT

COUNT = 1_000_000
PROGRAM = traced(lambda x: [x[0].sin(), x[0].cos()], 1)
ULPS = {"float64": 2.0, "float32": 1.0}
"""Without fused multiply-adds; measured: 2 and 0, since float32 angles are computed in float64."""


def angles(dtype: str) -> np.ndarray:
    """Return random bit patterns, which have every exponent and NaNs, usual angles and hard ones."""
    rng = np.random.default_rng(0)
    size = np.dtype(dtype).itemsize
    patterns = rng.integers(0, 256, COUNT * size, dtype=np.uint8).view(dtype)
    usual = np.concatenate([rng.uniform(-scale, scale, 20000) for scale in (1e-3, 1.0, 10.0, 1e4, LIMIT)])
    limits = [LIMIT, np.nextafter(LIMIT, np.inf), np.nextafter(LIMIT, 0.0), LIMIT * 2 * (1 + 1e-7), 1e22]
    worst = [6381956970095103.0 * 2.0**797, 1.7976931348623157e308, 0.0, np.inf, np.nan, 5e-324, 2.2e-308]
    hard = np.concatenate([near_multiples(), limits, worst])
    with np.errstate(over="ignore", invalid="ignore"):
        return np.concatenate([patterns, *(x.astype(dtype) for x in (usual, hard, -hard))])[:, None]


DTYPES = ("float64", "float32")
FLAGS = (("-O2", "-march=native"), ("-O1", "-mfma"))  # the second without AVX2


@pytest.mark.parametrize(
    ("flags", "lanes", "compiler", "dtype"), cover(itertools.product(FLAGS, (1, 8), COMPILERS, DTYPES))
)
def test_the_bits_of_the_llvm_backend(flags: tuple[str, ...], lanes: int, compiler: str, dtype: str) -> None:
    x = angles(dtype)
    expected = run_batch(PROGRAM, [x], 8, dtype)[0]
    assert same_bits(run_c(CBackend(compiler, flags), PROGRAM, [x], lanes, dtype)[0], expected)


@pytest.mark.parametrize(("compiler", "dtype"), cover(itertools.product(COMPILERS, DTYPES)))
def test_without_fused_multiply_adds_the_last_place_may_differ(compiler: str, dtype: str) -> None:
    x = angles(dtype)
    expected = run_batch(PROGRAM, [x], 8, dtype)[0]
    got = run_c(CBackend(compiler, ("-O2", "-DKT_FMA=0")), PROGRAM, [x], 1, dtype)[0]
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    known = ~np.isnan(expected)
    error = np.abs(got[known].astype(float) - expected[known]) / np.spacing(np.abs(expected[known])).astype(float)
    assert error.max() <= ULPS[dtype]


def test_libm_gives_the_same_bits_where_it_must() -> None:
    """-DKT_FMA=1 for a processor without the instruction: libm's function has one rounding too."""
    x = angles("float64")[::50]
    got = run_c(CBackend("clang", ("-O2", "-mcpu=x86_64", "-DKT_FMA=1")), PROGRAM, [x], 1)[0]
    assert same_bits(got, run_batch(PROGRAM, [x], 8)[0])
