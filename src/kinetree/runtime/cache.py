"""Object code on disk, so that a program is compiled once for a machine and not once for a process.

A file is trusted because it is ours (owner and permissions of the directory and of the file are checked) and whole (it
begins with a checksum of the rest); nothing in it is unpickled. Whatever goes wrong here costs a compilation and never
an answer: no function raises, and a file with other content is removed.

``KINETREE_CACHE_DIR`` names the directory (empty or ``off``: no cache). By default it is ``kinetree`` in the user's
cache directory of the platform.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
import stat
import sys
from collections.abc import Iterable
from pathlib import Path

from kinetree.backends.base import ObjectCode

MAGIC = b"kinetree code 2\n"
SUFFIX = ".kto"
LARGEST = 500_000_000  # bytes of all files together; beyond, the least recently used are removed
_DIGEST = hashlib.sha256().digest_size
_posix = os.name == "posix"


def digest(parts: Iterable[bytes | str]) -> str:
    """Return a hash of these parts, which also depends on how they are divided."""
    h = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        h.update(len(raw).to_bytes(8, "little"))
        h.update(raw)
    return h.hexdigest()


@functools.cache
def source_digest() -> str | None:
    """Return the digest of kinetree's own source, None where it is not in plain files.

    The contents are read, not sizes and times: a checkout that goes back and forth must not meet old code.
    """
    try:
        files = sorted(_package().rglob("*.py"))
        parts = [part for f in files for part in (f.relative_to(_package()).as_posix(), f.read_bytes())]
    except OSError:
        return None
    return digest(parts) if parts else None


def _package() -> Path:
    return Path(__file__).resolve().parent.parent


def covers_source_of(definition: object) -> bool:
    """Return whether `source_digest` covers the file in which a class or a function is defined."""
    file = getattr(sys.modules.get(definition.__module__), "__file__", None)
    return file is not None and Path(file).resolve().is_relative_to(_package())


def directory() -> Path | None:
    """Return the cache directory, made if need be; None where there is none that can be used and trusted."""
    setting = os.environ.get("KINETREE_CACHE_DIR")
    if setting is not None and setting.strip().lower() in ("", "off"):
        return None
    try:
        path = Path(setting).expanduser() if setting is not None else _default()
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return path if path.is_dir() and _trusted(os.stat(path)) else None
    except (OSError, RuntimeError, ValueError):  # no home, not writable, a NUL in the name
        return None


def _default() -> Path:
    if os.name == "nt":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "kinetree" / "cache" if base else Path.home() / "AppData/Local/kinetree/cache"
    if sys.platform == "darwin":
        return Path.home() / "Library/Caches/kinetree"
    base = os.environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):  # the specification wants a relative one ignored
        return Path(base) / "kinetree"
    return Path.home() / ".cache/kinetree"


def _trusted(status: os.stat_result) -> bool:
    """Return whether nobody else could have written this file or directory."""
    if not _posix:
        return True
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def load(key: str) -> ObjectCode | None:
    """Return the code stored under this key, None if there is none that can be trusted."""
    folder = directory()
    if folder is None:
        return None
    path = folder / (key + SUFFIX)
    try:
        raw = _read(path)
    except OSError:
        return None
    code = None if raw is None else decode(raw, key)
    with contextlib.suppress(OSError):
        if code is None:
            path.unlink()
        else:
            os.utime(path)  # used now: the oldest are removed first
    return code


def _read(path: Path) -> bytes | None:
    """Return the content of a file, None if it is not ours."""
    flags = sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_CLOEXEC"))
    handle = os.open(path, os.O_RDONLY | flags)
    with os.fdopen(handle, "rb") as f:
        status = os.fstat(handle)
        return f.read() if stat.S_ISREG(status.st_mode) and _trusted(status) else None


def store(key: str, code: ObjectCode) -> None:
    """Store code under this key, if there is a place for it."""
    folder = directory()
    if folder is None:
        return
    temporary = folder / f"{key}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o600)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(encode(code, key))
        os.replace(temporary, folder / (key + SUFFIX))  # atomic: a reader sees a whole file or none
    except OSError:  # the disk is full
        with contextlib.suppress(OSError):
            temporary.unlink()
        return
    trim(folder)


def trim(folder: Path, largest: int | None = None) -> None:
    """Remove the files that were not used for the longest time, until at most this many bytes are left."""
    try:
        with os.scandir(folder) as entries:
            files = [
                (e.stat().st_mtime, e.stat().st_size, e.path) for e in entries if e.name.endswith((SUFFIX, ".tmp"))
            ]
    except OSError:
        return
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= (LARGEST if largest is None else largest):
            break
        total -= size
        with contextlib.suppress(OSError):
            os.unlink(path)


def encode(code: ObjectCode, key: str) -> bytes:
    """Return the content of a file: magic, checksum of the rest, length of the header, header (JSON), objects."""
    sizes = [len(one) for one in code.objects]
    names = {"symbols": code.symbols, "externals": code.externals}
    fields = {"key": key, "scratch": code.scratch, **names, "sizes": sizes}
    header = json.dumps(fields).encode()
    rest = len(header).to_bytes(4, "little") + header + b"".join(code.objects)
    return MAGIC + hashlib.sha256(rest).digest() + rest


def decode(raw: bytes, key: str) -> ObjectCode | None:
    """Return the code in the content of a file, None if it is not what `encode` wrote for this key."""
    start = len(MAGIC) + _DIGEST
    rest = memoryview(raw)[start:]
    if raw[: len(MAGIC)] != MAGIC or hashlib.sha256(rest).digest() != raw[len(MAGIC) : start]:
        return None
    size = 4 + int.from_bytes(rest[:4], "little")
    try:
        fields = json.loads(bytes(rest[4:size]))
        if fields["key"] != key:
            return None
        ends = itertools.accumulate(fields["sizes"], initial=size)
        objects = tuple(bytes(rest[start:end]) for start, end in itertools.pairwise(ends))
        return ObjectCode(objects, int(fields["scratch"]), tuple(fields["symbols"]), tuple(fields["externals"]))
    except (ValueError, TypeError, KeyError):  # written by something else
        return None
