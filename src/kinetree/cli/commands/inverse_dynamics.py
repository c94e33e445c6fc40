"""``kinetree inverse-dynamics``: joint torques of a motion, which is read from a file, differentiated, or made."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.markup import escape

from kinetree.cli.motion import MOST
from kinetree.cli.options import load_robot
from kinetree.cli.terminal import Working, console, print_files, print_json
from kinetree.drawing.motion import draw_torques
from kinetree.drawing.panels import check_plot, finish
from kinetree.errors import ArgumentError
from kinetree.logs.codecs import in_blocks, open_columns
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.local_fit import DEGREE, WINDOW, differentiate, stretches
from kinetree.logs.saved import write_blocks
from kinetree.motions.extremes import Extremes
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.tables import Cells, number, print_warnings
from kinetree.validation import Array, given_limits

FRACTION, HARMONICS = 0.9, 5  # the part of a joint's limits that a made motion uses, and how many frequencies it has
DENSE = 50  # samples a period of the fastest harmonic on which peaks are looked for: off by less than 0.2 %


class Motion(NamedTuple):
    """A motion of a robot: t (n,), if there are times, q, v and a; how it was got, and what is suspicious in that.

    Of these the `written` are written with the torques: t if there is one, and all if some were not given.
    """

    arrays: dict[str, Array]
    how: str
    written: str = "tqva"
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()


def run(arguments: argparse.Namespace) -> None:
    """Compute the torques; write, draw and sum them up as the arguments say."""
    check_plot(arguments.plot)
    robot, warnings = load_robot(arguments)
    source = None if arguments.trajectory in (None, "-") else Path(arguments.trajectory)
    with Working("inverse dynamics", robot.name, shown=not arguments.quiet) as show:
        motion = made(arguments, robot) if arguments.trajectory is None else recorded(arguments, robot, show)
        if arguments.plot not in (None, "show"):
            check_output(arguments.plot, source, (".png", ".svg", ".pdf"))
        if arguments.output not in (None, "-"):
            check_output(arguments.output, source)
        arrays = motion.arrays
        tau = arrays["tau"] = np.asarray(robot.inverse_dynamics(arrays["q"], arrays["v"], arrays["a"]))
        for k in np.flatnonzero(~np.isfinite(tau).all(axis=1))[:1]:
            raise ArgumentError(
                f"the torques of sample {k + 1} are not finite: a quaternion is zero, or a number is too large"
            )
        if arguments.output is not None:
            write_blocks(arguments.output, Coordinates.of(robot), (*motion.written, "tau"), in_blocks(arrays))
    when = arrays.get("t", np.arange(1.0, 1.0 + len(tau)))
    if arguments.plot is not None:
        finish(partial(draw_torques, robot, when, tau, "t (s)" if "t" in arrays else "sample"), arguments.plot)
    if not arguments.quiet:
        report(arguments, motion, Extremes(robot, arrays, when), warnings)


def recorded(arguments: argparse.Namespace, robot: Robot, show: Working) -> Motion:
    """Return the motion in a file; where v and a, or a, are missing they are found by differentiation."""
    for option in ("duration", "rate", "seed"):
        if getattr(arguments, option) is not None:
            raise ArgumentError(f"--{option} is for the motion made without a TRAJECTORY; leave out one of the two")
    name, window = arguments.trajectory, arguments.window or WINDOW
    with open_columns(None if name == "-" else Path(name), Coordinates.of(robot)) as table:
        (arrays,) = table.blocks(None, show=show)
        motion = Motion(arrays, f"read from {name}", "t" * ("t" in arrays), table.layout.unused, table.layout.notes)
    if "a" in arrays:
        return motion
    t, what = arrays["t"], "a from v" if "v" in arrays else "v and a from q"
    try:
        with show.during("differentiating"):
            if "v" in arrays:
                arrays["a"], _ = differentiate(t, arrays["v"], window=window)
            else:
                difference = None if robot.nq == robot.nv else robot.difference
                arrays["v"], arrays["a"] = differentiate(t, arrays["q"], difference, window=window)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None
    how = f"{motion.how}; {what} by polynomials of degree {DEGREE} over {window} samples"
    return motion._replace(how=how, written="tqva", warnings=[*motion.warnings, *time_warnings(t)])


def time_warnings(t: Array) -> Iterator[str]:
    """Yield suspicious facts about the times of samples."""
    step = float(np.median(np.diff(t)))
    if step > 1:
        yield f"the samples are {step:g} s apart: is the time in seconds?"
    if holes := [k for k, _ in stretches(t)[1:]]:
        listed = some([f"{t[i - 1]:g} s to {t[i]:g} s ({t[i] - t[i - 1]:.3g} s)" for i in holes], 3)
        yield (
            f"gaps in time, where samples are usually {step:.3g} s apart: {listed}. The pieces are differentiated "
            "separately, and less accurate at their ends"
        )


def made(arguments: argparse.Namespace, robot: Robot) -> Motion:
    """Return a smooth random motion of all joints with one degree of freedom; the others stand still."""
    if arguments.window is not None:
        raise ArgumentError("--window is for a TRAJECTORY without v or a; there is none")
    duration, rate, seed = arguments.duration or 10.0, arguments.rate or 100.0, arguments.seed or 0
    most = MOST // (1 + robot.nq + 2 * robot.nv)
    if not duration * rate < most:
        raise ArgumentError(
            f"{duration:g} s at {rate:g} Hz are {duration * rate:.3g} samples: at most {most} can be made for "
            f"{robot.name}; give a smaller --duration or --rate"
        )
    t = np.linspace(0.0, duration, max(2, round(duration * rate) + 1))
    q = np.tile(robot.neutral(), (len(t), 1))
    v, a = np.zeros((len(t), robot.nv)), np.zeros((len(t), robot.nv))
    bodies = [robot.model.bodies[robot.model.body_of_joint(name)] for name in robot.joint_names]
    moving = [body for body in bodies if len(body.v_index) == 1]
    at, k = [body.q_index[0] for body in moving], [body.v_index[0] for body in moving]
    ranges = np.array([usable_range(x.limits.lower, x.limits.upper, x.joint.span) for x in moving]).reshape(-1, 2)
    fastest = given_limits([body.limits.velocity for body in moving])
    q[:, at], v[:, k], a[:, k] = random_series(np.random.default_rng(seed), t, ranges, fastest)
    still = ", ".join(body.joint_name for body in bodies if len(body.v_index) > 1)
    how = f"made: {duration:g} s at {rate:g} Hz, seed {seed}, within {FRACTION:.0%} of the limits"
    return Motion({"t": t, "q": q, "v": v, "a": a}, f"{how}; {still} stands still" if still else how)


def random_series(rng: np.random.Generator, t: Array, ranges: Array, fastest: Array) -> list[Array]:
    """Return q, v and a (n, joints) of random finite Fourier series at times t (n,), from the first to the last.

    ``q = q0 + Σ_k s_k sin(k ω t) + c_k (cos(k ω t) − 1)``: it starts and ends at rest, as coefficients are projected
    onto ``Σ k s_k = 0`` and ``Σ k² c_k = 0``. It fills a part of the ranges (joints, 2) of positions about their
    middle, or reaches this part of the largest speed, whichever comes first.
    """
    (lower, upper), k = ranges.T, np.arange(1.0, HARMONICS + 1.0)
    s, c = (rng.normal(size=(len(lower), 2, HARMONICS)) / k).swapaxes(0, 1)
    s -= np.outer(s @ k, k) / (k @ k)
    c -= np.outer(c @ k**2, k**2) / (k**2 @ k**2)
    w = 2.0 * np.pi * k / t[-1]

    def series(t: Array) -> list[Array]:
        sin, cos = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        q = sin @ s.T + (cos - 1.0) @ c.T
        return [q, cos @ (s * w).T - sin @ (c * w).T, -sin @ (s * w**2).T - cos @ (c * w**2).T]

    q, v, _ = series(np.linspace(0.0, t[-1], DENSE * HARMONICS + 1))
    scale = FRACTION * np.minimum((upper - lower) / np.ptp(q, axis=0), fastest / np.abs(v).max(axis=0))
    middle = (lower + upper - scale * (q.max(axis=0) + q.min(axis=0))) / 2.0
    q, v, a = (scale * x for x in series(t))
    return [middle + q, v, a]


def usable_range(lower: float, upper: float, span: float) -> tuple[float, float]:
    """Return finite limits: a missing one is `span` from zero, or two from the other one."""
    if np.isfinite(lower):
        return lower, upper if np.isfinite(upper) else lower + 2 * span
    return (upper - 2 * span, upper) if np.isfinite(upper) else (-span, span)


def report(arguments: argparse.Namespace, motion: Motion, summary: Extremes, warnings: list[str]) -> None:
    """Print what was done, the table, and what was written; to stderr if stdout has the torques."""
    stderr, name = arguments.output == "-", summary.robot.name
    if arguments.json:
        facts = {"robot": name, "samples": summary.rows, "motion": motion.how, "joints": summary.joints()}
        every = [*motion.warnings, *warnings, *summary.warnings()]
        print_json(facts | {"warnings": every, "notes": motion.notes}, stderr=stderr)
        return
    out = console(stderr=stderr)
    out.print(f"[bold]{escape(name)}[/]: inverse dynamics of {summary.rows} samples, {escape(motion.how)}")
    print_warnings(out, motion.warnings)
    for note in motion.notes:
        out.print(f"[dim]note:[/] {escape(note)}")
    out.print(table_of_forces(summary, "at t (s)" if "t" in motion.arrays else "at sample").for_terminal(out.width))
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
