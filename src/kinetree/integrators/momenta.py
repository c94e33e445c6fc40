"""Momenta of joints, and the duals of their groups' brackets."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.recursions.tree import body_velocities, subspace_rates
from kinetree.glossary.symbols import Vector
from kinetree.joints import Joint
from kinetree.model import WORLD, Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, is_zero
from kinetree.scalars.linalg import dot


def momenta(model: Model, q: Vector, v: Vector) -> tuple[Column, Column]:
    """Return the joint momenta ``M v``, and ``Cᵀ v``: their rate without forces.

    Column k of the Jacobians is S_k, seen by the momentum of the subtree that joint k carries, and C has their rates.
    """
    states = [model.jcalc(i, q, v) for i in range(model.nb)]
    v_ = body_velocities(model, states)
    carried = [body.inertia @ v_i for body, v_i in zip(model.bodies, v_, strict=True)]
    p: list[Scalar] = [0.0] * model.nv
    rates: list[Scalar] = [0.0] * model.nv
    for i, body in reversed(list(enumerate(model.bodies))):
        S_ring = subspace_rates(model, i, q, v)
        for k, S_k, r, rotor in zip(body.v_index, states[i].S, S_ring, body.armature, strict=True):
            p[k] = p[k] + S_k.dot(carried[i]) + rotor * v[k]
            rates[k] = rates[k] + (v_[i].cross(S_k) + r).dot(carried[i])
        if body.parent != WORLD:
            carried[body.parent] = carried[body.parent] + states[i].Xup.T @ carried[i]
    return Column(p), Column(rates)


def coadjoint(model: Model, w: Vector, p: Vector) -> Column:
    """Return ``ad_wᵀ p`` of each joint's group, zero where coordinates add."""
    return coadjoint_series(model, [0.0, 1.0], w, p)


def coadjoint_series(model: Model, coefficients: Sequence[float], w: Vector, p: Vector) -> Column:
    """Return ``Σ c_n (ad_wᵀ)ⁿ p`` of each joint's group."""
    total = list(coefficients[0] * Column(p))
    for body in model.leading:
        at = body.v_index
        step, power = [w[k] for k in at], [p[k] for k in at]
        for c in coefficients[1:]:
            power = _coadjoint(body.joint, step, power)
            if all(map(is_zero, power)):
                break
            for k, x in zip(at, power, strict=True):
                total[k] = total[k] + c * x
    return Column(total)


def _coadjoint(joint: Joint, w: Vector, p: Vector) -> list[Scalar]:
    units = ([float(i == k) for i in range(joint.nv)] for k in range(joint.nv))
    return [dot(p, joint.bracket(w, unit)) for unit in units]
