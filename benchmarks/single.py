"""One call from Python through the public method, beside Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.machine import Section
from benchmarks.peers import Pinocchio
from benchmarks.robots import cases
from benchmarks.timing import interleaved
from kinetree.algorithms import ALGORITHMS

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias_forces", "gravity_forces")
N = 16


def cycle(function: Callable[..., object], states: list[tuple[np.ndarray, ...]]) -> Callable[[], object]:
    """Return a pass over the states."""

    def run() -> None:
        for state in states:
            function(*state)

    return run


def run(rounds: int) -> Section:
    section = Section(
        "One call from Python",
        f"{N} states in turn; the loop over them is in both figures. One core.",
    )
    for case in cases():
        pin = Pinocchio(case)
        states = case.states(N)
        for name in FUNCTIONS:
            arrays = [states[k] for k in ALGORITHMS[name].inputs]
            one = [tuple(x[i].copy() for x in arrays) for i in range(N)]
            function = getattr(case.robot, name)
            ways = {"kinetree": cycle(function, one), "pinocchio": cycle(pin.function(name), one)}
            labels = {"robot": case.name, "function": name}
            section.compare(labels, "kinetree", interleaved(ways, rounds), N, "ns")
    return section
