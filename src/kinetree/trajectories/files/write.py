"""Writing a result: never half a file, never over what is being read."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.trajectories.block import Block
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete; on any error nothing is left.

    What is not a regular file (a pipe, ``/dev/null``) is written directly.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as stream:
            yield stream
        return
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with partial.open("xb") as stream:
            yield stream
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


class CsvSink:
    """Writes blocks to a CSV as they come; floats in the shortest form that reads back to the same bits."""

    def __init__(self, stream: BinaryIO, coordinates: Coordinates, *, time: bool, motion: bool) -> None:
        self._stream = stream
        self._time, self._motion = time, motion
        names = ["t"] if time else []
        if motion:
            names += [f"{x}.{name}" for x in "qva" for name in coordinates.names(x)]
        names += [f"tau.{name}" for name in coordinates.v]
        stream.write((",".join(map(_quoted, names)) + "\n").encode())

    def add(self, block: Block, tau: Array) -> None:
        """Write a block and its torques."""
        parts = [block.t[:, None]] if self._time and block.t is not None else []
        if self._motion:
            parts += [x for x in (block.q, block.v, block.a) if x is not None]
        rows = np.concatenate([*parts, tau], axis=1).tolist()
        self._stream.write("".join([",".join(map(repr, row)) + "\n" for row in rows]).encode())

    def close(self) -> None:
        """Do nothing: all is written."""


class NpzSink:
    """Collects blocks and writes them as an NPZ: ``tau``, ``t``, ``q_names``, ``v_names``, and q, v, a if asked."""

    def __init__(self, stream: BinaryIO, coordinates: Coordinates, *, time: bool, motion: bool) -> None:
        self._stream = stream
        self._names: dict[str, Any] = {"q_names": np.array(coordinates.q), "v_names": np.array(coordinates.v)}
        keys = ("t" if time else "") + ("qva" if motion else "")
        self._parts: dict[str, list[Array]] = {key: [] for key in (*keys, "tau")}

    def add(self, block: Block, tau: Array) -> None:
        """Keep a block and its torques."""
        for key, part in self._parts.items():
            part.append(tau if key == "tau" else getattr(block, key))

    def close(self) -> None:
        """Write the archive."""
        arrays: dict[str, Any] = {key: np.concatenate(part) for key, part in self._parts.items()}
        np.savez(self._stream, **arrays, **self._names)


Sink = CsvSink | NpzSink


@contextmanager
def open_sink(
    path: str, coordinates: Coordinates, *, time: bool, motion: bool, source: Path | None = None
) -> Iterator[Sink]:
    """Open what the suffix of `path` says, ``.csv`` or ``.npz``, or a CSV on standard output for ``-``.

    Parameters
    ----------
    path : str
        Where to write.
    coordinates : Coordinates
        The names of the robot's entries.
    time, motion : bool
        Whether to write t, and q, v and a, beside the torques.
    source : Path, optional
        The file that is being read: it is not written over.

    Raises
    ------
    ArgumentError
        For another suffix, or the source.
    """
    if path == "-":
        sink: Sink = CsvSink(sys.stdout.buffer, coordinates, time=time, motion=motion)
        yield sink
        sys.stdout.buffer.flush()
        return
    check_output(path, source)
    kind = NpzSink if Path(path).suffix.lower() == ".npz" else CsvSink
    with whole_file(Path(path)) as stream:
        sink = kind(stream, coordinates, time=time, motion=motion)
        yield sink
        sink.close()


def check_output(path: str, source: Path | None, suffixes: Sequence[str] = (".csv", ".npz")) -> None:
    """Raise `ArgumentError` if this file cannot be written: the suffix, the directory, or it is the input."""
    out = Path(path)
    if out.suffix.lower() not in suffixes and (not out.exists() or out.is_file()):
        raise ArgumentError(f"cannot tell the format of {path!r}: end it in {' or '.join(suffixes)}")
    if out.is_dir():
        raise ArgumentError(f"{path!r} is a directory")
    if not out.absolute().parent.is_dir():
        raise ArgumentError(f"there is no directory {str(out.parent)!r} to write {out.name!r} in")
    if source is not None and out.exists() and out.samefile(source):
        raise ArgumentError(f"{path!r} is the trajectory that is read: choose another name for the output")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(mark in name for mark in ',"\n') else name
