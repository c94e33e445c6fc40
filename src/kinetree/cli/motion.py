"""Where the motion comes from: a file, a file differentiated, or made."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinetree.cli.terminal import waiting
from kinetree.cli.wave import random_wave
from kinetree.errors import ArgumentError
from kinetree.logs.codecs import Table, in_blocks, open_columns
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.local_fit import DEGREE, WINDOW, differentiate, gaps
from kinetree.logs.messages import unused_columns
from kinetree.robot import Robot
from kinetree.robot.limits import given
from kinetree.validation import Array

LONG = 2_000_000
"""Bytes (or samples) from which on a terminal shows that something is being done."""

MOST = 100_000_000
"""Numbers that a made motion has at most, 0.8 GB."""

Block = Mapping[str, Array]
"""Consecutive samples: "t" (n,) in s, if there are times, "q", "v", "a" and, where they are computed, "tau"."""

FRACTION = 0.9
"""Part of a joint's limits that a made motion uses."""


@dataclass(frozen=True)
class Motion:
    """A motion of a robot, complete: every block has q, v and a.

    Attributes
    ----------
    blocks : iterable of Block
    how : str
        What was done to get it, for people.
    written : str
        What of t, q, v and a is written with the torques: t if there is one, and all if some were not given.
    source : Path, or None
        The file it is read from.
    size : int
        Bytes or samples in all, 0 if it is not known.
    table : Table, or None
        It knows which part of the file has been read.
    warnings, notes : tuples of str
        What is suspicious in how it was read, and what is only to be known.
    """

    blocks: Iterable[Block]
    how: str
    written: str = "tqva"
    source: Path | None = None
    size: int = 0
    table: Table | None = None
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def coordinates_of(robot: Robot) -> Coordinates:
    """Return the names of the entries of the robot's q and v."""
    joints = (robot.joint(body.joint_name) for body in robot.model.bodies)
    return Coordinates(robot.q_names, robot.v_names, tuple((x.name, x.mimic[0]) for x in joints if x.mimic))


@contextmanager
def open_motion(arguments: argparse.Namespace, robot: Robot, coordinates: Coordinates) -> Iterator[Motion]:
    """Open the motion that the arguments ask for."""
    refuse_options(arguments)
    name = arguments.trajectory
    if name is None:
        yield excitation(robot, arguments.duration or 10.0, arguments.rate or 100.0, arguments.seed or 0)
        return
    source = None if name == "-" else Path(name)
    with open_columns(source, coordinates) as table:
        layout = table.layout
        warnings = (unused_columns(layout.ignored, set(layout.groups), coordinates),) if layout.ignored else ()
        size = source.stat().st_size if source is not None else 0
        written = "t" if "t" in layout.groups else ""
        motion = Motion(table.blocks(), f"read from {name}", written, source, size, table, warnings, layout.notes)
        if "a" not in layout.groups:
            with waiting("reading and differentiating", shown=size >= LONG and not arguments.quiet):
                motion = differentiated(motion, robot, arguments.window or WINDOW, name)
        yield motion


def refuse_options(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for an option that would have no effect."""
    if arguments.trajectory is None:
        if arguments.window is not None:
            raise ArgumentError("--window is for a TRAJECTORY without v or a; there is none")
        return
    for option in ("duration", "rate", "seed"):
        if getattr(arguments, option) is not None:
            raise ArgumentError(f"--{option} is for the motion made without a TRAJECTORY; leave out one of the two")


def differentiated(motion: Motion, robot: Robot, window: int, name: str) -> Motion:
    """Return a recorded motion completed by differentiation: v and a from q, or a from v."""
    parts = list(motion.blocks)
    arrays = {x: np.concatenate([part[x] for part in parts]) for x in "tqv" if x in parts[0]}
    t = arrays["t"]
    try:
        if "v" in arrays:
            arrays["a"], _ = differentiate(t, arrays["v"], window=window)
        else:
            difference = None if robot.nq == robot.nv else robot.difference
            arrays["v"], arrays["a"] = differentiate(t, arrays["q"], difference, window=window)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None
    what = "a from v" if "v" in parts[0] else "v and a from q"
    how = f"{motion.how}; {what} by polynomials of degree {DEGREE} over {window} samples"
    warnings = (*motion.warnings, *time_warnings(t))
    return replace(
        motion, blocks=in_blocks(arrays), how=how, written="tqva", size=len(t), table=None, warnings=warnings
    )


def time_warnings(t: Array) -> Iterator[str]:
    """Yield what is suspicious in the times of samples."""
    step = float(np.median(np.diff(t)))
    if step > 1:
        yield f"the samples are {step:g} s apart: is the time in seconds?"
    if holes := gaps(t):
        listed = some([f"{t[i - 1]:g} s to {t[i]:g} s ({t[i] - t[i - 1]:.3g} s)" for i in holes], 3)
        yield (
            f"gaps in time, where samples are usually {step:.3g} s apart: {listed}. The pieces are differentiated "
            "separately, and less accurate at their ends"
        )


def excitation(robot: Robot, duration: float, rate: float, seed: int) -> Motion:
    """Return a smooth random motion of all joints with one degree of freedom; the others stand still."""
    most = MOST // (1 + robot.nq + 2 * robot.nv)
    if not duration * rate < most:
        raise ArgumentError(
            f"{duration:g} s at {rate:g} Hz are {duration * rate:.3g} samples: at most {most} can be made for "
            f"{robot.name}; give a smaller --duration or --rate"
        )
    t = np.linspace(0.0, duration, max(2, round(duration * rate) + 1))
    q = np.tile(robot.neutral(), (len(t), 1))
    v, a = np.zeros((len(t), robot.nv)), np.zeros((len(t), robot.nv))
    rng = np.random.default_rng(seed)
    still = []
    for name in robot.joint_names:
        body = robot.model.bodies[robot.model.body_of_joint(name)]
        if len(body.v_index) > 1:
            still.append(name)
            continue
        lower, upper = usable_range(body.limits.lower, body.limits.upper, body.joint.span)
        speed = given(body.limits.velocity)
        wave = random_wave(rng, lower=lower, upper=upper, velocity=speed, period=duration, fraction=FRACTION)
        q[:, body.q_index[0]], v[:, body.v_index[0]], a[:, body.v_index[0]] = wave(t)
    how = f"made: {duration:g} s at {rate:g} Hz, seed {seed}, within {FRACTION:.0%} of the limits"
    how += f"; {', '.join(still)} stands still" if still else ""
    return Motion(in_blocks({"t": t, "q": q, "v": v, "a": a}), how, size=len(t))


def usable_range(lower: float, upper: float, span: float) -> tuple[float, float]:
    """Return finite limits: a missing one is `span` from zero, or two from the other one."""
    if np.isfinite(lower):
        return lower, upper if np.isfinite(upper) else lower + 2 * span
    return (upper - 2 * span, upper) if np.isfinite(upper) else (-span, span)
