"""Joint states in ROS bags, with rosbags: the extra ``rosbag``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, FormatError
from kinetree.locks import importing
from kinetree.trajectories.coordinates import some
from kinetree.validation import Array

SUFFIXES = (".mcap", ".db3", ".bag")
"""What a bag may be, besides a folder."""

TYPE = "sensor_msgs/msg/JointState"


class JointStates(NamedTuple):
    """Columns by name, ``t``, ``q.elbow``, ``tau.elbow``, and what is to be known of them."""

    columns: dict[str, Array]
    notes: tuple[str, ...]


def read(path: Path, topic: str | None, wanted: tuple[str, ...], *, effort: str = "tau") -> JointStates:
    """Return the messages of the type JointState that have all of these joints.

    Times are those of their headers, from the first one on, or where these are zero those at which they were recorded.

    Raises
    ------
    ArgumentError
        If rosbags is not installed, or there are several topics and none is chosen.
    FormatError
        If it is no bag, or has no such messages, or none has all joints.
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
            return _messages(bag, path, _topic(bag, path, topic), wanted, effort)
    except (FormatError, ArgumentError):
        raise
    except Exception as error:  # rosbags, its decompressors and its database have many types for a damaged bag
        raise FormatError(f"{path}: not a readable ROS bag: {error}") from None


def _topic(bag: Any, path: Path, topic: str | None) -> str:
    found = sorted({connection.topic for connection in bag.connections if connection.msgtype == TYPE})
    every = sorted({connection.topic for connection in bag.connections})
    if not found:
        raise FormatError(f"{path}: no topic has messages of the type JointState; there are {some(every) or 'none'}")
    if topic is None and len(found) > 1:
        raise ArgumentError(f"{path}: several topics have joint states, {some(found)}: say which topic")
    if topic is not None and topic not in found:
        raise ArgumentError(f"{path}: no topic {topic!r} has joint states; there are {some(found)}")
    return topic or found[0]


def _messages(bag: Any, path: Path, topic: str, wanted: tuple[str, ...], effort: str) -> JointStates:
    connections = [connection for connection in bag.connections if connection.topic == topic]
    places: dict[tuple[str, ...], list[int] | None] = {}
    stamps, times, rows, skipped = [], [], [], 0
    for connection, recorded, raw in bag.messages(connections=connections):
        message = bag.deserialize(raw, connection.msgtype)
        names = tuple(message.name)
        if names not in places:
            places[names] = [names.index(x) for x in wanted] if set(wanted) <= set(names) else None
        at = places[names]
        if at is None:
            skipped += 1
            continue
        stamp = message.header.stamp
        stamps.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
        times.append(recorded)
        rows.append([_picked(x, at) for x in (message.position, message.effort)])
    if not rows:
        missing = [x for x in wanted if not any(x in names for names in places)]
        why = f"none has {some(missing)}" if missing else "none has all joints at once"
        there = some(sorted({x for names in places for x in names})) or "no messages"
        raise FormatError(f"{path}: of the joint states in {topic}, {why}; there are {there}; expected {some(wanted)}")
    when = np.array(stamps if any(stamps) else times, dtype=np.int64)
    columns = {"t": (when - when[0]) * 1e-9}
    for quantity, values in zip(("q", effort), np.array(rows).transpose(1, 2, 0), strict=True):
        if not np.isnan(values).all():
            columns |= {f"{quantity}.{name}": x for name, x in zip(wanted, values, strict=True)}
    notes = (f"{skipped} messages of {topic} without all joints are left out",) if skipped else ()
    return JointStates(columns, notes)


def _picked(values: Array, at: list[int]) -> list[float]:
    """Return some entries, NaN where there are none at all."""
    return [float(values[k]) for k in at] if len(values) > max(at, default=-1) else [float("nan")] * len(at)
