"""65,536 states: two threads beside one."""

from __future__ import annotations

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import cases
from benchmarks.timing import Thunk, interleaved
from kinetree.algorithms import ALGORITHMS

N = 65_536


def run(rounds: int) -> Section:
    section = Section(f"A batch of {N} states on threads", "Nanoseconds a state, into an array given by out=.")
    for case in cases():
        states = case.states(N)
        for name in ("inverse_dynamics", "forward_dynamics", "mass_matrix"):
            arrays = [states[k] for k in ALGORITHMS[name].inputs]
            function = getattr(case.robot, name)
            out = function(*arrays)

            def on(count: int, function=function, arrays=arrays, out=out) -> Thunk:
                def call() -> None:
                    kt.set_num_threads(count)
                    function(*arrays, out=out)

                return call

            ways = {"2 threads": on(2), "1 thread": on(1)}
            labels = {"robot": case.name, "function": name}
            section.compare(labels, "2 threads", interleaved(ways, rounds, 0.1), N, "ns")
    return section
