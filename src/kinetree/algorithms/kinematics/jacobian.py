"""The Jacobian of a frame, and its rate."""

from __future__ import annotations

from kinetree.algorithms.recursions.motions import subspace_rates
from kinetree.algorithms.recursions.path import Path, path_to, reference_transforms
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Model
from kinetree.spatial import Motion, Scalar
from kinetree.spatial.vector import ZERO


@algorithm("jacobian", outputs="J")
def jacobian(model: Model, q: Vector, point: Vector | None = None, *, frame: str, reference: str = "body") -> Matrix:
    """Jacobian of a frame: its spatial velocity is ``J(q) v``.

    References: RBDA eq. 4.15; MR eqs. 5.11 and 5.18.

    >>> J = robot.jacobian(robot.neutral(), frame="panda_link8", reference="world")
    >>> J[[1, 3], 1].round(3)  # the second joint's axis is parallel to y, 0.333 m above the base
    array([ 1.   , -0.333])
    """
    path = path_to(model, frame, q, point=point)
    to_ours, _ = reference_transforms(path, Path(), reference)
    J: Matrix = [[0.0] * model.nv for _ in range(6)]
    for k, column in path.columns(to_ours):
        accumulate(J, k, column)
    return J


@algorithm("jacobian_rate", outputs="dJ")
def jacobian_rate(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> Matrix:
    """Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v.

    References: RBDA section 2.10: the column ``J_k = X S_k`` moves with body i, and the reference moves too, so
    ``J̇_k = X S̊_k + (v_i − v_ref) × J_k``.
    """
    path = path_to(model, frame, q, v, point)
    to_body, _ = reference_transforms(path, Path(), reference)
    J = [[X.inv_apply(S_k) for S_k in link.state.S] for link, X in zip(path.links, to_body, strict=True)]
    joint_velocities = [
        sum((column * v[k] for k, column in zip(link.body.v_index, J_i, strict=True)), Motion.zero())
        for link, J_i in zip(path.links, J, strict=True)
    ]
    V = Motion.zero() if reference == "body" else sum(joint_velocities, Motion.zero())
    drift = Motion(V.ang, ZERO) if reference == "aligned" else V  # of the last body relative to the reference
    dJ: Matrix = [[0.0] * model.nv for _ in range(6)]
    for link, X, J_i, v_joint in reversed(list(zip(path.links, to_body, J, joint_velocities, strict=True))):
        apparent = subspace_rates(model, link.i, q, v)
        for k, column, S_ring in zip(link.body.v_index, J_i, apparent, strict=True):
            accumulate(dJ, k, X.inv_apply(S_ring) + drift.cross(column))
        drift = drift - v_joint
    return dJ


@algorithm("jacobian_bias", outputs="dJ_v")
def jacobian_bias(
    model: Model, q: Vector, v: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Acceleration of a frame due to the velocity alone, ``J̇(q, v) v``.

    ``J a + J̇ v`` is the spatial acceleration for "body" and "world"; for "aligned", whose reference moves with the
    frame's origin, it is the classical one.

    References: RBDA Table 5.1: the recursion of the accelerations at ``ν̇ = 0``.
    """
    kind = "classical" if reference == "aligned" else "spatial"
    return list(path_to(model, frame, q, v, point).acceleration([0.0] * model.nv, reference, kind))


def accumulate(J: Matrix, k: int, column: Motion) -> None:
    """Add to column k, which mimic joints share with their leader."""
    for row, x in zip(J, column, strict=True):
        row[k] = row[k] + x
