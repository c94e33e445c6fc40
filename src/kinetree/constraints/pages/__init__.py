"""The algorithms of a mechanism, one page each, over any scalar; a page is imported when it is first used."""

from functools import partial

from kinetree.algorithms.registry import algorithm
from kinetree.constraints.table import MECHANISM_ALGORITHMS

mechanism_algorithm = partial(algorithm, table=MECHANISM_ALGORITHMS)
"""The decorator by which a page declares one."""
