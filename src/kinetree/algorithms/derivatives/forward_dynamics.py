"""Derivatives of forward and hybrid dynamics from those of inverse dynamics at the acceleration.

``∂a/∂x = −M⁻¹ ∂ID/∂x`` and ``∂a/∂τ = M⁻¹`` at the joints that are free; at prescribed ones ``∂τ = ∂ID + M ∂a``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from kinetree.algorithms.derivatives.changes import Changes
from kinetree.algorithms.derivatives.inverse_dynamics import (
    Blocks,
    are_turning,
    joint_force_slopes,
    passive_slopes,
)
from kinetree.algorithms.derivatives.solutions import Inverse
from kinetree.algorithms.dynamics import aba
from kinetree.algorithms.dynamics.inverse import Row
from kinetree.algorithms.dynamics.passive_forces import without_springs
from kinetree.algorithms.dynamics.singular import velocities
from kinetree.model import Model
from kinetree.model.edit import regrouped
from kinetree.scalars.functions import is_zero


def forward_dynamics(
    model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]
) -> Blocks:
    """Return the derivatives of the acceleration."""
    M = Inverse.of(model, given["q"])
    found: Blocks = {("a", "tau"): M.matrix()} if "tau" in wrt else {}
    if names := [name for name in ("q", "v") if name in wrt]:
        state = {**given, "a": aba.aba(model, **given, **options)}
        changes = Changes.of(model, state, () if model.has_mimic_joints else range(model.nv))
        forces = joint_force_slopes(regrouped(model), changes, state, options)
        blocks = M.responses([(forces[name], _known(model, changes, state, options, name)) for name in names])
        found |= {("a", name): block for name, block in zip(names, blocks, strict=True)}
    return found


def hybrid_dynamics(model: Model, given: Mapping[str, Any], options: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of accelerations and forces: those given are their own, the others follow."""
    n, known = model.nv, velocities(model, options["prescribed"])
    free = [k for k in range(n) if k not in known]
    a, _ = aba.hybrid_dynamics(model, **given, **options)
    state = {**given, "a": a}
    changes = Changes.of(model, state, () if model.has_mimic_joints else free)
    forces = joint_force_slopes(regrouped(model), changes, state, options)
    M = forces["a"]
    forces["a"] = [[x if l in known else 0.0 for l, x in enumerate(row)] for row in M]
    names = [name for name in ("q", "v", "a") if name in wrt or (name == "a" and "tau" in wrt)]
    outright = {name: _known(model, changes, state, options, name) if name != "a" else {} for name in names}
    outright = {name: {j: c for j, c in columns.items() if not known & c.keys()} for name, columns in outright.items()}
    rows = [{l: M[k][l] for l in free if not is_zero(M[k][l])} for k in sorted(known)]
    inverse = Inverse.of(model, given["q"], options["prescribed"])
    found: Blocks = {}
    for name, X in zip(names, inverse.responses([(forces[x], outright[x]) for x in names], rows), strict=True):
        tau = [[0.0] * n for _ in range(n)]
        for k, row in zip(sorted(known), X[n:], strict=True):
            tau[k] = [0.0 if j in outright[name] else x + forces[name][k][j] for j, x in enumerate(row)]
            X[k] = [float(name == "a" and j == k) for j in range(n)]
        found |= {("a", name): X[:n], ("tau", name): tau}
    if "tau" in wrt:
        found["a", "tau"] = inverse.matrix()
        found["tau", "tau"] = [
            [-found["a", "a"][l][k] if l not in known else 0.0 for l in range(n)]
            if k in known
            else [float(k == l) for l in range(n)]
            for k in range(n)
        ]
    return {key: block for key, block in found.items() if key[1] in wrt}


def solve_mass_matrix(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of ``x = M⁻¹ b``: of forces at rest without gravity and springs, at the acceleration x."""
    q, b = given["q"], given["b"]
    M, n = Inverse.of(model, q), range(model.nv)
    found: Blocks = {("x", "b"): M.matrix()} if "b" in wrt else {}
    if "q" in wrt:
        still = without_springs(model.with_gravity((0.0, 0.0, 0.0)))
        state = {"q": q, "v": [0.0 for _ in n], "a": M.times(b, n)}
        forces = joint_force_slopes(regrouped(still), Changes.of(still, state), state, {})
        (found["x", "q"],) = M.responses([(forces["q"], {})])
    return found


def _known(
    model: Model, changes: Changes, state: Mapping[str, Any], options: Mapping[str, Any], name: str
) -> dict[int, Row]:
    """Return the velocities whose q or v does to all forces what accelerations would do, and these by index."""
    if model.has_mimic_joints or (name == "q" and are_turning(state, options)):
        return {}
    passive = passive_slopes(model, state["q"], state["v"])[name]
    rotors = {k: rotor for body in model.bodies for k, rotor in zip(body.v_index, body.armature, strict=True)}
    return {
        k: needed
        for k, needed in changes.as_accelerations(model, name).items()
        if is_zero(passive[k]) and all(is_zero(rotors[l]) for l in needed)
    }
