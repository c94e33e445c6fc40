"""Panda's parameters from more samples than memory is given: a log that is made part by part, anew for each pass.

``python -m benchmarks.long_log [SAMPLES]`` prints what a run takes, with no more than `LIMIT` of data.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

import kinetree as kt
from benchmarks.machine import Section

PART = 100_000
LIMIT = 600 << 20
"""Bytes of data that the process may have; the samples are 224 bytes each."""

SMOOTHING = 1e-3
NOISE = 0.1

Array = np.ndarray


class Made:
    """A log of Panda with rotors, friction and noise, and how long it has taken to make."""

    def __init__(self, robot: kt.Robot, count: int) -> None:
        self.robot, self.count, self.seconds = robot, count, 0.0
        physics = robot.with_joint_physics(armature=0.1, damping=0.5, friction=0.4)
        self.real = physics.with_friction(smoothing=SMOOTHING)

    def __call__(self) -> Iterator[tuple[Array, ...]]:
        for k in range(0, self.count, PART):
            start = time.perf_counter()
            q, v, a = self.robot.random_state(k, min(PART, self.count - k))
            noise = NOISE * np.random.default_rng((1, k)).normal(size=v.shape)
            tau = self.real.inverse_dynamics(q, v, a) + noise
            self.seconds += time.perf_counter() - start
            yield q, v, a, tau


def measured(count: int) -> dict[str, object]:
    """Return seconds and peak memory of an estimate with bodies that can exist, and of its validation."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    robot = kt.load("panda")
    robot.identify(Made(robot, 1000), smoothing=SMOOTHING)  # compiles
    log = Made(robot, count)
    start = time.perf_counter()
    fit = robot.identify(log, smoothing=SMOOTHING)
    spent, made = time.perf_counter() - start, log.seconds
    start, log.seconds = time.perf_counter(), 0.0
    rms = fit.validate(log).rms
    checked = time.perf_counter() - start
    off = np.sqrt(np.mean(((fit.values - fit.base.of(log.real)) / fit.std) ** 2))
    if fit.count != count or not 0.7 < off < 1.4 or not np.allclose(rms, NOISE, rtol=0.01):
        raise RuntimeError(f"the estimate is not right: {off:.2f} standard deviations off, residuals of {rms}")
    return {
        "n": count,
        "s, estimate": round(spent - made, 1),
        "s, validation": round(checked - log.seconds, 1),
        "s, making the log": round(made + log.seconds, 1),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
        "rms of errors / std": round(float(off), 2),
    }


def run(rounds: int) -> Section:
    section = Section("A log of Panda that is never in memory", f"Under a limit of {LIMIT >> 20} MiB of data.")
    for count in (100_000, 1_000_000, 10_000_000) if rounds > 3 else (100_000, 1_000_000):
        command = [sys.executable, "-m", "benchmarks.long_log", str(count)]
        section.rows.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    return section


if __name__ == "__main__":
    print(json.dumps(measured(int(float(sys.argv[1] if len(sys.argv) > 1 else 1e7)))))
