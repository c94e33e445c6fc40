"""Identification of mechanisms: the equations of motion in independent velocities, where constraint forces are not.

Forces f that nobody measures close the loops, ``Y π = τ + Jᵀ f``. Along the velocities that the constraints allow,
``v = G ẏ`` with ``J G = 0``, they do no work: ``Gᵀ Y π = Gᵀ τ`` are as many equations as independent velocities.

References: Gautier, "Dynamic identification of robots with power model", 1997, and Khalil and Dombre, "Modeling,
identification and control of robots", 2002, section 12.5: closed loops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kinetree.errors import ArgumentError, listed
from kinetree.identification.equations import RegressionModel
from kinetree.identification.log import Log, motions_in
from kinetree.identification.parameters.base import BaseParameters
from kinetree.logs.samples import Filter, Samples
from kinetree.robot.mechanism_positions import check_closed
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

UNMOVED = 1e-9  # an entry of G below this, relative to the greatest of its joint, is rounding


class MechanismModel(RegressionModel):
    """The tree's equations along the independent velocities: in the places of these, and none in the others'.

    The samples are those of a closed mechanism: each is the closed configuration next to the measured one, with the
    velocity and the acceleration that the independent ones make.
    """

    def __init__(self, mech: Mechanism, base: BaseParameters, stribeck_speed: Array | None = None) -> None:
        super().__init__(base, stribeck_speed)
        self.mech, self._own = mech, self.pattern
        self._independent = list(mech.model.independent_velocities)
        every, none = np.arange(base.dimension), np.arange(0)
        self.pattern = [every if k in self._independent else none for k in range(mech.nv)]

    def log(self, log: Any, filter: Filter | None = None, *, check: bool = True) -> Log:
        """Return a log of closed configurations."""
        return ClosedLog(self.mech, log, filter, smoothing=self.smoothing, check=check)

    def of(self, piece: Samples) -> tuple[list[Array], Array]:
        """Return the rows and what they add up to, zeros where a joint that takes part stands still."""
        tau = np.where(driven(self.mech), piece.tau, 0.0)
        tree, right = super().of(piece._replace(tau=tau, standing=None))
        G = self.mech.velocity_map(piece.q)
        sums = np.zeros((len(right), len(self._independent), self.dimension))
        for k, (Y, columns) in enumerate(zip(tree, self._own, strict=True)):
            sums[:, :, columns] += G[:, k, :, None] * Y[:, None, :]
        total = np.einsum("nki,nk->ni", G, right)
        if piece.standing is not None:
            part = np.abs(G) > UNMOVED * np.abs(G).max(axis=(0, 2), keepdims=True)
            there = ~(part & (piece.standing != 0.0)[:, :, None]).any(axis=1)
            sums, total = sums * there[:, :, None], total * there
        rows, out = [np.zeros((len(right), 0))] * self.mech.nv, np.zeros_like(right)
        out[:, self._independent] = total
        for i, k in enumerate(self._independent):
            rows[k] = sums[:, i]
        return rows, out


def driven(mech: Mechanism) -> NDArray[np.bool_]:
    """Return which entries of v (nv,) an actuator drives; no force but friction is on the others."""
    return np.asarray(np.isin(np.arange(mech.nv), mech.model.actuated), dtype=np.bool_)


def check_constraints(mech: Mechanism) -> None:
    """Raise `ArgumentError` if there are constraints that may let go: then velocities are allowed that G has not."""
    names = [c.label for c in mech.constraints if c.force_set() is not None]
    if names:
        raise ArgumentError(
            f"{listed(names)} may let go, and no sample says when: identify a mechanism without contacts, "
            "kinetree.Mechanism(mech.tree, [the loops]), with their measured wrenches as f_ext of Samples(q, v, a, "
            "tau, f_ext)"
        )


class ClosedLog(Log):
    """A log of the motions of a closed mechanism, without the forces of joints that none drives.

    `apart` (nv,) are root mean squares (rad, m) from the recorded configurations, in the motion where they are largest.
    """

    def __init__(self, mech: Mechanism, log: Any, filter: Filter | None = None, **choices: Any) -> None:
        super().__init__(log, filter, **choices)
        self.mech, self.apart, recorded = mech, np.zeros(mech.nv), self.given
        self.given, self._rest = lambda: map(self._closed, motions_in(recorded)), map(self._closed, self._rest)

    def _closed(self, recorded: Samples) -> Samples:
        motion = closed(self.mech, recorded)
        way = self.mech.tree.difference(recorded.q, motion.q).reshape(-1, self.mech.nv)
        self.apart = np.maximum(self.apart, np.sqrt((way * way).sum(axis=0) / max(1, len(way))))
        tau = np.where(driven(self.mech), np.asarray(motion.tau, dtype=float), np.nan)
        if (unknown := driven(self.mech) & np.isnan(tau.reshape(-1, self.mech.nv)[:1]).any(axis=0)).any():
            names = [self.mech.tree.v_names[k] for k in np.flatnonzero(unknown)]
            raise ArgumentError(
                f"the forces of {listed(names)} are NaN, and the mechanism's equations need those of all driven "
                "joints: name the driven ones, kinetree.Mechanism(…, actuated=[…])"
            )
        return motion._replace(tau=tau)


def closed(mech: Mechanism, motion: Samples) -> Samples:
    """Return the motion next to a recorded one in which all constraints hold, with rates of the independent ones."""
    tree = mech.tree
    q = real_array("q", motion.q, tree.nq)
    lost: Array = np.isnan(q.reshape(-1, tree.nq)).sum(axis=0)
    if lost.any():
        names = [body.joint_name for body in mech.model.leading if lost[list(body.q_index)].any()]
        raise ArgumentError(
            f"q is NaN for {listed(names)}: mech.complete_positions(q) finds positions that "
            "were not measured from those of the independent joints"
        )
    found, lead = mech.assemble(q), q.shape[:-1]
    check_closed(np.asarray(found.converged).ravel())
    v, a = (real_array(x, getattr(motion, x), *lead, tree.nv, batch=False) for x in "va")
    independent = list(mech.model.independent_velocities)
    v = mech.complete_velocity(found.q, v[..., independent])
    return motion._replace(q=found.q, v=v, a=mech.complete_acceleration(found.q, v, a[..., independent]))
