"""Passes: each takes a program and returns a better one that computes the same."""

from kinetree.passes.constants import check_constants
from kinetree.passes.pipeline import PASSES, optimize

__all__ = ["PASSES", "check_constants", "optimize"]
