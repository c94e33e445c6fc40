"""Serial chains: models from Denavit–Hartenberg parameters, and from screw axes (product of exponentials)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ModelError, warn_user
from kinetree.formats.xml import rpy_rotation
from kinetree.joints import Helical, Joint, Mimic, Prismatic, Revolute
from kinetree.model import GRAVITY, NO_LIMITS, JointLimits, Model, ModelBuilder
from kinetree.model.checks import Pose, about_com, check_inertias
from kinetree.options import names_of
from kinetree.signatures import friendly_call_errors
from kinetree.spatial import Inertia, Transform
from kinetree.spatial.numpy_matrices import adjoint, inverse, skew
from kinetree.validation import Array, as_poses, check_poses, real_array


@dataclass(frozen=True)
class SerialLink:
    """A link of a chain, with its inertia about its own frame, and the joint before it with its limits and friction.

    `placement` is the pose of the joint's frame in the body before, `frame` that of the link's own, as in the table,
    in the link's body, which stands in the joint's frame as it moves.
    """

    joint: Joint
    placement: Array
    frame: Array
    inertia: Inertia
    options: Mapping[str, Any]


def serial_model(
    links: Sequence[SerialLink],
    tool: Array,
    *,
    name: str,
    joint_names: Sequence[str] | None,
    base_pose: Pose | None,
    gravity: Iterable[float],
) -> Model:
    """Return the model of a chain.

    Its bodies are ``link1`` … ``linkn``, its joints ``joint1`` … unless named. Frames are these, ``base``, the links'
    own frames ``frame1`` … ``framen``, and ``tool``, at the pose `tool` in the last of them.
    """
    n = len(links)
    names = [f"joint{i}" for i in range(1, n + 1)] if joint_names is None else names_of("joint_names", joint_names)
    if len(names) != n:
        raise ModelError(f"{len(names)} joint names are given for {n} joints")
    builder = ModelBuilder(name)
    builder.add_link("base")
    last = "base", np.eye(4)
    for i, (joint_name, link) in enumerate(zip(names, links, strict=True), start=1):
        to_frame = Transform.placed(link.frame[:3, :3].tolist(), link.frame[:3, 3].tolist())
        builder.add_link(f"link{i}", to_frame.T @ link.inertia)
        builder.add_joint(
            joint_name,
            parent=last[0],
            child=f"link{i}",
            joint=link.joint,
            placement=link.placement.tolist(),
            **link.options,
        )
        builder.add_frame(f"frame{i}", link=f"link{i}", placement=link.frame.tolist())
        last = f"link{i}", link.frame
    builder.add_frame("tool", link=last[0], placement=(last[1] @ tool).tolist())
    model = builder.assemble(base_pose=base_pose, gravity=gravity)
    check_inertias(name, ((f"link{i}", x.inertia.m, about_com(x.inertia)) for i, x in enumerate(links, start=1)))
    return model


CONVENTIONS = ("standard", "modified")
RESISTANCES = ("damping", "friction", "rotor_inertia", "gear_ratio")


@friendly_call_errors
@dataclass(frozen=True, kw_only=True)
class DHLink:
    """A row of a table of Denavit–Hartenberg parameters, with what dynamics needs.

    A revolute joint adds its coordinate to `theta`, a prismatic one to `d`: what is given here is the joint's offset.

    Attributes
    ----------
    theta : float
        Angle about z (rad).
    d : float
        Distance along z (m).
    a : float
        Distance along x (m): a_i in the standard convention, a_{i−1} in the modified one.
    alpha : float
        Twist about x (rad): α_i or α_{i−1} likewise.
    prismatic : bool
    inertia : Inertia, optional
        In the axes of the link's DH frame, about its origin; `Inertia.from_com` makes one from the mass, the centre of
        mass and the inertia about that. Without it the link has no mass.
    limits : JointLimits, optional
    damping, friction : float
        Viscous (N·m·s or N·s/m) and Coulomb (N·m or N) friction, at the joint. Figures measured at the motor count
        ``gear_ratio²`` and ``|gear_ratio|`` times.
    rotor_inertia, gear_ratio : float
        Inertia of the motor (kg·m²) and its turns per unit of the joint, which feels ``rotor_inertia · gear_ratio²``.
    """

    theta: float = 0.0
    d: float = 0.0
    a: float = 0.0
    alpha: float = 0.0
    prismatic: bool = False
    inertia: Inertia | None = None
    limits: JointLimits = NO_LIMITS
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0


def model_from_dh(
    links: Sequence[DHLink],
    *,
    convention: str = "standard",
    name: str = "robot",
    joint_names: Sequence[str] | None = None,
    tool_pose: Pose | None = None,
    base_pose: Pose | None = None,
    gravity: Iterable[float] = GRAVITY,
) -> Model:
    """Return the model of a chain given by DH parameters; `kinetree.from_dh` documents the arguments."""
    if convention not in CONVENTIONS:
        raise ModelError(
            f"convention={convention!r}: give 'standard' (Denavit, Hartenberg, Paul) or 'modified' (Craig)"
        )
    if not links:
        raise ModelError("there are no links: give one DHLink for each joint")
    chain, before = [], np.eye(4)
    for i, link in enumerate(links, start=1):
        _check(i, link)
        along_z = _screw((0.0, 0.0, float(link.theta)), (0.0, 0.0, float(link.d)))
        along_x = _screw((float(link.alpha), 0.0, 0.0), (float(link.a), 0.0, 0.0))
        if convention == "standard":  # T = Rz(θ) Tz(d) Tx(a) Rx(α): the joint moves before a and α
            placement, frame = before @ along_z, along_x
        else:  # T = Rx(α) Tx(a) Rz(θ) Tz(d): it moves after them
            placement, frame = before @ along_x @ along_z, np.eye(4)
        before = frame
        chain.append(
            SerialLink(
                Prismatic((0.0, 0.0, 1.0)) if link.prismatic else Revolute((0.0, 0.0, 1.0)),
                placement,
                frame,
                link.inertia or Inertia.zero(),
                {name: getattr(link, name) for name in ("limits", *RESISTANCES)},
            )
        )
    tool = np.eye(4) if tool_pose is None else as_poses("tool_pose", tool_pose, batch=False, error=ModelError)
    return serial_model(chain, tool, name=name, joint_names=joint_names, base_pose=base_pose, gravity=gravity)


def _screw(rpy: tuple[float, float, float], translation: tuple[float, float, float]) -> Array:
    """Return the pose after a rotation about and a translation along one axis (they commute)."""
    pose = np.eye(4)
    pose[:3, :3] = rpy_rotation(rpy)
    pose[:3, 3] = translation
    return pose


def _check(i: int, link: DHLink) -> None:
    if not isinstance(link, DHLink):
        raise ModelError(f"row {i} of the DH table is a {type(link).__name__}: give DHLink(theta=…, d=…, a=…, alpha=…)")
    if not (link.inertia is None or isinstance(link.inertia, Inertia)):
        kind = type(link.inertia).__name__
        raise ModelError(f"row {i} of the DH table has a {kind} as inertia: Inertia.from_com(mass, com, 3×3) makes one")
    for field in ("theta", "d", "a", "alpha", *RESISTANCES):
        value = getattr(link, field)
        if not (isinstance(value, (int, float, np.number)) and math.isfinite(value)):
            raise ModelError(f"row {i} of the DH table has {field}={value!r}: a finite number is needed")


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
    """Return the model of a chain given by screw axes; `kinetree.from_screws` documents the arguments."""
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
