"""A recorded motion as a file has it, and the samples that are made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.identification.checks.findings import Findings
from kinetree.identification.checks.recording import Recorded
from kinetree.identification.checks.registry import run_checks
from kinetree.identification.prepare import prepared
from kinetree.identification.samples import Samples
from kinetree.robot import Robot
from kinetree.trajectories.coordinates import some
from kinetree.trajectories.signals.differentiate import gaps
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

ARRAYS = ("t", "q", "v", "a", "tau", "f_ext")


@dataclass(frozen=True, eq=False, repr=False)
class Recording:
    """A recorded motion as a file has it, at the joints, in SI units: what `read_log` returns.

    Attributes
    ----------
    robot : Robot
        Whose motion it is.
    name : str
        The file.
    t : (n,) array or None
        Times (s).
    q : (n, nq) array
    v, a : (n, nv) arrays or None
        Velocities and accelerations, where the file has them.
    tau : (n, nv) array
        Joint forces; zero of a floating base, NaN of what was not measured.
    f_ext : (n, nb, 6) array or None
        Measured wrenches on the bodies, as `inverse_dynamics` takes them.
    notes : tuple of str
        What was left out, and what is to be known.
    """

    robot: Robot
    name: str
    t: Array | None
    q: Array
    v: Array | None
    a: Array | None
    tau: Array
    f_ext: Array | None = None
    notes: tuple[str, ...] = ()

    def samples(
        self,
        *,
        cutoff: float | None = None,
        presliding: ArrayLike | None = None,
        smoothing: float | None = None,
        decimate: int | None = None,
        outliers: float | None = None,
        standing: ArrayLike | None = None,
        check: bool = True,
    ) -> Samples:
        """Return samples for `Robot.identify`.

        Where the file has accelerations and no choice is given, they are as they are. Else they are made from
        positions and forces by `kinetree.identification.prepare`, whose choices these are.

        Warns
        -----
        LogWarning
            If the cut-off is above half of Nyquist's frequency.

        Raises
        ------
        ArgumentError
            If they have to be made and there are no times, the recording seems to be wrong (with `check`), or as
            `prepare` raises it.
        """
        self.diagnose().enforce(name=self.name, check=check)
        choices: dict[str, Any] = {"cutoff": cutoff, "presliding": presliding, "decimate": decimate}
        choices |= {"outliers": outliers, "standing": standing}
        if self.v is not None and self.a is not None and all(x is None for x in choices.values()):
            return Samples(self.q, self.v, self.a, self.tau, self.f_ext, t=self.t, smoothing=smoothing)
        if self.t is None:
            raise ArgumentError(f"{self.name} has no times: it cannot be filtered")
        try:
            return prepared(self.robot, self.t, self.q, self.tau, self.f_ext, smoothing=smoothing, **choices)
        except ArgumentError as error:
            raise ArgumentError(f"{self.name}: {error}") from None

    def diagnose(self) -> Findings:
        """Return what seems to be wrong with a motion as it was recorded: sensors at their end, times in other units.

        `kinetree.identification.diagnose` finds the rest in samples, which do not show this.
        """
        return run_checks("recording", Recorded(self.robot, self.t, self.q, self.tau))

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        time = "" if self.t is None else f" from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"<Recording of {self.robot.name!r}: {len(self)} samples{time}, {self.name}>"


def joined(parts: Sequence[Recording]) -> Recording:
    """Return parts of one motion as one."""
    whole: dict[str, Any] = {
        x: None if getattr(parts[0], x) is None else np.concatenate([getattr(part, x) for part in parts])
        for x in ARRAYS
    }
    return replace(parts[0], **whole)


def cut(log: Recording, kept: Any) -> Recording:
    """Return some samples of a recording."""
    return replace(log, **{x: y[kept] for x in ARRAYS if (y := getattr(log, x)) is not None})


def in_time(log: Recording, before: float = -np.inf) -> Recording:
    """Return a recording whose times increase: samples with the time of the one before are left out."""
    if log.t is None:
        return log
    steps = np.diff(log.t, prepend=before)
    for k in np.flatnonzero(steps < 0.0)[:1]:
        raise FormatError(
            f"{log.name}: time goes back from {log.t[k] - steps[k]:g} s to {log.t[k]:g} s at sample {k}: are "
            "these several motions? Give them in a file each"
        )
    kept = steps > 0.0
    return log if kept.all() else cut(log, kept)


def notes_on_time(t: Array | None, left_out: int) -> list[str]:
    """Return what is to be known of the times of a recording."""
    notes: list[str] = []
    t = np.zeros(0) if t is None else t
    if left_out:
        notes.append(f"{left_out} samples with the time of the one before are left out")
    if len(t) > 2 and (holes := gaps(t)):
        listed = some([f"{t[k - 1]:g} s to {t[k]:g} s" for k in holes], 3)
        notes.append(f"gaps in time, across which nothing is fitted: {listed}")
    return notes
