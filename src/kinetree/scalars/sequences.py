"""Numbers that fill a space evenly."""

from __future__ import annotations

import math


def prime_roots(n: int) -> list[float]:
    """Return the fractions of the square roots of the first n primes.

    Their multiples modulo one, a Kronecker sequence, fill the unit cube more evenly than random numbers
    (Richtmyer 1951).

    Examples
    --------
    >>> [round(x, 3) for x in prime_roots(3)]
    [0.414, 0.732, 0.236]
    """
    primes: list[int] = []
    k = 2
    while len(primes) < n:
        if all(k % p for p in primes):
            primes.append(k)
        k += 1
    return [math.sqrt(p) % 1.0 for p in primes]
