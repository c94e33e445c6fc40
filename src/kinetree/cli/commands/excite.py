"""``kinetree excite``: a motion worth recording, for identification."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rich.markup import escape

from kinetree.cli.motion import check_results, numbers
from kinetree.cli.options import load_robot, value_of
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.fit import draw
from kinetree.drawing.panels import finish
from kinetree.errors import listed
from kinetree.excitation.limits import MotionLimits
from kinetree.excitation.result import Excitation
from kinetree.excitation.series import Series
from kinetree.motions import Trajectory
from kinetree.tables import print_warnings

GIVEN = ("joints", "noise", "criterion", "iterations", "seed")


def run(arguments: argparse.Namespace) -> None:
    """Plan; write, draw and sum up as the arguments say."""
    check_results(arguments)
    robot, warnings = load_robot(arguments)
    for joint, (lower, upper, speed) in arguments.limit:
        robot = robot.with_limits(lower={joint: lower}, upper={joint: upper}, velocity={joint: speed})
    options: dict[str, Any] = {name: getattr(arguments, name) for name in GIVEN}
    options |= {"series": value_of(arguments, Series), "limits": value_of(arguments, MotionLimits)}
    if arguments.start is not None:
        options["start"] = numbers("--start", arguments.start, robot.q_names)
    if arguments.resume is not None:
        options["initial"] = Trajectory.load(arguments.resume, robot)
    with Working("searching", robot.name, shown=not arguments.quiet) as show:

        def advance(done: int, total: int, value: float) -> None:
            show(done, total, f"searching, {value:.4g}")

        plan = robot.excite(arguments.terms, **options, progress=advance)
        if arguments.output is not None:
            plan.save(arguments.output)
        if arguments.plot is not None:
            with show.during(f"drawing {arguments.plot}"):
                finish(partial(draw, plan), arguments.plot)
    if not arguments.quiet:
        report(arguments, plan, warnings)
    if plan.interrupted:
        raise KeyboardInterrupt


def report(arguments: argparse.Namespace, plan: Excitation, warnings: list[str]) -> None:
    """Print what the motion is, how it uses the joints, and what it will tell."""
    motion, name = plan.trajectory, plan.robot.name
    if arguments.json:
        print_json(plan.to_dict() | {"joints": motion.to_dict()["joints"], "warnings": warnings})
        return
    out = console()
    how = "the search has ended" if plan.converged else "more of them may find a better one"
    out.print(f"[bold]{escape(name)}[/]: {motion.duration:g} s, found in {plan.iterations} iterations; {how}")
    out.print(motion.table().for_terminal(out.width))
    noise = " ".join(f"{x:.3g}" for x in plan.noise)
    if plan.held:
        out.print(f"held still: {escape(listed(plan.held))}; the parameters are those of the robot with these locked")
    out.print(f"{plan.base.dimension} base parameters; noise {noise}; condition number {plan.condition:.3g}")
    out.print(plan.table().for_terminal(out.width))
    print_warnings(out, warnings)
    print_files([arguments.output], [arguments.plot], f"{len(motion)} samples of t, {', '.join(motion.recorded)}")
