"""Inverse dynamics with contact forces within friction cones."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.constraints.delassus import each_switched, on_or_off, switched, switches
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.lengths import arms
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.table import MECHANISM_ALGORITHMS
from kinetree.contacts import Balance, ForceSet, PressedCone, distribute
from kinetree.contacts.sets import FrictionCone, or_nan, within
from kinetree.scalars.linalg import dot, transposed
from kinetree.spatial import Scalar

TOLERANCE, MOST_ITERATIONS = 1e-8, 1000.0

OUTPUTS = {"tau": ("nv",), "f": ("nrows",), "missing": ("nv",), "iterations": ()}


@algorithm(
    "contact_inverse_dynamics",
    outputs=OUTPUTS,
    joint_space=True,
    group=taking("active", "friction"),
    table=MECHANISM_ALGORITHMS,
)
def contact_inverse_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    a: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    force_weights: Vector | None = None,
    torque_weight: Scalar | None = None,
    f_min: Vector | None = None,
    tau_max: Vector | None = None,
    tolerance: Scalar | None = None,
    max_iterations: Scalar | None = None,
    *,
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar], list[Scalar], Scalar]:
    """Joint forces τ for given accelerations, where contacts push only and hold what friction can hold.

    Of the forces f that balance the passive joints (of a robot with a floating base, its base), ``c_P = J_Pᵀ f`` with
    ``c = M a + h``, those that cost least, ``fᵀ R f + w τᵀ τ``, with each contact's in its friction cone, from a least
    normal force on, and with τ within bounds. All contacts touch but those that are not `active`. Forces of other
    constraints are not limited. A motion that cannot be balanced so shows in `missing`: f is then nearest to what would
    balance it.

    Parameters
    ----------
    tolerance
        By how much equations and limits may be missed, beside the largest of c: 1e-8 if not given.
    max_iterations
        Of the solver: 1000 if not given. Motions that cannot be balanced take all of them.

    Returns
    -------
    tau
        Zero at passive joints (N·m, N).
    f
        Row by row (N, N·m).
    missing
        ``c − τ − Jᵀ f``: what the motion takes beyond all of these (N·m, N).
    iterations
        Of the solver.

    References: the alternating direction method of multipliers, Boyd et al. (2011), with an affine projection.

    >>> stand = robot.neutral()
    >>> tau, f, missing, iterations = mech.contact_inverse_dynamics(stand, 0 * v, 0 * v)
    >>> bool(abs(missing).max() < 1e-5), bool(abs(f[2::3].sum() - robot.gravity_forces(stand)[5]) < 1e-5)
    (True, True)
    """
    on, equations = switches(model, contacts.active), model.constraint_rows(q)
    rows = [row.J for row in equations]
    if on is not None:
        rows = [switched(s, row) for s, row in zip(on, rows, strict=True)]
    columns, c = transposed(rows), rnea(model, q, v, a, f_ext, f_ext_frame=f_ext_frame)
    actuated = list(model.actuated)
    passive = [k for k in range(model.nv) if k not in actuated]
    of_rows, of_joints = arms(model, (row.angular for row in equations)), arms(model, model.turning)
    J = [
        [x * (b / a) for x, b in zip(column, of_rows, strict=True)]
        for column, a in zip(columns, of_joints, strict=True)
    ]
    wanted = [x / a for x, a in zip(c, of_joints, strict=True)]
    lever = of_joints[next((k for k in actuated if model.turning[k]), 0)] if actuated else 1.0
    problem = Balance(
        E=[J[k] for k in passive],
        c=[wanted[k] for k in passive],
        D=[J[k] for k in actuated],
        d=[wanted[k] for k in actuated],
        sets=_sets(model, on_or_off(contacts.active), contacts.friction, f_min),
        weights=[1.0] * model.nrows
        if force_weights is None
        else [x * (a * a) for x, a in zip(force_weights, of_rows, strict=True)],
        torque_weight=0.0 if torque_weight is None else torque_weight * (lever * lever),
        bounds=None if tau_max is None else [tau_max[k] / of_joints[k] for k in actuated],
    )
    numbers = (
        TOLERANCE if tolerance is None else tolerance,
        MOST_ITERATIONS if max_iterations is None else max_iterations,
    )
    f, iterations = distribute(problem, *numbers)
    f = each_switched(on, [x * a for x, a in zip(f, of_rows, strict=True)])
    wanted = [x - dot(column, f) for x, column in zip(c, columns, strict=True)]
    tau: list[Scalar] = [0.0] * model.nv
    for k in actuated:
        tau[k] = wanted[k] if tau_max is None else within(wanted[k], or_nan(tau_max[k]))
    return tau, f, [x - t for x, t in zip(wanted, tau, strict=True)], iterations


def _sets(
    model: ConstrainedModel, on: Vector | None, friction: Vector | None, f_min: Vector | None
) -> list[tuple[ForceSet, range]]:
    """Return the force sets of the contacts with their rows; no least force where one is switched off."""
    found: list[tuple[ForceSet, range]] = []
    for k, (constraint, where) in enumerate(zip(model.constraints, model.row_slices.values(), strict=True)):
        acting = 1.0 if on is None else on[k]
        each = constraint.force_set(None if friction is None else switched(acting, [friction[k]])[0])
        if each is not None:
            if f_min is not None and isinstance(each, FrictionCone):
                each = PressedCone(each.mu, switched(acting, [f_min[k]])[0])
            found.append((each, range(where.start, where.stop)))
    return found
