"""Samples of recorded motions, as estimators take them, and the choices by which they are made of recordings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kinetree.options import count, option, positive, positive_numbers, read_numbers, value
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, order=True)
class Cutoff:
    """Of the filter that made samples: its frequency (Hz), and that of the recorded samples; "4.75 Hz" as text."""

    frequency: float
    rate: float

    @property
    def high(self) -> bool:
        """Whether it is more than half of Nyquist's frequency: derivatives are hardly smoothed then."""
        return self.frequency > self.rate / 4.0

    def __str__(self) -> str:
        nyquist = f", more than half of Nyquist's {self.rate / 2.0:.3g} Hz" if self.high else ""
        return f"{self.frequency:.3g} Hz{nyquist}"


class Samples(NamedTuple):
    """A recorded motion, or a part of one; the samples need not be in order.

    Attributes
    ----------
    q : (n, nq) array-like
        Configurations.
    v, a, tau : (n, nv) array-like
        Velocities, accelerations and joint forces: NaN in all samples of joints whose forces are not measured, zero of
        a floating base.
    f_ext : (n, nb, 6) array-like, optional
        Measured wrenches on the bodies, as `inverse_dynamics` takes them.
    direction : (n, nv) array-like, optional
        Which way each joint slides, from −1 to 1, in the place of the sign of its velocity: friction that first
        stretches what it holds knows where the joint came from (`sliding_direction`).
    t : (n,) array-like, optional
        Their times (s), for plots: no estimate depends on them.
    load : (n, nv) array-like, optional
        Joint forces of what is known and not part of the robot (N·m, N): see `with_known_load`.
    standing : (n, nv) array-like of bool, optional
        Which joints stand still, so that friction holds them with a force that nobody knows: their equations at these
        samples are left out.
    smoothing : float, optional
        The speed around which the directions change sign (rad/s, m/s), if they are from velocities.
    cutoff : Cutoff, optional
        Of the filter that made them, where `prepare` did.
    held : (n, nb) array-like, optional
        Masses (kg) of loads on the bodies of which nothing else is known, zero for none: see `with_known_load`.
    """

    q: Any
    v: Any
    a: Any
    tau: Any
    f_ext: Any = None
    direction: Any = None
    t: Any = None
    load: Any = None
    standing: Any = None
    smoothing: Any = None
    cutoff: Any = None
    held: Any = None

    def __repr__(self) -> str:
        given = [name for name, x in self._asdict().items() if x is not None]
        return f"<Samples: {len(np.atleast_1d(self.q))} of {', '.join(given)}>"


def measured(tau: Array) -> Array:
    """Return forces with zeros where an entry of v has none that were measured."""
    return np.where(np.isnan(tau).all(axis=tuple(range(tau.ndim - 1))), 0.0, tau)


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
