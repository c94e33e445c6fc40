"""What forces are possible: friction cones, forces that only push, and forces of a limited size."""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from kinetree.scalars.functions import Scalar, copysign, is_zero, select, select_less, sqrt
from kinetree.scalars.linalg import Matrix, Vector, dot

TINY = 1e-37
"""Added to the square of a force, so that no number is divided by 0: a number of float32 too."""


@dataclass(frozen=True)
class ForceSet(ABC):
    """The closed convex set K of one contact's forces λ, and the law that ties them to its motion σ.

    The law is ``λ ∈ K`` and ``(κ − λ) · (σ + shift) ≥ 0`` for all κ in K. All numbers may be of any
    scalar; a coefficient or a bound that is negative is taken for NaN.
    """

    size: ClassVar[int]
    """Its number of rows."""

    @abstractmethod
    def project(self, x: Vector) -> list[Scalar]:
        """Return the nearest force in K."""

    def nearest(self, x: Vector, per_penalty: Scalar) -> list[Scalar]:
        """Return the force whose law holds for ``σ + shift = (λ − x) / per_penalty``: the nearest one in K."""
        return self.project(x)

    def shift(self, sigma: Vector) -> list[Scalar]:
        """Return the shift that the law adds to σ."""
        return [0.0] * self.size

    def steps(self, G: Matrix) -> list[Scalar]:
        """Return the lengths of the steps of `change`, for this block of the Delassus matrix."""
        return [inverse(row[i]) for i, row in enumerate(G)]

    def change(self, force: Vector, sigma: Vector, steps: Vector) -> list[Scalar]:
        """Return the change of a force in K by one Gauss–Seidel step, which keeps it there.

        As it is here, it is for a single row. The next contact waits for it: few operations should follow one another.
        """
        new = self.nearest([f - s * step for f, s, step in zip(force, sigma, steps, strict=True)], steps[0])
        return [a - b for a, b in zip(new, force, strict=True)]

    def residuals(self, force: Vector, sigma: Vector) -> tuple[Scalar, Scalar, Scalar]:
        """Return how far the force is outside K, σ outside what the law allows, and the work that should be zero."""
        return self.outside(force), positive_part(self.approach(sigma)), self.work(force, sigma)

    @abstractmethod
    def outside(self, force: Vector) -> Scalar:
        """Return how far the force is outside K."""

    @abstractmethod
    def approach(self, sigma: Vector) -> Scalar:
        """Return how far σ is beyond what the law allows, below zero where it is within."""

    @abstractmethod
    def work(self, force: Vector, sigma: Vector) -> Scalar:
        """Return the size of the work ``λ · (σ + shift)`` of a force in K, which should be zero."""

    def excess(self, force: Vector, sigma: Vector, limit: Scalar) -> Scalar:
        """Return a number above zero where the work that should be zero is more than `limit`.

        The force is in K, and what `approach` returns is known to be small enough.
        """
        return self.work(force, sigma) - limit

    def in_units(self, unit: Scalar) -> ForceSet:
        """Return the set of forces ``λ / unit``: K itself, where it is a cone."""
        return self

    @abstractmethod
    def magnitude(self, force: Vector) -> Scalar:
        """Return the size of a force in K, up to a factor of the order of one."""


@dataclass(frozen=True)
class FrictionCone(ForceSet):
    """A contact with Coulomb friction: ``‖λ_T‖ ≤ μ λ_n``, rows (along, along, normal).

    With Signorini's condition ``0 ≤ λ_n ⟂ σ_n ≥ 0`` it is a complementarity of cones, ``K ∋ λ ⟂ σ + (0, 0, μ‖σ_T‖) ∈
    K*`` (De Saxcé and Feng 1998): without the shift, a contact that slides would lift off.
    """

    mu: Scalar

    size = 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", or_nan(self.mu))

    def project(self, x: Vector) -> list[Scalar]:
        mu, n = self.mu, sqrt(x[0] * x[0] + x[1] * x[1])
        height = (mu * n + x[2]) * (1.0 / (1.0 + mu * mu))
        side = mu * height / select_less(0.0, n, n, 1.0)
        on_it = [x[0] * side, x[1] * side, height]
        inside, below = n <= mu * x[2], mu * n <= -x[2]
        return [select(inside, a, select(below, 0.0, b)) for a, b in zip(x, on_it, strict=True)]

    def shift(self, sigma: Vector) -> list[Scalar]:
        return [0.0, 0.0, self.mu * sqrt(sigma[0] * sigma[0] + sigma[1] * sigma[1])]

    def steps(self, G: Matrix) -> list[Scalar]:
        """Return 1/λmax of the tangential block, 1/G_nn, and the step along the plane after a unit of normal force."""
        half, mean = 0.5 * (G[0][0] - G[1][1]), 0.5 * (G[0][0] + G[1][1])
        largest = mean + sqrt(half * half + G[0][1] * G[0][1])
        step = inverse(select(mean > 0.0, largest, mean))
        return [step, inverse(G[2][2]), G[0][2] * step, G[1][2] * step]

    def change(self, force: Vector, sigma: Vector, steps: Vector) -> list[Scalar]:
        """Return the change by a step along the normal, and then one along the plane."""
        away, least = -(sigma[2] * steps[1]), -force[2]
        change = select_less(away, least, least, away)
        x = [force[i] - sigma[i] * steps[0] - steps[2 + i] * change for i in (0, 1)]
        return [*self.change_along(force, x, force[2] + change), change]

    def change_along(self, force: Vector, x: Vector, normal: Scalar) -> list[Scalar]:
        """Return the change to the nearest force along the plane: with this normal force K is a disk."""
        factor = into_disk(x, self.mu * normal)
        return [a * factor - b for a, b in zip(x, force[:2], strict=True)]

    def outside(self, force: Vector) -> Scalar:
        return larger(self.outside_disk(force), positive_part(-force[2]))

    def work(self, force: Vector, sigma: Vector) -> Scalar:
        return abs(force[0] * sigma[0] + force[1] * sigma[1] + force[2] * self.shift(sigma)[2] + force[2] * sigma[2])

    def approach(self, sigma: Vector) -> Scalar:
        return -sigma[2]

    def excess(self, force: Vector, sigma: Vector, limit: Scalar) -> Scalar:
        """Return ``(μ λ_n ‖σ_T‖)² − r |r|`` with ``r = limit − λ · σ``: no sweep has to take a root for it.

        The work ``λ · σ + μ λ_n ‖σ_T‖`` is no less than ``λ_n σ_n``.
        """
        friction, rest = self.mu * force[2], limit - dot(force, sigma)
        return friction * friction * dot(sigma[:2], sigma[:2]) - rest * abs(rest)

    def outside_disk(self, force: Vector) -> Scalar:
        """Return how far the force along the plane is outside its disk."""
        return positive_part(sqrt(force[0] * force[0] + force[1] * force[1]) - self.mu * force[2])

    def magnitude(self, force: Vector) -> Scalar:
        return force[2]


@dataclass(frozen=True)
class PressedCone(FrictionCone):
    """A friction cone of which only normal forces from `least` on count, for contacts that are to stay pressed."""

    least: Scalar = 0.0

    def in_units(self, unit: Scalar) -> PressedCone:
        return PressedCone(self.mu, self.least / unit)

    def project(self, x: Vector) -> list[Scalar]:
        """Return the nearest force: in the cone, if its normal force is enough, else in the disk at the least one."""
        factor = into_disk(x, self.mu * self.least)
        cone, disk = super().project(x), [x[0] * factor, x[1] * factor, self.least]
        return [select(cone[2] < self.least, a, b) for a, b in zip(disk, cone, strict=True)]


@dataclass(frozen=True)
class SlidingCone(FrictionCone):
    """A contact with Coulomb friction that slides already, where `slides` is 1, with a velocity in this direction d.

    Friction does not depend on σ then, which is an acceleration: ``λ_T = −μ λ_n d``, a ray. The shift ``μ d · σ_T``
    leaves Signorini's condition of its complementarity. Where `slides` is 0 it is a `FrictionCone`.
    """

    direction: tuple[Scalar, Scalar] = (0.0, 0.0)
    slides: Scalar = 0.0

    def project(self, x: Vector) -> list[Scalar]:
        ray = [*self._against(1.0), 1.0]
        part = positive_part(dot(ray, x) * (1.0 / (1.0 + self.mu * self.mu)))
        return self._chosen([r * part for r in ray], super().project(x))

    def shift(self, sigma: Vector) -> list[Scalar]:
        return self._chosen([0.0, 0.0, -dot(self._against(1.0), sigma[:2])], super().shift(sigma))

    def change_along(self, force: Vector, x: Vector, normal: Scalar) -> list[Scalar]:
        """Return the change to the friction of what slides, or to the nearest force in the disk."""
        sliding = [a - b for a, b in zip(self._against(normal), force[:2], strict=True)]
        return self._chosen(sliding, super().change_along(force, x, normal))

    def outside_disk(self, force: Vector) -> Scalar:
        """Return how far the force along the plane is from the friction of what slides, or outside its disk."""
        apart = [a - b for a, b in zip(force[:2], self._against(force[2]), strict=True)]
        return self._chosen([sqrt(dot(apart, apart))], [super().outside_disk(force)])[0]

    def excess(self, force: Vector, sigma: Vector, limit: Scalar) -> Scalar:
        return ForceSet.excess(self, force, sigma, limit)

    def _against(self, normal: Scalar) -> list[Scalar]:
        return [-(self.mu * normal) * d for d in self.direction]

    def _chosen(self, sliding: list[Scalar], otherwise: list[Scalar]) -> list[Scalar]:
        return [select_less(0.5, self.slides, a, b) for a, b in zip(sliding, otherwise, strict=True)]


@dataclass(frozen=True)
class Interval(ForceSet):
    """A force along one row: friction of a limited size against the motion, and the forces of two stops.

    ``λ = φ + ψ``: the friction φ, ``|φ| ≤ b``, is −b where σ > 0, b where σ < 0; ψ ≥ 0 only where ``σ = −below``, and
    ψ ≤ 0 only where ``σ = above``, which are how fast it may go to the stops, 0 or more, None where there is none. With
    stops λ is not a projection, but the nearest point of a convex function: how far they are, ``b |σ|`` between them.
    """

    b: Scalar
    below: Scalar | None = None
    above: Scalar | None = None

    size = 1

    def __post_init__(self) -> None:
        given, good = {name: x for name, x in vars(self).items() if x is not None}, 1.0
        for x in given.values():
            good = select(x >= 0.0, good, math.nan)
        for name, x in given.items():
            object.__setattr__(self, name, x * good)

    def project(self, x: Vector) -> list[Scalar]:
        return self.nearest(x, 0.0)

    def nearest(self, x: Vector, per_penalty: Scalar) -> list[Scalar]:
        found = self._friction(x[0])
        if self.below is not None:
            least = x[0] - self.below * per_penalty
            found = select(least <= found, found, least)
        if self.above is not None:
            most = x[0] + self.above * per_penalty
            found = select(found <= most, found, most)
        return [found]

    def outside(self, force: Vector) -> Scalar:
        return abs(force[0] - self.project(force)[0])

    def approach(self, sigma: Vector) -> Scalar:
        beyond = [] if self.below is None else [-self.below - sigma[0]]
        beyond += [] if self.above is None else [sigma[0] - self.above]
        return functools.reduce(larger, beyond) if beyond else 0.0

    def work(self, force: Vector, sigma: Vector) -> Scalar:
        """Return that of friction, and that of the stops."""
        friction, s = self._friction(force[0]), sigma[0]
        work = abs(friction * s + self.b * abs(s))
        if self.below is not None:
            work = work + positive_part(force[0] - friction) * abs(s + self.below)
        if self.above is not None:
            work = work + positive_part(friction - force[0]) * abs(self.above - s)
        return work

    def magnitude(self, force: Vector) -> Scalar:
        return abs(force[0])

    def in_units(self, unit: Scalar) -> Interval:
        below, above = (None if x is None else x * unit for x in (self.below, self.above))
        return Interval(self.b * (1.0 / unit), below, above)

    def _friction(self, x: Scalar) -> Scalar:
        return 0.0 if is_zero(self.b) else within(x, self.b)


def inverse(x: Scalar) -> Scalar:
    """Return 1/x, 0 where x is not positive: what has no mobility does not move."""
    something = x > 0.0
    return select(something, 1.0 / select(something, x, 1.0), 0.0)


def into_disk(x: Vector, radius: Scalar) -> Scalar:
    """Return the factor that brings the first two entries into the disk.

    Of one state compiled code passes over root and division where they are inside.
    """
    square = x[0] * x[0] + (x[1] * x[1] + TINY)
    return select(square <= radius * radius, 1.0, radius / sqrt(square))


def within(x: Scalar, bound: Scalar) -> Scalar:
    """Return the nearest number that is no larger than a bound; NaN where one is."""
    size = abs(x)
    return select(size <= bound, x, select(bound <= size, copysign(bound, x), x + bound))


def or_nan(x: Scalar) -> Scalar:
    """Return x, NaN where it is negative."""
    return select(x >= 0.0, x, math.nan)


def positive_part(x: Scalar) -> Scalar:
    """Return x, 0 where it is negative; NaN stays."""
    return select(x <= 0.0, 0.0, x)


def larger(x: Scalar, y: Scalar) -> Scalar:
    """Return the larger of two numbers, NaN where one is."""
    return select(x <= y, y, select(y <= x, x, x + y))


def largest(values: Sequence[Scalar]) -> Scalar:
    """Return the largest of numbers, or 0 if that is larger; NaN where one is."""
    return in_pairs(larger, values)


def in_pairs(larger: Callable[[Scalar, Scalar], Scalar], values: Sequence[Scalar]) -> Scalar:
    """Return the larger of the larger of pairs and so on, or 0: few of them wait for others."""
    found = [0.0, *values]
    while len(found) > 1:
        found = [larger(*found[k : k + 2]) if k + 1 < len(found) else found[k] for k in range(0, len(found), 2)]
    return found[0]


PUSHES = Interval(0.0, below=0.0)
"""A force that only pushes: ``0 ≤ λ ⟂ σ ≥ 0``."""
