"""Derivatives of inverse and forward dynamics by q, v and a or tau, beside Pinocchio's analytic ones; one core."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pinocchio as pin

import kinetree as kt
from benchmarks.machine import Section, without_cache
from benchmarks.peers import Pinocchio
from benchmarks.robots import cases, example
from benchmarks.timing import Thunk, Timing, interleaved
from kinetree.model import Model

N = 4096


def _filling(arrays: tuple[np.ndarray, ...]) -> None:
    for array in arrays:
        array.fill(1.0)


def _first_use(model: Model, name: str) -> float:
    with without_cache():
        kt.Robot(model).gravity_forces.warmup()  # imports the compiler
        start = time.perf_counter()
        getattr(kt.Robot(model), name).derivatives.warmup(batch=False)
        return time.perf_counter() - start


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    note = (
        "One state beside a call of Pinocchio's; 4096 states, each, beside that call and a fill of the results' memory."
    )
    section = Section("Derivatives of dynamics", note)
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
            labels = {"robot": case.name, "function": name}
            ways: dict[str, Thunk] = {
                "kinetree": partial(function, *one),
                "pinocchio": partial(theirs[name], there.model, there.data, *one),
            }
            found = interleaved(ways, rounds)
            section.compare({**labels, "states": "one"}, "kinetree", found, 1, "ns")
            out = tuple(function(*many))
            ways = {
                "kinetree": partial(function, *many),
                "kinetree, out=": partial(function, *many, out=out),
                "filling the results": partial(_filling, out),
            }
            one_call = {"pinocchio, one call": Timing(tuple(x * N for x in found["pinocchio"].rounds))}
            batch = interleaved(ways, rounds) | one_call
            section.compare({**labels, "states": "a batch"}, "kinetree", batch, N, "ns")
            times = tuple(_first_use(case.robot.model, name) for _ in range(min(rounds, 3)))
            section.compare({**labels, "states": "first use"}, "first use", {"first use": Timing(times)}, 1, "ns")
    return section
