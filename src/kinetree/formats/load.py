"""One door for everything that a robot can be loaded from."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence

from kinetree.errors import FormatError, KinetreeError
from kinetree.formats.descriptions import described_names, description_path
from kinetree.formats.urdf.document import UrdfRobot, urdf_from_element
from kinetree.formats.urdf.model import model_from_urdf
from kinetree.formats.xml.elements import MAX_BYTES, Element, check_size, parse_xml, shown
from kinetree.model import Model
from kinetree.robots import EMBEDDED, embedded_text

ENDINGS = (".urdf", ".xml", ".xacro", ".sdf")
UNREADABLE = {"mujoco": "MJCF", "sdf": "SDF"}


class RobotNotFoundError(KinetreeError, FileNotFoundError):
    """No file, embedded robot or description has this name."""


def load_model(
    source: str | bytes | os.PathLike[str],
    *,
    floating_base: bool | None = None,
    base_pose: Sequence[Sequence[float]] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    mimic: str = "follow",
) -> Model:
    """Return the model of a robot.

    Parameters
    ----------
    source : str, bytes or path
        In this order: XML, if it is bytes or begins with ``<``; a file that exists; an embedded robot
        (`kinetree.robots`); a name of the package `robot_descriptions`.
    floating_base : bool, optional
        Put a free-flyer between the world and the root link. By default as the embedded robot is meant, and no
        for any other source.
    base_pose : (4, 4) array-like, optional
        Pose of the root link in the world, for a fixed base.
    gravity : 3 floats
        In the world's axes, m/s².
    mimic : {"follow", "independent"}
        Whether joints that mimic others have no coordinate of their own, or each moves by itself.

    Raises
    ------
    RobotNotFoundError
        If there is no such robot. It is a `FileNotFoundError` too.
    FormatError
        If it cannot be read; the message names file, line and element.
    ModelError
        If `base_pose` or `gravity` is wrong.

    Examples
    --------
    >>> load_model("panda").nq
    7
    >>> load_model("<robot name='rock'><link name='stone'/></robot>", floating_base=True).nv
    6
    """
    text, name, floats = find_source(source)
    robot = _read(parse_xml(text, name))
    return model_from_urdf(
        robot,
        floating_base=floats if floating_base is None else floating_base,
        base_pose=base_pose,
        gravity=gravity,
        mimic=mimic,
    )


def find_source(source: str | bytes | os.PathLike[str]) -> tuple[str | bytes, str, bool]:
    """Return the document that a source stands for, its name for messages, and whether it floats by default."""
    if isinstance(source, (bytes, bytearray)):
        return bytes(source), "<bytes>", False
    if isinstance(source, os.PathLike):
        return read_file(os.fspath(source)), str(source), False
    if not isinstance(source, str):
        raise KinetreeError(
            f"a robot is loaded from a file name, a path, a robot's name or XML; {type(source).__name__} was given"
        )
    if source.lstrip("\ufeff \t\r\n").startswith("<"):
        return source, "<string>", False
    folder = os.path.isdir(source)  # the name of a robot may well be that of a folder here
    if os.path.exists(source) and not folder:
        return read_file(source), source, False
    if source in EMBEDDED:
        return embedded_text(source), f"{source} (embedded)", EMBEDDED[source].floating
    if source in described_names():
        path = description_path(source)
        return read_file(path), path, False
    if folder:
        return read_file(source), source, False
    raise RobotNotFoundError(_not_found(source))


def read_file(path: str) -> bytes:
    """Return the bytes of a file (or pipe) of bounded size.

    Raises
    ------
    RobotNotFoundError
        If there is none.
    FormatError
        If it is a directory, too large or cannot be read.
    """
    try:
        with open(path, "rb") as file:
            check_size(os.fstat(file.fileno()).st_size, path)
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise RobotNotFoundError(_not_found(path)) from None
    except IsADirectoryError:
        raise FormatError(f"{path} is a directory: give the robot file in it") from None
    except OSError as error:
        hint = "it is a directory: give the robot file in it" if os.path.isdir(path) else error.strerror
        raise FormatError(f"{path} cannot be read: {hint}") from None
    check_size(len(data), path)
    return data


def _read(root: Element) -> UrdfRobot:
    if root.tag in UNREADABLE:
        raise root.error(f"this is {UNREADABLE[root.tag]}, which cannot be read yet: give a URDF file")
    return urdf_from_element(root)


def _not_found(name: str) -> str:
    """Return the message for a source that is nothing known: what was tried, and what is near."""
    if not name.strip():
        return "the name of the robot is empty: give a file, XML or one of " + ", ".join(EMBEDDED)
    folder, base = os.path.split(name)
    if folder or base.endswith(ENDINGS):
        near = difflib.get_close_matches(base, _robot_files(folder or "."), n=3)
        hint = f"; there is {' and '.join(map(repr, near))}" if near else f"; looked from {os.getcwd()}"
        return f"no file {shown(name)!r}{hint}"
    known = [*EMBEDDED, *described_names()]
    near = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"embedded are {', '.join(EMBEDDED)}"
    extra = "" if described_names() else "; `pip install kinetree[descriptions]` adds the robots of robot_descriptions"
    return f"no file and no robot is named {shown(name)!r}; {hint}{extra}"


def _robot_files(folder: str) -> list[str]:
    try:
        return [name for name in os.listdir(folder) if name.endswith(ENDINGS)]
    except OSError:
        return []
