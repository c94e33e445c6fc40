"""Derivatives of the momentum about the centre of mass, and of its rate: of each joint, what its subtree answers.

They are those of a floating base's rows of ∂ID, in the world's axes about the centre of mass, which moves too. What is
summed over the subtree is moved to the world at once: of a joint's column nothing else is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from kinetree.algorithms.derivatives.changes import Changes
from kinetree.algorithms.derivatives.inverse_dynamics import Blocks
from kinetree.algorithms.quantities import moving_mass
from kinetree.algorithms.recursions.tree import body_velocities, composite_inertias, from_first_origin
from kinetree.algorithms.registry import Matrix
from kinetree.model import WORLD, Model
from kinetree.scalars.linalg import transposed
from kinetree.spatial import Force
from kinetree.spatial.vector import ZERO

Column = tuple[int, Sequence[Force]]
"""A velocity k, and forces on its subtree: of a unit of S_k, and their changes by v_k and q_k."""


def centroidal_momentum(model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]) -> Blocks:
    """Return the derivatives of the momentum: a joint adds a motion of its subtree as one body, and turns the rest."""
    changes = Changes.of(model, {**given, "a": [0.0] * model.nv})
    velocities = body_velocities(model, changes.states)
    momenta = [body.inertia @ v for body, v in zip(model.bodies, velocities, strict=True)]
    total, columns = Force.zero(), []
    X = from_first_origin(model, changes.states)
    for i, Ic in composite_inertias(model, changes.states):
        parent, p = model.bodies[i].parent, momenta[i]
        carried = velocities[i] - changes.states[i].vJ
        for own in changes.freedoms[i]:
            by_v, dv = Ic @ own.S, carried.cross(own.S) + own.dvJ
            columns.append((own.k, [X[i].T @ by_v, X[i].T @ by_v, X[i].T @ (Ic @ dv + own.S.cross_force(p))]))
        if parent == WORLD:
            total = total + X[i].T @ p
        else:
            momenta[parent] = momenta[parent] + changes.states[i].Xup.T @ p
    blocks = _about_com(model, changes, columns, total)
    return {("h", name): blocks[name] for name in wrt}


def centroidal_momentum_rate(
    model: Model, given: Mapping[str, Any], _: Mapping[str, Any], wrt: Collection[str]
) -> Blocks:
    """Return the derivatives of the rate of momentum, the sum of all forces without gravity."""
    model = model.with_gravity((0.0, 0.0, 0.0))
    changes = Changes.of(model, given)
    X, total, columns = from_first_origin(model, changes.states), Force.zero(), []
    for i, cloud in enumerate(changes.clouds(model, [Force.zero()] * model.nb)):
        w = changes.motions[i].own[0].ang
        for own in changes.freedoms[i]:
            by_q = cloud.response(w, own.by_q) + own.S.cross_force(cloud.f)
            answers = cloud.wrench(own.S), cloud.response(w, own.by_v), by_q
            columns.append((own.k, [X[i].T @ F for F in answers]))
        total = total + X[i].T @ cloud.f if model.bodies[i].parent == WORLD else total
    blocks = _about_com(model, changes, columns, total)
    return {("h_dot", name): blocks[name] for name in wrt}


def _about_com(model: Model, changes: Changes, columns: Iterable[Column], total: Force) -> dict[str, Matrix]:
    """Return the blocks of columns about the first origin, of which `total` is the sum, about the centre of mass."""
    X, h, share = from_first_origin(model, changes.states), ZERO, 1.0 / moving_mass(model)
    for i, Ic in composite_inertias(model, changes.states):
        h = h + (X[i].T @ Ic).h if model.bodies[i].parent == WORLD else h
    c = h * share
    found = {name: [Force.zero()] * model.nv for name in "avq"}
    for k, (by_a, by_v, by_q) in columns:
        moved = Force((by_a.lin * share).cross(total.lin), ZERO)  # the centre of mass
        for name, F in (("a", by_a), ("v", by_v), ("q", by_q - moved)):
            found[name][k] = found[name][k] + Force(F.ang - c.cross(F.lin), F.lin)
    return {name: transposed([list(F) for F in block]) for name, block in found.items()}
