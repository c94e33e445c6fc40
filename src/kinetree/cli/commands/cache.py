"""``kinetree cache``: where compiled functions are kept, and how many."""

from __future__ import annotations

import argparse

from rich.markup import escape

from kinetree.cli.terminal import console, print_json
from kinetree.errors import KinetreeError
from kinetree.runtime.cache_files import CacheInfo, cache_info, clear_cache


def run(arguments: argparse.Namespace) -> None:
    """Print what the cache holds, or remove it."""
    info = cache_info()
    if arguments.action == "clear":
        removed = clear_cache()
        if arguments.json:
            print_json({"directory": info.directory, "removed": removed, "bytes": info.size})
        elif info.directory is None:
            console().print("KINETREE_CACHE_DIR is off: there is nothing to remove")
        else:
            console().print(f"removed {removed} files, {megabytes(info.size)}, from {escape(str(info.directory))}")
    elif arguments.json:
        print_json(info._asdict() | {"oldest": info.oldest and info.oldest.isoformat(timespec="seconds")})
    elif info.problem is not None:
        raise KinetreeError(f"the cache cannot be used: {info.problem}; KINETREE_CACHE_DIR names another directory")
    else:
        console().print(described(info))


def described(info: CacheInfo) -> str:
    """Return a cache that can be used in a line or two."""
    if info.directory is None:
        return "KINETREE_CACHE_DIR is off: every process compiles its functions anew"
    text = f"{escape(info.directory)}: {info.entries} compiled functions, {megabytes(info.size)} of at most "
    text += megabytes(info.largest)
    if info.oldest is not None:
        text += f"\nthe one used longest ago: {info.oldest.astimezone():%Y-%m-%d %H:%M}"
    return text


def megabytes(size: int) -> str:
    """Return a number of bytes in MB.

    Examples
    --------
    >>> megabytes(0), megabytes(43_210_000), megabytes(500_000_000)
    ('0 MB', '43.2 MB', '500 MB')
    """
    return f"{size / 1e6:.3g} MB"
