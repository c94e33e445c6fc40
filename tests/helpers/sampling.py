"""Which of many slow cases run: another sample at each commit, or all of them with KINETREE_TEST_ALL=1.

What is sampled is chosen by a seed: KINETREE_TEST_SEED, or a number made from the commit, which pytest prints.
"""

import hashlib
import heapq
import itertools
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Case = TypeVar("Case", bound=tuple[Any, ...])

ROOT = Path(__file__).parents[2]
ALL = bool(os.environ.get("KINETREE_TEST_ALL"))


def seed_of_commit(root=ROOT):
    """Return a number made from the commit that is checked out; without git, from the sources and the tests."""
    git = ["git", "-C", str(root), "rev-parse", "HEAD"]
    try:
        name = subprocess.run(git, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        files = sorted(path for folder in ("src", "tests") for path in (root / folder).rglob("*.py"))
        name = b"".join(path.read_bytes() for path in files)
    return int(hashlib.sha256(name).hexdigest()[:6], 16)


SEED = int(os.environ.get("KINETREE_TEST_SEED") or seed_of_commit())


class Table(NamedTuple):
    """All cases of a test, and those that run."""

    place: str
    cases: Sequence[tuple[Any, ...]]
    chosen: Sequence[tuple[Any, ...]]


TABLES = []
"""Of all test modules that have been imported."""


def few(cases, count):
    """Return so many of the cases in their order, or all where all are asked for."""
    every = list(cases)
    chosen = sorted(random.Random(SEED).sample(range(len(every)), min(count, len(every))))
    return every if ALL else [every[k] for k in chosen]


def cover(cases):
    """Return cases that have every value of every factor, and every two values of two factors that a case has.

    Parameters
    ----------
    cases : iterable of tuple
        One value of each factor: a product, or a part of one.

    Returns
    -------
    list of tuple
        A pairwise cover, in the order of the cases; all cases where all are asked for.

    Examples
    --------
    >>> cases = list(itertools.product("abc", range(3), range(3)))
    >>> len(cases), 9 <= len(pairwise(cases, seed=1)) <= 13
    (27, True)
    """
    every = list(cases)
    chosen = every if ALL else pairwise(every, SEED)
    caller = sys._getframe(1)
    TABLES.append(Table(f"{caller.f_code.co_filename}:{caller.f_lineno}", every, chosen))
    return chosen


def pairwise(cases, seed):
    """Return the cover that a seed chooses: one after the other, a case with most pairs that none before it has."""
    ranks = random.Random(seed).sample(range(len(cases)), len(cases))
    has = [pairs(case) for case in cases]
    missing = set().union(*has)
    queue = sorted((-len(has[k]), rank, k) for k, rank in enumerate(ranks))  # a heap, by what was new once
    chosen = []
    while missing:
        _, rank, k = heapq.heappop(queue)
        new = len(has[k] & missing)
        if queue and new < -queue[0][0]:
            heapq.heappush(queue, (-new, rank, k))
        else:
            chosen.append(k)
            missing -= has[k]
    return [cases[k] for k in sorted(chosen)]


def pairs(case):
    """Return every value of a case with its factor, and every two of them."""
    values = [(factor, _name(value)) for factor, value in enumerate(case)]
    return {*values, *itertools.combinations(values, 2)}


def _name(value):
    """Return what equal values have in common."""
    try:
        return hash(value), repr(value)
    except TypeError:
        return id(value)
