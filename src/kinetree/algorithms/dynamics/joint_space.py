"""Forward and hybrid dynamics in joint space: M(q), h and a factorisation."""

from __future__ import annotations

from kinetree.algorithms.dynamics.crba import crba
from kinetree.algorithms.dynamics.factorization import ltdl
from kinetree.algorithms.dynamics.rnea import Wrenches, rnea
from kinetree.algorithms.dynamics.singular import block, refuse_singular, velocities
from kinetree.glossary.symbols import Vector
from kinetree.model import Model
from kinetree.model.regroup import regrouped
from kinetree.spatial import Scalar


def joint_space(
    model: Model, q: Vector, v: Vector, a: Vector, tau: Vector, f_ext: Wrenches, frame: str, prescribed: frozenset[str]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return a and τ from a at the prescribed joints and τ at the others (RBDA section 9.2).

    ``h̃ = ID(q, v, [a_ID, 0])``; solve ``M_22 a_FD = τ_FD − h̃_FD``; ``τ = h̃ + M [0, a_FD]``. Mimic joints need
    nothing more: M is accumulated to ``GᵀMG``, one row for a coordinate that moves several bodies, and the
    factorisation uses the sparsity of the matrix itself.
    """
    refuse_singular(model, prescribed)
    known = velocities(model, prescribed)
    model = regrouped(model)
    free = [k for k in range(model.nv) if k not in known]
    M = crba(model, q)
    a_out: list[Scalar] = [a[k] if k in known else 0.0 for k in range(model.nv)]
    h = rnea(model, q, v, a_out, f_ext, f_ext_frame=frame)
    a_free = ltdl(model, block(M, known)).solve([0.0 if k in known else tau[k] - h[k] for k in range(model.nv)])
    tau_out = list(tau)
    for k in free:
        a_out[k] = a_free[k]
    for k in known:
        for l in free:
            h[k] = h[k] + M[k][l] * a_free[l]
        tau_out[k] = h[k]
    return a_out, tau_out
