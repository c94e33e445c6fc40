"""A computed-torque loop at 10 kHz, and how long its steps take: ``python examples/computed_torque_10khz.py 10``.

A Panda follows sines in its joint space. The robot itself is simulated, between the controller's steps, which are
timed one by one: from the moment when the state is there until the torques are, and from the moment for which the
step was scheduled.
"""

from __future__ import annotations

import gc
import os
import sys
from time import perf_counter_ns

import numpy as np
from numpy.typing import NDArray

import kinetree as kt

Array = NDArray[np.float64]

PERIOD = 100_000  # ns
AMPLITUDE, RATE = 0.3, 2.0  # rad, rad/s
STIFFNESS, DAMPING = 400.0, 40.0  # 1/s², 1/s
START = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.0])

robot = kt.load("panda")


@robot.compile
def controller(q: Array, v: Array, t: float) -> Array:
    """Return the torques that let the errors decay like a spring with a damper."""
    s, c = np.sin(RATE * t), np.cos(RATE * t)
    q_des, v_des, a_des = START + AMPLITUDE * (1.0 - c), AMPLITUDE * RATE * s, AMPLITUDE * RATE**2 * c
    a: Array = a_des + STIFFNESS * (q_des - q) + DAMPING * (v_des - v)
    tau: Array = robot.inverse_dynamics(q, v, a)
    return tau


@robot.compile
def simulated(q: Array, v: Array, tau: Array, dt: float) -> tuple[Array, Array]:
    """Return the state after a short time, by one semi-implicit step."""
    v_next: Array = v + dt * robot.forward_dynamics(q, v, tau)
    return q + dt * v_next, v_next


def run(seconds: float) -> tuple[Array, Array, Array]:
    """Run the loop; return the steps' durations and delays (µs), and the errors of the joints at the end (rad)."""
    steps = int(seconds * 1e9 / PERIOD)
    durations, delays = np.zeros(steps), np.zeros(steps)
    dt = PERIOD * 1e-9
    q, v, t = START.copy(), np.zeros(7), 0.0
    for _ in range(100):  # compiles, loads the code into the caches, and touches what is measured
        simulated(q, v, controller(q, v, t), dt)
        perf_counter_ns()
    gc.collect()
    gc.disable()
    due = perf_counter_ns() + PERIOD
    for k in range(steps):
        while (begin := perf_counter_ns()) < due:  # to sleep would cost 50 µs and more
            pass
        tau = controller(q, v, t)
        end = perf_counter_ns()
        durations[k], delays[k] = (end - begin) * 1e-3, (end - due) * 1e-3
        q, v = simulated(q, v, tau, dt)
        t += dt
        due = max(due + PERIOD, end)  # after an interruption the loop goes on, and does not catch up
    gc.enable()
    return durations, delays, START + AMPLITUDE * (1.0 - np.cos(RATE * t)) - q


def report(name: str, times: Array) -> str:
    """Return the percentiles of some times in a line."""
    p50, p99, p9999 = np.percentile(times, [50, 99, 99.99])
    return f"{name:30} p50 {p50:6.2f}   p99 {p99:6.2f}   p99.99 {p9999:6.2f}   max {times.max():6.2f} µs"


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})  # one core
    durations, delays, errors = run(seconds)
    print(f"{len(durations)} steps of {PERIOD / 1000:g} µs")
    print(report("state to torques", durations))
    print(report("scheduled moment to torques", delays))
    print(f"largest error of a joint at the end: {np.abs(errors).max():.1e} rad")


if __name__ == "__main__":
    main()
