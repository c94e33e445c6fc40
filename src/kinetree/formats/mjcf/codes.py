"""Names in MuJoCo's model, and how it says where things stand."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from kinetree.errors import ModelError
from kinetree.formats.graph import new_name
from kinetree.formats.xml import SNAP
from kinetree.spatial import GeneralRotation, Mat3, Quaternion, Transform, Vec3
from kinetree.validation import Array

FREE: Final = 0  # mjJNT_FREE, for those who have no `mujoco` at hand
FAR: Final = 1e10
"""Stands for an infinite end of a range, of which MJCF wants both: MuJoCo's largest number (mjMAXVAL)."""


def names_of(m: Any, kind: str) -> list[str]:
    """Return the names of all things of a kind in an MjModel; one without a name is called ``joint_3``."""
    names = given_names(m, {"joint": "jnt", "keyframe": "key", "equality": "eq"}.get(kind, kind))
    taken = set(names)
    for k in [k for k, name in enumerate(names) if not name]:
        taken.add(new := new_name(f"{kind}_{k}", taken))
        names[k] = new
    return names


def given_names(m: Any, array: str) -> list[str]:
    """Return the names in the file, empty where there is none."""
    texts: bytes = m.names
    starts = getattr(m, f"name_{array}adr").tolist()
    return [texts[k : texts.index(b"\0", k)].decode("utf-8", "replace") for k in starts]


def transforms(positions: Array, quaternions: Array) -> list[Transform]:
    """Return the transforms to frames at these positions (n, 3) that stand so: w, x, y, z (n, 4) of any length."""
    with np.errstate(invalid="ignore"):
        w, x, y, z = (quaternions / np.abs(quaternions).max(axis=1, keepdims=True)).T
    E = np.array([[*row] for row in Quaternion(x, y, z, w).rotation().matrix.rows]).transpose(2, 0, 1)
    if np.isnan(E).any():
        raise ModelError("a quaternion is zero")
    nearest = np.round(E)
    E = np.where(np.abs(E - nearest) < SNAP, nearest + 0.0, E)  # + 0.0 turns −0.0 into 0.0
    places = zip(E.tolist(), positions.tolist(), strict=True)
    return [Transform(GeneralRotation(Mat3([Vec3(*row) for row in rows])), Vec3(*at)) for rows, at in places]
