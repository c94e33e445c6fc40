"""``kinetree inverse-dynamics``: the joint torques of a motion."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.markup import escape

from kinetree.cli.compiling import CompilingNotice, compiling_notice
from kinetree.cli.motion import LONG, Motion, coordinates_of, open_motion
from kinetree.cli.plot import Picture, check_plot
from kinetree.cli.summary import Summary
from kinetree.cli.terminal import console, load_robot, print_json
from kinetree.errors import ArgumentError
from kinetree.robot import Robot
from kinetree.tables import print_warnings
from kinetree.trajectories.block import Block
from kinetree.trajectories.files.write import Sink, check_output, open_sink
from kinetree.validation import Array

if TYPE_CHECKING:
    from collections.abc import Iterable


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
        takers: list[Sink] = [summary.add]
        if picture is not None:
            takers.append(picture.add)
            if arguments.plot != "show":
                check_output(arguments.plot, motion.source, (".png", ".svg", ".pdf"))
        if arguments.output is not None:
            sink = open_sink(arguments.output, coordinates, (*motion.written, "tau"), motion.source)
            takers.append(stack.enter_context(sink))
        for block in stack.enter_context(progress(motion, arguments.quiet, notice)):
            tau = torques(robot, block)
            for take in takers:
                take(block, tau)
    if picture is not None:
        picture.finish(arguments.plot)
    if not arguments.quiet:
        report(arguments, robot, motion, summary, warnings)


def torques(robot: Robot, block: Block) -> Array:
    """Return the joint torques (n, nv) of a block; `ArgumentError` names the first row where they are not finite."""
    state: list[Any] = [block.q, block.v, block.a]
    tau = np.asarray(robot.inverse_dynamics(*state))
    bad = np.flatnonzero(~np.isfinite(tau).all(axis=1))
    if len(bad):
        raise ArgumentError(
            f"the torques of sample {block.first + int(bad[0]) + 1} are not finite: "
            "a quaternion is zero, or a number is too large"
        )
    return tau


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
            for block in motion.blocks:
                yield block
                done = motion.reader.position() if motion.reader else block.first + len(block.q)
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
