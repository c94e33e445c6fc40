"""The errors that kinetree raises on purpose. All are `ValueError` as well."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class KinetreeError(ValueError):
    """Base of all errors about what the user gave."""


class ModelError(KinetreeError):
    """A robot that cannot be built: the message names the link or the joint."""


class FormatError(KinetreeError):
    """A file that cannot be read: the message names the file, the element and the line."""


class ArgumentError(KinetreeError):
    """A call with an argument of the wrong shape, dtype or name."""


def _shortened(name: str) -> str:
    return name if len(name) <= 80 else name[:77] + "…"


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that does not exist, with the nearest ones that do.

    Examples
    --------
    >>> unknown_name("frame", "tool0", ["base", "tool", "hand"])
    "no frame 'tool0', did you mean 'tool'?"
    """
    if not isinstance(name, str):
        return f"the name of a {kind} is a str; {name!r} was given"
    names = [_shortened(n) for n in known]
    name = _shortened(name)
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return f"no {kind} {name!r}, did you mean {' or '.join(repr(n) for n in near)}?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"no {kind} {name!r}; there are: {shown or 'none'}"
