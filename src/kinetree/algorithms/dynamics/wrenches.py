"""Wrenches that act on a frame: as external forces, and as joint forces."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.recursions.path import REFERENCES, Path, path_to
from kinetree.algorithms.registry import OneFrame, algorithm
from kinetree.model import WORLD, Model
from kinetree.spatial import Force, Scalar, Transform
from kinetree.spatial.vector import ZERO


@algorithm(
    "external_wrench",
    inputs={"q": ("nq",), "wrench": (6,)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"f_ext": ("nb", 6)},
)
def external_wrench(
    model: Model, q: Sequence[Scalar], wrench: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> list[list[Scalar]]:
    """External forces ``f_ext`` that stand for a wrench on a frame, for every function that takes ``f_ext``.

    ``robot.inverse_dynamics(q, v, a, robot.external_wrench(q, wrench, frame="tool"))``; the sum of several is the
    ``f_ext`` of several wrenches.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w). With body axes the result does not depend on it.
    wrench : (..., 6) array
        Moment and force (n, f) exerted *on* the robot (N·m, N): the negative of MR's ``F_tip``, which is what the
        robot exerts on its surroundings.
    frame : str
        Name of the frame that it acts on (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes of the wrench and the point that its moment is about: the frame's own; the world's, about its origin;
        or the world's axes, about the frame's origin.

    Returns
    -------
    (..., nb, 6) array
        One wrench a moving body, in body axes about the body's origin (``f_ext_frame="body"``): zero but for the
        body that carries the frame. All zero for a frame that is fixed to the world.

    Raises
    ------
    ModelError
        If there is no frame of that name.
    """
    path, f = path_to(model, frame, q), Force.of(wrench)
    f_ext: list[list[Scalar]] = [[0.0] * 6 for _ in range(model.nb)]
    body = model.frame(frame).body
    if body != WORLD:
        f_ext[body] = list(on_last_body(path, f, reference))
    return f_ext


@algorithm(
    "wrench_forces",
    inputs={"q": ("nq",), "wrench": (6,)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"tau": ("nv",)},
)
def wrench_forces(
    model: Model, q: Sequence[Scalar], wrench: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Joint forces that a wrench on a frame amounts to: ``Jᵀ F``, without the Jacobian.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    wrench : (..., 6) array
        Moment and force (n, f) (N·m, N): exerted on the robot, if the result is to be what it adds to the joints'
        forces; or wanted at the frame, if the result is to be the joint forces that make it.
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        Axes of the wrench and the point that its moment is about; see `external_wrench`.

    Returns
    -------
    (..., nv) array
        ``J(q)ᵀ wrench`` (N·m, N), J being the Jacobian of the same reference.

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    MR eq. 5.26. From the frame to the base: ``τ_i = S_iᵀ f_i``, ``f_λ = λXi* f_i`` (RBDA Table 5.1).
    """
    path = path_to(model, frame, q)
    f = on_last_body(path, Force.of(wrench), reference)
    tau: list[Scalar] = [0.0] * model.nv
    for _, body, state in reversed(path.links):
        for k, S_k in zip(body.v_index, state.S, strict=True):
            tau[k] = tau[k] + S_k.dot(f)
        f = state.Xup.T @ f
    return tau


def on_last_body(path: Path, f: Force, reference: str) -> Force:
    """Return a wrench on the frame, given in the reference, in the coordinates of the path's last body."""
    if reference == "body":
        return path.X.T @ f
    for _, body, state in path.links:
        for X in (body.X_T, state.X_J):
            f = (X if reference == "world" else Transform(X.E, ZERO)) @ f
    return f if reference == "world" else Transform.translation(path.X.r).T @ f
