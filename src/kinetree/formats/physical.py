"""Which inertias no body can have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

TOLERANCE = 1e-6
"""How far the triangle inequality may be missed, relative to the largest moment: published figures are rounded."""


def is_physical(mass: float, moments: ArrayLike) -> bool:
    """Return whether some body has this mass and this inertia about its centre of mass.

    Principal moments of inertia satisfy ``J1 + J2 ≥ J3`` for the largest, J3, because each is a sum of two
    non-negative second moments; it follows that none is negative. A rod or a point is a body. Without mass there
    is no inertia.

    Parameters
    ----------
    mass : float
        kg, not negative.
    moments : (3, 3) array-like
        kg·m², about the centre of mass.

    Examples
    --------
    >>> import numpy as np
    >>> is_physical(1.0, np.diag([1.0, 1.0, 2.0])), is_physical(1.0, np.diag([1.0, 1.0, 2.1]))
    (True, False)
    """
    J = np.asarray(moments, dtype=np.float64)
    largest = np.abs(J).max()
    if largest == 0.0:
        return True
    principal = np.linalg.eigvalsh(J / largest)
    return bool(mass > 0.0 and principal[0] + principal[1] >= principal[2] * (1.0 - TOLERANCE))
