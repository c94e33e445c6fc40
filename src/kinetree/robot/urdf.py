"""`robot.to_urdf`."""

from __future__ import annotations

import os

from kinetree.errors import listed, warn_user
from kinetree.formats.urdf.patch import patch_urdf
from kinetree.formats.urdf.write import losses, write_urdf
from kinetree.robot.base import BaseRobot


def to_urdf(robot: BaseRobot, original: str | bytes | os.PathLike[str] | None = None) -> str:
    """Return this robot as a URDF document.

    It is read again and compared: what `kinetree.load` would make otherwise of it is an error, or, where URDF has no
    place for it, named in one warning.

    Parameters
    ----------
    original : path, text or name of an embedded robot, optional
        The URDF that this robot was loaded from: its inertias, damping, friction and limits are changed where this
        robot's differ, new frames and the pose of the base are added, and everything else stays as it is to the letter:
        meshes, comments, materials. An inertia stands in the link of the moving body, and links fixed to that one lose
        theirs. If not given, a new document is written, with what the robot knows: no shapes.

    Returns
    -------
    str
        The base of a robot that does not stand at the world's origin is held by a fixed joint to a link ``world``,
        which is new; a frame is a link without mass.

    Raises
    ------
    ModelError
        If URDF has no joints of a type that the robot has, no body can have an inertia in it, or the original is
        another robot's.
    FormatError
        If the original cannot be read.

    Warns
    -----
    FormatWarning
        Of what URDF has no place for: gravity that is not the Earth's, named configurations, armature, springs, whether
        friction counts, damping and friction at a floating base. Such a base is the root link, and the file is to be
        read with ``floating_base=True``. Pickling keeps all of it.

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
        text, of = write_urdf(robot.model), "URDF has no place for this robot"
    else:
        source = os.fspath(original) if isinstance(original, os.PathLike) else original
        text, of = patch_urdf(robot.model, source), "original is another robot's file"
    lost = losses(robot.model, text, of)
    if robot.configurations:
        lost.append(f"named configurations: {listed(list(robot.configurations))}")
    if lost:
        warn_user(f"left out of the URDF: {'; '.join(lost)}")
    return text
