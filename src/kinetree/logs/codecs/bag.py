"""Joint states, odometry and wrenches in ROS bags, with rosbags: the extra ``rosbag``.

Joint states give the times. The poses of odometry are interpolated to these by cubic polynomials through the nearest
four, wrenches, which may jump, from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.locks import importing
from kinetree.logs.codecs.table import ROWS, Table
from kinetree.logs.columns import Coordinates, some
from kinetree.logs.local_fit import WINDOW, fit_weights
from kinetree.logs.sensors import Sensors
from kinetree.robot import Robot
from kinetree.validation import Array

NDArrayInt: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

JOINTS, ODOMETRY, WRENCH = (
    "sensor_msgs/msg/JointState",
    "nav_msgs/msg/Odometry",
    "geometry_msgs/msg/WrenchStamped",
)


class Bag(Table):
    """The messages of a bag at the times of the joint states that have all joints.

    Times are those of the headers, from the first one on, or where these are zero those at which they were recorded.
    """

    kind = "ROS bag"
    suffixes = ("/", ".mcap", ".db3", ".bag")

    def __init__(self, bag: Any, name: str, robot: Robot, sensors: Sensors) -> None:
        super().__init__(bag, name)
        self._bag, self._robot = bag, robot
        self._coordinates = Coordinates(robot.q_names, robot.v_names, wrenches=tuple(sensors.called.values()))
        self._at = self._coordinates.of_joints("q")
        self._wanted = [robot.q_names[k] for k in self._at]
        self._topic = self._chosen(JOINTS, "joint states", "topic", sensors.topic)
        self._odometry: str | None = None
        if self._coordinates.base is not None:
            self._odometry = self._chosen(ODOMETRY, "odometry of the floating base", "odometry", sensors.odometry)
        elif sensors.odometry is not None:
            raise ArgumentError("odometry is given, and the base does not float: load the robot with a floating base")
        self._joints = Series(self._topic, 2 * len(self._wanted))
        self._others = {self._odometry: Series(self._odometry, 7)} if self._odometry else {}
        for frame, called in sensors.called.items():
            topic = self._of_wrench(frame, called)
            if topic in self._others:
                raise ArgumentError(f"{self.name}: {topic} is the wrench of two frames")
            self._others[topic] = Series(topic, 6)
        self._wrenches = [topic for topic in self._others if topic != self._odometry]
        self._places: dict[tuple[str, ...], list[int] | None] = {}
        self._skipped, self._alone = 0, 0
        self._begin: int | None = None
        self._effort = ["tau" if sensors.torque_constants is None else "current"] * self._first_effort()
        slots = [*self._coordinates.slots("t", "q")]
        slots += ((x, k) for x in self._effort for k in self._coordinates.of_joints("v"))
        slots += self._coordinates.slots(*["wrench"] * bool(self._wrenches))
        self.names = tuple(map(self._coordinates.call, slots))
        if unused := sorted({*self._topics(WRENCH)} - {*self._wrenches}):
            self.notes.append(f"wrenches not used: {some(unused)}")

    @classmethod
    @contextmanager
    def open(cls, path: Path, *of: Any) -> Iterator[Table]:
        """See `Table`; `ArgumentError` if rosbags is not installed."""
        try:
            with importing:
                from rosbags.highlevel import AnyReader
                from rosbags.typesys import Stores, get_typestore
        except ImportError:
            raise ArgumentError("a ROS bag needs rosbags: pip install rosbags") from None
        path.stat()  # OSError where there is nothing
        try:
            with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as bag:
                yield cls(bag, str(path), *of)
        except (FormatError, ArgumentError):
            raise
        except Exception as error:  # rosbags, its decompressors and its database have many types for a damaged bag
            raise FormatError(f"{path}: not a readable {cls.kind}: {error}") from None

    @staticmethod
    def write(*_: Any) -> None:
        """Refuse to write a bag."""
        raise ArgumentError("ROS bags are read, and not written")

    def _topics(self, kind: str | None = None) -> list[str]:
        """Return the topics with messages of a type, or all."""
        return sorted({x.topic for x in self._bag.connections if kind in (None, x.msgtype)})

    def _chosen(self, kind: str, what: str, option: str, chosen: str | None) -> str:
        """Return the topic with messages of a type."""
        found, type_name = self._topics(kind), kind.rpartition("/")[2]
        if not found:
            there = some(self._topics()) or "none"
            hint = "; or hold the base: floating_base=False, --fixed-base" if kind == ODOMETRY else ""
            raise FormatError(f"{self.name}: no topic has messages of the type {type_name}; there are {there}{hint}")
        if chosen is None and len(found) > 1:
            raise ArgumentError(f"{self.name}: several topics have {what}, {some(found)}: say which {option}")
        if chosen is not None and chosen not in found:
            raise ArgumentError(f"{self.name}: no topic {chosen!r} has {what}; there are {some(found)}")
        return chosen or found[0]

    def _of_wrench(self, frame: str, called: str) -> str:
        """Return the topic of a frame's wrench, by its name or a part of its path."""
        there = self._topics(WRENCH)
        within = [called] if called in there else [topic for topic in there if called in topic.split("/")]
        if len(within) != 1:
            raise ArgumentError(
                f"{self.name}: no single topic of wrenches is called {called!r}; there are {some(there) or 'none'}: "
                f'say which it is, as in {{"{frame}": "{there[0] if there else "/ft/" + frame}"}}'
            )
        return within[0]

    def _first_effort(self) -> bool:
        """Return whether the first message with all joints has their forces."""
        connections = [connection for connection in self._bag.connections if connection.topic == self._topic]
        for connection, _, raw in self._bag.messages(connections=connections):
            message = self._bag.deserialize(raw, connection.msgtype)
            if (at := self._place(tuple(message.name))) is not None:
                return len(message.effort) > max(at, default=-1)
        return True

    def _place(self, names: tuple[str, ...]) -> list[int] | None:
        """Return where the robot's joints are among these; None where some are not."""
        if names not in self._places:
            whole = set(self._wanted) <= set(names)
            self._places[names] = [names.index(x) for x in self._wanted] if whole else None
        return self._places[names]

    def numbers(self) -> Iterator[dict[str, Array]]:
        """See `Table`."""
        topics = {self._topic, *self._others}
        connections = [connection for connection in self._bag.connections if connection.topic in topics]
        count = max(1, sum(connection.msgcount for connection in connections))
        for k, (connection, recorded, raw) in enumerate(self._bag.messages(connections=connections)):
            self.progress = k / count
            message = self._bag.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            self._add(connection.topic, message, stamp.sec * 1_000_000_000 + stamp.nanosec or recorded)
            if connection.topic == self._topic and len(self._joints.rows) % ROWS == ROWS - 1:
                yield from self._flush(whole=False)
        yield from self._flush(whole=True)
        if self._begin is None:
            raise self._nothing()
        if self._skipped:
            self.notes.append(f"{self._skipped} messages of {self._topic} without all joints are left out")
        if self._alone:
            names = some(list(self._others))
            self.notes.append(f"{self._alone} samples without messages of {names} before and after are left out")

    def _add(self, topic: str, message: Any, stamp: int) -> None:
        series = self._joints if topic == self._topic else self._others[topic]
        if series is self._joints:
            at = self._place(tuple(message.name))
            if at is None:
                self._skipped += 1
                return
            row = [x for values in (message.position, message.effort) for x in _picked(values, at)]
        elif topic == self._odometry:
            if not series.rows and self._begin is None:
                self._check_child(str(message.child_frame_id))
            pose = message.pose.pose
            row = [*_entries(pose.position, "xyz"), *_entries(pose.orientation, "xyzw")]
        else:
            row = [*_entries(message.wrench.torque, "xyz"), *_entries(message.wrench.force, "xyz")]
        series.stamps.append(stamp)
        series.rows.append(row)

    def _check_child(self, frame: str) -> None:
        """Raise unless odometry is of the link that floats; note what else it may be of."""
        link = self._robot.joint(str(self._coordinates.base)).child
        if frame in self._robot.frame_names:
            found = self._robot.frame(frame)
            if found.body != link or not np.allclose(found.placement, np.eye(4)):
                raise FormatError(
                    f"{self.name}: the odometry is of {frame!r}; that of {link!r} is needed, which floats"
                )
        elif frame:
            self.notes.append(f"odometry of {frame!r}, which the robot does not have, is taken for that of {link!r}")

    def _nothing(self) -> FormatError:
        """Return the error that says why there is no sample."""
        wanted, places = self._wanted, self._places
        if any(at is not None for at in places.values()):
            return FormatError(f"{self.name}: no joint states are at the times of {some(list(self._others))}")
        missing = [x for x in wanted if not any(x in names for names in places)]
        why = f"none has {some(missing)}" if missing else "none has all joints at once"
        there = some(sorted({x for names in places for x in names})) or "no messages"
        return FormatError(
            f"{self.name}: of the joint states in {self._topic}, {why}; there are {there}; expected {some(wanted)}"
        )

    def _flush(self, *, whole: bool) -> Iterator[dict[str, Array]]:
        """Yield the rows for which all other messages are there; drop what is not needed any more."""
        t = np.array(self._joints.stamps, np.int64)
        rows = np.array(self._joints.rows, float).reshape(len(t), 2 * len(self._wanted))
        others = [series.arrays(self.name) for series in self._others.values()]
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
        n, base = len(self._wanted), self._coordinates.of_base("q")
        q = np.tile(self._robot.neutral(), (len(t), 1))
        q[:, self._at] = rows[:, :n]
        if self._odometry is not None:
            q[:, base] = poses_at(self._robot, base, t, *others[self._odometry])
        arrays: dict[str, Array] = {"t": np.asarray((t - (self._begin or 0)) * 1e-9, float)[:, None], "q": q}
        arrays |= {effort: rows[:, n:] for effort in self._effort}
        if self._wrenches:
            arrays["wrench"] = np.hstack([linear(t, *others[topic]) for topic in self._wrenches])
        return arrays


def _entries(vector: Any, axes: str) -> list[float]:
    return [float(getattr(vector, axis)) for axis in axes]


def _picked(values: Array, at: list[int]) -> list[float]:
    """Return some entries, NaN where there are none at all."""
    return [float(values[k]) for k in at] if len(values) > max(at, default=-1) else [float("nan")] * len(at)


class Series:
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


def surrounded(when: NDArrayInt, t: NDArrayInt) -> Any:
    """Return at which times t there is a message before and after, without a gap between these."""
    if len(when) < 2:
        return np.zeros(len(t), bool)
    j = np.clip(np.searchsorted(when, t, side="right") - 1, 0, len(when) - 2)
    usual = np.quantile(np.diff(when), 0.25)
    return (when[0] <= t) & (t <= when[-1]) & (np.diff(when)[j] <= WINDOW * usual)


def linear(t: NDArrayInt, when: NDArrayInt, x: Array) -> Array:
    """Return rows at other times, linear between two."""
    s, at = (t - when[0]) * 1e-9, (when - when[0]) * 1e-9
    return np.stack([np.interp(s, at, column) for column in x.T], axis=-1)


def poses_at(robot: Robot, base: range, t: NDArrayInt, when: NDArrayInt, poses: Array) -> Array:
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
