"""``kinetree excite``: a motion worth recording for identification."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from rich.markup import escape

from kinetree.cli.compiling import compiling_notice
from kinetree.cli.motion_summary import MotionSummary
from kinetree.cli.simulate import check_results, numbers
from kinetree.cli.terminal import console, load_robot, print_json, waiting
from kinetree.drawing.excitation import draw
from kinetree.drawing.panels import finish
from kinetree.errors import ArgumentError, listed
from kinetree.excitation import Excitation, MotionLimits, Series
from kinetree.motions import Trajectory
from kinetree.robot_methods import Robot
from kinetree.tables import print_warnings

PATIENCE = 1.0
"""Seconds from which on a terminal shows the progress."""

GIVEN = ("joints", "noise", "criterion", "iterations", "seed")


def run(arguments: argparse.Namespace) -> None:
    """Plan; write, draw and sum up as the arguments say."""
    check(arguments)
    robot, warnings = load_robot(arguments)
    robot = limited(robot, arguments)
    options: dict[str, Any] = {name: getattr(arguments, name) for name in GIVEN}
    parts = ("period", "harmonics", "periods", "ramp", "rate")
    options["series"] = Series(**{name: getattr(arguments, name) for name in parts})
    boxes = {frame: np.reshape(ends, (3, 2)).T for frame, ends in arguments.box}
    options["limits"] = MotionLimits(fraction=arguments.fraction, acceleration=arguments.acceleration, boxes=boxes)
    if arguments.start is not None:
        options["start"] = numbers("--start", arguments.start, robot.q_names)
    if arguments.resume is not None:
        options["initial"] = Trajectory.load(arguments.resume, robot)
    with compiling_notice(robot.name, shown=not arguments.quiet), progress(arguments.quiet) as advance:
        plan = robot.excite(arguments.terms, **options, progress=advance)
    if arguments.output is not None:
        plan.save(arguments.output)
    if arguments.plot is not None:
        with waiting(f"drawing {arguments.plot}", shown=not arguments.quiet):
            finish(partial(draw, plan), arguments.plot)
    if not arguments.quiet:
        report(arguments, plan, warnings)
    if plan.interrupted:
        raise KeyboardInterrupt


def check(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for arguments that do not go together, before anything is computed."""
    if arguments.quiet and arguments.json:
        raise ArgumentError("--quiet leaves nothing for --json to print: leave out one of them")
    check_results(arguments)


def limited(robot: Robot, arguments: argparse.Namespace) -> Robot:
    """Return the robot with the limits that are given."""
    for joint, (lower, upper, speed) in arguments.limit:
        robot = robot.with_limits(lower={joint: lower}, upper={joint: upper}, velocity={joint: speed})
    return robot


@contextmanager
def progress(quiet: bool) -> Iterator[Callable[[int, int, float], object]]:
    """Give what shows on a terminal how far the search is, where it takes long."""
    err = console(stderr=True)
    if quiet or not err.is_terminal:
        yield lambda done, total, value: None
        return
    from rich.progress import Progress

    begin = time.perf_counter()
    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("searching", total=None, visible=False)

        def advance(done: int, total: int, value: float) -> None:
            text, shown = f"searching, {value:.4g}", time.perf_counter() - begin > PATIENCE
            bar.update(task, completed=done, total=total, visible=shown, description=text)

        yield advance


def report(arguments: argparse.Namespace, plan: Excitation, warnings: list[str]) -> None:
    """Print what the motion is, how it uses the joints, and what it will tell."""
    motion, name, size = plan.trajectory, plan.robot.name, plan.base.dimension
    summary, values = MotionSummary(motion), plan.base.of()
    if arguments.json:
        rows = zip(plan.base.names, plan.base.combinations, values.tolist(), plan.std.tolist(), strict=True)
        keys = ("name", "combination", "value", "std")
        facts: dict[str, Any] = {
            "robot": name,
            "duration": motion.duration,
            "condition": plan.condition,
            "held": plan.held,
        }
        facts |= {"iterations": plan.iterations, "converged": plan.converged, "joints": summary.joints()}
        facts["parameters"] = [dict(zip(keys, row, strict=True)) for row in rows]
        print_json(facts | {"warnings": warnings})
        return
    out = console()
    how = "the search has ended" if plan.converged else "more of them may find a better one"
    out.print(f"[bold]{escape(name)}[/]: {motion.duration:g} s, found in {plan.iterations} iterations; {how}")
    out.print(summary.table(out.width))
    noise = " ".join(f"{x:.3g}" for x in plan.noise)
    if plan.held:
        out.print(f"held still: {escape(listed(plan.held))}; the parameters are those of the robot with these locked")
    out.print(f"{size} base parameters; noise {noise}; condition number {plan.condition:.3g}")
    out.print("\n".join(escape(line) for line in str(plan).splitlines()[1:]))
    print_warnings(out, warnings)
    if arguments.output is not None:
        out.print(f"wrote {escape(arguments.output)} ({len(motion)} samples of t, {', '.join(motion.recorded)})")
    if arguments.plot not in (None, "show"):
        out.print(f"drew {escape(arguments.plot)}")
