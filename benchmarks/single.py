"""One call from Python through the public method, beside Pinocchio's: every function that Pinocchio has."""

from __future__ import annotations

from collections.abc import Callable
from statistics import geometric_mean

import numpy as np

from benchmarks.machine import Section
from benchmarks.peers import Pinocchio
from benchmarks.robots import cases
from benchmarks.timing import interleaved, ratios
from kinetree.algorithms import ALGORITHMS

N = 16


def cycle(
    function: Callable[..., object], states: list[tuple[np.ndarray, ...]], **options: str
) -> Callable[[], object]:
    """Return a pass over the states."""
    if "frame" in options:
        frame = options["frame"]

        def run_at_frame() -> None:
            for state in states:
                function(*state, frame=frame)

        return run_at_frame

    def run() -> None:
        for state in states:
            function(*state)

    return run


def run(rounds: int) -> Section:
    section = Section("One call from Python", f"{N} states in turn; the loop over them is in both figures. One core.")
    for case in cases():
        pin = Pinocchio(case)
        states = case.states(N)
        found = []
        for name in pin.functions:
            arrays = [states[k] for k in ALGORITHMS[name].inputs]
            one = [tuple(x[i].copy() for x in arrays) for i in range(N)]
            function = getattr(case.robot, name)
            ways = {
                "kinetree": cycle(function, one, **case.options(name)),
                "pinocchio": cycle(pin.function(name), one),
            }
            timings = interleaved(ways, rounds)
            found.append(ratios(timings["pinocchio"], timings["kinetree"])[1])
            section.compare({"robot": case.name, "function": name}, "kinetree", timings, N, "ns")
        section.rows.append(
            {"robot": case.name, "function": "geometric mean", "way": "pinocchio"}
            | {"times slower, median": float(f"{geometric_mean(found):.3g}")}
        )
    return section
