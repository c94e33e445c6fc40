"""Forces of constraints as joint forces, and as wrenches on bodies."""

from __future__ import annotations

from kinetree.algorithms.registry import Matrix, Vector
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.scalars.linalg import times, transposed
from kinetree.spatial import Force, Scalar


@mechanism_algorithm("constraint_wrenches", outputs="f_ext")
def constraint_wrenches(model: ConstrainedModel, q: Vector, f: Vector) -> Matrix:
    """Wrenches that constraints exert on the bodies, as every function of the tree takes them.

    With these as ``f_ext``, `Robot.joint_reactions` and `Robot.inverse_dynamics` of ``mech.tree`` are those of the
    mechanism. A `Gear` acts between joints and has no wrench here: it is in `constraint_forces` only.

    Returns
    -------
    f_ext
        Moment and force on each body, in its axes about its origin (N·m, N).

    References: RBDA section 8.2: the wrench ``T λ`` on one body, and the opposite one on the other.

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> tau = mech.tree.inverse_dynamics(q, v, a, mech.constraint_wrenches(q, f))
    >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
    True
    """
    on = [Force.zero()] * model.nb
    for constraint, where in zip(model.constraints, model.row_slices.values(), strict=True):
        for i, wrench in constraint.wrenches(model, q, f[where]).items():
            on[i] = on[i] + wrench
    return [list(wrench) for wrench in on]


@mechanism_algorithm("constraint_forces", outputs="tau")
def constraint_forces(model: ConstrainedModel, q: Vector, f: Vector) -> list[Scalar]:
    """Joint forces equivalent to the constraints' forces, ``Jᵀ f``.

    References: RBDA eq. 8.4.

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> tau = mech.tree.inverse_dynamics(q, v, a) - mech.constraint_forces(q, f)
    >>> bool(abs(tau - robot.gravity_forces(q)).max() < 1e-9)
    True
    """
    return times(transposed([row.J for row in model.constraint_rows(q)]), f)
