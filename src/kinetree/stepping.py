"""Fields of choices that need neither NumPy nor a compiler: the command line tells of them at once."""

from __future__ import annotations

from kinetree.options import count, option, positive, value


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


@value
class Kept:
    """How much is kept of a simulation."""

    every: int = option(
        default=1,
        check=count,
        read=int,
        metavar="N",
        help="keep every so many steps; the initial state is kept too. The state at the end is in ``trajectory.end`` "
        "where it is not the last that is kept",
    )
