"""Recorded motions from files: CSV, NPZ, Parquet and ROS bags, at once or part by part."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, CallError, unknown_name
from kinetree.identification.preparation import Preparation
from kinetree.identification.reading import Reading
from kinetree.identification.recording import Recording, cut, joined, notes_on_time
from kinetree.identification.samples import Samples
from kinetree.robot import Robot

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

PART = 1 << 17
"""Recorded samples that are in memory at once where a file is streamed."""


def read_log(
    path: str | PathLike[str],
    robot: Robot,
    *,
    gear_ratios: ArrayLike | None = None,
    torque_constants: ArrayLike | None = None,
    motor_positions: bool = False,
    topic: str | None = None,
    odometry: str | None = None,
    wrenches: Sequence[str] | Mapping[str, str] | None = None,
    wrench_axes: str = "frame",
    skip_missing: bool = False,
) -> Recording:
    """Return the recorded motion of a robot in a file: positions and joint forces, or currents of its motors.

    Columns are understood in many spellings, as the command line does: ``q.elbow``, ``elbow/position``, ``q2``;
    ``tau.elbow``, ``elbow_effort``, ``torque[2]``; ``current.elbow``, ``i2``; ``wrench.foot.fx``, ``foot/force/x``,
    ``foot.tx`` (moments are n, t or m); ``t`` or ``time`` (s). Columns of other units than those of the SI are
    refused. Samples with the time of the one before are left out.

    Parameters
    ----------
    path : str or path
        A CSV; an NPZ with the arrays t, q, tau (v and a are read if they are there); a Parquet file; a ROS bag
        (a folder, ``.mcap``, ``.db3``, ``.bag``) with messages of the type JointState, and Odometry of a floating base.
    robot : Robot
        Forces may be left out where its base floats: the equations of the base tell without them.
    gear_ratios : float or array-like, optional
        Revolutions of the motor in one of the joint (or rad a metre), negative where it turns the other way, for each
        actuated entry of v. If given, forces and currents are those of motors: the joint's are so many times greater.
    torque_constants : float or array-like, optional
        Torque a current (N·m/A), of the motor where there are gear ratios, else of the joint. If given, the forces are
        these times the currents; in a bag, efforts are currents then.
    motor_positions : bool
        Whether positions are those of motors too.
    topic : str, optional
        Which one of a bag, if several have messages of the type JointState.
    odometry : str, optional
        Which one of a bag, if several have messages of the type Odometry: the pose of the floating base.
    wrenches : sequence of str, or mapping of str to str, optional
        Frames at whose origins wrenches on the robot are measured, of the ground on its feet; by frames, what the
        columns or the topic of a bag (messages of the type WrenchStamped) are called, if they are called otherwise. An
        NPZ has them in an array wrench (n, k, 6), moments first.
    wrench_axes : "frame" or "world"
        Whether they are in the axes of these frames, or in the world's.
    skip_missing : bool
        Whether rows in which a number is missing, NaN or infinite are left out; else they are an error. A note says how
        many there were.

    Returns
    -------
    Recording

    Raises
    ------
    FormatError
        If columns are missing, mean two things or have other units, numbers are not finite, or time goes back. It says
        which columns there are, and which are expected.
    ArgumentError
        If there are currents and no torque constants, arrays do not fit, or a package is needed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> t = np.linspace(0, 4, 1001)
    >>> q = np.sin(np.outer(t, [1.0, 1.3, 1.7, 2.1, 2.3, 2.9]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/log.npz", t=t, q=q, current=0.1 * q)
    ...     log = read_log(f"{folder}/log.npz", robot, torque_constants=0.12, gear_ratios=101.0)
    >>> log.samples(cutoff=5.0).tau.shape
    (34, 6)
    """
    return Reading(
        path,
        robot,
        gear_ratios=gear_ratios,
        torque_constants=torque_constants,
        motor_positions=motor_positions,
        topic=topic,
        odometry=odometry,
        wrenches=wrenches,
        wrench_axes=wrench_axes,
        skip_missing=skip_missing,
    ).whole()


class LogStream:
    """A recorded motion that is read and prepared part by part, anew for every pass: what `stream_log` returns.

    It is a log for `Robot.identify`, `Fit.validate` and others, which never hold more than a part of it.

    Attributes
    ----------
    robot : Robot
    name : str
    notes : tuple of str
        What is to be known of the file, as far as it has been read.
    """

    def __init__(self, reading: Reading, part: int, choices: Mapping[str, Any], check: bool = True) -> None:
        self.robot, self.name, self._reading, self._part, self._choices = (
            reading.robot,
            reading.name,
            reading,
            part,
            choices,
        )
        self._check = check
        Preparation(self.robot, **choices)  # wrong choices are known before anything is read
        self.notes: tuple[str, ...] = ()

    @property
    def done(self) -> float:
        """Which part of the file has been read in this pass, from 0 to 1."""
        return self._reading.done

    def whole(self, show: Callable[[float], object] | None = None) -> Recording:
        """Return all of it at once, as `read_log` does; what shows is told which part of the file has been read."""
        return self._reading.whole(show)

    def recordings(self) -> Iterator[Recording]:
        """Yield the parts as the file has them."""
        kept: list[Recording] = []
        for block in self._reading.blocks():
            for start in range(0, len(block), self._part):
                kept.append(cut(block, slice(start, start + self._part)))
                if sum(map(len, kept)) >= self._part:
                    yield joined(kept)
                    kept = []
        if kept:
            yield joined(kept)
        self.notes = (*self._reading.notes, *notes_on_time(None, self._reading.left_out))

    def __iter__(self) -> Iterator[Samples]:
        """Yield samples for `Robot.identify`, part by part."""
        way = Preparation(self.robot, **self._choices)
        asis = all(x is None for name, x in self._choices.items() if name != "smoothing")
        for k, log in enumerate(self.recordings()):
            if k == 0:
                log.diagnose().enforce(name=self.name, check=self._check)
            if asis and log.v is not None and log.a is not None:
                smoothing = self._choices["smoothing"]
                yield Samples(log.q, log.v, log.a, log.tau, log.f_ext, t=log.t, smoothing=smoothing)
            elif log.t is None:
                raise ArgumentError(f"{self.name} has no times: it cannot be filtered")
            elif (made := way.part(log.t, log.q, log.tau, log.f_ext)) is not None and len(np.asarray(made.q)):
                yield made

    def __repr__(self) -> str:
        return f"<LogStream of {self.robot.name!r}: {self.name}>"


def stream_log(
    path: str | PathLike[str],
    robot: Robot,
    *,
    part: int | None = None,
    cutoff: float | None = None,
    presliding: ArrayLike | None = None,
    smoothing: float | None = None,
    decimate: int | None = None,
    outliers: float | None = None,
    standing: ArrayLike | None = None,
    check: bool = True,
    **reading: Any,
) -> LogStream:
    """Return the recorded motion in a file as a log that is never in memory as a whole.

    The samples are those of ``read_log(path, robot).samples()``, but that what is told from the data (the cut-off if it
    is not given, what is an outlier) is told from a part. Arrays in an NPZ are best in C order, NumPy's default.

    Parameters
    ----------
    path, robot, **reading
        As `read_log` takes them.
    part : int, optional
        Recorded samples that are in memory at once; 131072 if not given.
    cutoff, presliding, smoothing, decimate, outliers, standing, check
        As in `kinetree.identification.prepare`; the first part is looked at.

    Returns
    -------
    LogStream

    Raises
    ------
    ArgumentError
        If a choice cannot be. What is wrong with the file is raised while it is read, as `read_log` does.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, a = robot.random_state(seed=0, size=500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/log.npz", q=q, v=v, a=a, tau=robot.inverse_dynamics(q, v, a))
    ...     log = stream_log(f"{folder}/log.npz", robot, part=100)
    ...     fit = robot.identify(log, [])
    >>> fit.count
    500
    """
    part = PART if part is None else part
    if type(part) is not int or part < 1:
        raise ArgumentError(f"part is {part!r}: one sample is the least")
    for name in reading.keys() - inspect.signature(Reading).parameters.keys():
        raise CallError(unknown_name("argument", name, inspect.signature(Reading).parameters))
    choices: dict[str, Any] = {"cutoff": cutoff, "presliding": presliding, "smoothing": smoothing}
    choices |= {"decimate": decimate, "outliers": outliers, "standing": standing}
    return LogStream(Reading(path, robot, **reading), part, choices, check)
