"""How much of a rebound is left where it would add energy.

With friction, Newton's law of restitution can add energy to a linkage: it asks for normal velocities, and what friction
does meanwhile may be worth more than what is lost along the normals (Kane and Levinson, Dynamics, 1985). Impulses
without rebound, with e = 0, never add any, and kinetic energy is a convex quadratic function of the impulses. So there
is a most that the rebound's impulses can be mixed into these: where energy neither comes nor goes. Both lie within the
friction cones and part bodies, and so does any mixture. Cf. Glocker, Energetic consistency conditions for standard
impacts (2014); Leine and van de Wouw, Stability and Convergence of Mechanical Systems with Unilateral Constraints
(2008), section 5.4.
"""

from __future__ import annotations

from kinetree.glossary.symbols import Vector
from kinetree.scalars.functions import Scalar, select_less, sqrt
from kinetree.scalars.linalg import dot


def without_gain(g: Vector, met: Vector, met_change: Vector, rebound: Vector, rebound_change: Vector) -> Scalar:
    """Return s, 0 to 1: how much of the impulses ``met`` without rebound replaces the impulses with one.

    Those that act are ``(1 − s) rebound + s met``; s is 0 but where energy would be added.

    Parameters
    ----------
    g : (n,) scalars
        The velocities along the rows without any of them.
    met_change, rebound_change : (n,) scalars
        By how much these impulses change them.

    Examples
    --------
    >>> without_gain([-1.0], [1.0], [1.0], [1.5], [1.5]), without_gain([-1.0], [1.0], [1.0], [3.0], [3.0])
    (0.0, 0.5)
    """
    back, change = (
        [x - y for x, y in zip(*pair, strict=True)] for pair in ((met, rebound), (met_change, rebound_change))
    )
    gained = dot(rebound, g) + 0.5 * dot(rebound, rebound_change)
    rate, curvature = dot(back, g) + dot(back, rebound_change), dot(back, change)
    gained = select_less(0.0, gained, gained, 0.0)
    square = rate * rate - 2.0 * curvature * gained  # gained + rate s + curvature s²/2 is zero at the smaller root
    below = sqrt(select_less(0.0, square, square, 0.0)) - rate
    s = 2.0 * gained / select_less(0.0, below, below, 1.0)
    return select_less(s, 1.0, s, 1.0)


def mixed(s: Scalar, met: Vector, rebound: Vector) -> list[Scalar]:
    """Return ``(1 − s) rebound + s met``."""
    return [x + s * (y - x) for x, y in zip(rebound, met, strict=True)]
