"""Functions as C, compiled by gcc and by the clang of ziglang, beside our kernels, all called from one loop in C."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.timing import interleaved
from kinetree.runtime import Function

N = 64
FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_kinematics")
FLAGS = ("-O2", "-march=native", "-shared", "-fPIC")
COMPILERS = {"gcc": ("gcc",), "clang": (sys.executable, "-m", "ziglang", "cc")}

LOOP = """
typedef int (*function)({types});
void loop(function f, double **p, int n)
{{
    for (int i = 0; i < n; i++)
        f({arguments});
}}
"""


def compiled(text: str, compiler: str, name: str, folder: Path) -> tuple[ctypes.CDLL, float]:
    """Return the shared library of a text, and the seconds that the compiler took."""
    source, library = folder / f"{name}.c", folder / f"{name}-{compiler}.so"
    source.write_text(text, encoding="utf-8")
    start = time.perf_counter()
    subprocess.run([*COMPILERS[compiler], *FLAGS, str(source), "-lm", "-o", str(library)], check=True)
    return ctypes.CDLL(str(library)), time.perf_counter() - start


def measured(f: Function, robot: kt.Robot, rounds: int, folder: Path, section: Section) -> None:
    """Add the rows of one function."""
    q, v, a = robot.random_state(0, N)
    states = {"q": q, "v": v, "a": a, "tau": 10 * a}
    inputs = [np.ascontiguousarray(states[port.name]) for port in f.spec.required]
    expected = np.asarray(f(*inputs))
    arrays = [*inputs, np.zeros_like(expected)]
    arguments = ", ".join(f"p[{k}] + i * {x[0].size}" for k, x in enumerate(arrays))
    text = LOOP.format(types=", ".join(["double *"] * len(arrays)), arguments=arguments)
    compiler = next(name for name in ("gcc", "clang") if name == "clang" or shutil.which(name))
    loop = compiled(text, compiler, f"loop-{robot.name}-{f.__name__}", folder)[0].loop
    pointers = (ctypes.c_void_p * len(arrays))(*(x.ctypes.data for x in arrays))
    ways = {"kinetree": partial(loop, ctypes.c_void_p(f.address), pointers, N)}
    compile_seconds: dict[str, float] = {}
    labels = {"robot": robot.name, "function": f.__name__}
    for compiler in COMPILERS:
        if compiler == "clang" or shutil.which(compiler):
            source = f.to_c("f").source
            library, seconds = compiled(source, compiler, f"{robot.name}-{f.__name__}", folder)
            ways[compiler] = partial(loop, library.f, pointers, N)
            compile_seconds[compiler] = float(f"{seconds:.3g}")
            ways[compiler]()
            assert np.array_equal(arrays[-1], expected)
    section.compare(labels, "kinetree", interleaved(ways, rounds), N, "ns")
    for row in section.rows[-len(ways) :]:
        row["compile s"] = compile_seconds.get(str(row["way"]), "")


def run(rounds: int) -> Section:
    section = Section(
        "Functions as C", f"One state, from a loop in C over {N} states; {' '.join(FLAGS[:2])}. One core."
    )
    with tempfile.TemporaryDirectory() as folder:
        for name in ("panda", "g1"):
            robot = kt.load(name)
            for function in FUNCTIONS:
                measured(getattr(robot, function), robot, rounds, Path(folder), section)
    return section
