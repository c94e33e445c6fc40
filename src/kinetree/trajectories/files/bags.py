"""Joint states, odometry and wrenches in ROS bags, with rosbags: the extra ``rosbag``.

Joint states give the times. The poses of odometry are interpolated to these by cubic polynomials through the nearest
four, wrenches, which may jump, from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.locks import importing
from kinetree.robot import Robot
from kinetree.trajectories.block import BLOCK
from kinetree.trajectories.columns.match import check_quantities
from kinetree.trajectories.columns.names import LOG
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.signals.align import NDArrayInt, Series, linear, poses_at, surrounded
from kinetree.trajectories.signals.differentiate import WINDOW
from kinetree.validation import Array

SUFFIXES = (".mcap", ".db3", ".bag")
"""What a bag may be, besides a folder."""

JOINTS, ODOMETRY, WRENCH = (
    "sensor_msgs/msg/JointState",
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/WrenchStamped",
)


class Topics(NamedTuple):
    """The topics that are read; there is odometry where the base floats."""

    joints: str
    odometry: str | None


@contextmanager
def open_bag(path: Path) -> Iterator[Any]:
    """Open a bag.

    Raises
    ------
    ArgumentError
        If rosbags is not installed.
    FormatError
        If it is no bag, or is damaged.
    OSError
        If there is no such file.
    """
    try:
        with importing:
            from rosbags.highlevel import AnyReader
            from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise ArgumentError("a ROS bag needs rosbags: pip install rosbags") from None
    path.stat()  # OSError where there is nothing
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as bag:
            yield bag
    except (FormatError, ArgumentError):
        raise
    except Exception as error:  # rosbags, its decompressors and its database have many types for a damaged bag
        raise FormatError(f"{path}: not a readable ROS bag: {error}") from None


def topics(bag: Any, path: Path, coordinates: Coordinates, *, topic: str | None, odometry: str | None) -> Topics:
    """Return the topics of joint states and, where the base floats, of odometry: the chosen ones, or the only ones."""
    joints = _topic(bag, path, JOINTS, "joint states", "topic", topic)
    if coordinates.base is None:
        if odometry is not None:
            raise ArgumentError("odometry is given, and the base does not float: load the robot with a floating base")
        return Topics(joints, None)
    return Topics(joints, _topic(bag, path, ODOMETRY, "odometry of the floating base", "odometry", odometry))


def _topic(bag: Any, path: Path, kind: str, what: str, option: str, chosen: str | None) -> str:
    found = sorted({connection.topic for connection in bag.connections if connection.msgtype == kind})
    every = sorted({connection.topic for connection in bag.connections})
    name = kind.rpartition("/")[2]
    if not found:
        hint = "; or hold the base: floating_base=False, --fixed-base" if kind == ODOMETRY else ""
        raise FormatError(f"{path}: no topic has messages of the type {name}; there are {some(every) or 'none'}{hint}")
    if chosen is None and len(found) > 1:
        raise ArgumentError(f"{path}: several topics have {what}, {some(found)}: say which {option}")
    if chosen is not None and chosen not in found:
        raise ArgumentError(f"{path}: no topic {chosen!r} has {what}; there are {some(found)}")
    return chosen or found[0]


class Messages:
    """The messages of a bag as arrays at the times of the joint states that have all joints.

    Times are those of the headers, from the first one on, or where these are zero those at which they were recorded.
    `notes` is complete when all blocks have been read.
    """

    def __init__(
        self, bag: Any, path: Path, robot: Robot, topics: Topics, wrenches: Mapping[str, str], *, currents: bool
    ) -> None:
        self._bag, self._path, self._robot, self._topics = bag, str(path), robot, topics
        self._coordinates = Coordinates(robot.q_names, robot.v_names, wrenches=tuple(wrenches.values()))
        base = self._coordinates.of_base("q")
        self._wanted = [name for k, name in enumerate(robot.q_names) if k not in base]
        self._effort, self._has_effort = "current" if currents else "tau", True
        self._joints = Series(topics.joints, 2 * len(self._wanted))
        self._others: dict[str, Series] = {}
        if topics.odometry is not None:
            self._others[topics.odometry] = Series(topics.odometry, 7)
        for frame, called in wrenches.items():
            topic = self._topic_of_wrench(frame, called)
            if topic in self._others:
                raise ArgumentError(f"{self._path}: {topic} is the wrench of two frames")
            self._others[topic] = Series(topic, 6)
        self._wrenches = [topic for topic in self._others if topic != topics.odometry]
        self._places: dict[tuple[str, ...], list[int] | None] = {}
        self._skipped, self._alone, self.done = 0, 0, 0.0
        self._begin: int | None = None
        self.notes = list(self._unused_wrenches())

    def _topic_of_wrench(self, frame: str, called: str) -> str:
        there = sorted({c.topic for c in self._bag.connections if c.msgtype == WRENCH})
        if called in there:
            return str(called)
        within = [topic for topic in there if called in topic.split("/")]
        if len(within) != 1:
            raise ArgumentError(
                f"{self._path}: no single topic of wrenches is called {called!r}; there are {some(there) or 'none'}: "
                f'say which it is, as in {{"{frame}": "{there[0] if there else "/ft/" + frame}"}}'
            )
        return str(within[0])

    def _unused_wrenches(self) -> Iterator[str]:
        there = {c.topic for c in self._bag.connections if c.msgtype == WRENCH} - set(self._wrenches)
        if there:
            yield f"wrenches not used: {some(sorted(there))}"

    def blocks(self) -> Iterator[dict[str, Array]]:
        """Yield arrays by quantity."""
        topics = {self._topics.joints, *self._others}
        connections = [connection for connection in self._bag.connections if connection.topic in topics]
        count = max(1, sum(connection.msgcount for connection in connections))
        for k, (connection, recorded, raw) in enumerate(self._bag.messages(connections=connections)):
            self.done = k / count
            message = self._bag.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            self._add(connection.topic, message, stamp.sec * 1_000_000_000 + stamp.nanosec or recorded)
            if connection.topic == self._topics.joints and len(self._joints.rows) % BLOCK == BLOCK - 1:
                yield from self._flush(whole=False)
        yield from self._flush(whole=True)
        if self._begin is None:
            self._raise_nothing()
        if self._skipped:
            self.notes.append(f"{self._skipped} messages of {self._topics.joints} without all joints are left out")
        if self._alone:
            names = some(list(self._others))
            self.notes.append(f"{self._alone} samples without messages of {names} before and after are left out")

    def _add(self, topic: str, message: Any, stamp: int) -> None:
        if topic == self._topics.joints:
            self._add_joints(message, stamp)
            return
        if topic == self._topics.odometry:
            if not self._others[topic].rows and self._begin is None:
                self._check_child(str(message.child_frame_id))
            pose = message.pose.pose
            vectors = (pose.position, "xyz"), (pose.orientation, "xyzw")
        else:
            vectors = (message.wrench.torque, "xyz"), (message.wrench.force, "xyz")
        series = self._others[topic]
        series.stamps.append(stamp)
        series.rows.append([float(getattr(vector, axis)) for vector, axes in vectors for axis in axes])

    def _add_joints(self, message: Any, stamp: int) -> None:
        names = tuple(message.name)
        if names not in self._places:
            whole = set(self._wanted) <= set(names)
            self._places[names] = [names.index(x) for x in self._wanted] if whole else None
        at = self._places[names]
        if at is None:
            self._skipped += 1
            return
        if not self._joints.rows and self._begin is None:
            self._has_effort = len(message.effort) > max(at, default=-1)
            held = {"t", "q", *([self._effort] if self._has_effort else [])}
            held |= {"wrench"} if self._wrenches else set()
            try:
                check_quantities(held, self._coordinates, (), LOG)
            except FormatError as error:
                raise FormatError(f"{self._path}: {error}") from None
        self._joints.stamps.append(stamp)
        self._joints.rows.append([x for values in (message.position, message.effort) for x in _picked(values, at)])

    def _check_child(self, frame: str) -> None:
        """Raise unless odometry is of the link that floats; note what else it may be of."""
        link = self._robot.joint(str(self._coordinates.base)).child
        if frame in self._robot.frame_names:
            found = self._robot.frame(frame)
            if found.body != link or not np.allclose(found.placement, np.eye(4)):
                raise FormatError(
                    f"{self._path}: the odometry is of {frame!r}; that of {link!r} is needed, which floats"
                )
        elif frame:
            self.notes.append(f"odometry of {frame!r}, which the robot does not have, is taken for that of {link!r}")

    def _raise_nothing(self) -> None:
        """Say why there is no sample."""
        wanted, places = self._wanted, self._places
        if any(at is not None for at in places.values()):
            raise FormatError(f"{self._path}: no joint states are at the times of {some(list(self._others))}")
        missing = [x for x in wanted if not any(x in names for names in places)]
        why = f"none has {some(missing)}" if missing else "none has all joints at once"
        there = some(sorted({x for names in places for x in names})) or "no messages"
        raise FormatError(
            f"{self._path}: of the joint states in {self._topics.joints}, {why}; there are {there}; "
            f"expected {some(wanted)}"
        )

    def _flush(self, *, whole: bool) -> Iterator[dict[str, Array]]:
        """Yield the rows for which all other messages are there; drop what is not needed any more."""
        t = np.array(self._joints.stamps, np.int64)
        rows = np.array(self._joints.rows, float).reshape(len(t), 2 * len(self._wanted))
        others = [series.arrays(self._path) for series in self._others.values()]
        ends = [int(when[-2]) if len(when) > 1 else -1 for when, _ in others]  # a cubic needs two messages after
        count = len(t) if whole or not others else int(np.count_nonzero(np.cumsum(t > min(ends)) == 0))
        t, rows = t[:count], rows[:count]
        within = np.ones(count, bool)
        for when, _ in others:
            within &= surrounded(when, t)
        self._alone += int(np.count_nonzero(~within))
        t, rows = t[within], rows[within]
        if len(t):
            self._begin = int(t[0]) if self._begin is None else self._begin
            yield self._arrays(t, rows, dict(zip(self._others, others, strict=True)))
        self._joints.forget(count)
        for series, (when, _) in zip(self._others.values(), others, strict=True):
            if len(t):
                before = int(np.searchsorted(when, t[-1])) - 2 * WINDOW
                series.forget(int(np.searchsorted(series.stamps, when[max(before, 0)])))

    def _arrays(self, t: NDArrayInt, rows: Array, others: dict[str, tuple[NDArrayInt, Array]]) -> dict[str, Array]:
        n = len(self._wanted)
        q = np.tile(self._robot.neutral(), (len(t), 1))
        base = self._coordinates.of_base("q")
        q[:, [k for k in range(q.shape[1]) if k not in base]] = rows[:, :n]
        if self._topics.odometry is not None:
            q[:, base] = poses_at(self._robot, base, t, *others[self._topics.odometry])
        arrays: dict[str, Array] = {"t": np.asarray((t - (self._begin or 0)) * 1e-9, float), "q": q}
        if self._has_effort:
            arrays[self._effort] = rows[:, n:]
        if self._wrenches:
            arrays["wrench"] = np.hstack([linear(t, *others[topic]) for topic in self._wrenches])
        return arrays


def _picked(values: Array, at: list[int]) -> list[float]:
    """Return some entries, NaN where there are none at all."""
    return [float(values[k]) for k in at] if len(values) > max(at, default=-1) else [float("nan")] * len(at)
