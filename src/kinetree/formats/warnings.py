"""Warnings about a file that loads but deserves a word."""

from __future__ import annotations

import os
import sys
import warnings

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class FormatWarning(UserWarning):
    """A file that loads, with something missing: the message says what was assumed."""


class NonPhysicalInertiaWarning(FormatWarning):
    """Links whose inertia no body can have; their numbers are used as they stand."""


def notify(message: str, category: type[FormatWarning] = FormatWarning) -> None:
    """Warn, and point at the line outside kinetree that asked for the file."""
    level = 1
    while os.path.abspath(sys._getframe(level).f_code.co_filename).startswith(PACKAGE + os.sep):
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)


def listed(names: list[str], most: int = 20) -> str:
    """Return names for a message, the first ones where there are many.

    Examples
    --------
    >>> listed(["hip", "knee", "ankle"], most=2)
    'hip, knee, and 1 more'
    """
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
