"""Events and counts of a trajectory as arrays, for files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kinetree.errors import FormatError
from kinetree.robot import Robot
from kinetree.trajectories.states import Happened
from kinetree.trajectories.trajectory import Trajectory

TEXTS = ("event_names", "count_names")
NUMBERS = ("event_times", "event_robots", "event_q", "event_v", "counts")
"""The arrays in a file: of m events (m, …), and of c counts (c, …) with the axes of the robots."""


def packed(trajectory: Trajectory) -> dict[str, Any]:
    """Return the events of a simulation and what was counted, as arrays; none of these where there is nothing."""
    found: dict[str, Any] = {}
    if events := [e for e in trajectory.events if isinstance(e, Happened)]:
        found["event_times"] = np.array([e.time for e in events])
        found["event_names"] = np.array([e.name for e in events], dtype=np.str_)
        found["event_robots"] = np.array([e.robot for e in events], dtype=np.int64).reshape(len(events), -1)
        found |= {"event_q": np.array([e.q for e in events]), "event_v": np.array([e.v for e in events])}
    if trajectory.counts:
        found["count_names"] = np.array(list(trajectory.counts), dtype=np.str_)
        found["counts"] = np.stack(list(trajectory.counts.values()))
    return found


def unpacked(name: str, arrays: Mapping[str, Any], robot: Robot, lead: tuple[int, ...]) -> dict[str, Any]:
    """Return events and counts from these arrays of a file; `FormatError` where they are none of such a batch."""
    found: dict[str, Any] = {}
    if held := {x: arrays[x] for x in (*TEXTS, *NUMBERS) if x in arrays and x.startswith("event")}:
        n = len(np.atleast_1d(next(iter(held.values()))))
        wanted = {"times": (), "names": (), "robots": (len(lead),), "q": (robot.nq,), "v": (robot.nv,)}
        columns = [_shaped(name, arrays, f"event_{x}", (n, *shape)) for x, shape in wanted.items()]
        robots = columns[2]
        if (robots != np.floor(robots)).any() or not ((robots >= 0) & (robots < np.array(lead))).all():
            raise FormatError(f"{name}: 'event_robots' are no robots of a batch {lead}")
        found["events"] = tuple(
            Happened(float(t), str(x), tuple(map(int, at)), q, v) for t, x, at, q, v in zip(*columns, strict=True)
        )
    if "count_names" in arrays or "counts" in arrays:
        names = np.atleast_1d(arrays.get("count_names", ()))
        counts = _shaped(name, arrays, "counts", (len(names), *lead))
        found["counts"] = {str(x): count for x, count in zip(names, counts, strict=True)}
    return found


def _shaped(name: str, arrays: Mapping[str, Any], key: str, shape: tuple[int, ...]) -> Any:
    held = arrays.get(key)
    if held is None or held.shape != shape:
        raise FormatError(f"{name}: {key!r} has shape {getattr(held, 'shape', None)}; {shape} is expected")
    return held
