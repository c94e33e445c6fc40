"""Object code on disk, so that a program is compiled once for a machine and not once for a process.

A file is trusted because it is ours (owner and permissions of the directory and of the file are checked) and whole (it
begins with a checksum of the rest); nothing in it is unpickled. Whatever goes wrong here costs a compilation and never
an answer: no function raises, and a file with other content is removed.

``KINETREE_CACHE_DIR`` names the directory (empty or ``off``: no cache). By default it is ``kinetree`` in the user's
cache directory of the platform. Where it cannot be used, one `CacheWarning` says why.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import os
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from kinetree.backends.base import ObjectCode
from kinetree.errors import warn_user

MAGIC = b"kinetree code 2\n"
SUFFIX = ".kto"
LARGEST = 500_000_000  # bytes of all files together; beyond, the least recently used are removed
_DIGEST = hashlib.sha256().digest_size
_OURS = re.compile(r"[0-9a-f]{64}(\.kto|\.\d+\.[0-9a-f]{8}\.tmp)")
_posix = os.name == "posix"
_warned: dict[str, object] = {}


class CacheWarning(UserWarning):
    """Compiled code cannot be kept on disk: every process compiles its functions anew."""


def _warn(problem: str) -> None:
    """Warn once a process."""
    this = object()
    if _warned.setdefault("once", this) is this:
        advice = "set KINETREE_CACHE_DIR to a directory of your own, or to 'off' to do without"
        warn_user(f"compiled functions are not kept for later runs: {problem}; {advice}", CacheWarning)


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
    """Return the digest of kinetree's own source, by content, not by time; None where it is not in plain files."""
    package = _package()
    try:
        parts = [part for name in sorted(_sources(package)) for part in (name, _content(package, name))]
    except OSError:
        parts = []
    if not parts:
        _warn("kinetree's source is not in plain files, so that it cannot be known what code belongs to it")
    return digest(parts) if parts else None


def _package() -> str:
    return os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _sources(folder: str, prefix: str = "") -> Iterator[str]:
    """Yield the names of the Python files in a folder of the package; `pathlib` would take longer than reading them."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.name.endswith(".py"):
                yield prefix + entry.name
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path, f"{prefix}{entry.name}/")


def _content(package: str, name: str) -> bytes:
    with open(os.path.join(package, name), "rb", buffering=0) as file:
        return file.read()


def covers_source_of(definition: object) -> bool:
    """Return whether `source_digest` covers the file in which a class or a function is defined."""
    file = getattr(sys.modules.get(definition.__module__), "__file__", None)
    return file is not None and _is_own(file)


@functools.lru_cache(4096)
def _is_own(file: str) -> bool:
    """Return whether a file is kinetree's: `realpath` asks the file system about each of its folders."""
    return os.path.realpath(file).startswith(os.path.join(_package(), ""))


def directory() -> Path | None:
    """Return the cache directory, made if need be; None where there is none that can be used and trusted."""
    path, problem = location()
    if path is not None and problem is None:
        problem = _made(path) or _defect(path)
    if problem is not None:
        _warn(problem)
        return None
    return path


def _made(path: Path) -> str | None:
    """Make a directory where there is none; return why it cannot be made, if so."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return f"{path} cannot be made ({error.strerror})"
    return None


def obstacle(path: Path) -> str | None:
    """Return why a directory cannot be made, if so: only trying tells; what is made is removed again."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    problem = _made(path) if missing else None
    for folder in missing:
        with contextlib.suppress(OSError):  # another process uses it, or it was not made
            folder.rmdir()
    return problem


def location() -> tuple[Path | None, str | None]:
    """Return where the cache is or would be, None where there is none, and why it cannot be used, if so."""
    setting = os.environ.get("KINETREE_CACHE_DIR")
    if setting is not None and setting.strip().lower() in ("", "off"):
        return None, None
    try:
        path = Path(setting).expanduser() if setting is not None else _default()
    except RuntimeError:
        return None, "there is no home directory"
    return path, _defect(path)


def _defect(path: Path) -> str | None:
    """Return why a directory cannot be used; None where it can, or is not there."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:  # a NUL in the name is a ValueError
        return f"{str(path)!r} cannot be used ({getattr(error, 'strerror', error)})"
    if not stat.S_ISDIR(status.st_mode):
        return f"{path} is not a directory"
    if _trusted(status):
        return None
    if status.st_uid != os.geteuid():
        return f"{path} belongs to user {status.st_uid}, and this is user {os.geteuid()}"
    return f"others may write to {path} (mode {stat.S_IMODE(status.st_mode):o}; chmod go-w would do)"


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
    target, temporary = folder / (key + SUFFIX), folder / f"{key}.{os.getpid()}.{os.urandom(4).hex()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(temporary, flags, 0o600)
        try:
            with os.fdopen(handle, "wb") as f:
                f.write(encode(code, key))
            if target.is_dir():  # nothing of ours; it is moved out of the way
                os.replace(target, temporary.with_suffix(".folder"))
            os.replace(temporary, target)  # atomic: a reader sees a whole file or none
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except FileNotFoundError:  # another process has cleared the cache in the meantime
        return
    except OSError as error:
        _warn(f"{folder} cannot be written ({error.strerror})")
        return
    trim(folder)


def trim(folder: Path, largest: int | None = None) -> None:
    """Remove the files that were not used for the longest time, until at most this many bytes are left."""
    files = [(status.st_mtime, status.st_size, path) for path, status in entries(folder)]
    total = sum(size for _, size, _ in files)
    for _, size, path in sorted(files):
        if total <= (LARGEST if largest is None else largest):
            break
        total -= size
        with contextlib.suppress(OSError):
            os.unlink(path)


def entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield path and status of each file with a name of ours, what is being written too; some may be gone now."""
    try:
        with os.scandir(folder) as found:
            for entry in found:
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if _OURS.fullmatch(entry.name) and stat.S_ISREG(status.st_mode):
                    yield entry.path, status
    except OSError:
        return


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
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):  # written by something else
        return None
