"""Hybrid dynamics with every second joint prescribed, beside forward dynamics: one state, and 4096 on one thread."""

from __future__ import annotations

from functools import partial

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import cases
from benchmarks.timing import interleaved

N = 4096


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section("Hybrid dynamics", "Nanoseconds a state; every second joint is prescribed.")
    for case in cases():
        names = tuple(case.robot.joint_names[1::2])
        hybrid, forward = case.robot.hybrid_dynamics.bind(prescribed=names), case.robot.forward_dynamics
        states = case.states(N)
        q, v, a, tau = (states[k] for k in ("q", "v", "a", "tau"))
        q1, v1, a1, tau1 = (x[0].copy() for x in (q, v, a, tau))
        for many, per, ways in (
            ("one state", 1, {"hybrid": partial(hybrid, q1, v1, a1, tau1), "forward": partial(forward, q1, v1, tau1)}),
            ("a batch", N, {"hybrid": partial(hybrid, q, v, a, tau), "forward": partial(forward, q, v, tau)}),
        ):
            labels = {"robot": case.name, "states": many}
            section.compare(labels, "forward", interleaved(ways, rounds), per, "ns")
    return section
