"""Mass matrices that are singular at every configuration: found once, before anything is traced."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import count
from typing import TypeVar

import numpy as np

from kinetree.algorithms.dynamics.crba import crba
from kinetree.errors import ModelError
from kinetree.model import WORLD, Model
from kinetree.model.leaves import flatten, map_leaves
from kinetree.scalars.rounded import UNIT, Rounded, as_rounded, parts
from kinetree.spatial import ArticulatedInertia, Mat3, Scalar, Sym3

Block = TypeVar("Block", Mat3, Sym3)

SINGULAR = (
    "If a joint meets no inertia, so that M is singular at every configuration; the joint is named. At single "
    "configurations where M is singular, the result is NaN or enormous."
)
"""What the documentation of functions that solve with M says of it."""

SURE = 4.0
"""How many standard errors there may be: two joints in line have shown up to 1.3, robots from 10¹² on."""

LARGEST_ERROR = 64 * UNIT
"""Of an entry of an articulated inertia, relative to the largest of its block: estimates would grow along a chain."""


def refuse_singular(model: Model, prescribed: Collection[str] = ()) -> None:
    """Raise `ModelError` if M, without the rows of the prescribed joints, is singular at every configuration.

    A determinant that vanishes at one without any pattern does at all, with probability one: there the articulated-body
    recursion runs on numbers that carry their rounding. Whether a tie between joints adds to what they meet M must
    tell.
    """
    regular: set[frozenset[str]] = model.__dict__.setdefault("_regular", set())  # with these joints prescribed
    if frozenset(prescribed) in regular:
        return
    generic = (0.1 + k * 0.6180339887498949 % 1.0 for k in count())
    inexact = map_leaves(model, lambda x: as_rounded(x, next(generic)))
    q: list[Scalar] = [as_rounded("q", next(generic)) for _ in range(model.nq)]
    null = set(_null_pivots(inexact, q, prescribed))
    if null and model.has_mimic_joints:
        null = _null_entries(inexact, q, prescribed)
    for body in model.bodies:
        if null & set(body.v_index):
            raise ModelError(
                f"joint {body.joint_name!r} meets no inertia that other joints leave it: the mass matrix is singular; "
                "give the links that it carries an inertia, or the joint an armature"
            )
    regular.add(frozenset(prescribed))


def _null_pivots(model: Model, q: list[Scalar], prescribed: Collection[str]) -> Iterator[int]:
    """Yield the index of the first velocity, leaves first, whose pivot is nothing but rounding (RBDA Table 7.1)."""
    IA = [ArticulatedInertia.rigid(body.inertia) for body in model.bodies]
    for i, body in reversed(list(enumerate(model.bodies))):
        state, before = model.jcalc(i, q), IA[i]
        for k, S_k, rotor in reversed(list(zip(body.v_index, state.S, body.armature, strict=True))):
            if body.joint_name in prescribed:
                continue
            U = IA[i] @ S_k
            D, error = parts(S_k.dot(U) + rotor)
            if abs(D) <= SURE * error:
                yield k
                return
            IA[i] = IA[i].minus_outer(U, U * (1.0 / D))
        if body.parent != WORLD:
            blocks = (_bounded(getattr(IA[i], name), getattr(before, name)) for name in ("M", "H", "I"))
            IA[body.parent] = IA[body.parent] + state.Xup.T @ ArticulatedInertia(*blocks)


def _bounded(block: Block, before: Block) -> Block:
    """Return a block of an inertia whose entries have at most `LARGEST_ERROR`."""
    most = LARGEST_ERROR * max(abs(parts(x)[0]) for x in flatten(before)[1])
    return map_leaves(block, lambda x: Rounded(x.value, min(x.error, most)) if isinstance(x, Rounded) else x)


def _null_entries(model: Model, q: list[Scalar], prescribed: Collection[str]) -> set[int]:
    """Return the velocities in the null space of M, scaled to a diagonal of ±1: eigenvalues within its rounding."""
    entries = [[parts(x) for x in row] for row in block(crba(model, q), velocities(model, prescribed))]
    M, E = np.moveaxis(np.reshape(entries, (model.nv, model.nv, 2)), -1, 0)
    null = np.abs(M.diagonal()) <= SURE * E.diagonal()
    if not null.any():
        scale = np.abs(M.diagonal()) ** -0.5
        scaling = scale[:, None] * scale
        eigenvalues, vectors = np.linalg.eigh(M * scaling)
        rounding = SURE * np.linalg.norm(E * scaling) + model.nv * UNIT
        null = (np.abs(vectors[:, np.abs(eigenvalues) <= rounding]) > 0.1).any(axis=1)
    return set(np.flatnonzero(null).tolist())


def velocities(model: Model, joints: Collection[str]) -> set[int]:
    """Return the indices of the velocities of these joints."""
    return {k for body in model.bodies if body.joint_name in joints for k in body.v_index}


def block(M: list[list[Scalar]], known: Collection[int]) -> list[list[Scalar]]:
    """Return M with the rows and columns of the known velocities replaced by those of the identity."""
    n = range(len(M))
    return [[float(k == l) if k in known or l in known else M[k][l] for l in n] for k in n]
