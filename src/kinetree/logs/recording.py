"""A recorded motion as a file has it, whole or block by block, and the samples that are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.errors import AbsentError, ArgumentError
from kinetree.logs.codecs import open_columns
from kinetree.logs.columns import FORCES, LOG, WRENCHES, Coordinates, some
from kinetree.logs.findings import RECORDING_CHECKS, Findings, made
from kinetree.logs.local_fit import stretches
from kinetree.logs.preparation import of_robot, smoothed
from kinetree.logs.samples import Filter, Samples
from kinetree.logs.sensors import Sensors, at_joints
from kinetree.options import given
from kinetree.robot import Robot
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array

REMEDY = "; Sensors(skip_missing=True), or --skip-missing, leaves such rows out"
PASS: dict[str, Any] = {"progress": 0.0, "notes": ()}
FIELDS = ("t", "q", "v", "a", "tau", "f_ext")


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
        Of a whole recording, as `Samples` have them: None for what the file has not.
    filter : Filter or None
        By which its blocks are made samples, and it is a log: see `filtered`. None as it was read.
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
        for frame in map(robot.frame, sensors.called):
            if frame.body is None:
                raise ArgumentError(f"{frame.name!r} does not move: a wrench on it makes no difference")
        self.robot, self.name, self._pass = robot, name, PASS.copy()
        self.filter: Filter | None = None
        self._whole: Samples | None = None
        self._sensors, self._rows, self._check = sensors, rows, True
        self._show: Callable[[float], object] | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, and what is to be known; complete after a pass."""
        notes: tuple[str, ...] = self._pass["notes"]
        return notes

    @property
    def progress(self) -> float:
        """Which part of the file has been read in this pass, from 0 to 1."""
        return float(self._pass["progress"])

    def __getattr__(self, name: str) -> Any:
        if name == "samples":
            raise AttributeError("a Recording has no samples(cutoff=…): write log.filtered(kinetree.Filter(cutoff=…))")
        if name not in FIELDS:
            raise AttributeError(f"'Recording' object has no attribute {name!r}")
        raise AbsentError(f"{self.name} is read block by block, each of which has {name}; read as a whole it has")

    def __iter__(self) -> Iterator[Samples]:
        """Yield its blocks, of so many samples as were asked for; or, of a filtered one, the samples of each."""
        if self.filter is not None:
            self.diagnose().enforce(name=self.name, check=self._check)
            try:
                yield from smoothed(self.robot, self._with_filter(None), self.filter)
            except ArgumentError as error:
                raise ArgumentError(f"{self.name}: {error}") from None
            return
        if self._whole is not None:
            yield self._whole
            return
        robot, sensors = self.robot, self._sensors
        missing: Any = "left out" if sensors.skip_missing else "refused"
        quantities = WRENCHES if sensors.called else LOG
        with open_columns(Path(self.name), Coordinates.of(robot, sensors.called), quantities, robot, sensors) as file:
            file.notes += [*file.layout.unused, *file.layout.notes]
            if sensors.gear_ratios is None and (of_motors := file.layout.of_motors):
                file.notes += [f"{of_motors}; if they are the motors', give Sensors(gear_ratios=…), or --gear-ratios"]
            for arrays in file.blocks(self._rows, missing=missing, remedy=REMEDY, in_time=True, show=self._show):
                self._pass["progress"] = file.progress
                yield at_joints(robot, sensors, self.name, arrays)
            without_forces = file.layout.groups.keys().isdisjoint(FORCES)
            no_forces = ["no joint forces: only the equations of the base tell"] * without_forces
            self._pass["notes"] = (*file.notes, *no_forces)

    def whole(self, show: Callable[[float], object] | None = None) -> Recording:
        """Return it as a whole; what shows is told which part of the file has been read."""
        log = copy(self)
        log._rows, log._show, log._pass = None, show, PASS.copy()
        (log._whole,) = log
        log.filter, log._pass["progress"] = None, 1.0  # a filtered one holds its samples, and they have been smoothed
        log.__dict__.update({name: getattr(log._whole, name) for name in FIELDS})
        if log.t is not None and (holes := [k for k, _ in stretches(log.t)[1:]]):
            listed = some([f"{log.t[k - 1]:g} s to {log.t[k]:g} s" for k in holes], 3)
            log._pass["notes"] += (f"gaps in time, across which nothing is fitted: {listed}",)
        return log

    @friendly_call_errors
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
            Or, of a recording that is read block by block, a `Recording` that is read and filtered anew in every pass:
            an iterable of `Samples`, which is a log too. They are those of the whole, but that what is told from the
            data is told from a block: the cut-off if it is not given, from the first one, and what is an outlier.

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
        chosen = given("filter", filter, Filter)
        of_robot(self.robot, chosen)  # a filter that does not fit is known before anything is read
        log = self._with_filter(chosen)
        log._check = check
        if self._whole is None:
            return log
        (samples,) = log
        return samples

    def diagnose(self) -> Findings:
        """Return faults that a motion has as it was recorded: sensors at their end, wrapped angles, times in ms.

        Of a recording in blocks, the first is looked at. `kinetree.identification.diagnose` finds the rest in samples,
        which do not show this.
        """
        return made(RECORDING_CHECKS, "recording", (self.robot, next(iter(self._with_filter(None)))))

    def _with_filter(self, filter: Filter | None) -> Recording:
        """Return the same motion, as it was read or filtered; what is read of one is known to the other."""
        log = copy(self)
        log.filter = filter
        return log

    def __len__(self) -> int:
        if self._whole is None:
            raise TypeError("a recording that is read block by block has no length")
        return len(self.q)

    def __repr__(self) -> str:
        if self._whole is None:
            return f"<Recording of {self.robot.name!r}: in blocks of {self._rows} samples, {self.name}>"
        time = "" if self.t is None else f" from {self.t[0]:g} to {self.t[-1]:g} s"
        return f"<Recording of {self.robot.name!r}: {len(self)} samples{time}, {self.name}>"


@friendly_call_errors
def read_log(
    path: str | PathLike[str], robot: Robot, *, sensors: Sensors | None = None, block: int | None = None
) -> Recording:
    """Return the recorded motion of a robot in a file: positions and joint forces, or currents of its motors.

    Columns are understood in many spellings, as the command line does: ``q.elbow``, ``elbow/position``, ``q2``;
    ``tau.elbow``, ``elbow_effort``, ``torque[2]``; ``current.elbow``, ``i2``; ``wrench.foot.fx``, ``foot/force/x``,
    ``foot.tx`` (moments are n, t or m); ``t`` or ``time`` (s). Columns of other units than those of the SI are
    refused. Samples with the time of the one before are left out.

    Parameters
    ----------
    path : str or path
        A CSV; an NPZ with the arrays t, q, tau (v and a are read if they are there, and wrench (n, k, 6), moments
        first); a Parquet file; a ROS bag (a folder, ``.mcap``, ``.db3``, ``.bag``) with messages of the types
        JointState, Odometry for a floating base, and WrenchStamped for measured wrenches.
    robot : Robot
        Forces may be left out where its base floats: the equations of the base tell without them.
    sensors : Sensors, optional
        What the columns are beside their names: gear ratios, torque constants, where wrenches are measured.
    block : int, optional
        Recorded samples that are in memory at once, such as 131072: for files that are larger than memory. All if not
        given. In blocks, what is told from the data (a cut-off that is not given, outliers) is told from a block;
        arrays in an NPZ are best in C order, NumPy's default.

    Returns
    -------
    Recording

    Raises
    ------
    FormatError
        If columns are missing, mean two things or have other units, numbers are not finite, or time goes back. It says
        which columns there are, and which are expected. With `block`, it is raised while blocks are read.
    ArgumentError
        If there are currents and no torque constants, arrays do not fit, or a package is needed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kinetree as kt
    >>> from kinetree.identification import read_log
    >>> robot = kt.load("ur5")
    >>> t = np.linspace(0, 4, 1001)
    >>> q = np.sin(np.outer(t, [1.0, 1.3, 1.7, 2.1, 2.3, 2.9]))
    >>> sensors = kt.Sensors(torque_constants=0.12, gear_ratios=101)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/log.npz", t=t, q=q, current=0.1 * q)
    ...     log = read_log(f"{folder}/log.npz", robot, sensors=sensors)
    ...     parts = [len(part.q) for part in read_log(f"{folder}/log.npz", robot, sensors=sensors, block=400)]
    >>> log.filtered(kt.Filter(cutoff=5.0)).tau.shape
    (34, 6)
    >>> parts
    [400, 400, 201]
    """
    if block is not None and (type(block) is not int or block < 1):
        raise ArgumentError(f"block is {block!r}: one sample is the least")
    if not isinstance(path, str | PathLike):
        raise ArgumentError(f"path is {path!r}: write read_log(path, robot)")
    log = Recording(fspath(path), robot, given("sensors", sensors, Sensors), block)
    return log.whole() if block is None else log
