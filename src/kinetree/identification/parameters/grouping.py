"""Groups of parameters that only count together: which of them stay, and what is added to those."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from kinetree.identification.parameters.observability import passed_on
from kinetree.model import WORLD, Model
from kinetree.validation import Array

DEPENDENT_FIRST = (0, 1, 2, 3, 6, 4, 9, 5, 7, 8)
"""The order in which a body's parameters join others: mass, first moments, I_yy, as in textbooks; rotors before."""

PIVOT = 1e-2
"""Entries below this, relative to the largest, are no pivots while there are others."""


class Grouping(NamedTuple):
    """Which columns of a regressor are independent, and how the others follow.

    Attributes
    ----------
    independent : (n,) tuple of int
        Parameters that stay, in increasing order.
    projection : (n, N) array
        From all parameters to the values that take the place of those: the identity at the independent ones.
    """

    independent: tuple[int, ...]
    projection: Array


@lru_cache(maxsize=32)
def group(
    model: Model, any_gravity: bool, further: tuple[tuple[tuple[str, int], int], ...], count: int, tolerance: float
) -> Grouping:
    """Return the base parameters of a model; for the last models they are known.

    Parameters
    ----------
    model : Model
    any_gravity : bool
        Whether gravity may have any direction, or is the model's.
    further : tuple of ((str, int), int)
        The index of the parameter of each joint term at each entry of v; "armature" and "offset" are looked at.
    count : int
        How many parameters there are: 10 nb, these and others, which are all independent.
    tolerance : float
        What is smaller counts as zero.
    """
    gravity = np.eye(3) if any_gravity else np.array([list(model.gravity)], dtype=float)
    index = dict(further)
    lumped = {i: np.eye(10, count, 10 * i) for i in range(model.nb)}
    rows = {k: np.eye(1, count, k)[0] for k in range(10 * model.nb, count)}
    weight = float(np.linalg.norm(gravity, axis=1).max(initial=0.0)) or 1.0  # offsets are compared with weights
    for cluster, null, transfers in reversed(list(passed_on(model, gravity / weight, tolerance))):
        places = [10 * i + k for i in cluster.bodies for k in range(10)]
        there = [index.get((term, k), -1) for term in ("armature", "offset") for k in cluster.v_index]
        null = _without(null, [len(places) + k for k, place in enumerate(there) if place < 0], tolerance)
        offsets = sum(place >= 0 for place in there[len(cluster.v_index) :])
        null[:, null.shape[1] - offsets :] *= weight
        places += [place for place in there if place >= 0]
        added = [np.eye(1, count, place) for place in there if place >= 0]
        whole = np.vstack([*(lumped[i] for i in cluster.bodies), *added])
        dependent, reduced = _reduced(null, len(cluster.bodies))
        moved = reduced.T @ whole[dependent]
        rest = whole - moved
        rows |= {places[k]: rest[k] for k in range(len(places)) if k not in dependent}
        for k in dependent:
            rows.pop(places[k], None)
        if cluster.parent != WORLD:
            for j, transfer in enumerate(transfers):
                lumped[cluster.parent] = lumped[cluster.parent] + transfer @ moved[10 * j : 10 * j + 10]
    independent = tuple(sorted(rows))
    projection = np.array([rows[k] for k in independent]).reshape(len(rows), count)
    projection[np.abs(projection) < 1e-12] = 0.0
    near = np.round(projection)
    projection = np.where(np.abs(projection - near) < 1e-12, near, projection)
    projection.flags.writeable = False
    return Grouping(independent, projection)


def _without(null: Array, absent: Sequence[int], tolerance: float) -> Array:
    """Return the null space of the parameters that there are: where the absent ones are zero."""
    if absent and len(null):
        _, s, Vt = np.linalg.svd(null[:, absent].T)
        null = Vt[int((s > tolerance).sum()) :] @ null
    return np.delete(null, absent, axis=1)


def _reduced(null: Array, bodies: int) -> tuple[list[int], Array]:
    """Return which parameters follow from others, and the null space with the identity there."""
    first = [10 * b + k for k in DEPENDENT_FIRST for b in reversed(range(bodies))]
    order = [*range(10 * bodies, null.shape[1]), *first]
    chosen: list[int] = []
    left = null.copy()
    bound = PIVOT
    while len(chosen) < len(null):
        sizes = np.abs(left).max(axis=0, initial=0.0)
        pivot = next((k for k in order if k not in chosen and sizes[k] > bound), None)
        if pivot is None:
            bound /= 10.0
            continue
        chosen.append(pivot)
        v = left[:, pivot] / np.linalg.norm(left[:, pivot])
        left = left - np.outer(v, v @ left)
    return chosen, np.asarray(np.linalg.solve(null[:, chosen], null), dtype=np.float64)
