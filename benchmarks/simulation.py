"""Simulations beside MuJoCo and Pinocchio: robots without contacts, joint forces zero or a controller's."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping

import mujoco
import numpy as np

import kinetree as kt
from benchmarks.machine import Section
from benchmarks.robots import Case, cases
from benchmarks.simulation_peers import Simulated, pinocchio_steps
from benchmarks.startup import _seconds
from benchmarks.timing import Thunk, Timing, interleaved

N, MANY = 4096, 65_536
DT = 1e-3
STEPS = {"panda": 1000, "g1": 200}
FIRST = """
import kinetree as kt
robot = kt.load({path!r}, floating_base={floating})
robot.simulate(robot.neutral(), steps=10)
"""


def run(rounds: int) -> Section:
    section = Section(
        "Simulation",
        f"Steps of {DT:g} s without contacts, one core but where two threads are named; states are recorded at the end "
        "only (mujoco.rollout writes them all). A first use is the whole process, the interpreter's start included.",
    )
    kt.set_num_threads(1)
    for case in cases():
        _robots(section, case, rounds)
        _one_robot(section, case, rounds)
        _threads(section, case, rounds)
        _first_use(section, case, rounds)
        if not case.floating:
            _controlled(section, case, rounds)
            _randomised(section, case, rounds)
    return section


def _compare(section: Section, case: Case, what: str, ways: Mapping[str, tuple[Thunk, int]], rounds: int) -> None:
    """Add rows of nanoseconds a step: ways by name, each with the steps that a pass of it does; ours is the first."""
    timings = interleaved({name: thunk for name, (thunk, _) in ways.items()}, rounds)
    a_step = {
        name: Timing(tuple(seconds / ways[name][1] for seconds in timing.rounds)) for name, timing in timings.items()
    }
    section.compare({"robot": case.name, "what": what}, next(iter(ways)), a_step, 1, "ns")


def _robots(section: Section, case: Case, rounds: int) -> None:
    states, steps = case.states(N), STEPS[case.name]
    q, v = states["q"], 0.1 * states["v"]
    for integrator in ("semi_implicit_euler", "rk4"):
        theirs = Simulated(case, integrator, DT)

        def ours(integrator: str = integrator) -> None:
            case.robot.simulate(
                q, v, steps=steps, dt=DT, integrator=integrator, record=kt.Record(every=steps), joints="none"
            )

        ways: dict[str, tuple[Thunk, int]] = {"kinetree": (ours, N * steps)}
        ways |= {name: (thunk, 512 * 10) for name, thunk in theirs.steps(q[:512], v[:512], 10).items()}
        if integrator == "semi_implicit_euler":
            ways["pinocchio in a loop"] = pinocchio_steps(case, q[:64], v[:64], DT, 10), 640
        _compare(section, case, f"{N} robots, {integrator}", ways, rounds)


def _one_robot(section: Section, case: Case, rounds: int) -> None:
    states = case.states(1)
    q, v, tau = states["q"][0], 0.1 * states["v"][0], np.zeros(case.robot.nv)
    theirs = Simulated(case, "semi_implicit_euler", DT)
    step, model, data = case.robot.step, theirs.model, theirs.data

    def ours() -> None:
        x, rate = q, v
        for _ in range(100):
            x, rate = step(x, rate, tau, DT)

    def mj_step() -> None:
        theirs.put(q, v)
        for _ in range(100):
            mujoco.mj_step(model, data)

    pinocchio = pinocchio_steps(case, q[None], v[None], DT, 100)
    ways: dict[str, tuple[Thunk, int]] = {"kinetree": (ours, 100), "mujoco mj_step": (mj_step, 100)}
    _compare(section, case, "one robot, a call a step", {**ways, "pinocchio in a loop": (pinocchio, 100)}, rounds)


def _threads(section: Section, case: Case, rounds: int) -> None:
    states, steps = case.states(MANY), STEPS[case.name] // 2
    q, v = states["q"], 0.1 * states["v"]

    def on(count: int) -> Thunk:
        def call() -> None:
            kt.set_num_threads(count)
            case.robot.simulate(q, v, steps=steps, dt=DT, record=kt.Record(every=steps), joints="none")

        return call

    ways = {"2 threads": (on(2), MANY * steps), "1 thread": (on(1), MANY * steps)}
    _compare(section, case, f"{MANY} robots", ways, rounds)
    kt.set_num_threads(1)


def _first_use(section: Section, case: Case, rounds: int) -> None:
    code, spent = FIRST.format(path=str(case.urdf), floating=case.floating), []
    for _ in range(min(rounds, 5)):
        with tempfile.TemporaryDirectory() as empty:
            spent.append(_seconds(code, {"KINETREE_CACHE_DIR": empty}))
    labels = {"robot": case.name, "what": "first use, empty cache"}
    section.compare(labels, "kinetree", {"kinetree": Timing(tuple(spent))}, 1, "ms")


def _controlled(section: Section, case: Case, rounds: int) -> None:
    robot = case.robot
    home = robot.random_configuration(seed=1)

    @robot.compile
    def computed_torque(q, v, kp: float):
        return robot.inverse_dynamics(q, v, kp * (home - q) - 2.0 * np.sqrt(kp) * v)

    def ours() -> None:
        how = {"joints": "none", "controller": computed_torque, "inputs": {"kp": 100.0}}
        robot.simulate(home + 0.3, steps=10_000, dt=DT, record=kt.Record(every=100), **how)

    labels = {"robot": case.name, "what": "one robot under computed torque, 10,000 steps"}
    section.compare(labels, "kinetree", interleaved({"kinetree": ours}, rounds), 1, "ms")


def _randomised(section: Section, case: Case, rounds: int) -> None:
    robot, rng = case.robot, np.random.default_rng(0)
    mass = rng.uniform(0.0, 3.0, (N, 1))
    unknown = {
        kt.payload(case.frame): mass * [1, 0, 0, 0.1, 0.01, 0, 0.01, 0, 0, 0],
        kt.gravity: robot.gravity + rng.normal(0.0, 0.2, (N, 3)),
        kt.joint_damping: rng.uniform(0.0, 0.5, (N, robot.nv)),
    }
    states, steps = case.states(N), STEPS[case.name]
    q, v = states["q"], 0.1 * states["v"]

    def plain() -> None:
        robot.simulate(q, v, steps=steps, dt=DT, record=kt.Record(every=steps), joints="none")

    def randomised() -> None:
        robot.simulate(
            q,
            v,
            steps=steps,
            dt=DT,
            inputs=unknown,
            integrator="semi_implicit_euler",
            record=kt.Record(every=steps),
            joints="none",
        )

    ways = {"each its own load, gravity, damping": (randomised, N * steps), "all alike": (plain, N * steps)}
    _compare(section, case, f"{N} randomised robots", ways, rounds)
