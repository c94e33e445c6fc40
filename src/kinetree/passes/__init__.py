"""Passes: each takes a program and returns a better one that computes the same."""

from kinetree.passes.pipeline import PASSES, optimize

__all__ = ["PASSES", "optimize"]
