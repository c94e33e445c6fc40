"""Robots and mechanisms as documents of other programs: `to_urdf`, `to_sdf`, `to_mjcf`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kinetree.constraints.types import Constraint, Gear, Loop, Weld
from kinetree.errors import ArgumentError
from kinetree.formats.placed import without_world
from kinetree.formats.save import WRITERS, Closing, Coupling, Export, Losses, format_of, written
from kinetree.formats.urdf.patch import patch_urdf
from kinetree.formats.urdf.write import note_losses
from kinetree.joints import Fixed
from kinetree.model import Model
from kinetree.output import check_output, whole_file
from kinetree.robot.base import AlgorithmAttributes, BaseRobot
from kinetree.spatial import Transform

Path_ = str | os.PathLike[str]


def to_urdf(
    robot: AlgorithmAttributes,
    path: Path_ | None = None,
    *,
    original: str | bytes | os.PathLike[str] | None = None,
    lenient: bool = False,
) -> str:
    """Return this robot as a URDF document, and write it where a path is given.

    It is read again and compared: what `kinetree.load` would make otherwise of it is an error, or, where URDF has no
    place for it, named in one warning.

    Parameters
    ----------
    path : path, optional
        The file to write.
    original : path, text or name of an embedded robot, optional
        The URDF that this robot was loaded from: its inertias, damping, friction and limits are changed where this
        robot's differ, new frames and the pose of the base are added, and everything else stays as it is to the letter:
        meshes, comments, materials. An inertia stands in the link of the moving body, and links fixed to that one lose
        theirs. If not given, a new document is written, with what the robot knows. Its meshes are those that the robot
        has, by the addresses of their files.
    lenient : bool
        Whether what URDF cannot have is left out with a warning where the robot moves otherwise without it: armature,
        springs, damping and friction at a floating base or other ones in each direction, closed loops, couplings and
        other constraints.

    Returns
    -------
    str
        The base of a robot that does not stand at the world's origin is held by a fixed joint to a link ``world``,
        which is new; a frame is a link without mass.

    Raises
    ------
    ModelError
        If URDF has no joints of a type that the robot has, no body can have an inertia in it, the original is another
        robot's, or, unless it is lenient, URDF has no place for what the robot moves by.
    FormatError
        If the original cannot be read.

    Warns
    -----
    FormatWarning
        Of what else URDF has no place for: gravity that is not the Earth's, which `kinetree.load` takes as an argument,
        named configurations, whether friction counts, actuators, shapes that are ellipsoids, planes, height fields or
        meshes in memory. A floating base is the root link, and the file is to be read with ``floating_base=True``.
        Pickling keeps all of it.

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
        return _saved(robot, "urdf", path, lenient)
    _check_path(path, "urdf")
    losses = Losses(WRITERS["urdf"].name, lenient)
    export = without_world(export_of(robot), losses)
    text = patch_urdf(export.model, os.fspath(original) if isinstance(original, os.PathLike) else original)
    note_losses(export, text, losses, "original is another robot's file")
    losses.report()
    return _in_file(text, path)


def to_sdf(robot: AlgorithmAttributes, path: Path_ | None = None, *, lenient: bool = False) -> str:
    """Return this robot as an SDFormat document (1.11), and write it where a path is given.

    It is read again and compared, as `to_urdf` does. The links are the moving bodies, and a base that has a mass or
    shapes; all other links are frames. The loops of a mechanism are joints of which the child has two parents.

    Parameters
    ----------
    path : path, optional
        The file to write.
    lenient : bool
        Whether what SDFormat cannot have is left out with a warning: armature, damping and friction that are other
        ones in each direction, gears, contacts, rods, and loops that are open while all joints are at zero, where
        SDFormat closes them.

    Returns
    -------
    str

    Raises
    ------
    ModelError
        If SDFormat has no joints of a type that the robot has, or, unless it is lenient, no place for what it moves by.

    Warns
    -----
    FormatWarning
        Of what else SDFormat has no place for: gravity that is not the Earth's, named configurations, whether friction
        counts, actuators, height fields and meshes in memory.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> kt.load(robot.to_sdf()).joint_names == robot.joint_names
    True
    """
    return _saved(robot, "sdf", path, lenient)


def to_mjcf(robot: AlgorithmAttributes, path: Path_ | None = None, *, lenient: bool = False) -> str:
    """Return this robot as an MJCF document, which MuJoCo reads, and write it where a path is given.

    A body is where its link is, and has the joints before it, those of links without mass too. Other links and frames
    are sites, joints that mimic others are coupled to them by an equality, and named configurations are keyframes.
    The loops of a mechanism are ``connect`` (two for a hinge) and ``weld``, and gears of two joints equalities.
    Universal and cylindrical joints, and those in roll, pitch and yaw, are hinges and slides, named as the entries of
    q: ``wrist.first``. `kinetree.conventions.MuJoCo` maps the states, where each joint here is one there.

    Parameters
    ----------
    path : path, optional
        The file to write. Meshes are named by the full paths of their files.
    lenient : bool
        Whether what MuJoCo cannot have is written otherwise, with a warning: inertias that no body has (the nearest
        that one has), moving links without mass (10⁻⁹ kg), planar joints (two slides and a hinge), helical joints (a
        hinge and a slide that are coupled), joints with other armature, damping or friction in each direction (those
        of the first), loops and constraints that MJCF has not (left out).

    Returns
    -------
    str

    Raises
    ------
    ModelError
        If MJCF has no joints of a type that the robot has, or, unless it is lenient, has no place for it as above.

    Warns
    -----
    FormatWarning
        Of what is left out: limits of speed, whether friction counts (in MuJoCo it does), meshes that are missing or
        that MuJoCo does not read (DAE).

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("go2").with_limits(velocity=float("inf"))
    >>> print(robot.to_mjcf()[:65])
    <mujoco model="go2">
      <compiler angle="radian" autolimits="true"
    """
    return _saved(robot, "mjcf", path, lenient)


def save(robot: AlgorithmAttributes, path: Path_, *, lenient: bool = False) -> str:
    """Write this robot into a file, in the format of its ending, as `to_urdf` and its like do; return the text."""
    return _saved(robot, format_of(path), path, lenient)


def export_of(robot: AlgorithmAttributes) -> Export:
    """Return what is written of a robot or a mechanism."""
    tree: BaseRobot = vars(robot).get("tree", robot)
    closings, couplings, others = [], [], []
    for constraint in robot.model.constraints:
        found = OF_CONSTRAINTS[type(constraint)](constraint, tree.model) if type(constraint) in OF_CONSTRAINTS else None
        match found:
            case Closing():
                closings.append(found)
            case Coupling():
                couplings.append(found)
            case _:
                others.append(constraint.label)
    equipment = tree.configurations, tree.geometry, tree.actuators
    return Export(tree.model, *equipment, tuple(closings), tuple(couplings), tuple(others))


def _closed_at_zero(constraint: Constraint, model: Model) -> bool:
    """Return whether a constraint holds while all joints are at their zero."""
    q = [x for body in model.leading for x in body.joint.neutral()]
    return all(abs(float(e)) < 1e-9 for e in constraint.errors(model, q) if e is not None)


OF_CONSTRAINTS: dict[type[Constraint], Callable[[Any, Model], Closing | Coupling]] = {
    Loop: lambda c, m: Closing(c.label, c.frame, c.to, c.joint, Transform.identity(), _closed_at_zero(c, m)),
    Weld: lambda c, m: Closing(c.label, c.frame, c.to, Fixed(), c.offset, _closed_at_zero(c, m)),
    Gear: lambda c, _: Coupling(c.label, tuple(dict(c.ratios).items()), c.offset),
}
"""What formats know of constraints."""


def _saved(robot: AlgorithmAttributes, format: str, path: Path_ | None, lenient: bool) -> str:
    _check_path(path, format)
    return _in_file(written(export_of(robot), format, lenient), path)


def _check_path(path: Path_ | None, format: str) -> None:
    """Raise before anything is written where no file of a format can be: the name of a robot is none."""
    if path is None:
        return
    if not isinstance(path, (str, os.PathLike)) or os.fspath(path).lstrip().startswith("<"):
        raise ArgumentError(f"path is where the file is written; {path!r:.60} was given, an original is original=")
    check_output(os.fspath(path), None, tuple(dict.fromkeys((*WRITERS[format].endings, ".xml"))))


def _in_file(text: str, path: Path_ | None) -> str:
    if path is not None:
        with whole_file(Path(path)) as file:
            file.write(text.encode())
    return text
