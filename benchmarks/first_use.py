"""The first call of every function after import, with an empty cache: tracing, passes, LLVM, loading."""

from __future__ import annotations

import time

from benchmarks.machine import Section, without_cache
from benchmarks.robots import Case, cases
from benchmarks.timing import Timing
from kinetree import Robot
from kinetree.algorithms import ALGORITHMS
from kinetree.algorithms.registry import OneFrame
from kinetree.model import Model


def _options(case: Case, name: str) -> dict[str, str]:
    frames = iter((case.frame, case.robot.frame_names[1]))
    return {key: next(frames) for key, kind in ALGORITHMS[name].options.items() if isinstance(kind, OneFrame)}


def _seconds(model: Model, name: str, options: dict[str, str]) -> float:
    start = time.perf_counter()
    getattr(Robot(model), name).warmup(batch=False, **options)
    return time.perf_counter() - start


def run(rounds: int) -> Section:
    section = Section("First use of each function", "Milliseconds to compile for one state, nothing cached.")
    with without_cache():
        for case in cases():
            Robot(case.robot.model).gravity_forces.warmup()  # imports the compiler
            for name in ALGORITHMS:
                options = _options(case, name)
                times = tuple(_seconds(case.robot.model, name, options) for _ in range(min(rounds, 3)))
                labels = {"robot": case.name, "function": name}
                section.compare(labels, "first use", {"first use": Timing(times)}, 1, "ms")
    return section
