"""Elementary functions of users' functions beside NumPy's, with its vector library and without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.timing import interleaved
from kinetree.graph import elementary
from kinetree.graph.ops import OPS

N, SIZE = 512, 64  # states, and numbers a state: the results stay in the second-level cache
WITHOUT = "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
"""The features of processors that NumPy's vector library needs, by their names in NumPy before 2.4 and since."""

RANGES = {"log": (0.01, 100.0), "log1p": (-0.5, 5.0), "arcsin": (-1.0, 1.0), "arccos": (-1.0, 1.0), "power": (0.1, 5.0)}


def arguments(name: str, dtype: str) -> list[NDArray[np.floating]]:
    """Return usual arguments of a function."""
    low, high = RANGES.get(name, (-3.0, 3.0))
    return list(np.random.default_rng(0).uniform(low, high, (OPS[name].arity, N, SIZE)).astype(dtype))


def measured(rounds: int) -> dict[str, dict[str, float]]:
    """Return the seconds that a number takes us and NumPy, by function and dtype, in turn."""
    kt.set_num_threads(1)
    robot = kt.load("ur5")
    found: dict[str, dict[str, float]] = {}
    for name in ("abs", *elementary.FUNCTIONS):
        f = getattr(np, name)
        formula: Callable[..., object] = (lambda x, f=f: f(x)) if OPS[name].arity == 1 else lambda x, y, f=f: f(x, y)
        function = robot.compile(formula, shapes=dict.fromkeys("xy"[: OPS[name].arity], (SIZE,)), name=name)
        for dtype in ("float64", "float32"):
            x = arguments(name, dtype)
            ways = {"ours": partial(function, *x, out=function(*x)), "NumPy": partial(f, *x, out=np.empty_like(x[0]))}
            timings = interleaved(ways, rounds)
            found[f"{name} {dtype}"] = {way: timings[way].minimum / (N * SIZE) for way in ways}
    return found


def _measured_without(rounds: int) -> dict[str, dict[str, float]]:
    """Return the same from a process in which NumPy does not use its vector library."""
    code = f"import json; from benchmarks.elementary import measured; print(json.dumps(measured({rounds})))"
    environment = {**os.environ, "NPY_DISABLE_CPU_FEATURES": WITHOUT}
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return result


def run(rounds: int) -> Section:
    section = Section(
        "Elementary functions",
        f"Nanoseconds a number, {N} states of {SIZE} numbers into memory that is used again, one thread. Ours less "
        "that of `abs`, which only reads and writes, is the function's own. NumPy with its vector library (SVML, where "
        "the processor has AVX-512) and without, each beside ours in a process of its own. Instructions: "
        "of a vector.",
    )
    library, plain = measured(rounds), _measured_without(rounds)
    for key, seconds in library.items():
        name, dtype = key.split()
        ours = min(seconds["ours"], plain[key]["ours"])
        row: dict[str, object] = {"function": name, "dtype": dtype, "min ns": float(f"{ours * 1e9:.3g}")}
        if name in elementary.FUNCTIONS:
            row["instructions"] = OPS[name].cost
        for title, found in (("NumPy", seconds), ("NumPy without", plain[key])):
            row[f"{title}, min ns"] = float(f"{found['NumPy'] * 1e9:.3g}")
            row[f"{title}, times slower"] = float(f"{found['NumPy'] / found['ours']:.3g}")
        section.rows.append(row)
    return section
