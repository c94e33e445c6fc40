"""Where the files are that a robot's file names: in packages of ROS, in folders of models, or beside the file.

Only the standard library and defusedxml are imported here: the process that expands xacro uses it too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from glob import escape, glob
from pathlib import Path
from urllib.parse import unquote

import defusedxml.ElementTree as ElementTree

SCHEMES = ("package://", "model://")
HOLDERS = ("ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")
"""Variables of the environment with folders that are packages, or have them in them, or one level below."""
MAX_MANIFEST = 2**20
"""A package.xml of more bytes is not read."""


@dataclass(frozen=True)
class Packages:
    """Finds packages and files for a robot's file in this folder (absolute); the packages named come before all."""

    folder: str
    named: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str | None:
        """Return the folder of a package, None where it is not found."""
        if name in self.named or not name or name != os.path.basename(name) or name in (os.curdir, os.pardir):
            return self.named.get(name)
        return next((folder for folder in self._candidates(name) if os.path.isdir(folder)), None)

    def locate(self, uri: str) -> str | None:
        """Return the path of the file that is called so in the robot's file, None where there is none."""
        folder, path = self.folder, uri.strip()
        if path.startswith(SCHEMES):
            name, _, path = path.partition("://")[2].lstrip("/").partition("/")
            folder = self.find(name) or ""
        elif path.startswith("file://"):
            path = unquote(path.removeprefix("file://"))
        found = os.path.normpath(os.path.join(folder, path))
        return found if folder and path and "\0" not in path and os.path.isfile(found) else None

    def _candidates(self, name: str) -> Iterator[str]:
        """Yield where a package may be: around the file, in the environment, by this name around or beside it."""
        above = folders_above(self.folder)
        yield from (folder for folder in above if package_name(folder) == name)
        for holder in _folders(*HOLDERS):
            yield from [holder] * (name in (os.path.basename(holder), package_name(holder)))
            yield from (os.path.join(holder, name), *sorted(glob(os.path.join(escape(holder), "*", escape(name)))))
        yield from (os.path.join(prefix, "share", name) for prefix in _folders("AMENT_PREFIX_PATH"))
        yield from (folder for folder in above if os.path.basename(folder) == name)
        yield from (beside for folder in above if package_name(beside := os.path.join(folder, name)) == name)


def _folders(*variables: str) -> list[str]:
    """Return the folders in variables of the environment, absolute."""
    paths = (path for variable in variables for path in os.environ.get(variable, "").split(os.pathsep))
    return [os.path.abspath(path) for path in paths if path]


def folders_above(folder: str) -> list[str]:
    """Return a folder and those around it, the nearest first."""
    return [str(path) for path in (Path(folder), *Path(folder).parents)]


def package_of(folder: str) -> str | None:
    """Return the nearest folder, this one or one above, that has a package.xml; None where none has."""
    return next((above for above in folders_above(folder) if os.path.isfile(os.path.join(above, "package.xml"))), None)


def package_name(folder: str) -> str | None:
    """Return the name that the package.xml in a folder gives; None where there is none that can be read."""
    manifest = os.path.join(folder, "package.xml")
    try:
        if os.path.getsize(manifest) > MAX_MANIFEST:
            return None
        root = ElementTree.parse(manifest, forbid_dtd=True).getroot()
    except (OSError, ValueError, SyntaxError):  # what defusedxml refuses is a ValueError, what is no XML a SyntaxError
        return None
    return (root.findtext("name") or "").strip() or None
