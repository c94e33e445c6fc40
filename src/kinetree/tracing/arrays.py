"""Arrays of traced scalars: how to make one, and how to recognise them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kinetree.tracing.expr import Expr
from kinetree.tracing.numpy_dispatch import TracedArray


def traced_array(entries: Sequence[Any], shape: tuple[int, ...]) -> Any:
    """Return the array with these row-major entries; the entry itself if there are no axes."""
    if not shape:
        return entries[0]
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    return array.reshape(shape).view(TracedArray)


def is_traced(value: Any) -> bool:
    """Return whether there is a traced scalar in this, or room for none: an array, nested sequences, or a scalar."""
    if isinstance(value, np.ndarray):
        return value.dtype == object and (value.size == 0 or any(isinstance(entry, Expr) for entry in value.flat))
    if isinstance(value, list | tuple):
        return any(is_traced(entry) for entry in value)
    return isinstance(value, Expr)
