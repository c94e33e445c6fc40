"""xacro files, expanded by ROS's own `xacro` in a process of its own, which has limits of time and memory.

Their expressions are Python: a file may compute for ever, or fill the memory, and no thread can be stopped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinetree.errors import ArgumentError, FormatError, unknown_name, warn_user
from kinetree.formats.xml import MAX_BYTES, without_declaration
from kinetree.locks import importing

COMMAND = [sys.executable, "-I", str(Path(__file__).with_name("xacro_process.py"))]
SECONDS = 30.0
"""The time that a file may take; large robots take one."""
MEMORY = 2 * 2**30
"""The memory (bytes) that it may take."""


def expand(
    text: str | bytes, source: str, folder: str, arguments: Mapping[str, object], named: Mapping[str, str]
) -> str:
    """Return what a xacro file becomes with these arguments; `folder` is its own, and `named` has those of packages."""
    with importing:
        if find_spec("xacro") is None:
            raise ArgumentError(f"{source} is a xacro file: pip install xacro, which expands it")
    request: dict[str, Any] = {
        "text": (without_declaration(text).encode() if isinstance(text, str) else text).decode("latin-1"),
        "path": os.path.join(folder, os.path.basename(source)),
        "arguments": _as_text(arguments),
        "packages": dict(named),
        "sys_path": [str(path) for path in sys.path],
        "limits": [int(SECONDS) + 1, MEMORY, MAX_BYTES],
    }
    try:
        done = subprocess.run(COMMAND, input=json.dumps(request).encode(), capture_output=True, timeout=SECONDS)
        answer = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise FormatError(f"{source}: xacro has not ended in {SECONDS:g} s: does it expand itself for ever?") from None
    except ValueError:
        last = done.stderr.decode(errors="replace").strip()[-300:]
        large = f"is it larger than {MEMORY / 2**30:g} GB?"
        raise FormatError(f"{source}: xacro ended without a result, {large} {last}") from None
    if "error" in answer:
        raise FormatError(answer["error"].replace(request["path"], source))
    for name in answer["unknown"]:
        raise ArgumentError(f"{source}: {unknown_name('xacro argument', name, answer['arguments'])}")
    if answer["warnings"]:
        warn_user(f"{source}: xacro: {answer['warnings']}")
    return str(answer["text"])


def _as_text(arguments: Mapping[str, object]) -> dict[str, str]:
    """Return arguments as launch files give them."""
    if not isinstance(arguments, Mapping):
        raise ArgumentError(f"xacro takes a mapping such as {{'ur_type': 'ur5e'}}; {arguments!r} was given")
    for name, value in arguments.items():
        if not isinstance(name, str) or not isinstance(value, str | bool | int | float | os.PathLike):
            raise ArgumentError(f"xacro takes names and their values, text or numbers; {name!r}: {value!r} was given")
    return {name: str(x).lower() if isinstance(x, bool) else str(x) for name, x in arguments.items()}
