"""Forward dynamics with constraints."""

from __future__ import annotations

from kinetree.algorithms.dynamics.branches import branch_factor
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector, algorithm
from kinetree.constraints.delassus import Delassus, moved_velocities, row_values
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.table import MECHANISM_ALGORITHMS
from kinetree.constraints.types import Row
from kinetree.scalars.linalg import dot
from kinetree.spatial import Scalar


@algorithm("forward_dynamics", outputs="a f", raises=SINGULAR, joint_space=True, table=MECHANISM_ALGORITHMS)
def forward_dynamics(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    tau: Vector,
    f_ext: Wrenches = None,
    active: Vector | None = None,
    *,
    f_ext_frame: str = "body",
) -> tuple[list[Scalar], list[Scalar]]:
    """Accelerations under the joint forces τ, and the constraints' forces f.

    ``M a + h = τ + Jᵀ f`` and ``J a + γ = 0``. The acceleration is exact also where constraints are redundant, and f is
    then the smallest force that gives it. In a mechanism with a `stabilization` ω errors fade away:
    ``J a + γ + 2ω J v + ω² φ = 0``.

    References: RBDA sections 8.1 and 8.5, with ``M = LᵀDL``; for redundant rows the proximal-point method, as in
    Carpentier, Budhiraja and Mansard, Proximal and sparse resolution of constrained dynamic equations (RSS 2021).

    >>> a, f = mech.forward_dynamics(q, v, robot.gravity_forces(q))
    >>> J, gamma = mech.constraint_jacobian(q), mech.constraint_bias(q, v)
    >>> bool(abs(J @ a + gamma).max() < 1e-9)
    True
    """
    h = rnea(model, q, v, [0.0] * model.nv, f_ext, f_ext_frame=f_ext_frame)  # first: all that it needs is needed again
    rows = model.constraint_rows(q, v)
    factor = branch_factor(model, q, moved_velocities(rows))
    delassus = Delassus(factor, [row.J for row in rows], row_values(model, active))
    y = factor.solve_L_transposed([t - x for t, x in zip(tau, h, strict=True)])
    b = [_wanted(row, v, model.stabilization) for row in rows]
    for i, row in zip(delassus.kept, delassus.BD, strict=True):
        b[i] = b[i] + dot(row, y)
    f = delassus.forces(b)
    pushed = [x + z for x, z in zip(y, delassus.joint_forces(f), strict=True)]
    return factor.solve_L(pushed, factor.D), f


def _wanted(row: Row, v: Vector, omega: Scalar) -> Scalar:
    """Return ``γ + 2ω J v + ω² φ``, which the acceleration along the row cancels."""
    position = 0.0 if row.phi is None else row.phi * omega
    return row.gamma + (dot(row.J, v) * 2.0 + position) * omega
