"""Joint states, odometry and wrenches in ROS bags, with rosbags: the extra ``rosbag``.

Joint states give the times. The poses of odometry are interpolated to these by cubic polynomials through the nearest
four, wrenches, which may jump, from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.locks import importing
from kinetree.robot import Robot
from kinetree.trajectories.block import BLOCK
from kinetree.trajectories.columns.match import check_quantities
from kinetree.trajectories.columns.names import LOG
from kinetree.trajectories.coordinates import Coordinates, some
from kinetree.trajectories.signals.differentiate import WINDOW, fit_weights
from kinetree.validation import Array

NDArrayInt: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

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
        raise ArgumentError("a ROS bag needs rosbags: pip install kinetree[rosbag]") from None
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
        raise FormatError(f"{path}: no topic has messages of the type {name}; there are {some(every) or 'none'}")
    if chosen is None and len(found) > 1:
        raise ArgumentError(f"{path}: several topics have {what}, {some(found)}: say which {option}")
    if chosen is not None and chosen not in found:
        raise ArgumentError(f"{path}: no topic {chosen!r} has {what}; there are {some(found)}")
    return chosen or found[0]


class _Series:
    """Stamped rows of numbers that come one after the other."""

    def __init__(self, topic: str, width: int) -> None:
        self.topic, self._width = topic, width
        self.stamps: list[int] = []
        self.rows: list[list[float]] = []

    def arrays(self, name: str) -> tuple[NDArrayInt, Array]:
        """Return stamps (n,) in ns that increase, and rows (n, k)."""
        t, x = np.array(self.stamps, np.int64), np.array(self.rows, float).reshape(len(self.rows), self._width)
        for k in np.flatnonzero(np.diff(t) < 0)[:1]:
            raise FormatError(f"{name}: time goes back in {self.topic}, by {(t[k] - t[k + 1]) * 1e-9:g} s")
        kept = np.append(True, np.diff(t) > 0)[: len(t)]
        return t[kept], x[kept]

    def forget(self, count: int) -> None:
        """Drop the first rows."""
        del self.stamps[: max(count, 0)], self.rows[: max(count, 0)]


class Messages:
    """The messages of a bag as arrays at the times of the joint states that have all joints.

    Times are those of the headers, from the first one on, or where these are zero those at which they were recorded.
    `notes` is complete when all blocks have been read.
    """

    def __init__(
        self, bag: Any, path: Path, robot: Robot, topics: Topics, wrenches: Mapping[str, str], *, currents: bool
    ) -> None:
        self._bag, self._path, self._robot, self._topics = bag, str(path), robot, topics
        self._coordinates = Coordinates(robot.q_names, robot.v_names, tuple(wrenches.values()))
        base = self._coordinates.of_base("q")
        self._wanted = [name for k, name in enumerate(robot.q_names) if k not in base]
        self._effort, self._has_effort = "current" if currents else "tau", True
        self._joints = _Series(topics.joints, 2 * len(self._wanted))
        self._others: dict[str, _Series] = {}
        if topics.odometry is not None:
            self._others[topics.odometry] = _Series(topics.odometry, 7)
        for frame, called in wrenches.items():
            topic = self._topic_of_wrench(frame, called)
            if topic in self._others:
                raise ArgumentError(f"{self._path}: {topic} is the wrench of two frames")
            self._others[topic] = _Series(topic, 6)
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
            within &= _surrounded(when, t)
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
            q[:, base] = _poses(self._robot, base, t, *others[self._topics.odometry])
        arrays: dict[str, Array] = {"t": np.asarray((t - (self._begin or 0)) * 1e-9, float), "q": q}
        if self._has_effort:
            arrays[self._effort] = rows[:, n:]
        if self._wrenches:
            arrays["wrench"] = np.hstack([_linear(t, *others[topic]) for topic in self._wrenches])
        return arrays


def _picked(values: Array, at: list[int]) -> list[float]:
    """Return some entries, NaN where there are none at all."""
    return [float(values[k]) for k in at] if len(values) > max(at, default=-1) else [float("nan")] * len(at)


def _surrounded(when: NDArrayInt, t: NDArrayInt) -> Any:
    """Return at which times t there is a message before and after, without a gap between these."""
    if len(when) < 2:
        return np.zeros(len(t), bool)
    j = np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 2)
    usual = np.quantile(np.diff(when), 0.25)
    return (when[0] <= t) & (t <= when[-1]) & (np.diff(when)[j] <= WINDOW * usual)


def _linear(t: NDArrayInt, when: NDArrayInt, x: Array) -> Array:
    s, at = (t - when[0]) * 1e-9, (when - when[0]) * 1e-9
    return np.stack([np.interp(s, at, column) for column in x.T], axis=-1)


def _poses(robot: Robot, base: range, t: NDArrayInt, when: NDArrayInt, poses: Array) -> Array:
    """Return the poses at other times, by cubic polynomials of the motions that lead from the one before."""
    size = min(4, len(when))
    j = np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 1)
    near = np.clip(j - 1, 0, len(when) - size)[:, None] + np.arange(size)
    q = np.tile(robot.neutral(), (len(when), 1))
    q[:, base] = poses
    span = (when[near[:, -1]] - when[near[:, 0]])[:, None]
    weights, _, _ = fit_weights((when[near] - t[:, None]) / span, size - 1)
    motions = robot.difference(np.broadcast_to(q[j, None], (*near.shape, robot.nq)), q[near])
    return np.asarray(robot.integrate(q[j], np.einsum("ij,ijk->ik", weights, motions))[:, base])
