"""Constraints between bodies and joints, and the pages of the algorithms for a tree with constraints."""

from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import MECHANISM_ALGORITHMS

__all__ = ["MECHANISM_ALGORITHMS", "ConstrainedModel"]
