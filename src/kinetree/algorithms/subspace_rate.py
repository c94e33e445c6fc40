"""The apparent rate of a joint's motion subspace, column by column."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.model import Body
from kinetree.spatial import Motion, Scalar
from kinetree.spatial.scalars import is_zero


def subspace_rate(body: Body, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Motion, ...]:
    """Return the columns of ``S̊`` (RBDA section 3.5), at the robot's q and v: ``c_J = Σ S̊_k ν_k``.

    A joint gives ``c_J`` alone, a quadratic form in ν. Its polar form has the part of ``S̊_k = Σ_j ν_j ∂_j S_k``
    that is symmetric in j and k. The other part is settled by the twists ``S_j`` belonging to one motion:
    ``∂_j S_k − ∂_k S_j = S_k × S_j`` where ν is the rate of the joint's coordinates (the Maurer–Cartan equation).
    Where ``c_J`` is zero for every ν, S is constant: so it is for the joints whose ν is not such a rate.
    """
    joint, n = body.joint, body.joint.nv
    at, rates = [q[k] for k in body.q_index], [v[k] for k in body.v_index]

    def bias(*directions: int) -> Motion:
        return joint.jcalc(at, [float(k in directions) for k in range(n)]).cJ

    alone = [bias(k) for k in range(n)]
    polar = [[alone[k] * 2.0 if j == k else bias(j, k) - alone[j] - alone[k] for j in range(n)] for k in range(n)]
    if all(is_zero(x) for row in polar for c in row for x in c):
        return (Motion.zero(),) * n
    S = joint.jcalc(at, rates).S
    columns = []
    for k in range(n):
        column = Motion.zero()
        for j in range(n):
            column = column + (polar[k][j] + S[k].cross(S[j])) * (0.5 * rates[j])
        columns.append(column)
    return tuple(columns)
