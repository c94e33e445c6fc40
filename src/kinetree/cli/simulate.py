"""``kinetree simulate``: how a robot moves."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from rich.markup import escape

from kinetree.cli.compiling import compiling_notice
from kinetree.cli.motion import MOST
from kinetree.cli.motion_summary import MotionSummary
from kinetree.cli.terminal import console, load_robot, print_json, waiting
from kinetree.drawing.motion import draw
from kinetree.drawing.panels import check_plot, finish
from kinetree.drawing.sticks import check_animation
from kinetree.errors import ArgumentError, LimitWarning, SimulationWarning
from kinetree.integrators import Integrator, Tsitouras
from kinetree.logs.codecs.parquet import check_installed
from kinetree.motions import Trajectory
from kinetree.output import check_output
from kinetree.robot_methods import Robot
from kinetree.simulation import Record, SimulationInterrupted
from kinetree.tables import print_warnings
from kinetree.validation import Array

RECORDED = "q v a tau"

SAMPLES = 1000
"""About how many samples are kept, unless the arguments say."""

MOST_STEPS = 10**9
"""Most steps that are begun: they take from minutes to an hour."""

PATIENCE = 1.0
"""Seconds from which on a terminal shows the progress."""


def run(arguments: argparse.Namespace) -> None:
    """Simulate; write, draw and sum up as the arguments say; `ArgumentError` if the robot stopped on the way."""
    check(arguments)
    robot, found = load_robot(arguments)
    if robot.nv == 0:
        raise ArgumentError(f"{robot.name} has no moving joint")
    steps, every = counts(arguments, robot)
    given = initial(arguments, robot) | driven(arguments, robot)
    given |= {"dt": arguments.dt, "joints": arguments.joints, "integrator": integrator(arguments)}
    interrupted = False
    with compiling_notice(robot.name, shown=not arguments.quiet):
        arguments.integrator = compiled(robot, given)
        clock = Clock()
        with progress(arguments.quiet) as advance:
            try:
                show = clock.through(advance)
                with warnings_off():
                    motion = robot.simulate(**given, steps=steps, record=Record(RECORDED, every=every), progress=show)
            except SimulationInterrupted as stopped:
                motion, interrupted = stopped.trajectory, True
        write(arguments, motion)
        if not arguments.quiet:
            report(arguments, motion, clock, found)
    if interrupted:
        raise KeyboardInterrupt
    if motion.reasons.item() is not None:
        raise ArgumentError(f"{motion.robot.name} stopped at {float(motion.stopped_at):g} s: {motion.reasons.item()}")


def compiled(robot: Robot, given: dict[str, Any]) -> str:
    """Compile the simulation, which says what is wrong; return the name of its integrator."""
    first = robot.simulation(**given, steps=1, record=RECORDED)
    with warnings_off(SimulationWarning):
        first.run()
    return first.plan.integrator.name


@contextmanager
def warnings_off(*kinds: type[Warning]) -> Iterator[None]:
    """Leave out warnings that the command tells itself, or has told."""
    with warnings.catch_warnings():
        for kind in kinds or (SimulationWarning, LimitWarning):
            warnings.simplefilter("ignore", kind)
        yield


class Clock:
    """How fast steps are done, from the first report of progress to the last one."""

    def __init__(self) -> None:
        self._seen: list[tuple[int, float]] = []

    def through(self, advance: Callable[[int, int], object]) -> Callable[[int, int], object]:
        """Return what takes the time, and then calls `advance`."""

        def show(done: int, total: int) -> None:
            self._seen[1:] = [(done, time.perf_counter())]
            advance(done, total)

        return show

    @property
    def rate(self) -> float | None:
        """Steps a second; None where there was one report only."""
        if len(self._seen) < 2:
            return None
        (n0, t0), (n1, t1) = self._seen
        return (n1 - n0) / max(t1 - t0, 1e-9)


def check_results(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for a file of a motion, or a picture of it, that cannot be written."""
    if arguments.output is not None:
        check_output(arguments.output, None, (".csv", ".npz", ".parquet"))
        if arguments.output.lower().endswith(".parquet"):
            check_installed()
    check_plot(arguments.plot)
    if arguments.plot not in (None, "show"):
        check_output(arguments.plot, None, (".png", ".svg", ".pdf"))


def check(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for arguments that do not go together, before anything is computed."""
    if arguments.quiet and arguments.json:
        raise ArgumentError("--quiet leaves nothing for --json to print: leave out one of them")
    if arguments.random and arguments.q is not None:
        raise ArgumentError("--q and --random both say where it begins: leave out one of them")
    if arguments.seed is not None and not arguments.random:
        raise ArgumentError("--seed is for --random; it is not there")
    check_results(arguments)
    if arguments.animate is not None:
        check_animation(arguments.animate)


def counts(arguments: argparse.Namespace, robot: Robot) -> tuple[int, int]:
    """Return the number of steps, and every which one is kept."""
    exact = arguments.duration / arguments.dt
    if not exact < 2**53 or round(exact) < 1 or abs(exact - round(exact)) > 1e-6 + 1e-15 * exact:
        raise ArgumentError(f"--duration {arguments.duration:g} is {exact:.9g} steps of --dt {arguments.dt:g}")
    steps = round(exact)
    if steps > MOST_STEPS:
        raise ArgumentError(
            f"--duration {arguments.duration:g} is {steps:.3g} steps of --dt {arguments.dt:g}, {steps / 3.6e9:.3g} "
            f"hours at a million a second; at most {MOST_STEPS:.0e} are done: take a larger --dt"
        )
    every = arguments.record_every or max(1, round(steps / SAMPLES))
    most = MOST // (1 + robot.nq + 3 * robot.nv)
    if steps // every > most:
        raise ArgumentError(f"{steps // every} samples would be kept, at most {most} can be: a larger --record-every")
    return steps, every


def integrator(arguments: argparse.Namespace) -> str | Integrator | None:
    """Return the integrator by its name, or with the tolerances that are given."""
    tolerances = {x: getattr(arguments, x) for x in Tsitouras.tolerances if getattr(arguments, x) is not None}
    if tolerances and arguments.integrator != Tsitouras.name:
        raise ArgumentError(f"--{min(tolerances)} is for --integrator {Tsitouras.name}")
    return Tsitouras(**tolerances) if tolerances else arguments.integrator


def initial(arguments: argparse.Namespace, robot: Robot) -> dict[str, Any]:
    """Return q and v at the beginning."""
    v = np.zeros(robot.nv) if arguments.v is None else numbers("--v", arguments.v, robot.v_names)
    if arguments.random:
        return {"q": robot.random_configuration(seed=arguments.seed or 0), "v": v}
    if arguments.q is None:
        return {"q": robot.neutral(), "v": v}
    if len(arguments.q) == 1 and arguments.q[0][:1].isalpha():
        name = arguments.q[0]
        return {"q": robot.neutral() if name == "neutral" else robot.configuration(name), "v": v}
    return {"q": numbers("--q", arguments.q, robot.q_names), "v": v}


def numbers(option: str, given: list[str], names: tuple[str, ...]) -> Array:
    """Return numbers, one for each name, separated by blanks or commas."""
    texts = " ".join(given).replace(",", " ").split()
    try:
        values = np.array([float(text) for text in texts])
    except ValueError as error:
        raise ArgumentError(f"{option}: {error}") from None
    if len(values) != len(names):
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        raise ArgumentError(f"{option} takes {len(names)} numbers ({shown}); {len(values)} were given")
    return values


def driven(arguments: argparse.Namespace, robot: Robot) -> dict[str, Any]:
    """Return what drives the robot: constant torques, a compiled controller that holds it, or nothing."""
    if arguments.tau is not None:
        return {"forces": numbers("--tau", arguments.tau, robot.v_names)}
    if arguments.hold is None:
        return {}
    model = robot.model
    motors = set(model.actuated)
    held = tuple(body.joint_name for body in model.leading if set(body.v_index) <= motors)
    if not held:
        raise ArgumentError(f"--hold: no joint of {robot.name} has a motor")
    driven = np.array([float(k in motors) for k in range(robot.nv)])
    kp, kd = arguments.hold

    def hold(q: Any, v: Any, q0: Any) -> Any:
        wanted = kp * robot.difference(q, q0) - kd * v
        if len(held) == len(model.leading):
            return robot.inverse_dynamics(q, v, wanted)
        return driven * robot.hybrid_dynamics(q, v, wanted, np.zeros(robot.nv), prescribed=held).tau

    start = initial(arguments, robot)["q"]
    return {"controller": robot.compile(hold, shapes={"q0": (robot.nq,)}), "inputs": {"q0": start}}


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int, int], object]]:
    """Give what shows on a terminal how many steps are done, where they take long."""
    err = console(stderr=True)
    if quiet or not err.is_terminal:
        yield lambda done, total: None
        return
    from rich.progress import Progress

    begin = time.perf_counter()
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("simulating", total=None, visible=False)
        yield lambda done, total: bar.update(
            task, completed=done, total=total, visible=time.perf_counter() - begin > PATIENCE
        )


def write(arguments: argparse.Namespace, motion: Trajectory) -> None:
    """Write the files that are asked for."""
    if arguments.output is not None:
        motion.save(arguments.output)
    shown = not arguments.quiet
    if arguments.plot is not None:
        with waiting(f"drawing {arguments.plot}", shown=shown):
            finish(partial(draw, motion), arguments.plot)
    if arguments.animate is not None:
        with waiting(f"drawing {arguments.animate}", shown=shown):
            motion.animate(arguments.animate)


def report(arguments: argparse.Namespace, motion: Trajectory, clock: Clock, told: list[str]) -> None:
    """Print what was done, the table, and what was written."""
    summary, end = MotionSummary(motion), motion.end
    assert end is not None  # it is a simulation
    steps = round(end.t / arguments.dt)
    driven = arguments.tau is not None or arguments.hold is not None
    free = not driven and set(arguments.joints.replace(",", " ").split()) <= {"none", "effort"}
    found = [*told, *summary.warnings()]
    if arguments.json:
        facts: dict[str, Any] = {"robot": motion.robot.name, "steps": steps, "samples": len(motion)}
        facts |= {
            "dt": arguments.dt,
            "integrator": arguments.integrator,
            "end": end.t,
            "steps_per_second": clock.rate,
        }
        facts |= {"stopped_at": motion.stopped_at, "reason": motion.reasons.item(), "energy_drift": motion.energy_drift}
        print_json(facts | {"joints": summary.joints(), "final_q": end.q.tolist(), "warnings": found})
        return
    out = console()
    name = escape(motion.robot.name)
    out.print(f"[bold]{name}[/]: {end.t:g} s in {steps} steps of {arguments.dt:g} s by {arguments.integrator}")
    out.print(summary.table(out.width))
    out.print(summary.energy(free))
    print_warnings(out, found)
    if clock.rate is not None:
        out.print(f"{clock.rate:.3g} steps a second")
    if arguments.output is not None:
        out.print(f"wrote {escape(arguments.output)} ({len(motion)} samples of t, {', '.join(motion.recorded)})")
    for drawn in (arguments.plot, arguments.animate):
        if drawn not in (None, "show"):
            out.print(f"drew {escape(drawn)}")
