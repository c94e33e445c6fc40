"""A leg, a small robot that floats and its motion on one foot, and recorded motions as ROS bags."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from kinetree.logs.local_fit import differentiate

Array = np.ndarray

BAR = '<link name="{0}"><inertial><mass value="1"/>'
BAR += '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
JOINT = '<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/><axis xyz="{3}"/></joint>'
LEG = f"""<robot name="leg">{"".join(map(BAR.format, "abc"))}
{JOINT.format("hip", "a", "b", "0 0 1")}{JOINT.format("knee", "b", "c", "0 1 0")}</robot>"""

LINK = '<link name="{0}"><inertial><origin xyz="0.02 0.01 {1}"/><mass value="{2}"/>'
LINK += '<inertia ixx="{3}" iyy="{3}" izz="{3}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
HOPPER = f"""<robot name="hopper">{LINK.format("trunk", 0.05, 4, 0.05)}{LINK.format("leg", -0.1, 1, 0.01)}
<link name="foot"/>
<joint name="hip" type="continuous"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/></joint>
<joint name="ankle" type="fixed"><parent link="leg"/><child link="foot"/><origin xyz="0.05 0 -0.3" rpy="0.3 0.2 0"/>
</joint></robot>"""

FEET, EPOCH = ("foot",), 10**9


def hop(robot, count, step=0.004):
    """Return t, q, tau, and the wrench (n, 6) on the foot, in its axes, that makes this motion true."""
    t = step * np.arange(count)
    place = 0.2 * np.sin(np.outer(t, [5.0, 6.3, 4.1]))
    half = 0.25 * np.sin(np.outer(t, [4.0, 5.5, 3.2]))
    angle = np.linalg.norm(half, axis=1, keepdims=True)
    quaternion = np.hstack([half * np.sinc(angle / np.pi), np.cos(angle)])
    q = np.hstack([place, quaternion, np.sin(7.0 * t)[:, None]])
    v, a = differentiate(t, q, robot.difference, window=5)
    needed = robot.inverse_dynamics(q, v, a)
    unit = [robot.inverse_dynamics(q, v, a, {"foot": np.tile(e, (count, 1))}) - needed for e in np.eye(6)]
    wrench = np.linalg.solve(-np.stack(unit, axis=-1)[:, :6], needed[:, :6, None])[..., 0]
    tau = robot.inverse_dynamics(q, v, a, {"foot": wrench})
    return {"t": t, "q": q, "v": v, "a": a, "tau": tau, "wrench": wrench}


def joint_states(t, q, tau, names=("hip", "knee")):
    """Return messages of joint states with positions and efforts, which there need not be."""
    efforts = [()] * len(t) if tau is None else tau
    return [(x, {"name": [*names], "position": y, "effort": z}) for x, y, z in zip(t, q, efforts, strict=True)]


def write_bag(path, topics, *, stamped=True):
    """Write messages by topic: times (s) with what of a joint state, odometry, a wrench or a text they hold."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types

    def made(kind: str, **fields):
        return types[kind](**fields)

    def vector(x):
        return made("geometry_msgs/msg/Vector3", **dict(zip("xyz", map(float, x), strict=True)))

    def message(t: float, held: Mapping[str, Any]):
        epoch, nanoseconds = (EPOCH, round(t * 1e9)) if stamped else (0, 0)
        stamp = made("builtin_interfaces/msg/Time", sec=epoch + nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
        header = made("std_msgs/msg/Header", stamp=stamp, frame_id=held.get("frame", ""))
        if "data" in held:
            return made("std_msgs/msg/String", data=held["data"])
        if "wrench" in held:
            moment, force = vector(held["wrench"][:3]), vector(held["wrench"][3:])
            wrench = made("geometry_msgs/msg/Wrench", force=force, torque=moment)
            return made("geometry_msgs/msg/WrenchStamped", header=header, wrench=wrench)
        if "pose" in held:
            x = list(map(float, held["pose"]))
            position = made("geometry_msgs/msg/Point", **dict(zip("xyz", x[:3], strict=True)))
            turned = made("geometry_msgs/msg/Quaternion", **dict(zip("xyzw", x[3:], strict=True)))
            pose = made("geometry_msgs/msg/Pose", position=position, orientation=turned)
            twist = made("geometry_msgs/msg/Twist", linear=vector(np.zeros(3)), angular=vector(np.zeros(3)))
            nothing = np.zeros(36)
            return made(
                "nav_msgs/msg/Odometry",
                header=header,
                child_frame_id=held.get("frame", "trunk"),
                pose=made("geometry_msgs/msg/PoseWithCovariance", pose=pose, covariance=nothing),
                twist=made("geometry_msgs/msg/TwistWithCovariance", twist=twist, covariance=nothing),
            )
        fields = {x: np.array(held.get(x, []), float) for x in ("position", "velocity", "effort")}
        return made("sensor_msgs/msg/JointState", header=header, name=held["name"], **fields)

    with Writer(path, version=9) as out:
        every = [(t, topic, message(t, held)) for topic, of_topic in topics.items() for t, held in of_topic]
        connections = {}
        for t, topic, one in sorted(every, key=lambda x: x[0]):
            if topic not in connections:
                connections[topic] = out.add_connection(topic, one.__msgtype__, typestore=store)
            out.write(connections[topic], round((t + EPOCH) * 1e9), store.serialize_cdr(one, one.__msgtype__))
    return path
