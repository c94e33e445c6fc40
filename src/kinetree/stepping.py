"""Fields of choices that need neither NumPy nor a compiler: the command line tells of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.errors import ArgumentError, unknown_name
from kinetree.options import count, option, positive, value

SIZES = {"q": "nq", "v": "nv", "a": "nv", "tau": "nv", "f": "nrows"}
"""What can be kept, and of which length it is; the last one is a mechanism's."""


@value
class StepErrors:
    """The errors that an integrator allows in a step."""

    rtol: float = option(
        default=1e-6,
        kw_only=False,
        check=positive,
        read=float,
        help="relative error that is allowed in a step: ``atol + rtol |v|`` of velocities, and ``atol + rtol`` of "
        "coordinates, of which a radian and a metre count as one",
    )
    atol: float = option(
        default=1e-8,
        kw_only=False,
        check=positive,
        read=float,
        help="absolute error that is allowed in a step, see `rtol`",
    )


def kept_names(name: str, given: Any) -> tuple[str, ...]:
    """Return names of what is kept, or of the memory for it; `ArgumentError` if one is none."""
    names = given.replace(",", " ").split() if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
        raise ArgumentError(f"record takes names out of {', '.join(SIZES)}, or a kt.Record; not {given!r}")
    for x in names:
        if x not in SIZES:
            raise ArgumentError(f"{'out' if name == 'out' else 'record'}: {unknown_name('quantity', x, SIZES)}")
    return tuple(names)


@value
class Kept:
    """What of a simulation is kept, and how often."""

    names: str | Sequence[str] = option(
        default=("q", "v"),
        kw_only=False,
        check=kept_names,
        help='out of "q", "v", "a", "tau" (the joint forces of motors: given ones and a controller\'s) and, of a '
        'mechanism, "f" (the forces of the constraints); q and v are kept always',
    )
    every: int = option(
        default=1,
        check=count,
        read=int,
        metavar="N",
        help="keep every so many steps; the initial state is kept too. The state at the end is in ``trajectory.end`` "
        "where it is not the last that is kept",
    )
