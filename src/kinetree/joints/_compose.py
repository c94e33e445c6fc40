"""Composition of two joints without a body between them."""

from __future__ import annotations

from kinetree.joints.base import JointState
from kinetree.spatial import Motion


def compose(first: JointState, then: JointState) -> JointState:
    """Return the state of the joint that is `first` followed by `then`.

    The columns of `first` are seen through `then`'s transform, which moves: that is where ``cJ`` comes from
    (RBDA eq. 2.45: the transform's rate is ``−vJ × X``).
    """
    X = then.X
    carried = X @ first.vJ
    S: tuple[Motion, ...] = (*(X @ column for column in first.S), *then.S)
    return JointState(X @ first.X, S, carried + then.vJ, X @ first.cJ + then.cJ + carried.cross(then.vJ))
