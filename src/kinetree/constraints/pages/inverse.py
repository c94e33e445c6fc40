"""Inverse dynamics with constraints for any set of actuated joints: forces of any size, or within friction cones."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.constraints.contacts import force_sets
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, masked, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.constraints.types import Row
from kinetree.contacts import Balance, ForceSet, FrictionCone, PressedCone, distribute
from kinetree.contacts.sets import or_nan, within
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.linalg import dot, minus, plus, times, transposed
from kinetree.spatial import Scalar

TOLERANCE, MOST_ITERATIONS = 1e-8, 1000.0

OUTPUTS = {"tau": ("nv",), "f": ("nrows",), "missing": ("nv",), "iterations": ()}


@mechanism_algorithm("inverse_dynamics", outputs="tau f missing", joint_space=True, group=taking("active"))
def inverse_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    a: Vector,
    f_ext: Wrenches = None,
    contacts: ContactInputs = NONE_GIVEN,
    *,
    least: str = "force",
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """Joint forces for given accelerations, at the actuated joints alone, and the constraints' forces f.

    ``M a + h = τ + Jᵀ f + missing`` with τ zero at the passive joints, whose equations f has to balance. Where they
    determine f, this is the one solution; where they leave a choice, because there are more actuators than freedoms or
    rows are redundant, the smallest; and where no f balances them, f leaves the least `missing`: what comes next to
    this motion without an actuator where one is missing. Contacts stick and may pull. The acceleration is taken as it
    is given, as for a tree: it is one of the mechanism if ``J a + γ = 0`` (`complete_acceleration`).

    At configurations where the actuated joints do not hold the mechanism, f and `missing` are those of the directions
    in which they do.

    References: RBDA section 8.12, with least squares of least norm for what is not determined.

    >>> tau, f, missing = mech.inverse_dynamics(q, v, 0 * v)
    >>> bool(abs(missing).max() < 1e-9), bool(abs(tau[:6]).max() == 0)  # the feet bear the base, which has no actuator
    (True, True)
    >>> J = mech.constraint_jacobian(q)
    >>> bool(abs(robot.inverse_dynamics(q, v, 0 * v) - tau - J.T @ f).max() < 1e-9)
    True
    """
    rows, columns = _columns(model, q, contacts)
    c = rnea(model, q, v, a, f_ext, f_ext_frame=f_ext_frame)
    passive, actuated = model.passive, model.actuated
    bearing = [columns[k] for k in passive]
    angular = [row.angular for row in rows]
    along, joints = ([1.0 / x for x in model.squared(each)] for each in (angular, model.turning))
    balance = PseudoInverse(bearing, model.nrows, square=1.0, equations=[joints[k] for k in passive], unknowns=along)
    f = balance.times([c[k] for k in passive])
    if least == "torque":
        driven = [columns[k] for k in actuated]
        free = PseudoInverse(
            _along_null_space(driven, bearing, balance, along),
            model.nrows,
            beside=driven,
            square=1.0,
            equations=[joints[k] for k in actuated],
            unknowns=along,
        )
        spared = free.times([c[k] - dot(columns[k], f) for k in actuated])
        f = plus(f, spared)
        left = [c[k] - dot(columns[k], f) for k in passive]  # rounding
        f = plus(f, balance.times(left))
    rest = [x - dot(column, f) for x, column in zip(c, columns, strict=True)]
    tau, missing = ([rest[k] if k in some else 0.0 for k in range(model.nv)] for some in (actuated, passive))
    return tau, f, missing


@mechanism_algorithm("contact_inverse_dynamics", outputs=OUTPUTS, joint_space=True, group=taking("active", "friction"))
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
    rows, columns = _columns(model, q, contacts)
    c = rnea(model, q, v, a, f_ext, f_ext_frame=f_ext_frame)
    passive, actuated = model.passive, model.actuated
    of_rows, of_joints = model.arms(row.angular for row in rows), model.arms(model.turning)
    J = [
        [x * (b / a) for x, b in zip(column, of_rows, strict=True)]
        for column, a in zip(columns, of_joints, strict=True)
    ]
    wanted = [x / a for x, a in zip(c, of_joints, strict=True)]
    lever = of_joints[next((k for k in actuated if model.turning[k]), 0)] if actuated else 1.0
    weights = [1.0] * model.nrows if force_weights is None else force_weights
    problem = Balance(
        E=[J[k] for k in passive],
        c=[wanted[k] for k in passive],
        D=[J[k] for k in actuated],
        d=[wanted[k] for k in actuated],
        sets=_sets(model, rows, contacts.friction, f_min),
        weights=weights if force_weights is None else [x * (a * a) for x, a in zip(weights, of_rows, strict=True)],
        torque_weight=0.0 if torque_weight is None else torque_weight * (lever * lever),
        bounds=None if tau_max is None else [tau_max[k] / of_joints[k] for k in actuated],
    )
    least = TOLERANCE if tolerance is None else tolerance
    f, iterations = distribute(problem, least, MOST_ITERATIONS if max_iterations is None else max_iterations)
    f = [y for x, a, row in zip(f, of_rows, rows, strict=True) for y in masked(row.on, [x * a])]
    wanted = [x - dot(column, f) for x, column in zip(c, columns, strict=True)]
    tau: list[Scalar] = [0.0] * model.nv
    for k in actuated:
        tau[k] = wanted[k] if tau_max is None else within(wanted[k], or_nan(tau_max[k]))
    return tau, f, minus(wanted, tau), iterations


def _columns(model: ConstrainedModel, q: Vector, contacts: ContactInputs) -> tuple[list[Row], Matrix]:
    """Return the rows, and the columns of J, zero in rows that are switched off."""
    rows = model.constraint_rows(q, None, contacts)
    return rows, transposed([masked(row.on, row.J) for row in rows])


def _along_null_space(B: Matrix, A: Matrix, inverse: PseudoInverse, squared: Vector) -> Matrix:
    """Return ``B (1 − A⁺ A)``, with ``A⁺ A`` symmetric between the roots of what squares of unknowns count."""
    seen = inverse.times_columns([times(A, [x / u for x, u in zip(row, squared, strict=True)]) for row in B])
    return [[x - u * y for x, u, y in zip(row, squared, part, strict=True)] for row, part in zip(B, seen, strict=True)]


def _sets(
    model: ConstrainedModel, rows: Sequence[Row], friction: Vector | None, f_min: Vector | None
) -> list[tuple[ForceSet, range]]:
    """Return the force sets of the contacts with their rows; no least force where one is switched off."""
    found: list[tuple[ForceSet, range]] = []
    for k, at, each in force_sets(model, rows, friction):
        if f_min is not None and isinstance(each, FrictionCone):
            each = PressedCone(each.mu, masked(rows[at.start].on, [f_min[k]])[0])
        found.append((each, range(at.start, at.stop)))
    return found
