"""The errors that kinetree raises on purpose, all of them `ValueError` as well, and its warnings."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence

from kinetree.locks import importing

PACKAGE = os.path.dirname(os.path.abspath(__file__))


class KinetreeError(ValueError):
    """Base of all errors about what the user gave."""


class ModelError(KinetreeError):
    """A robot that cannot be built: the message names the link or the joint."""


class FormatError(KinetreeError):
    """A file that cannot be read: the message names the file, the element and the line."""


class ArgumentError(KinetreeError):
    """A call with an argument of the wrong shape, dtype or name."""


class FormatWarning(UserWarning):
    """A file that loads, with something missing: the message says what was assumed."""


class NonPhysicalInertiaWarning(FormatWarning):
    """Links whose inertia no body can have; their numbers are used as they stand."""


def notify(message: str, category: type[FormatWarning] = FormatWarning) -> None:
    """Warn, and point at the line outside kinetree that asked for what the message is about."""
    level = 1
    while os.path.abspath(sys._getframe(level).f_code.co_filename).startswith(PACKAGE + os.sep):
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)


def shortened(text: str) -> str:
    """Return a name or a value as messages show it: cut where it is long."""
    return text if len(text) <= 80 else text[:79] + "…"


def unknown_name(kind: str, name: object, known: Iterable[str]) -> str:
    """Return the message for a name that does not exist, with the nearest ones that do.

    Examples
    --------
    >>> unknown_name("frame", "tool0", ["base", "tool", "hand"])
    "no frame 'tool0', did you mean 'tool'?"
    """
    if not isinstance(name, str):
        return f"the name of a {kind} is a str; {name!r} was given"
    names = [shortened(n) for n in known]
    name = shortened(name)
    with importing:
        import difflib

    near = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
    if near:
        return f"no {kind} {name!r}, did you mean {' or '.join(repr(n) for n in near)}?"
    shown = ", ".join(names[:20]) + (", …" if len(names) > 20 else "")
    return f"no {kind} {name!r}; there are: {shown or 'none'}"


def listed(names: Sequence[str], most: int = 20) -> str:
    """Return names for a message, the first ones where there are many.

    Examples
    --------
    >>> listed(["hip", "knee", "ankle"], most=2)
    'hip, knee, and 1 more'
    """
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
