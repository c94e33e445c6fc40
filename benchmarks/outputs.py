"""Wide results of 4096 states beside a fill of the same memory, one thread."""

from __future__ import annotations

import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import Case, cases
from benchmarks.timing import Thunk, interleaved
from kinetree.algorithms import ALGORITHMS
from kinetree.runtime.batch import lay_out

N = 4096
LEAST_BYTES = 256  # of one state's result


def _ways(case: Case, name: str) -> tuple[int, dict[str, Thunk]]:
    """Return the bytes of one state's result, and what is timed: nothing where they are few."""
    states = case.states(N)
    function = getattr(case.robot, name).bind(**case.options(name))
    inputs, outputs = function.spec.required, function.spec.outputs
    row = 8 * sum(port.size for port in outputs)
    if row < LEAST_BYTES or not all(port.name in states for port in inputs):
        return row, {}
    arrays = [states[port.name] for port in inputs]
    result = function(*arrays)
    out = result if isinstance(result, tuple) else (result,)
    used = dict(zip((port.name for port in inputs), arrays, strict=True))
    kernel = function._kernels.batch(function._default)
    program = function._kernels.program(function._default)
    given = [used.get(port.name, np.zeros((N, *port.shape))) for port in program.inputs]
    places = lay_out([*given, *out], [*program.inputs, *outputs], (N,), len(given))
    one_row = places._replace(strides=places.strides[: len(given)] + [0] * len(outputs))

    def fill() -> None:
        for array in out:
            array.fill(1.0)

    ways: dict[str, Thunk] = {
        "kinetree, out=": lambda: function(*arrays, out=result),
        "fill": fill,
        "all states to one row": lambda: kernel.run(one_row, N),
    }
    return row, ways


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section(
        f"Wide results of {N} states, one thread",
        "Nanoseconds a state into memory that is used again. All states to one row, which stays in the first-level "
        "cache: what the arithmetic takes alone.",
    )
    for case in cases():
        for name in ALGORITHMS:
            row, ways = _ways(case, name)
            if not ways:
                continue
            ours, fill, alone = (t.minimum * 1e9 / N for t in interleaved(ways, rounds, 0.05).values())
            section.rows.append(
                {"robot": case.name, "function": name, "bytes": row, "min ns": float(f"{ours:.4g}")}
                | {"fill, min ns": float(f"{fill:.4g}"), "arithmetic, min ns": float(f"{alone:.4g}")}
                | {"times fill": float(f"{ours / fill:.3g}")}
                | {"times the longer of both": float(f"{ours / max(fill, alone):.3g}")}
            )
    return section
