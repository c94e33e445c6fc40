"""A recorded motion as a file has it, whole or block by block, and the samples that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.identification.checks.findings import Findings
from kinetree.identification.checks.recording import Recorded
from kinetree.identification.checks.registry import run_checks
from kinetree.identification.preparation import Preparation
from kinetree.identification.prepare import prepared
from kinetree.identification.samples import Samples
from kinetree.logs.filter import Filter
from kinetree.logs.joints import AtJoints, Block
from kinetree.logs.read import blocks, open_log
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.trajectories.coordinates import some
from kinetree.trajectories.signals.differentiate import gaps
from kinetree.validation import Array

WAY_OUT = "; Sensors(skip_missing=True), or --skip-missing, leaves such rows out"


class Recording:
    """A recorded motion as a file has it, at the joints, in SI units: an iterable of blocks in the order of time.

    What `read_log` returns. Read as a whole it is one block, whose arrays are its own: ``log.q``. Read block by block
    it is never in memory as a whole, and the file is read anew in every pass.

    Attributes
    ----------
    robot : Robot
        Whose motion it is.
    name : str
        The file.
    t, q, v, a, tau, f_ext : arrays or None
        Of a whole recording, as a block has them: see `kinetree.logs.joints.Block`.
    notes : tuple of str
        What was left out, and what is to be known; complete after a pass.
    progress : float
        Which part of the file has been read in this pass, from 0 to 1.
    """

    if TYPE_CHECKING:
        t: Array | None
        q: Array
        v: Array | None
        a: Array | None
        tau: Array
        f_ext: Array | None

    def __init__(self, name: str, robot: Robot, sensors: Sensors, rows: int | None) -> None:
        if not isinstance(robot, Robot):
            raise ArgumentError(
                f"a log is read by its path and the robot; {type(robot).__name__} was given for the robot"
            )
        self.robot, self.name, self.notes, self.progress = robot, name, (), 0.0
        self._sensors, self._rows, self._whole = sensors, rows, None
        self._at_joints = AtJoints(robot, sensors, name)

    notes: tuple[str, ...]
    _whole: Block | None

    def __getattr__(self, name: str) -> Any:
        if name == "samples":
            raise AttributeError("a Recording has no samples(cutoff=…): write log.filtered(kinetree.Filter(cutoff=…))")
        if name not in Block._fields:
            raise AttributeError(f"'Recording' object has no attribute {name!r}")
        if self._whole is None:
            raise ArgumentError(f"{self.name} is read block by block, each of which has {name}; read as a whole it has")
        return getattr(self._whole, name)

    def __iter__(self) -> Iterator[Block]:
        """Yield its blocks, of so many samples as were asked for."""
        if self._whole is not None:
            yield self._whole
            return
        kept: list[Block] = []
        rows = self._rows or 1
        for block in self._read():
            for start in range(0, len(block.q), rows):
                kept.append(cut(block, slice(start, start + rows)))
                if sum(len(x.q) for x in kept) >= rows:
                    yield joined(kept)
                    kept = []
        if kept:
            yield joined(kept)

    def whole(self, show: Callable[[float], object] | None = None) -> Recording:
        """Return it as a whole; what shows is told which part of the file has been read."""
        parts = []
        for block in self._read():
            parts.append(block)
            if show is not None:
                show(self.progress)
        log = Recording(self.name, self.robot, self._sensors, None)
        log._whole, log.progress = joined(parts), 1.0
        log.notes = (*self.notes, *_gaps(log.t))
        return log

    def _read(self) -> Iterator[Block]:
        """Yield the file's blocks, in which time goes on."""
        last, left_out, self.progress = -np.inf, 0, 0.0
        with open_log(Path(self.name), self.robot, self._sensors) as file:
            for arrays in blocks(file, skip_missing=self._sensors.skip_missing, way_out=WAY_OUT):
                made = self._at_joints(arrays)
                block = in_time(self.name, made, last)
                left_out += len(made.q) - len(block.q)
                self.progress = file.progress
                if len(block.q):
                    last = last if block.t is None else float(block.t[-1])
                    yield block
            self.notes = tuple(file.notes)
            forces = {"tau", "current"} & file.layout.groups.keys()
        if not forces:
            self.notes += ("no joint forces: only the equations of the base tell",)
        if left_out:
            self.notes += (f"{left_out} samples with the time of the one before are left out",)

    def filtered(self, filter: Filter | None = None, *, check: bool = True) -> Any:
        """Return the motion as a log for `Robot.identify`: positions, velocities, accelerations and forces that agree.

        Where the file has accelerations and no filter is given, they are as they are. Else they are made from positions
        and forces, as `kinetree.identification.prepare` does.

        Parameters
        ----------
        filter : Filter, optional
            How.
        check : bool
            Whether to refuse a recording in which `diagnose` finds errors, which filtered samples do not show; else
            they are warned of.

        Returns
        -------
        Samples
            Or, of a recording that is read block by block, a `Filtered`: an iterable of `Samples`, which is a log too.

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
        chosen = filter or Filter()
        if self._whole is None:
            Preparation(self.robot, chosen)  # a filter that does not fit is known before anything is read
            return Filtered(self, chosen, check)
        self.diagnose().enforce(name=self.name, check=check)
        if made := _as_it_is(self._whole, chosen):
            return made
        arrays = _timed(self.name, self._whole)
        try:
            return prepared(self.robot, *arrays, filter=chosen)
        except ArgumentError as error:
            raise ArgumentError(f"{self.name}: {error}") from None

    def diagnose(self) -> Findings:
        """Return what seems to be wrong with a motion as it was recorded: sensors at their end, times in other units.

        Of a recording in blocks, the first is looked at. `kinetree.identification.diagnose` finds the rest in samples,
        which do not show this.
        """
        first = next(iter(self))
        return run_checks("recording", Recorded(self.robot, first.t, first.q, first.tau))

    def __len__(self) -> int:
        if self._whole is None:
            raise TypeError("a recording that is read block by block has no length")
        return len(self.q)

    def __repr__(self) -> str:
        if self._whole is None:
            return f"<Recording of {self.robot.name!r}: in blocks of {self._rows} samples, {self.name}>"
        time = "" if self.t is None else f" from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"<Recording of {self.robot.name!r}: {len(self)} samples{time}, {self.name}>"


@dataclass(frozen=True, eq=False)
class Filtered:
    """A recording that is read and filtered block by block, anew in every pass: a log.

    The samples are those of the whole, but that what is told from the data is told from a block: the cut-off if it is
    not given, from the first one, and what is an outlier.

    Attributes
    ----------
    recording : Recording
    filter : Filter
    check : bool
        Whether a recording that seems wrong is refused, by its first block.
    """

    recording: Recording
    filter: Filter
    check: bool = True

    def __iter__(self) -> Iterator[Samples]:
        """Yield the samples of the blocks."""
        log = self.recording
        log.diagnose().enforce(name=log.name, check=self.check)
        way = Preparation(log.robot, self.filter)
        for block in log:
            made = _as_it_is(block, self.filter) or way.part(*_timed(log.name, block))
            if made is not None and len(np.asarray(made.q)):
                yield made


def _as_it_is(block: Block, chosen: Filter) -> Samples | None:
    """Return a block as samples if it has accelerations and nothing is to be smoothed."""
    if block.v is None or block.a is None or chosen.smooths:
        return None
    return Samples(block.q, block.v, block.a, block.tau, block.f_ext, t=block.t, smoothing=chosen.smoothing)


def _timed(name: str, block: Block) -> tuple[Array, Array, Array, Array | None]:
    """Return what is filtered of a block."""
    if block.t is None:
        raise ArgumentError(f"{name} has no times: it cannot be filtered")
    return block.t, block.q, block.tau, block.f_ext


def joined(blocks: Sequence[Block]) -> Block:
    """Return blocks of one motion as one."""
    arrays = zip(*blocks, strict=True)
    return Block(*(None if parts[0] is None else np.concatenate(parts) for parts in arrays))  # type: ignore[arg-type]


def cut(block: Block, kept: Any) -> Block:
    """Return some samples of a block."""
    return Block(*(None if x is None else x[kept] for x in block))  # type: ignore[arg-type]


def in_time(name: str, block: Block, before: float = -np.inf) -> Block:
    """Return a block whose times increase: samples with the time of the one before are left out."""
    if block.t is None:
        return block
    steps = np.diff(block.t, prepend=before)
    for k in np.flatnonzero(steps < 0.0)[:1]:
        raise FormatError(
            f"{name}: time goes back from {block.t[k] - steps[k]:g} s to {block.t[k]:g} s at sample {k}: are "
            "these several motions? Give them in a file each"
        )
    kept = steps > 0.0
    return block if kept.all() else cut(block, kept)


def _gaps(t: Array | None) -> tuple[str, ...]:
    """Return a note on the gaps in time."""
    if t is None or len(t) < 3 or not (holes := gaps(t)):
        return ()
    listed = some([f"{t[k - 1]:g} s to {t[k]:g} s" for k in holes], 3)
    return (f"gaps in time, across which nothing is fitted: {listed}",)
