"""``kinetree simulate``: the motion of a robot from an initial state."""

from __future__ import annotations

import argparse
import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from rich.markup import escape

from kinetree.cli.motion import MOST, check_results, configuration, numbers
from kinetree.cli.options import load_robot, value_of
from kinetree.cli.terminal import PATIENCE, Working, console, print_files, print_json
from kinetree.drawing.motion import draw
from kinetree.drawing.panels import finish
from kinetree.drawing.sticks import check_animation
from kinetree.errors import ArgumentError, LimitWarning, SimulationWarning
from kinetree.integrators import Integrator, StopReason, Tsitouras
from kinetree.motions import Trajectory
from kinetree.output import check_output
from kinetree.robot_methods import Robot
from kinetree.simulation import Record, SimulationInterrupted
from kinetree.simulation.given import times
from kinetree.tables import number as shown
from kinetree.tables import print_warnings
from kinetree.viewer.view import check_viser

RECORDED = "q v a tau"
MOST_STEPS = 10**9  # steps that are begun at most: they take from minutes to an hour
SAMPLES = 1000  # about so many are kept, unless the arguments say


def run(arguments: argparse.Namespace) -> None:
    """Simulate; write, draw and sum up as the arguments say; `ArgumentError` if the robot stopped on the way."""
    check(arguments)
    robot, found = load_robot(arguments)
    steps, every = counts(arguments, robot)
    given = initial(arguments, robot)
    given |= driven(arguments, robot, given["q"])
    given |= {"dt": arguments.dt, "joints": arguments.joints, "integrator": integrator(arguments)}
    interrupted = False
    with Working("simulating", robot.name, shown=not arguments.quiet) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # the command tells it itself
        first = robot.simulation(**given, steps=1, record=RECORDED)
        first.run()  # compiled here, where limits are warned of
        arguments.integrator = first.plan.integrator.name
        warnings.simplefilter("ignore", LimitWarning)
        begin = time.perf_counter()
        try:
            motion = robot.simulate(**given, steps=steps, record=Record(RECORDED, every=every), progress=show)
        except SimulationInterrupted as stopped:
            motion, interrupted = stopped.trajectory, True
        seconds = time.perf_counter() - begin
        write(arguments, motion, show)
        if not arguments.quiet:
            report(arguments, motion, seconds, found)
        shown = motion.view() if arguments.view else None
    if shown is not None:
        console(stderr=True).print(f"{motion.robot.name} moves at {shown.url}; Ctrl-C ends it")
        shown.wait()
    if interrupted:
        raise KeyboardInterrupt
    if motion.reasons.item() is not None:
        raise ArgumentError(f"{motion.robot.name} stopped at {float(motion.stopped_at):g} s: {motion.reasons.item()}")


def check(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for arguments that do not go together, before anything is computed."""
    if arguments.random and arguments.q is not None:
        raise ArgumentError("--q and --random both say where it begins: leave out one of them")
    if arguments.seed is not None and not arguments.random:
        raise ArgumentError("--seed is for --random; it is not there")
    check_results(arguments)
    if (arguments.animate or "").lower().endswith(".html"):
        check_output(arguments.animate, None, (".html",))
    elif arguments.animate is not None:
        check_animation(arguments.animate)
    if arguments.view or (arguments.animate or "").lower().endswith(".html"):
        check_viser()


def counts(arguments: argparse.Namespace, robot: Robot) -> tuple[int, int]:
    """Return the number of steps, and every which one is kept."""
    steps = times(arguments.dt, arguments.duration, None, {}, 0.0).steps
    if steps > MOST_STEPS:
        raise ArgumentError(
            f"{steps:.3g} steps take {steps / 3.6e9:.3g} hours at a million a second; at most {MOST_STEPS:.0e} are "
            f"done: take a larger --dt than {arguments.dt:g}"
        )
    every = arguments.every or max(1, round(steps / SAMPLES))
    most = MOST // (1 + robot.nq + 3 * robot.nv)
    if steps // every > most:
        raise ArgumentError(f"{steps // every} samples would be kept, at most {most} can be: a larger --record-every")
    return steps, every


def integrator(arguments: argparse.Namespace) -> str | Integrator | None:
    """Return the integrator by its name, or with the tolerances that are given."""
    if arguments.integrator == Tsitouras.name:
        return value_of(arguments, Tsitouras)
    for name in Tsitouras.tolerances:
        if getattr(arguments, name) is not None:
            raise ArgumentError(f"--{name} is for --integrator {Tsitouras.name}")
    given: str | None = arguments.integrator
    return given


def initial(arguments: argparse.Namespace, robot: Robot) -> dict[str, Any]:
    """Return q and v at the beginning."""
    v = np.zeros(robot.nv) if arguments.v is None else numbers("--v", arguments.v, robot.v_names)
    q = robot.random_configuration(seed=arguments.seed or 0) if arguments.random else configuration(arguments, robot)
    return {"q": q, "v": v}


def driven(arguments: argparse.Namespace, robot: Robot, start: Any) -> dict[str, Any]:
    """Return the robot's drive: constant torques, a compiled controller that holds it, or nothing."""
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

    return {"controller": robot.compile(hold, shapes={"q0": (robot.nq,)}), "inputs": {"q0": start}}


def write(arguments: argparse.Namespace, motion: Trajectory, show: Working) -> None:
    """Write the files that are asked for."""
    if arguments.output is not None:
        motion.save(arguments.output)
    if arguments.plot is not None:
        with show.during(f"drawing {arguments.plot}"):
            finish(partial(draw, motion), arguments.plot)
    if arguments.animate is not None:
        with show.during(f"drawing {arguments.animate}"):
            (motion.save_html if arguments.animate.lower().endswith(".html") else motion.animate)(arguments.animate)


def report(arguments: argparse.Namespace, motion: Trajectory, seconds: float, found: list[str]) -> None:
    """Print what was done, the table, and what was written."""
    end, reason = motion.end, motion.reasons.item()
    assert end is not None  # it is a simulation
    steps, name, method = round(end.t / arguments.dt), motion.robot.name, arguments.integrator
    if reason is not None:
        advice = "--integrator implicit_euler" if reason is StopReason.TOO_MANY_STEPS else "A smaller --dt"
        found = [*found, f"it stopped at {float(motion.stopped_at):g} s: {reason}. {advice} may help"]
    rate = steps / seconds if seconds > PATIENCE else None
    if arguments.json:
        facts = motion.to_dict() | {"steps": steps, "dt": arguments.dt, "integrator": method, "end": end.t}
        facts |= {"steps_per_second": rate, "energy_drift": motion.energy_drift, "final_q": end.q.tolist()}
        print_json(facts | {"warnings": found})
        return
    out = console()
    out.print(f"[bold]{escape(name)}[/]: {end.t:g} s in {steps} steps of {arguments.dt:g} s by {method}")
    out.print(motion.table().for_terminal(out.width))
    free = arguments.tau is None and arguments.hold is None
    out.print(energy(motion, free and set(arguments.joints.replace(",", " ").split()) <= {"none", "effort"}))
    print_warnings(out, found)
    if rate is not None:
        out.print(f"{rate:.3g} steps a second")
    holds = f"{len(motion)} samples of t, {', '.join(motion.recorded)}"
    print_files([arguments.output], [arguments.plot, arguments.animate], holds)


def energy(motion: Trajectory, free: bool) -> str:
    """Return a line about the energy: how well it is kept where only gravity acts, or where it came to."""
    E = motion.mechanical_energy
    if not np.isfinite(E).all():
        return f"energy {shown(E[0])} J at first, beyond all numbers at last"
    off = f": off by {motion.energy_drift:.2g} of the largest kinetic energy at most" if free else ""
    return f"energy {shown(E[0])} J at first, {shown(E[-1])} J at last{off}"
