"""Periodic motions with a beginning and an end at rest: linear in their coefficients, with exact bounds.

A joint's motion is ``q(t) = mean + Σ a_l cos(l ω t) + b_l sin(l ω t)`` for some periods, as Swevers et al., "Optimal
robot excitation and identification", 1997, have it; polynomials of degree 5 lead to it from rest, and back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from kinetree.errors import ArgumentError
from kinetree.options import count, option, positive, value
from kinetree.validation import Array

# Nodes for each harmonic of a period: there the largest value is at least 98.8 % of the largest between them
OVERSAMPLED = 20
RAMP_NODES = 40  # nodes of a ramp: 98.1 %
RAMP_DEGREE = 5
# Polynomials in x from 0 to 1: of position 1 at the end, of velocity 1 and of acceleration 1 at the beginning
_POWERS = np.array([[0, 0, 0, 10, -15, 6], [0, 1, 0, -6, 8, -3], [0, 0, 0.5, -1.5, 1.5, -0.5]])


class Nodes(NamedTuple):
    """Where the limits of a motion are looked at."""

    t: Array  # (n,), times (s)
    periodic: slice  # those of one period, equally spaced
    bound: Array  # (n, 1): values that are smaller than this part of a limit are within it between the nodes too


@value
class Series:
    """A periodic motion with a beginning and an end at rest, of each joint: what `excite` plans, with ``series=…``.

    Each joint follows a Fourier series of its own for some periods; polynomials lead to it from rest, and back.

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.Series(period=8.0, periods=2).duration
    19.2
    """

    period: float = option(default=10.0, check=positive, read=float, metavar="S", help="of the series (s)")
    harmonics: int = option(
        default=5, check=count, read=int, metavar="N", help="how many frequencies it has, multiples of 1 / period"
    )
    periods: int = option(
        default=1,
        check=count,
        read=int,
        metavar="N",
        help="how often it is repeated: averages over periods have less noise",
    )
    ramp: float = option(
        default=None,
        check=positive,
        read=float,
        metavar="S",
        help="how long it takes from rest to the series, and back (s); a fifth of the period if not given",
    )
    rate: float = option(
        default=200.0,
        check=positive,
        read=float,
        metavar="HZ",
        help="samples a second that will be recorded (Hz): they decide the standard deviations, not the motion",
    )

    def __post_init__(self) -> None:
        if vars(self)["ramp"] is None:
            object.__setattr__(self, "ramp", 0.2 * self.period)
        if self.rate * self.period <= 2 * self.harmonics:
            raise ArgumentError(
                f"{self.rate:g} samples a second are less than two of the fastest harmonic: give a higher rate"
            )

    @property
    def duration(self) -> float:
        """From rest to rest (s)."""
        return 2.0 * self.ramp + self.periods * self.period

    @property
    def size(self) -> int:
        """How many coefficients each joint has: where it rests, its mean, those of cosines and of sines."""
        return 2 + 2 * self.harmonics

    def basis(self, t: Array) -> Array:
        """Return position, velocity and acceleration at times t (n,) for each coefficient: (3, n, size)."""
        B, at_zero = self._fourier(t - self.ramp), self._fourier(np.zeros(1))[:, 0]
        starts, stops = t < self.ramp, t > self.ramp + self.periods * self.period
        B[:, starts] = self._ramp(t[starts], at_zero, 1.0)
        B[:, stops] = self._ramp(self.duration - t[stops], at_zero, -1.0)
        return B

    def _fourier(self, t: Array) -> Array:
        w = 2.0 * math.pi / self.period * np.arange(1, self.harmonics + 1)
        cos, sin = np.cos(np.outer(t, w)), np.sin(np.outer(t, w))
        B = np.zeros((3, len(t), self.size))
        B[0, :, 1] = 1.0
        for k, derivatives in enumerate(((cos, sin), (-sin, cos), (-cos, -sin))):
            B[k, :, 2:] = np.hstack([w**k * x for x in derivatives])
        return B

    def _ramp(self, t: Array, to: Array, sign: float) -> Array:
        """Return the rows at times t since it rests, on the way to the periodic motion; time may go backwards."""
        h, rest = self.ramp, np.eye(1, self.size)[0]
        ends, found = (rest - to[0], -sign * h * to[1], h * h * to[2]), np.zeros((3, len(t), self.size))
        for k in range(3):
            for p, x in zip(_POWERS, ends, strict=True):
                found[k] += np.outer((-sign / h) ** k * Polynomial(p).deriv(k)(1.0 - t / h), x)
        found[0] += to[0]
        return found

    def nodes(self) -> Nodes:
        """Return where limits are looked at, and what is true between.

        References: Ehlich and Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", 1964: a polynomial of degree n
        is at most ``max / cos(π n / 2 m)`` if it is at most max at m Chebyshev nodes; a trigonometric one at most
        ``max / cos(π n / m)`` if it is at m equally spaced ones.
        """
        n, m = OVERSAMPLED * self.harmonics, RAMP_NODES
        ramp = self.ramp * 0.5 * (1.0 - np.cos(math.pi * (np.arange(m) + 0.5) / m))
        periodic = self.ramp + self.period * np.arange(n) / n
        t = np.concatenate([ramp, periodic, self.duration - ramp])
        bound = np.full((len(t), 1), math.cos(math.pi * RAMP_DEGREE / (2 * m)))
        bound[m : m + n] = math.cos(math.pi * self.harmonics / n)
        return Nodes(t, slice(m, m + n), bound)

    def coefficients(self, t: Array, q: Array) -> Array:
        """Return the coefficients (joints, size) of a motion of this kind from its samples, by least squares."""
        return np.asarray(np.linalg.lstsq(self.basis(t)[0], q, rcond=None)[0].T)
