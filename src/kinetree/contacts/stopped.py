"""The force of a joint with friction, between stops."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kinetree.contacts.sets import ForceSet, larger, or_nan, positive_part, within
from kinetree.scalars.functions import Scalar, select, select_less
from kinetree.scalars.linalg import Vector


@dataclass(frozen=True)
class StoppedFriction(ForceSet):
    """Friction of a limited size and two stops, of one joint: both along one row, which is half as many.

    ``λ = φ + ψ``: the friction φ as in an `Interval`, and ψ ≥ 0 only where ``σ = −below``, ψ ≤ 0 only where
    ``σ = above``. So λ is not a projection, but the nearest point of a convex function, which is how far the stops are:
    ``b |σ|`` between them.

    Attributes
    ----------
    b : scalar
        The largest friction.
    below, above : scalar, optional
        How fast the joint may go to its lower and its upper stop, 0 or more; None where there is no stop.
    """

    b: Scalar
    below: Scalar | None
    above: Scalar | None

    size = 1

    def __post_init__(self) -> None:
        b = or_nan(self.b)
        for stop in (self.below, self.above):
            b = b if stop is None else select(stop >= 0.0, b, math.nan)
        object.__setattr__(self, "b", b)

    def project(self, x: Vector) -> list[Scalar]:
        """Return x: what is beyond friction may be that of a stop."""
        return list(x)

    def nearest(self, x: Vector, per_penalty: Scalar) -> list[Scalar]:
        """Return the force whose law holds for ``σ = (λ − x) / per_penalty``."""
        found = within(x[0], self.b)
        if self.below is not None:
            least = x[0] - self.below * per_penalty
            found = select_less(found, least, least, found)
        if self.above is not None:
            most = x[0] + self.above * per_penalty
            found = select_less(most, found, most, found)
        return [found]

    def residuals(self, force: Vector, sigma: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Return 0, how fast it goes beyond a stop, and the work that should be zero of friction and stops."""
        friction, s = within(force[0], self.b), sigma[0]
        stop = force[0] - friction
        work = abs(friction * s + self.b * abs(s))
        below, above = positive_part(stop), positive_part(-stop)
        work = work + (below * abs(s + self.below) if self.below is not None else below)
        work = work + (above * abs(self.above - s) if self.above is not None else above)
        return 0.0, self.approach(sigma), work

    def approach(self, sigma: Vector) -> Scalar:
        """Return how fast it goes beyond a stop, or 0."""
        beyond: Scalar = 0.0
        if self.below is not None:
            beyond = larger(beyond, -self.below - sigma[0])
        if self.above is not None:
            beyond = larger(beyond, sigma[0] - self.above)
        return beyond

    def in_units(self, unit: Scalar) -> StoppedFriction:
        """Return the set of forces ``λ / unit``, of which the speeds are multiplied by it."""
        below, above = (None if x is None else x * unit for x in (self.below, self.above))
        return StoppedFriction(self.b / unit, below, above)

    def magnitude(self, force: Vector) -> Scalar:
        """Return the size of a force."""
        return abs(force[0])
