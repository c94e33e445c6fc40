"""MuJoCo's enumerations, names and quaternions, as far as the other modules of this room need them."""

from __future__ import annotations

from typing import Any

from kinetree.formats.graph import new_name
from kinetree.formats.xml import quaternion_rotation
from kinetree.spatial import Transform

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
CONSTRAINT, EQUALITY, FRICTION, LIMIT, CONTACT, SPRING, DAMPER, GRAVITY = (1 << k for k in range(8))  # mjtDisableBit
ACTUATION = 1 << 11
CONNECT, WELD, COUPLING = range(3)  # mjtEq
JOINT, JOINT_IN_PARENT = range(2)  # mjtTrn
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = range(7)  # mjtGeom; others are meshes
SITE = 6  # mjOBJ_SITE
FAR = 1e10
"""Stands for an infinite end of a range, of which MJCF wants both: MuJoCo's largest number (mjMAXVAL)."""


def names_of(m: Any, kind: str) -> list[str]:
    """Return the names of all things of a kind in an MjModel; one without a name is called ``joint_3``."""
    array = {"joint": "jnt", "keyframe": "key", "equality": "eq"}.get(kind, kind)
    names = given_names(m, array)
    taken = set(names)
    for k, name in enumerate(names):
        if not name:
            names[k] = new_name(f"{kind}_{k}", taken)
            taken.add(names[k])
    return names


def given_names(m: Any, array: str) -> list[str]:
    """Return the names in the file, empty where there is none."""
    texts: bytes = m.names
    starts = getattr(m, f"name_{array}adr").tolist()
    return [texts[k : texts.index(b"\0", k)].decode("utf-8", "replace") for k in starts]


def pose(position: Any, quaternion: Any) -> Transform:
    """Return the transform to a frame that stands so, by its quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return Transform.placed(quaternion_rotation((x, y, z, w)), position)
