"""Which of many slow cases run: a sample, or all of them with KINETREE_TEST_ALL=1 in the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

ALL = bool(os.environ.get("KINETREE_TEST_ALL"))


def sample(cases: Iterable[T], each: int) -> list[T]:
    """Return every so many-th case, the first among them; all where all are asked for."""
    return list(cases)[:: 1 if ALL else each]
