"""Joint states, odometry and wrenches in ROS bags, with rosbags: the extra ``rosbag``.

Joint states give the times. The poses of odometry are interpolated to these by cubic polynomials through the nearest
four, wrenches, which may jump, from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.locks import importing
from kinetree.logs.codecs.table import ROWS, Table, regrouped
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
        self._coordinates = at = Coordinates.of(robot, sensors.called)
        self._wanted = [robot.q_names[k] for k in at.of_joints("q")]
        self._topic, self._odometry = self._chosen(JOINTS, "joint states", "topic", sensors.topic), ""
        if at.base is not None:
            self._odometry = self._chosen(ODOMETRY, "odometry of the floating base", "odometry", sensors.odometry)
        elif sensors.odometry is not None:
            raise ArgumentError("odometry is given, and the base does not float: load the robot with a floating base")
        self._wrenches = [self._of_wrench(frame, called) for frame, called in sensors.called.items()]
        for k, topic in enumerate(self._wrenches):
            if topic in self._wrenches[:k]:
                raise ArgumentError(f"{self.name}: {topic} is the wrench of two frames")
        self._others = [x for x in (self._odometry, *self._wrenches) if x]
        self._held: dict[str, list[tuple[int, list[float]]]] = {x: [] for x in (self._topic, *self._others)}
        self._places: dict[tuple[str, ...], list[int] | None] = {}
        self._skipped, self._alone = 0, 0
        self._begin: int | None = None
        self._effort = self._first_effort()
        effort = ["tau" if sensors.torque_constants is None else "current"] * self._effort
        slots = [*at.slots("t", "q"), *((x, k) for x in effort for k in at.of_joints("v"))]
        self.names = tuple(map(at.call, [*slots, *at.slots("wrench")]))
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
        with cls.reading(str(path)), AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as bag:
            yield cls(bag, str(path), *of)

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

    def _messages(self, *topics: str) -> Iterator[tuple[float, str, int, Any]]:
        """Yield the messages of some topics, with the part of all that was before, the topic, and the stamp (ns)."""
        connections = [connection for connection in self._bag.connections if connection.topic in topics]
        count = max(1, sum(connection.msgcount for connection in connections))
        for k, (connection, recorded, raw) in enumerate(self._bag.messages(connections=connections)):
            message = self._bag.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            yield k / count, connection.topic, stamp.sec * 1_000_000_000 + stamp.nanosec or recorded, message

    def _first_effort(self) -> bool:
        """Return whether the first message with all joints has their forces."""
        placed = ((self._place(tuple(message.name)), message) for *_, message in self._messages(self._topic))
        at, message = next(((at, message) for at, message in placed if at is not None), ([], None))
        return message is None or len(message.effort) > max(at, default=-1)

    def _place(self, names: tuple[str, ...]) -> list[int] | None:
        """Return where the robot's joints are among these; None where some are not."""
        if names not in self._places:
            whole = set(self._wanted) <= set(names)
            self._places[names] = [names.index(x) for x in self._wanted] if whole else None
        return self._places[names]

    def rows(self, columns: Sequence[int]) -> Iterator[Array]:
        """See `Table`."""
        return regrouped((matrix[:, columns] for matrix in self._samples()), ROWS)

    def _samples(self) -> Iterator[Array]:
        """Yield the numbers of all columns at the joint states for which there are the other messages too."""
        for done, topic, stamp, message in self._messages(self._topic, *self._others):
            self.progress, held = done, self._held[topic]
            last = held[-1][0] if topic in self._others and held else stamp - 1
            if stamp < last:
                raise FormatError(f"{self.name}: time goes back in {topic}, by {(last - stamp) * 1e-9:g} s")
            if stamp == last:
                continue
            if (row := self._row(topic, message)) is None:
                self._skipped += 1
                continue
            held.append((stamp, row))
            if topic == self._topic and len(held) % ROWS == ROWS - 1:
                yield from self._flush(whole=False)
        yield from self._flush(whole=True)
        if self._begin is None:
            raise self._nothing()
        if self._skipped:
            self.notes.append(f"{self._skipped} messages of {self._topic} without all joints are left out")
        if self._alone:
            names = some(self._others)
            self.notes.append(f"{self._alone} samples without messages of {names} before and after are left out")

    def _row(self, topic: str, message: Any) -> list[float] | None:
        """Return the numbers of a message; None of joint states without all joints."""
        if topic == self._topic:
            if (at := self._place(tuple(message.name))) is None:
                return None
            return [x for values in (message.position, message.effort) for x in _picked(values, at)]
        if topic == self._odometry:
            if not self._held[topic] and self._begin is None:
                self._check_child(str(message.child_frame_id))
            pose = message.pose.pose
            return [*_entries(pose.position, "xyz"), *_entries(pose.orientation, "xyzw")]
        return [*_entries(message.wrench.torque, "xyz"), *_entries(message.wrench.force, "xyz")]

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
            return FormatError(f"{self.name}: no joint states are at the times of {some(self._others)}")
        missing = [x for x in wanted if not any(x in names for names in places)]
        why = f"none has {some(missing)}" if missing else "none has all joints at once"
        there = some(sorted({x for names in places for x in names})) or "no messages"
        return FormatError(
            f"{self.name}: of the joint states in {self._topic}, {why}; there are {there}; expected {some(wanted)}"
        )

    def _flush(self, *, whole: bool) -> Iterator[Array]:
        """Yield the rows for which all other messages are there; drop what is not needed any more."""
        (t, rows), *others = (
            (np.array([t for t, _ in held], np.int64), np.array([x for _, x in held], float))
            for held in self._held.values()
        )
        ends = [int(when[-2]) if len(when) > 1 else -1 for when, _ in others]  # a cubic needs two messages after
        count = len(t) if whole or not others else int(np.count_nonzero(np.cumsum(t > min(ends)) == 0))
        del self._held[self._topic][:count]
        within = np.logical_and.reduce([surrounded(x, t[:count]) for x, _ in others], initial=True)
        within = np.broadcast_to(within, count)
        self._alone += int(np.count_nonzero(~within))
        t, rows = t[:count][within], rows[:count][within]
        if not len(t):
            return
        self._begin = int(t[0]) if self._begin is None else self._begin
        n, base = len(self._wanted), self._coordinates.of_base("q")
        q = np.tile(self._robot.neutral(), (len(t), 1))
        q[:, self._coordinates.of_joints("q")] = rows[:, :n]
        if self._odometry:
            q[:, base] = poses_at(self._robot, base, t, *others[0])
        wrenches = [linear(t, *other) for other in others[bool(self._odometry) :]]
        yield np.hstack([(t - self._begin)[:, None] * 1e-9, q, rows[:, n:] if self._effort else q[:, :0], *wrenches])
        for topic, (when, _) in zip(self._others, others, strict=True):
            before = int(np.searchsorted(when, t[-1])) - 2 * WINDOW
            del self._held[topic][: max(before, 0)]


def _entries(vector: Any, axes: str) -> list[float]:
    return [float(getattr(vector, axis)) for axis in axes]


def _picked(values: Array, at: list[int]) -> list[float]:
    """Return some entries, NaN where there are none at all."""
    return [float(values[k]) for k in at] if len(values) > max(at, default=-1) else [float("nan")] * len(at)


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
