"""`Emitted`: a piece of C, and what else must be in the file with it."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.graph.array_operations import ArrayOperation

Routine = str | ArrayOperation
"""What an array call runs: the name of an array kernel, or an array operation."""


@dataclass(frozen=True)
class Emitted:
    """Definitions, the numbers in their static arrays, and the routines, helpers and other pieces that they call."""

    text: str
    cells: int = 0
    routines: tuple[Routine, ...] = ()
    helpers: tuple[str, ...] = ()


def routine_name(routine: Routine) -> str:
    """Return the name of the function of a routine; equal operations have one."""
    kind = routine if isinstance(routine, str) else f"{routine.name}_{routine.identity[:16]}"
    return f"kt_{kind}"
