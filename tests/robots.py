"""Where the tests find real robots: the packages of the test extra, never a path of some machine."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path


def _files(package: str, suffix: str = ".urdf") -> list[Path]:
    """Return the files of this kind that an installed package carries, sorted; none where it is not installed."""
    try:
        files = metadata.files(package) or []
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())).resolve() for file in files if file.suffix == suffix)


def erd_urdfs() -> list[Path]:
    """Return the URDF files of example-robot-data."""
    return _files("example-robot-data")


def erd_urdf(name: str) -> Path:
    """Return the file of example-robot-data with this file name (the first, for the few that share one)."""
    return next(path for path in erd_urdfs() if path.name == name)


def erd_srdfs() -> list[Path]:
    """Return the SRDF files of example-robot-data."""
    return _files("example-robot-data", ".srdf")


def frax_urdf(name: str) -> Path | None:
    """Return the file of the frax package with this file name, None where frax is not installed."""
    return next((path for path in _files("frax") if path.name == name), None)


def erd_sdf(name: str) -> Path:
    """Return the SDF file of example-robot-data with this file name."""
    return next(path for path in _files("example-robot-data", ".sdf") if path.name == name)


def mjcf_files(package: str) -> list[Path]:
    """Return the MJCF files of an installed package that are models by themselves."""
    return [
        path for path in _files(package, ".xml") if "<worldbody" in path.read_text(encoding="utf-8", errors="replace")
    ]
