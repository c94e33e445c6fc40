"""A motion worth recording, for identification.

Every joint follows a Fourier series, from rest to rest, that tells the robot's parameters as well as its limits let it.
Prints how each joint is used, and how exactly every base parameter will be known from such a record, before anything
moves; writes the motion with -o, and draws it with --plot.

Ctrl-C ends the search early: the best motion until then is summed up, written and drawn. --resume continues with a
motion that was written, for which the period and so on must be the same. A floating base is held, as if the robot were
hung up: how it would move on its feet is up to contacts, which are not planned.

for example:
  kinetree excite panda -o motion.csv --plot motion.png
  kinetree excite ur5 --period 20 --noise 0.5 --box ee_link=-0.8,0.8,-0.8,0.8,0.1,1.2 -o motion.csv
  kinetree excite panda --criterion condition --resume motion.csv -o better.csv
  kinetree excite arm.urdf --limit wheel=-3,3,1.5 --terms friction
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from rich.markup import escape

from kinetree.cli.motion import check_results, numbers, summary_of
from kinetree.cli.options import (
    add_dynamics,
    add_fields,
    add_many,
    add_results,
    add_robot,
    box,
    joint_terms,
    limit,
    names,
    number,
    value_of,
)
from kinetree.cli.robots import load_robot
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.fit import draw
from kinetree.drawing.panels import finish
from kinetree.errors import listed
from kinetree.excitation import Excitation, MotionLimits, Series
from kinetree.motions import Trajectory
from kinetree.options import read_numbers
from kinetree.tables import print_warnings

GIVEN = ("joints", "noise", "criterion", "iterations", "seed")
TERMS = "armature,damping,friction"


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what it takes."""
    add_robot(command)
    out = "write the motion to OUT.csv, OUT.npz or OUT.parquet"
    add_results(command, output=out, plot="draw it: FILE.png, .svg or .pdf, or 'show' a window")
    add_dynamics(command, friction="count the damping and friction that the file gives")
    motion = command.add_argument_group("the motion")
    add_fields(motion, Series)
    motion.add_argument("--start", nargs="+", metavar="X", help="nq numbers, where it rests (where it is best)")
    motion.add_argument("--joints", type=names, metavar="A,B", help="those that move (all)")
    within = command.add_argument_group("what it keeps within")
    add_fields(within, MotionLimits, "fraction", "acceleration")
    add_many(within, "--limit", limit, "JOINT=LOWER,UPPER,SPEED", "limits of a joint in the place of the file's")
    add_many(within, "--box", box, "FRAME=X0,X1,Y0,Y1,Z0,Z1", "where a frame may be, in metres")
    search = command.add_argument_group("what it is for")
    terms = f"what is to be estimated of the joints ({TERMS})"
    search.add_argument("--terms", type=joint_terms, default=TERMS, metavar="A,B@JOINT", help=terms)
    noise = "of all joints' forces, or of each (0.01 of the effort limits)"
    search.add_argument("--noise", type=read_numbers, metavar="X", help=noise)
    criteria, least = ("determinant", "condition"), "what is made least (determinant)"
    search.add_argument("--criterion", choices=criteria, default="determinant", help=least)
    search.add_argument("--iterations", type=number(int, "≥", 0), default=1000, metavar="N", help="at most (1000)")
    search.add_argument("--seed", type=number(int, "≥", 0), default=0, metavar="N", help="of where it begins (0)")
    search.add_argument("--resume", metavar="FILE", help="a motion that was written, to continue with")


def run(arguments: argparse.Namespace) -> None:
    """Plan; write, draw and sum up as the arguments say."""
    check_results(arguments)
    robot, warnings = load_robot(arguments)
    for joint, (lower, upper, speed) in arguments.limit:
        robot = robot.with_limits(lower={joint: lower}, upper={joint: upper}, velocity={joint: speed})
    arguments.boxes = arguments.box
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
    motion, name, base = plan.trajectory, plan.robot.name, plan.base
    summary = summary_of(motion)
    if arguments.json:
        rows = zip(base.names, base.combinations, base.of().tolist(), plan.std.tolist(), strict=True)
        keys = ("name", "combination", "value", "std")
        facts = {"robot": name, "duration": motion.duration, "condition": plan.condition, "held": plan.held}
        facts |= {"iterations": plan.iterations, "converged": plan.converged, "joints": summary.joints()}
        print_json(facts | {"parameters": [dict(zip(keys, x, strict=True)) for x in rows], "warnings": warnings})
        return
    out = console()
    how = "the search has ended" if plan.converged else "more of them may find a better one"
    out.print(f"[bold]{escape(name)}[/]: {motion.duration:g} s, found in {plan.iterations} iterations; {how}")
    out.print(summary.table_of_joints().for_terminal(out.width))
    noise = " ".join(f"{x:.3g}" for x in plan.noise)
    if plan.held:
        out.print(f"held still: {escape(listed(plan.held))}; the parameters are those of the robot with these locked")
    out.print(f"{base.dimension} base parameters; noise {noise}; condition number {plan.condition:.3g}")
    out.print("\n".join(escape(line) for line in str(plan).splitlines()[1:]))
    print_warnings(out, warnings)
    print_files([arguments.output], [arguments.plot], f"{len(motion)} samples of t, {', '.join(motion.recorded)}")
