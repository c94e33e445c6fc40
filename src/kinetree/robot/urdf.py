"""`robot.to_urdf`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from kinetree.formats.urdf.patch import patch_urdf
from kinetree.formats.urdf.write import write_urdf

if TYPE_CHECKING:
    from kinetree.robot.robot import Robot


def to_urdf(robot: Robot, original: str | bytes | os.PathLike[str] | None = None) -> str:
    """Return this robot as a URDF document.

    Parameters
    ----------
    original : path, text or name of an embedded robot, optional
        The URDF that this robot was loaded from: its inertias, damping and friction are changed where this robot's
        differ, and everything else stays as it is to the letter: meshes, comments, limits. An inertia stands in the
        link of the moving body, and links fixed to that one lose theirs. If not given, a new document is written, with
        what the robot knows: no shapes.

    Returns
    -------
    str

    Raises
    ------
    ModelError
        If URDF has no joints of a type that the robot has, or the original is another robot's.
    FormatError
        If the original cannot be read.

    Warns
    -----
    FormatWarning
        If a new document has no place for armature or springs.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> again = kt.load(robot.to_urdf())
    >>> q, v, a = robot.random_state(seed=0)
    >>> bool(abs(again.inverse_dynamics(q, v, a) - robot.inverse_dynamics(q, v, a)).max() < 1e-12)
    True
    """
    if original is None:
        return write_urdf(robot.model)
    return patch_urdf(robot.model, os.fspath(original) if isinstance(original, os.PathLike) else original)
