"""From Denavit–Hartenberg parameters to a model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.errors import ModelError
from kinetree.formats.chains.chain import SerialLink, serial_model
from kinetree.formats.xml.elements import rpy_rotation
from kinetree.joints import Prismatic, Revolute
from kinetree.model import GRAVITY, NO_LIMITS, JointLimits, Model
from kinetree.model.checks import Pose
from kinetree.signatures import told
from kinetree.spatial import Inertia
from kinetree.validation import Array, as_poses

CONVENTIONS = ("standard", "modified")
RESISTANCES = ("damping", "friction", "rotor_inertia", "gear_ratio")


@told
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
    """Return the model of a chain given by DH parameters; `kinetree.from_dh` documents the arguments.

    Examples
    --------
    >>> model = model_from_dh([DHLink(a=1.0), DHLink(a=0.5, alpha=1.5)])
    >>> model.nq, model.frame_names
    (2, ('base', 'link1', 'link2', 'frame1', 'frame2', 'tool'))
    """
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
