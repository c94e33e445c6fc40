"""Inverse dynamics with constraints, for any set of actuated joints."""

from __future__ import annotations

from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.registry import Matrix, Vector
from kinetree.constraints.delassus import switched, switches
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.lengths import forces_squared
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.scalars.factorization import PseudoInverse
from kinetree.scalars.linalg import dot, times, transposed
from kinetree.spatial import Scalar


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
    on, equations = switches(model, contacts.active), model.constraint_rows(q)
    rows = [row.J for row in equations]
    if on is not None:
        rows = [switched(s, row) for s, row in zip(on, rows, strict=True)]
    columns, c = transposed(rows), rnea(model, q, v, a, f_ext, f_ext_frame=f_ext_frame)
    passive, actuated = model.passive, model.actuated
    bearing = [columns[k] for k in passive]
    along = forces_squared(model, [row.angular for row in equations])
    joints = forces_squared(model, model.turning)
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
        f = [x + y for x, y in zip(f, spared, strict=True)]
        left = [c[k] - dot(columns[k], f) for k in passive]  # rounding
        f = [x + y for x, y in zip(f, balance.times(left), strict=True)]
    rest = [x - dot(column, f) for x, column in zip(c, columns, strict=True)]
    tau, missing = ([rest[k] if k in some else 0.0 for k in range(model.nv)] for some in (actuated, passive))
    return tau, f, missing


def _along_null_space(B: Matrix, A: Matrix, inverse: PseudoInverse, squared: Vector) -> Matrix:
    """Return ``B (1 − A⁺ A)``, with ``A⁺ A`` symmetric between the roots of what squares of unknowns count."""
    seen = inverse.times_columns([times(A, [x / u for x, u in zip(row, squared, strict=True)]) for row in B])
    return [[x - u * y for x, u, y in zip(row, squared, part, strict=True)] for row, part in zip(B, seen, strict=True)]
