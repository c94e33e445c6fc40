"""`load`: a robot from a file, from its text, or from a name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kinetree.locks import importing
from kinetree.robot import Robot


def load(
    source: str | bytes | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    base_pose: Sequence[Sequence[float]] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    mimic: str = "follow",
) -> Robot:
    """Load a robot.

    Parameters
    ----------
    source : str, bytes or path
        In this order: the text of a file if it starts with ``<``; the path of a file that exists; the name of an
        embedded robot (``ur5``, ``panda``, ``go2``, ``g1``); the name of a module of ``robot_descriptions``.
    floating_base : bool, optional
        Whether the root link moves freely. By default it is fixed, except for the embedded legged robots.
    base_pose : (4, 4) array-like, optional
        Pose of the root link in the world, for a fixed base.
    gravity : 3 numbers
        Acceleration of gravity in the world's axes (m/s²).
    mimic : {"follow", "independent"}
        Whether joints that mimic others follow them, without a coordinate of their own, or each moves by itself.

    Returns
    -------
    Robot

    Raises
    ------
    FormatError
        If the file is broken: the message names the file, the element and the line.
    ModelError
        If it describes no robot.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.load("ur5")
    <Robot 'ur5': 6 joints, nq = 6, nv = 6>
    """
    with importing:
        from kinetree.formats import load_model

    model = load_model(source, floating_base=floating_base, base_pose=base_pose, gravity=gravity, mimic=mimic)
    return Robot(model)
