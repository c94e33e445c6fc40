"""Limits as the file means them: URDF demands numbers for effort and velocity, and 0 is written for "not known"."""

from __future__ import annotations

import math

import numpy as np

from kinetree.validation import Array


def given(limit: float) -> float:
    """Return a limit of effort or velocity, infinite where it is 0: that is read as not given.

    Examples
    --------
    >>> given(87.0), given(0.0)
    (87.0, inf)
    """
    return limit if limit > 0 else math.inf


def all_given(limits: Array) -> Array:
    """Return limits (n,), infinite where they are 0."""
    return np.where(limits > 0, limits, np.inf)
