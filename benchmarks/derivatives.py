"""Derivatives of inverse and forward dynamics by q, v and a or tau, beside Pinocchio's analytic ones; one core."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pinocchio as pin

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.peers import Pinocchio
from benchmarks.robots import cases, example
from benchmarks.timing import interleaved

N = 4096


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section("Derivatives of dynamics", "One state beside one call of Pinocchio's; and 4096 states, each.")
    for case in (example("ur5"), *cases(), example("go2")):
        there, states = Pinocchio(case), case.states(N)
        theirs: dict[str, Callable[..., object]] = {
            "inverse_dynamics": pin.computeRNEADerivatives,
            "forward_dynamics": pin.computeABADerivatives,
        }
        for name, third in (("inverse_dynamics", "a"), ("forward_dynamics", "tau")):
            function = getattr(case.robot, name).derivatives
            many = [states[k] for k in ("q", "v", third)]
            one = [x[0].copy() for x in many]
            there_one = partial(theirs[name], there.model, there.data, *one)
            labels = {"robot": case.name, "function": name}
            ways = {"kinetree": partial(function, *one), "pinocchio": there_one}
            section.compare({**labels, "states": "one"}, "kinetree", interleaved(ways, rounds), 1, "ns")
            batch = interleaved({"kinetree": partial(function, *many)}, rounds)
            section.compare({**labels, "states": "a batch"}, "kinetree", batch, N, "ns")
    return section
