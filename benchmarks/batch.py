"""4096 states in ordinary (n, nv) arrays, one thread."""

from __future__ import annotations

from statistics import geometric_mean

import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.peers import Adam, Pinocchio, casadi_c
from benchmarks.robots import Case, cases
from benchmarks.timing import Thunk, interleaved, ratios
from kinetree.algorithms import ALGORITHMS
from kinetree.runtime import outputs

N = 4096


def _ways(case: Case, name: str) -> dict[str, Thunk]:
    states = case.states(N)
    arrays = [states[k] for k in ALGORITHMS[name].inputs]
    rows = list(zip(*(list(x) for x in arrays), strict=True))
    pin = Pinocchio(case)
    loop = pin.function(name)
    function = getattr(case.robot, name)
    options = case.options(name)
    out = function(*arrays, **options)

    def in_a_loop() -> None:
        for row in rows:
            loop(*row)

    ways: dict[str, Thunk] = {
        "kinetree": lambda: function(*arrays, **options),
        "kinetree, out=": lambda: function(*arrays, **options, out=out),
        "pinocchio in a loop": in_a_loop,
    }
    pool = pin.pool(name, *arrays)
    if pool is not None:
        ways["pinocchio's pool, 1 thread"] = pool
    if outputs.LEAST_BYTES <= out.nbytes <= outputs.MOST_BYTES:

        def in_new_memory() -> None:
            outputs.release_memory()
            function(*arrays, **options)

        ways["kinetree, new memory"] = in_new_memory
    if out.nbytes > 1000 * N:
        ways["np.full of the output"] = lambda: np.full(out.shape, 1.0)
    if name not in ("inverse_dynamics", "forward_dynamics"):
        return ways
    run, result = casadi_c(case, name, N)(arrays)
    run()
    scale = np.abs(out).max()
    if not np.abs(result - out).max() < 1e-9 * scale:
        raise RuntimeError(f"CasADi's {name} of {case.name} differs")
    ways["this page through CasADi's C"] = run
    if name == "inverse_dynamics":
        ways["adam through CasADi's C"] = Adam(case).batch(arrays, out)
    return ways


def run(rounds: int) -> Section:
    kt.set_num_threads(1)
    section = Section(
        f"A batch of {N} states, one thread",
        "Nanoseconds a state. Fresh result arrays unless out= is given; those of 32 to 64 MB are in memory of one that "
        "is gone, but for the rows called new memory. Pinocchio's results are not kept.",
    )
    for case in cases():
        found = []
        for name in Pinocchio(case).functions:
            timings = interleaved(_ways(case, name), rounds, 0.05)
            found.append(ratios(timings["pinocchio in a loop"], timings["kinetree"])[1])
            section.compare({"robot": case.name, "function": name}, "kinetree", timings, N, "ns")
        section.rows.append(
            {"robot": case.name, "function": "geometric mean", "way": "pinocchio in a loop"}
            | {"times slower, median": float(f"{geometric_mean(found):.3g}")}
        )
    return section
