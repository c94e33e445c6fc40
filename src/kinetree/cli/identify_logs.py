"""The recorded motions of ``kinetree identify``: files that are read, and what seems wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from warnings import catch_warnings

import numpy as np

from kinetree.cli.terminal import progress
from kinetree.errors import ArgumentError
from kinetree.identification import LogStream, Recording, Samples, base_parameters, diagnose, stream_log
from kinetree.identification.checks.findings import Findings
from kinetree.identification.motors import checked
from kinetree.identification.payload import holding
from kinetree.robot import Robot
from kinetree.spatial import Inertia

CHOICES = ("cutoff", "presliding", "smoothing", "decimate", "outliers", "standing")
"""How samples are made of a recording."""

READING = ("gear_ratios", "torque_constants", "motor_positions", "topic", "odometry", "wrench_axes", "skip_missing")
"""How a file is read."""


class Read(NamedTuple):
    """What the files hold: samples of each, and what is to be known of them."""

    samples: list[Samples | LogStream]
    notes: list[str]


class Watched:
    """Motions that show how far each pass through them is."""

    def __init__(self, motions: list[Samples | LogStream], show: Callable[[float], None]) -> None:
        self.motions, self.show = motions, show

    def __call__(self) -> Iterator[Samples]:
        """Yield the motions, or their parts."""
        for k, motion in enumerate(self.motions):
            for part in (motion,) if isinstance(motion, Samples) else motion:
                yield part
                done = motion.done if isinstance(motion, LogStream) else 1.0
                self.show((k + done) / len(self.motions))


def read(arguments: argparse.Namespace, robot: Robot, names: list[str]) -> Read:
    """Return the samples of these files; `ArgumentError` says what seems wrong with one."""
    found = Read([], [])
    how: dict[str, Any] = {name: getattr(arguments, name) for name in READING} | {"wrenches": dict(arguments.wrench)}
    choices = {choice: getattr(arguments, choice) for choice in CHOICES}
    currents = [robot.v_names[k] for k in checked(robot, arguments.motor_constants).places]
    for name in names:
        stream = stream_log(name, robot, **choices, **how, check=False)  # `refuse` says what the command can do
        if arguments.stream:
            seen: Recording | None = next(stream.recordings(), None)
        else:
            with progress(f"reading {name}", shown=not arguments.quiet) as show:
                seen = stream.whole(show)
        if not arguments.force and seen is not None:
            refuse(name, seen.diagnose())
        samples: Samples | LogStream = stream
        if not arguments.stream and seen is not None:
            with catch_warnings(record=True, action="always") as said:
                samples = seen.samples(**choices, check=False)
            found.notes.extend(str(warning.message) for warning in said)
            for log, (mass, place, frame) in arguments.load:
                if log == name:
                    known = mass if place is None else Inertia.from_com(mass, place, np.zeros((3, 3)))
                    samples = holding(robot, samples, frame, known)
            found.notes.extend(f"{name}: {note}" for note in seen.notes)
        if not arguments.force and seen is not None:
            base = base_parameters(robot, arguments.terms, smoothing=arguments.smoothing)
            refuse(name, diagnose(robot, samples, base, currents=currents))
        found.samples.append(samples)
    return found


def refuse(name: str, found: Findings) -> None:
    """Raise `ArgumentError` if a log seems to be wrong."""
    if found.errors:
        raise ArgumentError(f"{name}: {'; '.join(map(str, found.errors))}; --force takes it as it is")


def notes(*read: Read) -> list[str]:
    """Return what is to be known of files that were streamed."""
    streams = [log for one in read for log in one.samples if isinstance(log, LogStream)]
    return [f"{log.name}: {note}" for log in streams for note in log.notes]
