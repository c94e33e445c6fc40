"""Where the files are that a robot's file names: in packages of ROS, in folders of models, or beside the file.

Only the standard library and defusedxml are imported here: the process that expands xacro uses it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

import defusedxml.ElementTree as ElementTree

SCHEMES: Final = ("package://", "model://")
HOLDERS: Final = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
"""Variables of the environment with folders that are packages, or have them in them, or one level below."""
MAX_MANIFEST: Final = 2**20
"""A package.xml of more bytes is not read."""


@dataclass(frozen=True)
class Packages:
    """Finds packages by name, and files by what a robot's file calls them.

    Attributes
    ----------
    folder : str
        That of the robot's file, absolute.
    named : mapping of str to str
        Folders of packages, which come before all others.
    """

    folder: str
    named: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        """Return the folder of a package, None where it is not found.

        In this order: as named; the one in which the robot's file is, by its package.xml; in the folders of
        ROS_PACKAGE_PATH and of AMENT_PREFIX_PATH; a folder of this name above the file, or a package beside one.
        """
        if name in self.named:
            return self.named[name]
        if not name or name != os.path.basename(name) or name in (os.curdir, os.pardir):
            return None
        return next((folder for folder in self._candidates(name) if os.path.isdir(folder)), None)

    def locate(self, uri: str) -> str | None:
        """Return the path of the file that is called so in the robot's file, None where there is none."""
        path = self._path(uri.strip())
        return path if path is not None and os.path.isfile(path) else None

    def _path(self, uri: str) -> str | None:
        if uri.startswith(SCHEMES):
            name, _, rest = uri.partition("://")[2].lstrip("/").partition("/")
            found = self.find(name)
            return None if found is None else os.path.normpath(os.path.join(found, rest))
        path = unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
        return os.path.normpath(os.path.join(self.folder, path)) if path and "\0" not in path else None

    def _candidates(self, name: str) -> Iterator[str]:
        above = list(folders_above(self.folder))
        yield from (folder for folder in above if package_name(folder) == name)
        for holder in (path for variable in HOLDERS for path in _paths(variable)):
            if name in (os.path.basename(holder), package_name(holder)):
                yield holder
            yield os.path.join(holder, name)
            yield from (os.path.join(folder, name) for folder in _folders_in(holder))
        yield from (os.path.join(prefix, "share", name) for prefix in _paths("AMENT_PREFIX_PATH"))
        yield from (folder for folder in above if os.path.basename(folder) == name)
        beside = (os.path.join(folder, name) for folder in above)
        yield from (folder for folder in beside if package_name(folder) == name)


def package_of(folder: str) -> str | None:
    """Return the nearest folder, this one or one above, that has a package.xml; None where none has."""
    return next((above for above in folders_above(folder) if os.path.isfile(_manifest(above))), None)


def folders_above(folder: str) -> Iterator[str]:
    """Yield a folder and those around it, the nearest first."""
    while True:
        yield folder
        around = os.path.dirname(folder)
        if around == folder:
            return
        folder = around


def package_name(folder: str) -> str | None:
    """Return the name that the package.xml in a folder gives; None where there is none that can be read."""
    try:
        if os.path.getsize(_manifest(folder)) > MAX_MANIFEST:
            return None
        root = ElementTree.parse(_manifest(folder), forbid_dtd=True).getroot()
    except (OSError, ValueError, SyntaxError):  # what defusedxml refuses is a ValueError, what is no XML a SyntaxError
        return None
    return (root.findtext("name") or "").strip() or None


def _manifest(folder: str) -> str:
    return os.path.join(folder, "package.xml")


def _paths(variable: str) -> list[str]:
    """Return the absolute paths in a variable of the environment."""
    return [os.path.abspath(path) for path in os.environ.get(variable, "").split(os.pathsep) if path]


def _folders_in(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entry.path for entry in entries if entry.is_dir())
    except OSError:
        return
