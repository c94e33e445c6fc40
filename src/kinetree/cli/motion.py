"""Motions of commands: read from a file, differentiated or made, and written."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kinetree.cli.terminal import Working
from kinetree.drawing.panels import check_plot
from kinetree.errors import ArgumentError
from kinetree.logs.codecs import Table, in_blocks, open_columns
from kinetree.logs.codecs.parquet import check_installed
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.local_fit import DEGREE, WINDOW, differentiate, stretches
from kinetree.output import check_output
from kinetree.robot import Robot
from kinetree.robot.base import given_limits
from kinetree.validation import Array

MOST = 100_000_000  # numbers that a motion has at most, 0.8 GB
FRACTION, HARMONICS = 0.9, 5  # the part of a joint's limits that a made motion uses, and how many frequencies it has
DENSE = 50  # samples a period of the fastest harmonic on which peaks are looked for: off by less than 0.2 %

Block = Mapping[str, Array]
"""Consecutive samples: "t" (n,) in s, if there are times, "q", "v", "a" and, where they are computed, "tau"."""


@dataclass(frozen=True)
class Motion:
    """A motion of a robot, complete: every block has q, v and a; how it was got, and what is suspicious in that.

    Of t, q, v and a those `written` are written with the torques: t if there is one, and all if some were not given.
    """

    blocks: Iterable[Block]
    how: str
    written: str = "tqva"
    table: Table | None = None
    warnings: list[str] = field(default_factory=list)


@contextmanager
def open_motion(arguments: argparse.Namespace, robot: Robot, show: Working) -> Iterator[Motion]:
    """Open the motion that the arguments ask for."""
    name = arguments.trajectory
    if name is None:
        if arguments.window is not None:
            raise ArgumentError("--window is for a TRAJECTORY without v or a; there is none")
        yield made(robot, arguments.duration or 10.0, arguments.rate or 100.0, arguments.seed or 0)
        return
    for option in ("duration", "rate", "seed"):
        if getattr(arguments, option) is not None:
            raise ArgumentError(f"--{option} is for the motion made without a TRAJECTORY; leave out one of the two")
    coordinates = Coordinates.of(robot)
    with open_columns(None if name == "-" else Path(name), coordinates) as table:
        groups = table.layout.groups
        motion = Motion(table.blocks(), f"read from {name}", "t" if "t" in groups else "", table, table.layout.unused)
        if "a" not in groups:
            with show.during("reading and differentiating"):
                motion = differentiated(motion, robot, arguments.window or WINDOW, name)
        yield motion


def differentiated(motion: Motion, robot: Robot, window: int, name: str) -> Motion:
    """Return a recorded motion completed by differentiation: v and a from q, or a from v."""
    parts = list(motion.blocks)
    arrays = {x: np.concatenate([part[x] for part in parts]) for x in "tqv" if x in parts[0]}
    t, what = arrays["t"], "a from v" if "v" in arrays else "v and a from q"
    try:
        if "v" in arrays:
            arrays["a"], _ = differentiate(t, arrays["v"], window=window)
        else:
            difference = None if robot.nq == robot.nv else robot.difference
            arrays["v"], arrays["a"] = differentiate(t, arrays["q"], difference, window=window)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None
    how = f"{motion.how}; {what} by polynomials of degree {DEGREE} over {window} samples"
    warnings = [*motion.warnings, *time_warnings(t)]
    return replace(motion, blocks=in_blocks(arrays), how=how, written="tqva", warnings=warnings)


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


def made(robot: Robot, duration: float, rate: float, seed: int) -> Motion:
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
    bodies = [robot.model.bodies[robot.model.body_of_joint(name)] for name in robot.joint_names]
    moving = [body for body in bodies if len(body.v_index) == 1]
    at, k = [body.q_index[0] for body in moving], [body.v_index[0] for body in moving]
    ranges = np.array([usable_range(x.limits.lower, x.limits.upper, x.joint.span) for x in moving]).reshape(-1, 2)
    fastest = given_limits([body.limits.velocity for body in moving])
    q[:, at], v[:, k], a[:, k] = random_series(np.random.default_rng(seed), t, ranges, fastest)
    still = ", ".join(body.joint_name for body in bodies if len(body.v_index) > 1)
    how = f"made: {duration:g} s at {rate:g} Hz, seed {seed}, within {FRACTION:.0%} of the limits"
    return Motion(in_blocks({"t": t, "q": q, "v": v, "a": a}), f"{how}; {still} stands still" if still else how)


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


def check_results(arguments: argparse.Namespace) -> None:
    """Raise `ArgumentError` for a file of a motion, or a picture of it, that cannot be written."""
    if arguments.output is not None:
        check_output(arguments.output, None, (".csv", ".npz", ".parquet"))
        if arguments.output.lower().endswith(".parquet"):
            check_installed()
    check_plot(arguments.plot)
    if arguments.plot not in (None, "show"):
        check_output(arguments.plot, None, (".png", ".svg", ".pdf"))


def numbers(option: str, given: Iterable[str], names: tuple[str, ...]) -> Array:
    """Return numbers, one for each name, separated by blanks or commas."""
    try:
        values = np.array([float(text) for text in " ".join(given).replace(",", " ").split()])
    except ValueError as error:
        raise ArgumentError(f"{option}: {error}") from None
    if len(values) != len(names):
        shown = ", ".join(names[:4]) + (", …" if len(names) > 4 else "")
        raise ArgumentError(f"{option} takes {len(names)} numbers ({shown}); {len(values)} were given")
    return values
