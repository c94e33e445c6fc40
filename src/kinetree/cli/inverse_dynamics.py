"""``kinetree inverse-dynamics``: the joint torques of a motion."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

import numpy as np
from rich.markup import escape

from kinetree.cli.compiling import CompilingNotice, compiling_notice
from kinetree.cli.motion import LONG, Block, Motion, coordinates_of, open_motion
from kinetree.cli.summary import Summary
from kinetree.cli.terminal import console, load_robot, print_json
from kinetree.drawing.panels import check_plot, finish
from kinetree.drawing.torques import Picture
from kinetree.errors import ArgumentError
from kinetree.logs.saved import write_blocks
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.tables import print_warnings
from kinetree.validation import Array

Taker = Callable[[Block, Array], None]
"""Takes a block with its torques, and its times or the numbers of its samples."""


def run(arguments: argparse.Namespace) -> None:
    """Compute the torques; write, draw and sum them up as the arguments say."""
    if arguments.quiet and arguments.json:
        raise ArgumentError("--quiet leaves nothing for --json to print: leave out one of them")
    check_plot(arguments.plot)
    robot, warnings = load_robot(arguments)
    if robot.nv == 0:
        raise ArgumentError(f"{robot.name} has no moving joint")
    coordinates = coordinates_of(robot)
    summary = Summary(robot)
    picture = Picture(robot) if arguments.plot else None
    with ExitStack() as stack:
        notice = stack.enter_context(compiling_notice(robot.name, shown=not arguments.quiet))
        motion = stack.enter_context(open_motion(arguments, robot, coordinates))
        takers = [summary.add]
        if picture is not None:
            takers.append(picture.add)
            if arguments.plot != "show":
                check_output(arguments.plot, motion.source, (".png", ".svg", ".pdf"))
        if arguments.output not in (None, "-"):
            check_output(arguments.output, motion.source)
        made = computed(robot, stack.enter_context(progress(motion, arguments.quiet, notice)), takers)
        if arguments.output is None:
            deque(made, maxlen=0)
        else:
            write_blocks(arguments.output, coordinates, (*motion.written, "tau"), made)
    if picture is not None:
        finish(picture.draw, arguments.plot)
    if not arguments.quiet:
        report(arguments, robot, motion, summary, warnings)


def computed(robot: Robot, blocks: Iterable[Block], takers: Sequence[Taker]) -> Iterator[Block]:
    """Yield blocks with their torques, which the takers are given too."""
    first = 0
    for block in blocks:
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


@contextmanager
def progress(motion: Motion, quiet: bool, notice: CompilingNotice) -> Iterator[Iterable[Block]]:
    """Give the motion's blocks, with a progress bar on a terminal if they are many."""
    err = console(stderr=True)
    if quiet or not err.is_terminal or motion.size < LONG:
        yield motion.blocks
        return
    from rich.progress import Progress

    with Progress(console=err, transient=True) as bar:
        task = bar.add_task("inverse dynamics", total=motion.size)
        notice.show = lambda text: bar.update(task, description=text or "inverse dynamics")

        def watched() -> Iterator[Block]:
            done = 0.0
            for block in motion.blocks:
                yield block
                done = motion.size * motion.table.progress if motion.table else done + len(block["q"])
                bar.update(task, completed=done)

        yield watched()


def report(arguments: argparse.Namespace, robot: Robot, motion: Motion, summary: Summary, warnings: list[str]) -> None:
    """Print what was done, the table, and what was written; to stderr if stdout has the torques."""
    if arguments.json:
        found = {
            "robot": robot.name,
            "samples": summary.rows,
            "motion": motion.how,
            "joints": summary.joints(),
            "warnings": [*motion.warnings, *warnings, *summary.warnings()],
            "notes": motion.notes,
        }
        print_json(found, stderr=arguments.output == "-")
        return
    out = console(stderr=arguments.output == "-")
    out.print(f"[bold]{escape(robot.name)}[/]: inverse dynamics of {summary.rows} samples, {escape(motion.how)}")
    print_warnings(out, motion.warnings)
    for note in motion.notes:
        out.print(f"[dim]note:[/] {escape(note)}")
    out.print(summary.table(out.width))
    print_warnings(out, [*warnings, *summary.warnings()])
    if arguments.output not in (None, "-"):
        out.print(f"wrote {escape(arguments.output)} ({', '.join((*motion.written, 'tau'))})")
    if arguments.plot not in (None, "show"):
        out.print(f"drew {escape(arguments.plot)}")
