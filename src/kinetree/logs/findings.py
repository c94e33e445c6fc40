"""Plausibility checks and what they find: values, of whose messages no word matters; and the checks of recordings.

These see what filtering hides: sensors at their end, times in another unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, listed, warn_user
from kinetree.logs.samples import Samples
from kinetree.motions.extremes import plain
from kinetree.robot import Robot
from kinetree.validation import Array

Severity = Literal["error", "warning"]
Stage = Literal["recording", "samples", "closed", "equations", "estimate", "bodies"]
"""When a check is made: of a recording before it is filtered, of samples or those of a mechanism, of their equations
before the estimate, of the estimate, of the physically consistent bodies."""


class LogWarning(UserWarning):
    """A recorded motion that tells little, or something that a model of it lacks."""


class Found(NamedTuple):
    """What the function of a check yields: a sentence, the joints that it is about, and figures by name."""

    message: str
    joints: tuple[str, ...] = ()
    figures: Mapping[str, Any] = MappingProxyType({})


class Check(NamedTuple):
    """A plausibility check: one row of `kinetree.identification.checks.registry.CHECKS`.

    An error is why `identify` refuses a log. `test` yields what is wrong in the evidence of each of the stages.
    """

    name: str
    severity: Severity
    stages: tuple[Stage, ...]
    test: Callable[[Any], Iterator[Found]]


@dataclass(frozen=True)
class Finding:
    """What a plausibility check has found.

    Attributes
    ----------
    name : str
        Of the check, such as "force_sign".
    severity : "error" or "warning"
        An error is a reason to refuse a log, a warning is worth knowing.
    message : str
        For people: nothing depends on its words.
    joints : tuple of str
        The entries of v that it is about.
    figures : mapping
        What was measured, by name with its unit: ``{"delay_s": 0.0052}``.
    """

    name: str
    severity: Severity
    message: str
    joints: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, for JSON."""
        return dict(plain(self.__dict__))


class Findings(tuple[Finding, ...]):
    """What the plausibility checks of a log or a fit have found, in the order of the table."""

    __slots__ = ()

    @property
    def errors(self) -> Findings:
        """Reasons to refuse the log."""
        return Findings(x for x in self if x.severity == "error")

    @property
    def warnings(self) -> Findings:
        """The others."""
        return Findings(x for x in self if x.severity == "warning")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the checks, one for each finding."""
        return tuple(x.name for x in self)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the fields of each, for JSON."""
        return [x.to_dict() for x in self]

    def table(self) -> str:
        """Return a line for each."""
        return "\n".join(f"{x.severity:<8} {x.name:<18} {x.message}" for x in self)

    def __add__(self, other: Iterable[Finding]) -> Findings:  # type: ignore[override]
        return Findings((*self, *other))

    def warn(self, name: str = "") -> None:
        """Warn of each, whatever its severity, with the name of a file before it."""
        for finding in self:
            warn_user(f"{name}: {finding}" if name else finding.message, LogWarning)

    def enforce(
        self, hint: str = "check=False takes the log as it is", *, name: str = "", check: bool = True
    ) -> Findings:
        """Raise `ArgumentError` if there are errors, unless `check` is false; warn of the others; return all.

        The name of a file may go before them.
        """
        if self.errors and check:
            what = "; ".join(map(str, self.errors))
            said = f"{what} {hint}" if what.endswith("?") else f"{what}; {hint}"
            raise ArgumentError(f"{name}: {said}" if name else said)
        self.warn(name)
        return self


def made(checks: Iterable[Check], stage: Stage, evidence: Any) -> Findings:
    """Return the findings of a stage's checks."""
    return Findings(
        Finding(check.name, check.severity, *found)
        for check in checks
        if stage in check.stages
        for found in check.test(evidence)
    )


def of_joints(names: Iterable[str], there: Iterable[Any], text: str, **figures: Any) -> Iterator[Found]:
    """Yield a finding about some joints, if there are any; the text has their names in the place of {}."""
    if joints := tuple(name for name, is_there in zip(names, there, strict=True) if is_there):
        yield Found(text.format(listed(joints)), joints, figures)


SLOW = 0.5  # samples so far apart (s) tell no motion; milliseconds, taken as seconds, are further apart

SMALL = 1.0
"""The most by which a joint turns from one sample to the next beside a leap, and a leap differs from a turn (rad)."""

MISSED = 1.5  # steps in time that are so many times the median, or more, are where samples are missing

SATURATED = 0.02
"""The part of the samples at the greatest or the least force, from which on a sensor seems to be at its end."""

CONSTANT = 1e-9  # forces that change by less than this part of their size do so by the rounding of filters

BESIDE = 8.0
"""How many times as often as any of the five values next to it: quantised forces rest at each value for a while."""

REPEATED = 4  # how often a force that is not quantised has one value at most


def time_unit(seen: tuple[Robot, Samples]) -> Iterator[Found]:
    """Yield that samples are too far apart for seconds."""
    t = seen[1].t
    if t is not None and len(t) > 1 and (step := float(np.median(np.diff(t)))) > SLOW:
        yield Found(f"samples are {step:g} s apart: is the time in seconds?", (), {"step_s": step})


def saturated(seen: tuple[Robot, Samples]) -> Iterator[Found]:
    """Yield which forces are often the same at an end, while the robot moves."""
    robot, motion = seen
    moves = np.append(np.diff(motion.q, axis=0).any(axis=1), True)
    parts = np.array([_at_an_end(x) for x in motion.tau[moves].T])
    text = "the forces of {} stay at their greatest or least value: is a sensor at its end?"
    yield from of_joints(robot.v_names, parts > SATURATED, text, part_of_samples=float(parts.max(initial=0.0)))


def wrapped(seen: tuple[Robot, Samples]) -> Iterator[Found]:
    """Yield which positions leap by a turn between two samples, where they are to be differentiated over time."""
    robot, motion = seen
    if motion.t is None or (motion.v is not None and motion.a is not None):
        return
    steps, turn = np.abs(np.diff(motion.q, axis=0)), 2.0 * np.pi
    calm = np.pad(steps < SMALL, ((1, 1), (0, 0)), constant_values=True)
    leaps = (np.abs(steps - turn) < SMALL) & calm[:-2] & calm[2:]
    if len(motion.t) > 1:
        times = np.diff(motion.t)
        leaps &= (times < MISSED * np.median(times, axis=0))[:, None]
    text = "the positions of {} leap by a turn: unwrap them, numpy.unwrap(q, axis=0)"
    yield from of_joints(robot.q_names, leaps.any(axis=0), text, leaps=int(leaps.sum()))


def _at_an_end(x: Array) -> float:
    """Return the part of the samples at the greatest or the least value, 0 where a value near it is as frequent."""
    values, counts = np.unique(x[np.isfinite(x)], return_counts=True)
    if len(values) < 3 or values[-1] - values[0] <= CONSTANT * np.abs(values).max():
        return 0.0
    ends = [(end, max(near)) for end, *near in (counts[:6], counts[:-7:-1])]
    many = [int(end) for end, near in ends if end > (REPEATED if near == 1 else BESIDE * near)]
    return max(many, default=0) / len(x)


RECORDING_CHECKS = (
    Check("time_unit", "error", ("recording",), time_unit),
    Check("saturated", "error", ("recording",), saturated),
    Check("wrapped", "error", ("recording",), wrapped),
)
