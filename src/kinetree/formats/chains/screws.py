"""From screw axes and home placements (product of exponentials) to a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelError, warn_user
from kinetree.formats.chains.chain import SerialLink, serial_model
from kinetree.joints import Helical, Joint, Mimic, Prismatic, Revolute
from kinetree.model import GRAVITY, NO_LIMITS, JointLimits, Model
from kinetree.model.checks import Pose
from kinetree.spatial import Inertia
from kinetree.spatial.numpy_matrices import adjoint, inverse, skew
from kinetree.validation import Array, check_poses, real_array

SCREWS = ("space", "body", "link")
SNAP = 8 * 2.0**-52


def model_from_screws(
    M: ArrayLike,
    G: ArrayLike,
    screws: ArrayLike,
    *,
    frame: str = "space",
    name: str = "robot",
    joint_names: Sequence[str] | None = None,
    limits: Sequence[JointLimits] | None = None,
    armature: ArrayLike = 0.0,
    damping: ArrayLike = 0.0,
    friction: ArrayLike = 0.0,
    base_pose: Pose | None = None,
    gravity: Iterable[float] = GRAVITY,
) -> Model:
    """Return the model of a chain given by screw axes; `kinetree.from_screws` documents the arguments.

    Examples
    --------
    >>> import numpy as np
    >>> M = [np.eye(4), np.eye(4)]
    >>> model = model_from_screws(M, [np.diag([0.1, 0.1, 0.1, 1, 1, 1])], [[0], [0], [1], [0], [-0.5], [0]])
    >>> model.bodies[0].X_T.r  # the axis passes here
    Vec3(0.5, 0.0, 0.0)
    """
    axes = _numbers("screws, one a column,", screws, 6, None)
    n = axes.shape[1]
    inertias = [_inertia(i, G_i) for i, G_i in enumerate(_numbers("G", G, n, 6, 6), start=1)]
    poses = _numbers("M", M.as_matrix() if hasattr(M, "as_matrix") else M, None, 4, 4)
    if len(poses) not in (n, n + 1):
        raise ModelError(f"M has {len(poses)} poses: {n} joints take {n}, or {n + 1} with the tool's pose as the last")
    for i, pose in enumerate(poses, start=1):
        check_poses(f"M[{i}]", pose, ModelError)
    tool = poses[n] if len(poses) > n else np.eye(4)
    in_links = link_screws(poses[:n], axes, frame, tool)
    spread = {
        key: _spread(key, x, n) for key, x in (("armature", armature), ("damping", damping), ("friction", friction))
    }
    bounds = [NO_LIMITS] * n if limits is None else list(limits)
    if len(bounds) != n:
        raise ModelError(f"{len(bounds)} limits are given for {n} joints")
    chain, before = [], np.eye(4)
    for i in range(n):
        joint, point = _joint(i + 1, in_links[:, i])
        to_axis, to_link = np.eye(4), np.eye(4)
        to_axis[:3, 3], to_link[:3, 3] = point, -point
        options = {"limits": bounds[i], **{key: float(x[i]) for key, x in spread.items()}}
        chain.append(SerialLink(joint, before @ poses[i] @ to_axis, to_link, inertias[i], options))
        before = to_link
    return serial_model(chain, tool, name=name, joint_names=joint_names, base_pose=base_pose, gravity=gravity)


def link_screws(poses: Array, screws: Array, frame: str, tool: Array) -> Array:
    """Return the screws A_i in their own links' frames, (6, n): ``A_i = Ad_{M_i⁻¹} S_i`` (MR section 8.3).

    They are given in {0} ("space"), in the tool's frame ("body"), both in the home position, or each in its "link".
    """
    if frame not in SCREWS:
        raise ModelError(
            f"frame={frame!r}: screws are given in 'space', in 'body' (the tool's frame) or each in its 'link'"
        )
    if frame == "link":
        return screws
    homes = [np.eye(4)]
    for pose in poses:
        homes.append(homes[-1] @ pose)
    given_in = np.eye(4) if frame == "space" else homes[-1] @ tool
    return np.stack(
        [adjoint(inverse(home) @ given_in) @ S for home, S in zip(homes[1:], screws.T, strict=True)], axis=1
    )


def _joint(i: int, A: Array) -> tuple[Joint, Array]:
    """Return the joint of a screw, and a point of its axis, in the link's frame: that next to the frame's origin."""
    turning, sliding = float(np.linalg.norm(A[:3])), float(np.linalg.norm(A[3:]))
    length = turning if turning > 1e-9 * sliding else sliding
    if length < 1e-9:
        raise ModelError(f"screw {i} is zero: ω must have length 1, or be zero and v have length 1")
    w, v = A[:3] / length, A[3:] / length
    if length == sliding:
        return _scaled(i, Prismatic(_axis(v)), length), np.zeros(3)
    pitch, point = float(w @ v), np.cross(w, v)
    noise = SNAP * (1.0 + float(np.linalg.norm(v)))
    point[np.abs(point) < noise] = 0.0
    joint = Revolute(_axis(w)) if abs(pitch) < max(noise, 1e-9) else Helical(_axis(w), pitch)
    return _scaled(i, joint, length), point


def _scaled(i: int, joint: Joint, length: float) -> Joint:
    """Return the joint that moves this far a unit of its coordinate: what a screw of that length does."""
    if abs(length - 1.0) <= 1e-6:  # a rounded unit screw
        return joint
    warn_user(f"screw {i} has the length {length:.6g}, not 1: the joint moves {length:.6g} rad (or m) a unit of θ_{i}")
    return Mimic(joint, length)


def _axis(w: Array) -> tuple[float, float, float]:
    """Return the direction with coordinates within rounding of 0 or ±1 snapped to them: structure saves operations."""
    x, y, z = (round(c) + 0.0 if abs(c - round(c)) < SNAP else c for c in w.tolist())
    return x, y, z


def _inertia(i: int, G: Array) -> Inertia:
    """Return the inertia of a 6×6 spatial inertia matrix ``[[I, [h]], [[h]ᵀ, m 1]]``."""
    m, h = float(G[3, 3]), np.array([G[2, 4], G[0, 5], G[1, 3]])
    rigid = np.block([[G[:3, :3], skew(h)], [skew(h).T, m * np.eye(3)]])
    error, scale = np.abs(G - rigid).max(), np.abs(G).max()
    if error > 1e-9 * scale or np.abs(G - G.T).max() > 1e-9 * scale:
        raise ModelError(
            f"G[{i}] is not a spatial inertia of a rigid body: it must be [[I, [h]], [[h]ᵀ, m 1]] with I symmetric, "
            "angular part first; diag(I_xx, I_yy, I_zz, m, m, m) in a frame at the centre of mass"
        )
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = G[:3, :3].tolist()
    return Inertia.from_parameters([m, *h.tolist(), xx, xy, yy, xz, yz, zz])


def _spread(what: str, value: ArrayLike, n: int) -> Array:
    array = real_array(what, value, error=ModelError)
    if array.shape not in ((), (n,)):
        raise ModelError(f"{what} has shape {array.shape}; give one number, or one for each of the {n} joints")
    return np.broadcast_to(array, (n,))


def _numbers(what: str, value: ArrayLike, *shape: int | None) -> Array:
    """Return a finite array of this shape (None: any length)."""
    array = real_array(what, value, *shape, batch=False, error=ModelError)
    if 0 in array.shape or not np.isfinite(array).all():
        raise ModelError(f"{what} must be finite numbers, of one joint at least")
    return array
