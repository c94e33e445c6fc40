"""Wrenches that act on a frame: as external forces, and as joint forces."""

from __future__ import annotations

from kinetree.algorithms.recursions.path import Path, path_to
from kinetree.algorithms.registry import Matrix, Vector, algorithm
from kinetree.model import Model
from kinetree.spatial import Force, Scalar, Transform
from kinetree.spatial.vector import ZERO


@algorithm("external_wrench", outputs="f_ext")
def external_wrench(
    model: Model, q: Vector, wrench: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> Matrix:
    """External forces ``f_ext`` equivalent to a wrench on a frame, for every function that takes ``f_ext``.

    Add the results for several wrenches. With the reference "body" the result does not depend on q.

    Parameters
    ----------
    wrench
        Moment and force (n, f) exerted *on* the robot (N·m, N): the negative of MR's ``F_tip``.

    Returns
    -------
    f_ext
        Wrenches in body axes about each body's origin (``f_ext_frame="body"``), zero except for the body that
        carries the frame; all zero for a frame that is fixed to the world.

    >>> push = robot.external_wrench(q, [0, 0, 0, 10, 0, 0], frame="panda_hand", reference="aligned")
    >>> robot.inverse_dynamics(q, v, a, push).shape
    (7,)
    """
    path, f = path_to(model, frame, q, point=point), Force.of(wrench)
    f_ext: Matrix = [[0.0] * 6 for _ in range(model.nb)]
    if path.links:
        f_ext[path.links[-1].i] = list(on_last_body(path, f, reference))
    return f_ext


@algorithm("wrench_forces", outputs="tau")
def wrench_forces(
    model: Model, q: Vector, wrench: Vector, point: Vector | None = None, *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Joint forces equivalent to a wrench on a frame: ``Jᵀ F`` for the J of the same reference, without forming J.

    Parameters
    ----------
    wrench
        Moment and force (n, f) (N·m, N). If it is exerted on the robot, the result adds to the joint forces; if it is
        wanted at the frame, the result is the joint forces that produce it.

    References: MR eq. 5.26. From the frame to the base: ``τ_i = S_iᵀ f_i``, ``f_λ = λXi* f_i`` (RBDA Table 5.1).
    """
    path = path_to(model, frame, q, point=point)
    f = on_last_body(path, Force.of(wrench), reference)
    tau: list[Scalar] = [0.0] * model.nv
    for _, body, state in reversed(path.links):
        for k, S_k in zip(body.v_index, state.S, strict=True):
            tau[k] = tau[k] + S_k.dot(f)
        f = state.Xup.T @ f
    return tau


def on_last_body(path: Path, f: Force, reference: str) -> Force:
    """Return a wrench on the frame, given in the reference, in coordinates of the path's last body."""
    if reference == "body":
        return path.X.T @ f
    for _, body, state in path.links:
        for X in (body.X_T, state.X_J):
            f = (X if reference == "world" else Transform(X.E, ZERO)) @ f
    return f if reference == "world" else Transform.translation(path.X.r).T @ f
