"""A leg of two joints, and ROS bags of its joint states."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

Array = np.ndarray

LINK = '<link name="{0}"><inertial><mass value="1"/>'
LINK += '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
JOINT = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/></joint>'
URDF = f"""<robot name="leg">{"".join(map(LINK.format, "abc"))}
{JOINT.format("hip", "a", "b", "0 0 1")}{JOINT.format("knee", "b", "c", "0 1 0")}</robot>"""


def bag(
    path: Path, messages: list[tuple[float, list[str], Array, Array]], *, epoch: int = 10**9, **topics: str
) -> Path:
    """Write messages of the type JointState: time, names, positions, efforts."""
    writer = pytest.importorskip("rosbags.rosbag2").Writer
    from rosbags.typesys import Stores, get_typestore

    store: Any = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    with writer(path, version=9) as out:
        for topic in topics.values() or ("/joint_states",):
            kind = "sensor_msgs/msg/JointState" if "joint" in topic else "std_msgs/msg/String"
            connection = out.add_connection(topic, kind, typestore=store)
            for t, names, q, tau in messages if "joint" in topic else ():
                stamp = types["builtin_interfaces/msg/Time"](
                    sec=epoch + int(t) * (epoch > 0), nanosec=round(t % 1 * 1e9) * (epoch > 0)
                )
                head = types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
                made = types[kind](header=head, name=names, position=q, velocity=np.zeros(0), effort=tau)
                out.write(connection, int(t * 1e9), store.serialize_cdr(made, kind))
    return path
