"""Recorded motions from files: CSV, NPZ, Parquet and ROS bags, as a whole or block by block."""

from __future__ import annotations

from os import PathLike, fspath

from kinetree.errors import ArgumentError
from kinetree.identification.recording import Recording
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.signatures import told


@told
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
    log = Recording(fspath(path), robot, sensors or Sensors(), block)
    return log.whole() if block is None else log
