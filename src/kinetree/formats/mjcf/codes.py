"""MuJoCo's enumerations, names and quaternions, as far as the other modules of this room read them."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final

from kinetree.formats.xml import quaternion_rotation
from kinetree.spatial import Transform

FREE, BALL, SLIDE, HINGE = range(4)
"""mjtJoint."""
CONSTRAINT, EQUALITY, FRICTION, LIMIT, _, SPRING, DAMPER, GRAVITY, _, _, _, ACTUATION = (1 << k for k in range(12))
"""mjtDisableBit: what a file turns off."""
CONNECT, WELD, JOINT_EQUALITY = range(3)
"""mjtEq, but for those that have no place here."""
JOINT, JOINT_IN_PARENT = range(2)
"""mjtTrn, as those."""
PLANE, HFIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH, SDF = range(9)
"""mjtGeom."""
SITE = 6
"""mjOBJ_SITE."""

ADDRESSES: Final = {"joint": "jnt", "keyframe": "key", "equality": "eq"}
"""What the arrays of a kind of things are called, where it is not as the kind."""


def names_of(m: Any, kind: str) -> list[str]:
    """Return the names of all things of a kind in an MjModel; one without a name is called ``joint_3``."""
    texts: bytes = m.names
    addresses = getattr(m, f"name_{ADDRESSES.get(kind, kind)}adr").tolist()
    names = [texts[k : texts.index(b"\0", k)].decode("utf-8", "replace") for k in addresses]
    taken = set(names)
    for k, name in enumerate(names):
        if not name:
            names[k] = new_name(f"{kind}_{k}", taken)
            taken.add(names[k])
    return names


def new_name(name: str, taken: Container[str]) -> str:
    """Return the name, with underscores behind it until it is new."""
    while name in taken:
        name += "_"
    return name


def pose(position: Any, quaternion: Any) -> Transform:
    """Return the transform to a frame that stands so, by its quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return Transform.placed(quaternion_rotation((x, y, z, w)), position)
