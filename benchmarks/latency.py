"""How long the slowest of ten million calls takes: Panda inverse dynamics, each call timed by itself."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns

import numpy as np

from benchmarks.machine import Section
from benchmarks.peers import Pinocchio
from benchmarks.robots import cases

Call = Callable[[np.ndarray, np.ndarray, np.ndarray], object]
State = tuple[np.ndarray, np.ndarray, np.ndarray]

CALLS = 10_000_000
QUICK = 100_000
STATES = 16
BLOCK = 10_000  # calls of one way before it is the next one's turn: what else the machine does meets all alike


def measure(call: Call, states: Sequence[State], times: np.ndarray) -> None:
    """Fill `times` (ns) with one call each, the states in turn."""
    now, n = perf_counter_ns, len(states)
    spent = [0] * len(times)
    for k in range(len(times)):
        q, v, a = states[k % n]
        start = now()
        call(q, v, a)
        spent[k] = now() - start
    times[:] = spent


def empty(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """Do nothing: what a Python function and two looks at the clock cost."""


def run(rounds: int) -> Section:
    calls = CALLS if rounds > 3 else QUICK
    case = cases()[0]
    states = case.states(STATES)
    rows = [(states["q"][i].copy(), states["v"][i].copy(), states["a"][i].copy()) for i in range(STATES)]
    ours, out = case.robot.inverse_dynamics, np.empty(case.robot.nv)
    ways: dict[str, Call] = {
        "kinetree": ours,
        "kinetree, out=": partial(ours, out=out),
        "pinocchio": Pinocchio(case).function("inverse_dynamics"),
        "an empty function": empty,
    }
    times = {name: np.empty(calls, np.uint32) for name in ways}
    warm = np.empty(BLOCK, np.uint32)
    for call in ways.values():
        measure(call, rows, warm)
    gc.collect()
    gc.disable()
    try:
        for start in range(0, calls, BLOCK):
            for name, call in ways.items():
                measure(call, rows, times[name][start : start + BLOCK])
    finally:
        gc.enable()
    section = Section(
        f"Latencies of {calls:,} calls",
        f"{case.name}, inverse dynamics, one state, microseconds; each call timed by itself with perf_counter_ns, the "
        "garbage collector off, and the clock's own time, that of the empty function, not subtracted. One core.",
    )
    for name, spent in times.items():
        row: dict[str, object] = {"robot": case.name, "function": "inverse_dynamics", "way": name}
        for percent in (50, 99, 99.9, 99.99, 99.999):
            row[f"p{percent:g} µs"] = float(f"{np.percentile(spent, percent) / 1e3:.4g}")
        section.rows.append(row | {"max µs": float(f"{spent.max() / 1e3:.4g}")})
    return section
