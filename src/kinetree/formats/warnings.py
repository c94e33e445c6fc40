"""Warnings about a file that loads but deserves a word."""

from __future__ import annotations

from collections.abc import Iterable

from numpy.typing import ArrayLike

from kinetree.errors import listed, shortened, warn_user
from kinetree.model.physical import inertia_defect


class FormatWarning(UserWarning):
    """A file that loads, with something missing: the message says what was assumed."""


class NonPhysicalInertiaWarning(FormatWarning):
    """Links whose inertia no body can have; their numbers are used as they stand."""


def check_inertias(source: str, inertias: Iterable[tuple[str, float, ArrayLike]]) -> None:
    """Warn about links, given as (name, mass, moments about the centre of mass), whose inertia no body can have."""
    defects: dict[str, list[str]] = {}
    for name, mass, moments in inertias:
        if defect := inertia_defect(mass, moments):
            defects.setdefault(defect, []).append(shortened(name))
    if defects:
        found = "; ".join(f"{defect}: {listed(names)}" for defect, names in defects.items())
        notify(f"{source}: no body has these inertias; they are used as given. {found}", NonPhysicalInertiaWarning)


def notify(message: str, category: type[FormatWarning] = FormatWarning) -> None:
    """Warn, and point at the line outside kinetree that asked for the file."""
    warn_user(message, category)
