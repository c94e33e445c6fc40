"""The Jacobian of a frame, and its rate."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.algorithms.kinematics.frames import motion_of, point_acceleration
from kinetree.algorithms.recursions.motions import subspace_rates
from kinetree.algorithms.recursions.path import (
    FROM_WORLD,
    REFERENCES,
    Path,
    back,
    in_reference,
    inward,
    moved_origin,
    outward,
    path_to,
)
from kinetree.algorithms.registry import OneFrame, algorithm
from kinetree.model import Model
from kinetree.spatial import Motion, Scalar, Transform
from kinetree.spatial.vector import ZERO

Matrix = list[list[Scalar]]


@algorithm(
    "jacobian",
    inputs={"q": ("nq",)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"J": (6, "nv")},
)
def jacobian(model: Model, q: Sequence[Scalar], *, frame: str, reference: str = "body") -> Matrix:
    """Jacobian of a frame: its spatial velocity is ``J(q) v``.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        The axes, and the point whose velocity the last three rows give: the frame's own (MR's body Jacobian); the
        world's, with the point of the body that passes the world's origin (the space Jacobian); or the world's axes
        with the frame's origin.

    Returns
    -------
    (..., 6, nv) array
        Rows: three of angular velocity, three of linear. Columns of joints that do not carry the frame are zero.

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA eq. 4.15; MR eqs. 5.11 and 5.18.

    Examples
    --------
    >>> import kinetree as kt
    >>> J = jacobian(kt.load("panda").model, [0.0] * 7, frame="panda_link8", reference="world")
    >>> [round(row[1], 3) for row in J]  # the second joint turns about an axis along y, 0.333 m above the base
    [0.0, 1.0, 0.0, -0.333, 0.0, 0.0]
    """
    path = path_to(model, frame, q)
    to_ours, _ = views(path, FROM_WORLD, reference)
    J = zeros(model)
    for column, k in columns(path, to_ours):
        accumulate(J, k, column)
    return J


@algorithm(
    "jacobian_rate",
    inputs={"q": ("nq",), "v": ("nv",)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"dJ": (6, "nv")},
)
def jacobian_rate(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> Matrix:
    """Rate of the Jacobian of a frame, ``J̇(q, v)``, while the robot moves at v.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        As for `jacobian`: each gives the rate of that matrix, entry by entry.

    Returns
    -------
    (..., 6, nv) array
        ``dJ/dt``; its product with v is `jacobian_bias`, which costs much less by itself.

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA section 2.10: the column ``J_k = X S_k`` is carried by body i and seen from a reference that moves itself, so
    ``J̇_k = X S̊_k + (v_i − v_ref) × J_k``. The differences of velocities are summed from the frame to the base.
    """
    path = path_to(model, frame, q, v)
    to_body, _ = views(path, FROM_WORLD, reference)
    J = [[back(X, S_k) for S_k in link.state.S] for link, X in zip(path.links, to_body, strict=True)]
    joint_velocities = [
        _total([column * v[k] for k, column in zip(link.body.v_index, J_i, strict=True)])
        for link, J_i in zip(path.links, J, strict=True)
    ]
    drift = _drift(joint_velocities, reference)
    dJ = zeros(model)
    for link, X, J_i, v_joint in reversed(list(zip(path.links, to_body, J, joint_velocities, strict=True))):
        apparent = subspace_rates(model, link.i, q, v)
        for k, column, S_ring in zip(link.body.v_index, J_i, apparent, strict=True):
            accumulate(dJ, k, back(X, S_ring) + drift.cross(column))
        drift = drift - v_joint
    return dJ


@algorithm(
    "jacobian_bias",
    inputs={"q": ("nq",), "v": ("nv",)},
    options={"frame": OneFrame(), "reference": REFERENCES},
    outputs={"dJ_v": (6,)},
)
def jacobian_bias(
    model: Model, q: Sequence[Scalar], v: Sequence[Scalar], *, frame: str, reference: str = "body"
) -> list[Scalar]:
    """Acceleration of a frame that the velocity alone makes, ``J̇(q, v) v``: ``J a`` added to it is the whole.

    Parameters
    ----------
    q : (..., nq) array
        Configuration: rad, m, and quaternions (x, y, z, w).
    v : (..., nv) array
        Velocity: rad/s and m/s.
    frame : str
        Name of the frame (``robot.frame_names``).
    reference : {"body", "world", "aligned"}
        As for `jacobian`. ``J a + J̇ v`` is the spatial acceleration for "body" and "world"; for "aligned", whose
        reference moves with the frame's origin, it is the classical one.

    Returns
    -------
    (..., 6) array
        Angular, then linear part (rad/s², m/s²).

    Raises
    ------
    ModelError
        If there is no frame of that name.

    References
    ----------
    RBDA Table 5.1: the recursion of the accelerations at ``ν̇ = 0``.
    """
    path = path_to(model, frame, q, v)
    v_i, a_i = motion_of(path, [0.0] * model.nv)
    A = point_acceleration(path, v_i, a_i, reference) if reference == "aligned" else in_reference(path, a_i, reference)
    return list(A)


def views(ours: Path, theirs: Path, reference: str) -> tuple[list[Transform], list[Transform]]:
    """Return the transforms from the reference to the bodies of both paths, which start at the same body.

    The reference is the frame of `ours` ("body"), that of `theirs`, or the latter's axes at the former's origin.
    """
    if reference == "body":
        to_ours, root = inward(ours)
        return to_ours, outward(root, theirs)
    to_theirs, root = inward(theirs)
    to_ours = outward(root, ours)
    if reference == "aligned":
        origin = (ours.X @ (to_ours[-1] if to_ours else root)).r
        to_ours, to_theirs = ([moved_origin(X, origin) for X in side] for side in (to_ours, to_theirs))
    return to_ours, to_theirs


def columns(path: Path, to_body: Sequence[Transform]) -> list[tuple[Motion, int]]:
    """Return the columns of the joints along a path as seen from the reference, with their velocity indices."""
    found = []
    for (_, body, state), X in zip(path.links, to_body, strict=True):
        found += [(back(X, S_k), k) for k, S_k in zip(body.v_index, state.S, strict=True)]
    return found


def accumulate(J: Matrix, k: int, column: Motion) -> None:
    """Add to column k: joints that move together share it."""
    for row, x in zip(J, column, strict=True):
        row[k] = row[k] + x


def zeros(model: Model) -> Matrix:
    """Return a Jacobian of zeros."""
    return [[0.0] * model.nv for _ in range(6)]


def _drift(joint_velocities: Sequence[Motion], reference: str) -> Motion:
    """Return the velocity of the path's last body against the reference, in the reference's coordinates."""
    if reference == "body":
        return Motion.zero()
    V = _total(joint_velocities)
    return V if reference == "world" else Motion(V.ang, ZERO)


def _total(motions: Sequence[Motion]) -> Motion:
    return sum(motions, Motion.zero())
