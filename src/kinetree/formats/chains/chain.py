"""A serial chain from the joints and links of a table: what the readers of screws and of DH parameters share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import ModelError
from kinetree.joints import Joint
from kinetree.model import Model, ModelBuilder
from kinetree.model.checks import Pose, about_com, check_inertias
from kinetree.spatial import Inertia, Transform
from kinetree.validation import Array


@dataclass(frozen=True)
class SerialLink:
    """A link of a chain, and the joint before it.

    Attributes
    ----------
    joint : Joint
    placement : (4, 4) array
        Pose of the joint's frame in the body of the link before.
    frame : (4, 4) array
        Pose of the link's own frame, the one in the table, in its body's frame (the joint's frame as it moves).
    inertia : Inertia
        About the link's own frame.
    options : mapping
        Limits, friction and armature, as `ModelBuilder.add_joint` takes them.
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
    names = [f"joint{i}" for i in range(1, n + 1)] if joint_names is None else list(joint_names)
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
