"""Numbers that fill a space evenly."""

from __future__ import annotations

import math


def prime_roots(n: int) -> list[float]:
    """Return the fractions of the roots of n primes: their multiples modulo 1 fill a cube evenly (Richtmyer 1951)."""
    primes: list[int] = []
    k = 2
    while len(primes) < n:
        if all(k % p for p in primes):
            primes.append(k)
        k += 1
    return [math.sqrt(p) % 1.0 for p in primes]
