"""`mech.complete_positions`: positions of joints without sensors, from those that were measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinetree.errors import ArgumentError, listed
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot.mechanism import Mechanism


def complete_positions(mech: Mechanism, q: ArrayLike) -> Array:
    """Return the configurations of a motion, of joints that were not measured from those of the independent ones.

    Each is the closed configuration next to the one before, in which the independent joints are where they were
    measured: what `identify` takes of a mechanism whose passive joints have no sensors.

    Parameters
    ----------
    q : (n, nq) array-like
        In the order of time, NaN where it was not measured. The first sample is whole, and says how the mechanism is
        assembled; it need not be precise.

    Returns
    -------
    q : (n, nq) array

    Raises
    ------
    ArgumentError
        If the first sample is not whole, an independent joint was not measured, or the mechanism cannot be closed.

    Examples
    --------
    >>> import numpy as np
    >>> import kinetree as kt
    >>> mech = kt.Mechanism(kt.load("ur5"), [kt.Gear({"wrist_1_joint": 1.0, "wrist_2_joint": 2.0})])
    >>> q = np.linspace([0.0] * 6, [1.0] * 6, 3)
    >>> q[1:, 4] = np.nan
    >>> mech.complete_positions(q)[:, 3:5].round(6) + 0.0
    array([[ 0.  ,  0.  ],
           [ 0.5 , -0.25],
           [ 1.  , -0.5 ]])
    """
    arrays = real_array("q", q, None, mech.nq, batch=False)
    joints = [(body.joint_name, {mech.tree.v_names[k] for k in body.v_index}) for body in mech.model.leading]
    kept = [name for name, own in joints if own <= {*mech.independent}]
    needed = [k for body in mech.model.leading if body.joint_name in kept for k in body.q_index]
    if not np.isfinite(arrays[:1]).all() or not np.isfinite(arrays[:, needed]).all():
        raise ArgumentError(
            "q must be finite in the first sample, which says how the mechanism is assembled, and everywhere for "
            f"{listed(kept)}, from which the others follow: name others, kinetree.Mechanism(…, independent=[…])"
        )
    out = arrays.copy()
    for k, row in enumerate(arrays):
        found = mech.assemble(np.where(np.isfinite(row), row, out[k - 1]), fixed=kept)
        check_closed(np.array([found.converged]), k)
        out[k] = found.q
    return out


def check_closed(converged: Array, first: int = 0) -> None:
    """Raise `ArgumentError` if a sample of a motion could not be closed."""
    if not converged.all():
        raise ArgumentError(
            f"the mechanism cannot be closed near sample {first + int(np.argmin(converged))}: are the positions in "
            "radians and metres, and measured from where the mechanism counts them?"
        )
