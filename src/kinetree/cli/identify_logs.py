"""The recorded motions of ``kinetree identify``: files that are read, and what seems wrong with them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple
from warnings import catch_warnings

import numpy as np

from kinetree.cli.options import value_of
from kinetree.cli.terminal import progress
from kinetree.errors import ArgumentError
from kinetree.identification import Filtered, Samples, base_parameters, diagnose, read_log
from kinetree.identification.nonlinear import motors_of
from kinetree.identification.payload import holding
from kinetree.logs.filter import Filter
from kinetree.logs.findings import Findings
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.spatial import Inertia

BLOCK = 1 << 17
"""Recorded samples that are in memory at once where files are streamed."""


class Read(NamedTuple):
    """What the files hold: samples of each, and what is to be known of them."""

    samples: list[Samples | Filtered]
    notes: list[str]


class Watched:
    """Motions that show how far each pass through them is."""

    def __init__(self, motions: list[Samples | Filtered], show: Callable[[float], None]) -> None:
        self.motions, self.show = motions, show

    def __call__(self) -> Iterator[Samples]:
        """Yield the motions, or their parts."""
        for k, motion in enumerate(self.motions):
            for part in (motion,) if isinstance(motion, Samples) else motion:
                yield part
                done = motion.recording.progress if isinstance(motion, Filtered) else 1.0
                self.show((k + done) / len(self.motions))


def read(arguments: argparse.Namespace, robot: Robot, names: list[str]) -> Read:
    """Return the samples of these files; `ArgumentError` says what seems wrong with one."""
    found = Read([], [])
    sensors, chosen = value_of(arguments, Sensors), value_of(arguments, Filter)
    currents = [robot.v_names[k] for k in motors_of(robot, arguments.motor_constants)]
    for name in names:
        recording = read_log(name, robot, sensors=sensors, block=BLOCK)
        if not arguments.stream:
            with progress(f"reading {name}", shown=not arguments.quiet) as show:
                recording = recording.whole(show)
            found.notes.extend(f"{name}: {note}" for note in recording.notes)
        if not arguments.force:
            refuse(name, recording.diagnose())
        with catch_warnings(record=True, action="always") as said:
            samples = recording.filtered(chosen, check=False)  # `refuse` says what the command can do
        found.notes.extend(str(warning.message) for warning in said)
        for log, (mass, place, frame) in arguments.load:
            if log == name:
                known = mass if place is None else Inertia.from_com(mass, place, np.zeros((3, 3)))
                samples = holding(robot, samples, frame, known)
        if not arguments.force:
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
    streams = [log.recording for one in read for log in one.samples if isinstance(log, Filtered)]
    return [f"{log.name}: {note}" for log in streams for note in log.notes]
