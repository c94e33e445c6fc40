"""Impulses: velocities that change at once so that constraints hold."""

from __future__ import annotations

from kinetree.algorithms.dynamics.factorization import branch_factor
from kinetree.algorithms.dynamics.singular import SINGULAR
from kinetree.algorithms.registry import Vector
from kinetree.constraints.anchors import speeds
from kinetree.constraints.delassus import Delassus, moved_velocities, row_values, switches
from kinetree.constraints.inputs import NONE_GIVEN, ContactInputs, taking
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages import mechanism_algorithm
from kinetree.spatial import Scalar


@mechanism_algorithm(
    "impulse",
    outputs="v_next impulse",
    raises=SINGULAR,
    joint_space=True,
    group=taking("active", "restitution", "row_motion"),
)
def impulse(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    contacts: ContactInputs = NONE_GIVEN,
) -> tuple[list[Scalar], list[Scalar]]:
    """Velocity after an impact in which constraints begin to act, and their impulses.

    ``M (v⁺ − v) = Jᵀ λ`` and ``J v⁺ = −e J v``. Of a contact only the normal row rebounds, the others stick. Where
    anchors move, both velocities along the rows are those against the anchor, ``J v − ḋ``. Energy is not added where
    nothing rebounds, nor with one e for all normals where nothing slid before; else what sticks and rebounds at once
    can add some, which `contact_impulse` does not.

    References: RBDA section 11.7.

    >>> landed, blow = mech.impulse(q, v)
    >>> bool(abs(mech.constraint_jacobian(q) @ landed).max() < 1e-9)
    True
    """
    rows = model.constraint_rows(q)
    factor = branch_factor(model, q, moved_velocities(rows))
    delassus = Delassus(model, factor, rows, switches(model, contacts.active))
    b, e = speeds(rows, v, contacts.row_motion), row_values(model, contacts.restitution)
    if e is not None:
        b = [x + e_i * x if row.rebounds else x for x, e_i, row in zip(b, e, rows, strict=True)]
    f = delassus.forces(b)
    dv = factor.solve_L(delassus.joint_forces(f), factor.D)
    return [x + y for x, y in zip(v, dv, strict=True)], f


@mechanism_algorithm(
    "project_velocity", outputs="v_next", raises=SINGULAR, joint_space=True, group=taking("active", "row_motion")
)
def project_velocity(
    model: ConstrainedModel,
    q: Vector,
    v: Vector,
    contacts: ContactInputs = NONE_GIVEN,
) -> list[Scalar]:
    """Velocity nearest to v that the constraints allow: of those with ``J v⁺ = 0``, that of least ``T(v⁺ − v)``.

    It is that after an impact without rebound, `impulse`.

    References: Gauss's principle of least constraint for velocities (RBDA section 11.7).

    >>> allowed = mech.project_velocity(q, v)
    >>> bool(abs(mech.constraint_jacobian(q) @ allowed).max() < 1e-9)
    True
    """
    return impulse(model, q, v, contacts)[0]
