"""``kinetree inverse-dynamics``: joint torques of a motion."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from rich.markup import escape

from kinetree.cli.motion import Block, Motion, open_motion
from kinetree.cli.options import load_robot
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.motion import Picture
from kinetree.drawing.panels import check_plot, finish
from kinetree.errors import ArgumentError
from kinetree.logs.columns import Coordinates
from kinetree.logs.saved import write_blocks
from kinetree.motions.extremes import Extremes
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.tables import Cells, number, print_warnings
from kinetree.validation import Array

Taker = Callable[[Block, Array], object]
"""Takes a block with its torques, and its times or the numbers of its samples."""


def run(arguments: argparse.Namespace) -> None:
    """Compute the torques; write, draw and sum them up as the arguments say."""
    check_plot(arguments.plot)
    robot, warnings = load_robot(arguments)
    source = None if arguments.trajectory in (None, "-") else Path(arguments.trajectory)
    summary, picture = Extremes(robot), Picture(robot)
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
            write_blocks(arguments.output, Coordinates.of(robot), (*motion.written, "tau"), blocks)
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


def report(arguments: argparse.Namespace, motion: Motion, summary: Extremes, warnings: list[str]) -> None:
    """Print what was done, the table, and what was written; to stderr if stdout has the torques."""
    stderr, name = arguments.output == "-", summary.robot.name
    notes = [] if motion.table is None else motion.table.layout.notes
    if arguments.json:
        facts = {"robot": name, "samples": summary.rows, "motion": motion.how, "joints": summary.joints()}
        every = [*motion.warnings, *warnings, *summary.warnings()]
        print_json(facts | {"warnings": every, "notes": notes}, stderr=stderr)
        return
    out = console(stderr=stderr)
    out.print(f"[bold]{escape(name)}[/]: inverse dynamics of {summary.rows} samples, {escape(motion.how)}")
    print_warnings(out, motion.warnings)
    for note in notes:
        out.print(f"[dim]note:[/] {escape(note)}")
    out.print(table_of_forces(summary, "at t (s)" if "t" in motion.written else "at sample").for_terminal(out.width))
    print_warnings(out, [*warnings, *summary.warnings()])
    print_files([arguments.output], [arguments.plot], ", ".join((*motion.written, "tau")))


def table_of_forces(summary: Extremes, when: str) -> Cells:
    """Return the forces of every degree of freedom against its effort limit."""
    rows, marked = [], set()
    for k, joint in enumerate(summary.joints()):
        if joint["samples_over"]:
            marked.add(k)
        figures = (number(joint[key]) for key in ("peak_tau", "at", "rms", "limit_tau"))
        used = f"{100 * joint['peak_tau'] / joint['limit_tau']:.0f} %" if joint["limit_tau"] < np.inf else "–"
        rows.append((joint["name"], *figures, used, f"OVER {joint['samples_over']}" if k in marked else "–"))
    columns: Any = {
        "joint": "left",
        **dict.fromkeys(("peak |τ|", when, "rms", "limit", "used", "samples over"), "right"),
    }
    return Cells(columns, rows, ["rms", when, "limit", "used"], marked)
