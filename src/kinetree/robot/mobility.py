"""What the constraints of a mechanism leave free at a configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinetree.constraints.model import ROUNDING, independent_columns, pivots
from kinetree.errors import ArgumentError, listed
from kinetree.tables import number
from kinetree.validation import Array, check_finite, positive, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Mobility:
    """The freedoms of a mechanism at one configuration; printed, it says them in words.

    Attributes
    ----------
    mobility : int
        How many independent velocities the constraints allow: nv less the rank.
    rank : int
        Of the constraint Jacobian J.
    nv, nrows : int
        Freedoms of the tree, and rows of the constraints that act.
    singular_values : (min(nrows, nv),) array
        Of J between angles, with lengths divided by ``mech.length``, largest first; those that do not count for the
        rank are rounding, or nearly so.
    redundant : mapping of str to tuple of int
        For each constraint with some: which of its rows, from 0 on, others imply. Their forces are not determined.
    dependent, independent : tuple of str
        Entries of the velocity (as ``robot.v_names``): those that follow from the others, and `mobility` many from
        which they follow: ``mech.independent`` where these will do at this configuration, else as many of them as do.
    immobile : tuple of str
        Entries of the velocity that are zero in every motion that the constraints allow.
    motions : (mobility, nv) array
        Those motions: a basis of the v with ``J v = 0``, orthonormal between angles, with lengths divided by
        ``mech.length``.
    """

    mobility: int
    rank: int
    nv: int
    nrows: int
    singular_values: Array
    redundant: Mapping[str, tuple[int, ...]]
    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    immobile: tuple[str, ...]
    motions: Array

    @property
    def gruebler(self) -> int:
        """What counting alone says, as Grübler and Kutzbach did: nv less the number of rows."""
        return self.nv - self.nrows

    def __str__(self) -> str:
        redundant = ", ".join(f"{name} [{', '.join(map(str, rows))}]" for name, rows in self.redundant.items())
        counted, rest = self.singular_values[: self.rank], self.singular_values[self.rank :]
        values = " … ".join(dict.fromkeys(number(float(x)) for x in (*counted[:1], *counted[-1:])))
        lines = {
            f"mobility {self.mobility}": f"{self.nv} freedoms of the tree less rank {self.rank} of {self.nrows} rows "
            f"(counted, Grübler: {self.gruebler})",
            "redundant rows": redundant,
            "dependent": ", ".join(self.dependent),
            "independent": ", ".join(self.independent),
            "cannot move": ", ".join(self.immobile),
            "singular values": ", then ".join(filter(None, (values, *(number(float(x)) for x in rest[:1])))),
        }
        return "\n".join(f"{title}: {text or 'none'}" for title, text in lines.items())


def mobility(mech: Mechanism, q: ArrayLike, *, active: ArrayLike | None = None, tolerance: float = 1e-6) -> Mobility:
    """Return the freedoms that the constraints leave at q: rank, redundant rows and dependent joints.

    Parameters
    ----------
    q : (nq,) array
        A configuration in which the constraints hold. Elsewhere the result is that of their Jacobian at q all the same.
    active : (nconstraints,) array, optional
        1 for each constraint that acts, 0 for the others.
    tolerance : float
        Singular values of J below this part of the largest count as zero.

    Returns
    -------
    Mobility

    Raises
    ------
    ArgumentError
        If q or `active` is not an array of that shape or not finite, the tolerance not positive; if a constraint that
        acts means nothing at q.

    Notes
    -----
    It is about velocities at this configuration. At a singular one they are more than the mechanism can follow: four
    bars in a line can begin to move in two ways.

    References
    ----------
    RBDA section 3.3; Golub and Van Loan, Matrix Computations, section 5.4 (rank by singular values and by QR with
    pivots); Grübler 1917.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> mech = kt.Mechanism(robot, [kt.Rod("panda_hand", "panda_link0", length=0.7)])
    >>> found = mech.mobility(mech.assemble(robot.neutral()).q)
    >>> found.mobility, found.rank
    (6, 1)
    """
    model, least = mech.model, positive("tolerance", tolerance)
    on = np.array([True] * mech.nrows)
    if active is not None:
        flags = np.asarray(active)
        flags = _finite("active", flags.astype(float) if flags.dtype == bool else flags, model.nconstraints)
        if (wrong := flags[(flags != 0.0) & (flags != 1.0)]).size:
            raise ArgumentError(f"active holds {wrong[0]:g}: it is 1 for each constraint that acts, 0 for the others")
        on = flags[list(model.constraint_of_row)] == 1.0
    J = model.jacobian_of_angles(_finite("q", q, model.nq).tolist())[on]
    if not np.isfinite(J).all():
        lost = {model.constraint_names[model.constraint_of_row[i]] for i in np.flatnonzero(on)[np.isnan(J).any(axis=1)]}
        raise ArgumentError(f"there are no rows at this q of {listed(sorted(lost))}, such as a wheel that lies flat")
    _, s, Vt = np.linalg.svd(J)
    rank = int((s > max(least * s.max(initial=0.0), ROUNDING)).sum())
    rows, free = set(pivots(J.T, rank)), independent_columns(J, rank, model.independent_velocities)
    names, motions = model.v_names, Vt[rank:]
    implied = dict(zip(np.flatnonzero(on).tolist(), (i not in rows for i in range(len(J))), strict=True))
    redundant = {
        name: tuple(i - where.start for i in range(where.start, where.stop) if implied.get(i, False))
        for name, where in mech.row_slices.items()
    }
    return Mobility(
        mobility=mech.nv - rank,
        rank=rank,
        nv=mech.nv,
        nrows=len(J),
        singular_values=s,
        redundant={name: found for name, found in redundant.items() if found},
        dependent=tuple(name for k, name in enumerate(names) if k not in free),
        independent=tuple(names[k] for k in free),
        immobile=tuple(
            name for name, size in zip(names, np.linalg.norm(motions, axis=0), strict=True) if size <= least
        ),
        motions=motions * np.array(model.units(model.turning), dtype=float),
    )


def _finite(what: str, value: ArrayLike, n: int) -> Array:
    """Return an array of n finite numbers."""
    array = real_array(what, value, n, batch=False)
    check_finite(what, array)
    return array
