"""Joint torques of a motion.

Prints the largest torque of every joint against its effort limit; writes the torques with -o, and draws them with
--plot.

TRAJECTORY is a CSV or an NPZ with q, v and a; or with q and a time t, and then v and a are found by
differentiation: a polynomial of degree 4 is fitted by least squares to the samples of a window around each one (a
Savitzky-Golay filter for any spacing of the samples, on the manifold where a joint has a quaternion), one-sided
at the ends and at gaps in time. With q, v and t, only a is. Angles must not wrap around. Without a TRAJECTORY, a
smooth random motion is made for every joint with one degree of freedom, within its limits and at rest at both ends
(a Fourier series of 5 harmonics); a floating base stands still.

columns of a CSV, for the joint elbow, the second of the robot:
  q.elbow   v.elbow   a.elbow   t      positions, velocities, accelerations (SI units), time in s
  elbow.q   q_elbow   qd.elbow   elbow_vel   qdd_elbow   elbow/acceleration   ...    are understood as well
  elbow                                alone is a position
  q2 v2 a2, q_2 qd_2 qdd_2, q[2] ...   numbers, from 1 or from 0: the whole set of a quantity
  joint2  joint2_vel  joint2_acc       the same, counting joints only
  base.x .y .z .qx .qy .qz .qw         the pose of a floating base, whatever its joint is called; x ... qw alone as well
  base.wx .wy .wz .vx .vy .vz          its velocity, in its own axes; a.base.wx ... its acceleration
  q2 [rad]   time (s)                  the unit may follow; other units than those of the SI are refused
  /joint_states/elbow/position         a path may go before
A file without a header has the columns q, v, a, or t, q, v, a, or t, q. Comma, semicolon, tab or blanks
separate; a line that begins with # is a comment. Columns that mean nothing are ignored and reported.
An NPZ has the arrays q (n, nq), v (n, nv), a (n, nv), t (n,).

for example:
  kinetree inverse-dynamics panda motion.csv -o torques.csv
  kinetree inverse-dynamics g1 walk.npz -o torques.npz --plot torques.pdf
  kinetree inverse-dynamics arm.urdf recorded.csv --window 31          a noisy record: smooth more
  kinetree inverse-dynamics panda --duration 20 --seed 3 -o excitation.csv
  kinetree inverse-dynamics panda motion.csv --friction --payload 1.5,0,0,0.1@panda_hand
  cat motion.csv | kinetree inverse-dynamics panda - -o - | head
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np
from rich.markup import escape

from kinetree.cli.motion import Block, Motion, coordinates_of, open_motion
from kinetree.cli.options import add_dynamics, add_results, add_robot, number
from kinetree.cli.robots import load_robot
from kinetree.cli.summary import Summary
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.motion import Picture
from kinetree.drawing.panels import check_plot, finish
from kinetree.errors import ArgumentError
from kinetree.logs.saved import write_blocks
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.tables import print_warnings
from kinetree.validation import Array

Taker = Callable[[Block, Array], object]
"""Takes a block with its torques, and its times or the numbers of its samples."""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add what it takes."""
    add_robot(command)
    command.add_argument("trajectory", metavar="TRAJECTORY", nargs="?", help="CSV or NPZ; - reads a CSV from stdin")
    out = "write the torques to OUT.csv or OUT.npz; - writes a CSV to stdout, and the summary to stderr"
    add_results(command, output=out, plot="draw the torques: FILE.png, .svg or .pdf, or 'show' a window")
    add_dynamics(command, friction="count the damping and friction that the file gives")
    smoothing = command.add_argument_group("differentiation, if the file has no v or a")
    smoothing.add_argument("--window", type=number(int, "≥", 5), metavar="N", help="samples in a fit, ≥ 5 (15)")
    made = command.add_argument_group("the motion made without a TRAJECTORY")
    made.add_argument("--duration", type=number(float, ">", 0), metavar="S", help="seconds, > 0 (10)")
    made.add_argument("--rate", type=number(float, ">", 0), metavar="HZ", help="samples a second, > 0 (100)")
    made.add_argument("--seed", type=number(int, "≥", 0), metavar="N", help="of the random motion, ≥ 0 (0)")


def run(arguments: argparse.Namespace) -> None:
    """Compute the torques; write, draw and sum them up as the arguments say."""
    check_plot(arguments.plot)
    robot, warnings = load_robot(arguments)
    source = None if arguments.trajectory in (None, "-") else Path(arguments.trajectory)
    summary, picture = Summary(robot), Picture(robot)
    with ExitStack() as stack:
        show = stack.enter_context(Working("inverse dynamics", robot.name, shown=not arguments.quiet))
        motion = stack.enter_context(open_motion(arguments, robot, show))
        if arguments.plot not in (None, "show"):
            check_output(arguments.plot, source, (".png", ".svg", ".pdf"))
        if arguments.output not in (None, "-"):
            check_output(arguments.output, source)
        blocks = computed(robot, motion, [summary.add, *([picture.add] if arguments.plot else [])], show)
        if arguments.output is None:
            deque(blocks, maxlen=0)
        else:
            write_blocks(arguments.output, coordinates_of(robot), (*motion.written, "tau"), blocks)
    if arguments.plot is not None:
        finish(picture.draw, arguments.plot)
    if not arguments.quiet:
        report(arguments, motion, summary, warnings)


def computed(robot: Robot, motion: Motion, takers: Sequence[Taker], show: Working) -> Iterator[Block]:
    """Yield blocks with their torques, which the takers are given too."""
    first = 0
    for block in motion.blocks:
        tau = np.asarray(robot.inverse_dynamics(block["q"], block["v"], block["a"]))
        bad = np.flatnonzero(~np.isfinite(tau).all(axis=1))
        if len(bad):
            raise ArgumentError(
                f"the torques of sample {first + int(bad[0]) + 1} are not finite: "
                "a quaternion is zero, or a number is too large"
            )
        whole, numbers = {**block, "tau": tau}, np.arange(first + 1.0, first + 1.0 + len(tau))
        first += len(tau)
        for take in takers:
            take(whole, block.get("t", numbers))
        yield whole
        if motion.table is not None:
            show(motion.table.progress)


def report(arguments: argparse.Namespace, motion: Motion, summary: Summary, warnings: list[str]) -> None:
    """Print what was done, the table, and what was written; to stderr if stdout has the torques."""
    stderr, name = arguments.output == "-", summary.robot.name
    notes = [] if motion.table is None else motion.table.layout.notes
    if arguments.json:
        facts = {"robot": name, "samples": summary.rows, "motion": motion.how, "joints": summary.forces()}
        every = [*motion.warnings, *warnings, *summary.warnings()]
        print_json(facts | {"warnings": every, "notes": notes}, stderr=stderr)
        return
    out = console(stderr=stderr)
    out.print(f"[bold]{escape(name)}[/]: inverse dynamics of {summary.rows} samples, {escape(motion.how)}")
    print_warnings(out, motion.warnings)
    for note in notes:
        out.print(f"[dim]note:[/] {escape(note)}")
    out.print(summary.table_of_forces().for_terminal(out.width))
    print_warnings(out, [*warnings, *summary.warnings()])
    print_files([arguments.output], [arguments.plot], ", ".join((*motion.written, "tau")))
