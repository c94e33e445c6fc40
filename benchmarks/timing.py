"""Timing of several ways to do the same thing, in turn, so that a machine whose speed drifts treats them alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median

Thunk = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """Seconds for one pass of a thunk, one figure a round."""

    rounds: tuple[float, ...]

    @property
    def minimum(self) -> float:
        return min(self.rounds)

    @property
    def median(self) -> float:
        return median(self.rounds)

    def over(self, count: int) -> Timing:
        """Return the time for one of so many things that a pass does."""
        return Timing(tuple(x / count for x in self.rounds))


def _passes(thunk: Thunk, seconds: float) -> int:
    """Return how many passes take about this long."""
    n = 1
    while True:
        start = time.perf_counter()
        for _ in range(n):
            thunk()
        spent = time.perf_counter() - start
        if spent > seconds / 4:
            return max(1, int(n * seconds / spent))
        n *= 4


def interleaved(thunks: Mapping[str, Thunk], rounds: int = 9, seconds: float = 0.02) -> dict[str, Timing]:
    """Time the thunks in turn: each round gives each of them about this many seconds."""
    for thunk in thunks.values():
        thunk()
    counts = {name: _passes(thunk, seconds) for name, thunk in thunks.items()}
    spent: dict[str, list[float]] = {name: [] for name in thunks}
    for _ in range(rounds):
        for name, thunk in thunks.items():
            n = counts[name]
            start = time.perf_counter()
            for _ in range(n):
                thunk()
            spent[name].append((time.perf_counter() - start) / n)
    return {name: Timing(tuple(times)) for name, times in spent.items()}


def ratios(peer: Timing, ours: Timing) -> tuple[float, float]:
    """Return how many times faster ours is: by the minima, and the median over the rounds."""
    return peer.minimum / ours.minimum, median(p / o for p, o in zip(peer.rounds, ours.rounds, strict=True))
