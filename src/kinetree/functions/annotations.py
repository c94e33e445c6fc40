"""Types for the arguments of functions that are compiled."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64] | Any
"""An array: traced inside the function, and for callers of what `kinetree.compile` returns all that NumPy takes as one.

To type checkers it is an array where it is used, and anything where it is given.
"""

Number: TypeAlias = float | Any
"""A number, whatever the argument's name; for callers also an array of them, one for each state of a batch."""
