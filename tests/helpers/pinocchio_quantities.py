"""Any function of Pinocchio on a batch, in kinetree's order of velocities, bodies and spatial coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

import kinetree as kt
from helpers.pinocchio_oracle import SHARED, Oracle, build
from helpers.trees import Array, random_tree
from kinetree.model import Model

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]
"""Our spatial coordinates in theirs, which are linear first."""


@lru_cache
def oracle(name: str) -> Oracle:
    """Return an oracle by name: an embedded robot, or ``tree-0``, ``tree-1``, … with all joint types of theirs."""
    kind, _, seed = name.partition("-")
    model = random_tree(60 + int(seed), n=len(SHARED) + 2, joints=SHARED) if kind == "tree" else kt.load(name).model
    return build(model)


NAMES = ("tree-0", "tree-1", "tree-2", "panda", "g1")


def evaluate(their: Oracle, function: Callable[..., Any], *arrays: Array) -> Array:
    """Return ``function(model, data, q, v, …)`` of theirs for each of our states (q first), stacked and copied."""
    q, *rest = arrays
    rows = zip(their.to_pin_q(q), *(their.to_pin_v(x) for x in rest), strict=True)
    return np.array([np.array(function(their.theirs, their.data, *row)) for row in rows])


def on_rows(their: Oracle, X: Array) -> Array:
    """Return matrices whose rows are in their order of velocities in ours."""
    return np.swapaxes(their.from_pin_v(np.swapaxes(X, -1, -2)), -1, -2)


def parameters_of_bodies(their: Oracle, X: Array) -> Array:
    """Return arrays whose last axis has ten parameters for each of their joints in our order of bodies."""
    names = list(their.theirs.names)[1:]
    return np.concatenate(
        [X[..., 10 * k : 10 * k + 10] for k in (names.index(b.joint_name) for b in their.ours.bodies)], axis=-1
    )


def inertial_parameters(model: Model) -> Array:
    """Return φ, ten numbers a body."""
    return np.array([x for body in model.bodies for x in body.inertia])
