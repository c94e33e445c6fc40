"""How the cost of compiling and of a call grows: revolute chains of 100 and 200 links."""

from __future__ import annotations

import time
from functools import partial

import numpy as np

import kinetree as kt
from benchmarks.machine import Section, without_cache
from benchmarks.timing import Timing, interleaved
from kinetree.joints import Revolute


def chain(n: int) -> kt.Robot:
    """Return a chain of n links with axes in turn along x, y and z, and a mass off the axis on each."""
    builder = kt.ModelBuilder(f"chain{n}")
    builder.add_link("link0")
    for i in range(n):
        axis = tuple(float(k == i % 3) for k in range(3))
        inertia = [[0.02, 0.001, 0.002], [0.001, 0.03, 0.003], [0.002, 0.003, 0.04]]
        builder.add_link(f"link{i + 1}", kt.Inertia.from_com(1.0, (0.01, 0.02, 0.03), inertia))
        pose = np.eye(4)
        pose[:3, 3] = (0.1, 0.02, 0.05)
        joint = Revolute(axis)
        builder.add_joint(f"j{i}", parent=f"link{i}", child=f"link{i + 1}", joint=joint, placement=pose)
    return kt.Robot(builder.build())


def _compile_seconds(n: int, name: str) -> float:
    function = getattr(chain(n), name)
    start = time.perf_counter()
    function.warmup(batch=False)
    return time.perf_counter() - start


def run(rounds: int) -> Section:
    section = Section(
        "Chains of 100 and 200 revolute links",
        "First call (tracing, passes, LLVM; no cache) and a later call; the ratio is that of 200 links to 100.",
    )
    with without_cache():
        for name in ("inverse_dynamics", "forward_dynamics"):
            small, large = chain(100), chain(200)
            repeats = range(min(rounds, 5))
            compiled = {
                f"compile, {n} links": Timing(tuple(_compile_seconds(n, name) for _ in repeats)) for n in (200, 100)
            }
            section.compare({"function": name}, "compile, 100 links", compiled, 1, "ms")
            states = {200: large.random_state(0), 100: small.random_state(0)}
            functions = {200: getattr(large, name), 100: getattr(small, name)}
            ways = {f"call, {n} links": partial(functions[n], *states[n]) for n in (200, 100)}
            section.compare({"function": name}, "call, 100 links", interleaved(ways, rounds), 1, "ms")
    return section
