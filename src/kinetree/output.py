"""Writing a result: never half a file, never over what is being read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from kinetree.errors import ArgumentError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that appears under its name only when it is complete; on any error nothing is left.

    What is not a regular file (a pipe, ``/dev/null``) is written directly.
    """
    with whole_path(path) as partial, partial.open("wb") as stream:
        yield stream


@contextmanager
def whole_path(path: Path, suffix: str = ".part") -> Iterator[Path]:
    """Give another path to write a file at, which appears under its own name when it is complete: see `whole_file`."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}{suffix}")
    try:
        partial.open("xb").close()
        yield partial
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


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
