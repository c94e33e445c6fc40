"""Passes: each takes a program and returns a better one that computes the same values, up to rounding."""

from kinetree.passes.constants import check_constants
from kinetree.passes.pipeline import PASSES, optimize

__all__ = ["PASSES", "check_constants", "optimize"]
