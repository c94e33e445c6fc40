"""Writing a result: never half a file, never over what is being read."""

from __future__ import annotations

import csv
import io
import os
import secrets
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.trajectories.block import Block
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array

Sink = Callable[[Block, Array], None]
"""Takes a block and its torques."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete; on any error nothing is left.

    What is not a regular file (a pipe, ``/dev/null``) is written directly.
    """
    with whole_path(path) as partial, partial.open("wb") as stream:
        yield stream


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Give another path to write a file at, which appears under its own name when it is complete: see `whole_file`."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        partial.open("xb").close()
        yield partial
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def open_sink(path: str, coordinates: Coordinates, keys: Sequence[str], source: Path | None = None) -> Iterator[Sink]:
    """Open what the suffix of `path` says, ``.csv`` or ``.npz``, or a CSV on standard output for ``-``.

    It takes blocks with their torques, and writes of them the `keys`: "t", "q", "v", "a" and "tau", or some of these.
    `ArgumentError` for another suffix, or for the `source`, the file that is being read.
    """
    if path != "-":
        check_output(path, source)
    write = _write_npz if Path(path).suffix.lower() == ".npz" else _write_csv
    whole = nullcontext(sys.stdout.buffer) if path == "-" else whole_file(Path(path))
    with whole as stream, write(stream, coordinates, keys) as add:
        yield add
        stream.flush()


@contextmanager
def _write_csv(stream: BinaryIO, coordinates: Coordinates, keys: Sequence[str]) -> Iterator[Sink]:
    """Write blocks as they come; floats in the shortest form that reads back to the same bits."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(map(coordinates.call, coordinates.slots(keys)))
    stream.write(header.getvalue().encode())

    def add(block: Block, tau: Array) -> None:
        rows = np.column_stack(_parts(block, tau, keys)).tolist()
        stream.write("".join([",".join(map(repr, row)) + "\n" for row in rows]).encode())

    yield add


@contextmanager
def _write_npz(stream: BinaryIO, coordinates: Coordinates, keys: Sequence[str]) -> Iterator[Sink]:
    """Collect the blocks and write one archive, with the names of the entries, ``q_names`` and ``v_names``."""
    parts: list[list[Array]] = []
    yield lambda block, tau: parts.append(_parts(block, tau, keys))
    arrays: dict[str, Any] = dict(zip(keys, map(np.concatenate, zip(*parts, strict=True)), strict=True))
    np.savez(stream, **arrays, q_names=np.array(coordinates.q), v_names=np.array(coordinates.v))


def _parts(block: Block, tau: Array, keys: Sequence[str]) -> list[Array]:
    return [tau if key == "tau" else getattr(block, key) for key in keys]


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
