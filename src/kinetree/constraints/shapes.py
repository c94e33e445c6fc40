"""Shapes that touch a plane as a few points and spheres."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from kinetree.constraints.types.contact import Contact
from kinetree.errors import ArgumentError
from kinetree.joints._parts import unit_axis
from kinetree.signatures import told
from kinetree.validation import positive


@told
def box_contacts(frame: str, size: Sequence[float], *, name: str = "", **how: Any) -> list[Contact]:
    """Return the contacts of a box with a plane: its eight corners.

    Parameters
    ----------
    frame : str
        The frame at its centre, in whose axes its edges are.
    size : sequence of 3 floats
        Lengths of the edges (m).
    name : str
        With which the names begin; ``box_`` and the frame's name if not given.
    **how
        All else that a `Contact` takes: `to`, `normal`, `height`, `friction`, `restitution`; `point` is where the
        centre is in the frame.

    Examples
    --------
    >>> [c.name for c in box_contacts("foot", (0.2, 0.1, 0.04))][:2]
    ['box_foot_0', 'box_foot_1']
    """
    edges = list(size) if isinstance(size, Iterable) else []
    if len(edges) != 3:
        raise ArgumentError(f"a box has the lengths of three edges, not {size!r}")
    half = [0.5 * positive("an edge of a box", x) for x in edges]
    return _at(name or f"box_{frame}", frame, itertools.product(*((x, -x) for x in half)), how)


@told
def capsule_contacts(
    frame: str, length: float, radius: float, axis: Sequence[float] = (0.0, 0.0, 1.0), *, name: str = "", **how: Any
) -> list[Contact]:
    """Return the contacts of a capsule with a plane: the spheres at its ends.

    Parameters
    ----------
    frame : str
        The frame at its middle.
    length : float
        From centre to centre of the spheres (m).
    radius : float
        (m)
    axis : sequence of 3 floats
        Its direction in the frame.
    name, **how
        As in `box_contacts`.

    Examples
    --------
    >>> [c.point for c in capsule_contacts("shank", 0.2, 0.03, axis=(1, 0, 0))]
    [(0.1, 0.0, 0.0), (-0.1, 0.0, 0.0)]
    """
    half, direction = 0.5 * positive("the length of a capsule", length), unit_axis(axis)
    ends = ([sign * half * x for x in direction] for sign in (1.0, -1.0))
    return _at(name or f"capsule_{frame}", frame, ends, {"radius": positive("the radius of a capsule", radius)} | how)


def _at(name: str, frame: str, points: Any, how: dict[str, Any]) -> list[Contact]:
    centre = Contact(frame, name=name, **how)
    places = [tuple(a + b for a, b in zip(point, centre.point, strict=True)) for point in points]
    return [replace(centre, name=f"{name}_{k}", point=place) for k, place in enumerate(places)]
