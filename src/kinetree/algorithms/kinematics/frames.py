"""Placement, velocity and acceleration of a frame."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics.forward import Placement
from kinetree.algorithms.recursions.path import REFERENCES, Path, in_reference, of_origin, path_to, placement_of, turned
from kinetree.algorithms.registry import OneFrame, algorithm
from kinetree.model import Model
from kinetree.spatial import Motion, Scalar

KINDS = ("spatial", "classical")


@algorithm(
    "frame_placement",
    inputs={"q": ("nq",)},
    options={"frame": OneFrame()},
    outputs={"placement": (4, 4)},
)
def frame_placement(model: Model, q: Sequence[Scalar], *, frame: str) -> Placement:
    """Pose of a frame in the world.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame : str
        Name of the frame (``robot.frame_names``).

    Returns
    -------
    (..., 4, 4) array
        The homogeneous transform of the frame: its columns are the frame's axes and origin (m) in the world.

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA section 4.5: ``iX0 = iXλ λX0``, along the path from the base to the frame.
    """
    return placement_of(path_to(model, frame, q)).placement


@algorithm(
    "frame_velocity",
    inputs={"q": ("nq",), "v": ("nv",)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"velocity": (6,)},
)
def frame_velocity(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Spatial velocity of a frame: ``J(q) v``, without the Jacobian.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        The axes, and the point whose velocity is the linear part: the frame's own; the world's, with the point of
        the body that passes the world's origin; or the world's axes with the frame's origin.

    Returns
    -------
    (..., 6) array
        Angular, then linear velocity (rad/s, m/s).

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA Table 5.1: ``v_i = iXλ v_λ + S_i ν_i``.
    """
    path = path_to(model, frame, q, v)
    v_i, _ = motion_of(path, [0.0] * model.nv)
    return list(in_reference(path, v_i, reference))


@algorithm(
    "frame_acceleration",
    inputs={"q": ("nq",), "v": ("nv",), "a": ("nv",)},
    options={"frame": OneFrame(), "reference": REFERENCES, "kind": KINDS},
    outputs={"acceleration": (6,)},
)
def frame_acceleration(
    model: Model,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    *,
    frame: str,
    reference: str = "body",
    kind: str = "spatial",
) -> list[Scalar]:
    """Acceleration of a frame, gravity not counted.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v, a : (..., nv) array
        Velocity and true acceleration: rad/s and m/s, rad/s² and m/s².
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        The axes, and the point whose acceleration is the linear part; see `frame_velocity`.
    kind : {"spatial", "classical"}
        The spatial acceleration, which transforms like a velocity; or, in the linear part, the acceleration of the
        point as an accelerometer that does not feel gravity measures it: ``v̇ + ω × v``. With "aligned" it is the
        classical one that equals ``J a + J̇ v``, with the other references the spatial one.

    Returns
    -------
    (..., 6) array
        Angular, then linear acceleration (rad/s², m/s²).

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA Table 5.1: ``a_i = iXλ a_λ + S_i ν̇_i + c_J + v_i × v_J``; section 2.11 on the two kinds.
    """
    path = path_to(model, frame, q, v)
    v_i, a_i = motion_of(path, a)
    A = in_reference(path, a_i, reference) if kind == "spatial" else point_acceleration(path, v_i, a_i, reference)
    return list(A)


def motion_of(path: Path, a: Sequence[Scalar]) -> tuple[Motion, Motion]:
    """Return the spatial velocity and acceleration of a path's last body, in its own coordinates."""
    v_i, a_i = Motion.zero(), Motion.zero()
    for _, body, (Xup, _, S, vJ, cJ) in path.links:
        v_i = Xup @ v_i + vJ
        a_i = Xup @ a_i + cJ + v_i.cross(vJ)
        for k, S_k in zip(body.v_index, S, strict=True):
            a_i = a_i + S_k * a[k]
    return v_i, a_i


def point_acceleration(path: Path, v_i: Motion, a_i: Motion, reference: str) -> Motion:
    """Return the classical acceleration as seen from the reference; v_i and a_i are the last body's.

    It does not transform like a motion: it must be formed at the point that the reference names, in any axes.
    """
    if reference == "world":
        return classical(*(in_reference(path, m, reference) for m in (v_i, a_i)))
    return turned(path, classical(of_origin(path, v_i), of_origin(path, a_i)), reference)


def classical(v: Motion, a: Motion) -> Motion:
    """Return the acceleration with the ordinary one of the point at the origin as its linear part."""
    return Motion(a.ang, a.lin + v.ang.cross(v.lin))
