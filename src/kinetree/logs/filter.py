"""How samples are made of a recorded motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinetree.options import count, option, positive, positive_numbers, read_numbers, value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@value
class Filter:
    """How samples are made of a recorded motion: by local polynomials, which smooth and differentiate without delay.

    Where a file has velocities and accelerations and nothing but `smoothing` is given, they are taken as they are.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.Filter(cutoff=5.0, outliers=8)
    Filter(cutoff=5.0, outliers=8.0)
    """

    cutoff: float | None = option(
        default=None,
        help="frequency (Hz) above which all is noise; chosen from the motion if not given: six times the one below "
        "which velocities stand out of their noise",
        check=positive,
        read=float,
        metavar="HZ",
    )
    presliding: float | ArrayLike | None = option(
        default=None,
        help="how far a joint moves (rad, m) until its friction has turned round, about 5e-5 with gears; if not given, "
        "friction has the sign of the velocity",
        check=positive_numbers,
        read=read_numbers,
    )
    smoothing: float | None = option(
        default=None,
        help="speed (rad/s, m/s) around which friction changes sign; the robot's, 1e-3, if not given",
        check=positive,
        read=float,
        metavar="V",
    )
    decimate: int | None = option(
        default=None,
        help="every so many-th sample is used; two a period of the cut-off if not given",
        check=count,
        read=int,
        metavar="N",
    )
    outliers: float | None = option(
        default=None,
        help="standard deviations from the median of its neighbours from which on a recorded sample is left out, such "
        "as 8; none is if not given",
        check=positive,
        read=float,
    )
    standing: float | ArrayLike | None = option(
        default=None,
        help="speed (rad/s, m/s) below which a joint stands still: friction then has any value, and its equation is "
        "left out; none is if not given",
        check=positive_numbers,
        read=read_numbers,
        metavar="V",
    )

    @property
    def smooths(self) -> bool:
        """Whether anything is given by which motions have to be filtered."""
        return self != Filter(smoothing=self.smoothing)
