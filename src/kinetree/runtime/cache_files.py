"""What the disk cache holds, and an end of it."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime
from typing import NamedTuple

from kinetree.errors import KinetreeError
from kinetree.runtime import cache


class CacheInfo(NamedTuple):
    """The disk cache of compiled functions; see `cache_info`."""

    directory: str | None
    entries: int
    size: int
    largest: int
    oldest: datetime | None
    problem: str | None


def cache_info() -> CacheInfo:
    """Return where the disk cache is, and what it holds.

    Returns
    -------
    directory : str or None
        Where compiled code is kept; None where ``KINETREE_CACHE_DIR`` is ``off``, or there is no home directory.
    entries : int
        Number of compiled functions; each counts once for one state, and once for many.
    size, largest : int
        Bytes of all files, and how many they may be; beyond, the least recently used are removed.
    oldest : datetime or None
        When the entry that was not used for the longest time was used last.
    problem : str or None
        Why the directory cannot be used, or be made, where it cannot.

    Examples
    --------
    >>> import kinetree as kt
    >>> info = kt.cache_info()
    >>> info.size <= info.largest
    True
    """
    path, problem = cache.location()
    if path is not None and problem is None:
        problem = cache.obstacle(path)
    if path is None or problem is not None:
        return CacheInfo(None if path is None else str(path), 0, 0, cache.LARGEST, None, problem)
    found = list(cache.entries(path))
    times = [status.st_mtime for name, status in found if name.endswith(cache.SUFFIX)]
    oldest = datetime.fromtimestamp(min(times), UTC) if times else None
    return CacheInfo(str(path), len(times), sum(s.st_size for _, s in found), cache.LARGEST, oldest, None)


def clear_cache() -> int:
    """Remove the compiled code that is on disk, and return the number of files.

    Only files that kinetree has written go, no links, and only from a directory that it would use. Other processes
    may go on working with the cache meanwhile. What is in memory stays there.

    Raises
    ------
    KinetreeError
        If the directory is not to be trusted; the message says why.

    Examples
    --------
    >>> import os
    >>> from unittest.mock import patch
    >>> import kinetree as kt
    >>> with patch.dict(os.environ, KINETREE_CACHE_DIR="off"):
    ...     kt.clear_cache()
    0
    """
    path, problem = cache.location()
    if problem is not None:
        raise KinetreeError(f"the cache is left as it is: {problem}")
    removed = 0
    for name, _ in [] if path is None else list(cache.entries(path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
            removed += 1
    return removed
