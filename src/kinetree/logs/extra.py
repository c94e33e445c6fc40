"""What of a trajectory is not a column, as arrays for files: stops, events, counts, numbers of the robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, FormatError, ModelError
from kinetree.functions import model_inputs
from kinetree.functions.model_inputs import ModelInput
from kinetree.integrators import StopReason
from kinetree.motions.states import Happened
from kinetree.motions.trajectory import Trajectory
from kinetree.robot import Robot

TEXTS = ("reasons", "event_names", "count_names", "input_names", "input_kinds", "input_frames")
NUMBERS = ("stopped_at", "event_times", "event_robots", "event_q", "event_v", "counts", "inputs")
"""The arrays in a file: of the robots (…), of m events (m, …), of c counts (c, …) with the axes of the robots, and of
the numbers of the robot that were given to a simulation (…, n or 1, entries of all)."""

_OF_JOINTS = (model_inputs.joint_damping, model_inputs.joint_friction, model_inputs.joint_armature)
_INPUTS = {x.kind: x for x in (model_inputs.gravity, *_OF_JOINTS)}
_AT_FRAMES = {"inertia": model_inputs.body_inertia, "payload": model_inputs.payload}
"""The numbers of a robot by their kinds."""


def packed(trajectory: Trajectory) -> dict[str, Any]:
    """Return where robots stopped and why; events, counts and numbers of the robot where there are any."""
    reasons = np.array([reason or "" for reason in trajectory.reasons.ravel()], dtype=np.str_)
    found: dict[str, Any] = {"stopped_at": trajectory.stopped_at, "reasons": reasons.reshape(trajectory.batch_shape)}
    if events := [e for e in trajectory.events if isinstance(e, Happened)]:
        found["event_times"] = np.array([e.time for e in events])
        found["event_names"] = np.array([e.name for e in events], dtype=np.str_)
        found["event_robots"] = np.array([e.robot for e in events], dtype=np.int64).reshape(len(events), -1)
        found |= {"event_q": np.array([e.q for e in events]), "event_v": np.array([e.v for e in events])}
    if trajectory.counts:
        found["count_names"] = np.array(list(trajectory.counts), dtype=np.str_)
        found["counts"] = np.stack(list(trajectory.counts.values()))
    if given := trajectory.inputs:
        rows = max(x.shape[-2] for x in given.values())
        wide = [np.broadcast_to(x, (*trajectory.batch_shape, rows, x.shape[-1])) for x in given.values()]
        found["inputs"] = np.concatenate(wide, axis=-1)
        texts = {"names": [x.name for x in given], "kinds": [x.kind for x in given], "frames": [x.frame for x in given]}
        found |= {f"input_{name}": np.array(x, dtype=np.str_) for name, x in texts.items()}
    return found


def unpacked(name: str, arrays: Mapping[str, Any], robot: Robot, lead: tuple[int, ...], samples: int) -> dict[str, Any]:
    """Return what a `Trajectory` takes of these arrays of a file; `FormatError` where they are none of it."""
    found: dict[str, Any] = {x: arrays[x] for x in ("stopped_at",) if x in arrays}
    if "reasons" in arrays:
        reasons = [StopReason.of(str(reason)) for reason in arrays["reasons"].ravel()]
        found["reasons"] = np.array(reasons, dtype=object).reshape(arrays["reasons"].shape)
    if held := {x: arrays[x] for x in (*TEXTS, *NUMBERS) if x in arrays and x.startswith("event")}:
        n = len(np.atleast_1d(next(iter(held.values()))))
        wanted = {"times": (), "names": (), "robots": (len(lead),), "q": (robot.nq,), "v": (robot.nv,)}
        columns = [_shaped(name, arrays, f"event_{x}", (n, *shape)) for x, shape in wanted.items()]
        for x, column in zip(wanted, columns, strict=True):
            if x != "names" and not np.isfinite(column).all():
                raise FormatError(f"{name}: 'event_{x}' holds a number that is not finite (NaN or inf)")
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
    if "inputs" in arrays or "input_kinds" in arrays:
        found["inputs"] = _inputs(name, arrays, robot, lead, samples)
    return found


def _inputs(
    name: str, arrays: Mapping[str, Any], robot: Robot, lead: tuple[int, ...], samples: int
) -> dict[ModelInput, Any]:
    """Return the numbers of the robot that were given to a simulation."""
    n = np.size(arrays.get("input_kinds", ()))
    columns = [_shaped(name, arrays, f"input_{x}", (n,)).tolist() for x in ("names", "kinds", "frames")]
    try:
        made = tuple(_input(*map(str, texts)) for texts in zip(*columns, strict=True))
        model_inputs.check_inputs(robot.model, made)
    except (ArgumentError, ModelError) as error:
        raise FormatError(f"{name}: {error}") from None
    if len({"q", "v", *columns[0]}) < 2 + n or not all(map(str.isidentifier, columns[0])):
        raise FormatError(f"{name}: 'input_names' are no names of arguments, each another one: {columns[0]}")
    sizes = [math.prod(x.port(robot.model).shape) for x in made]
    rows = 1 if np.shape(arrays.get("inputs", ()))[-2:-1] == (1,) else samples
    values = _shaped(name, arrays, "inputs", (*lead, rows, sum(sizes)))
    if not np.isfinite(values).all():
        raise FormatError(f"{name}: 'inputs' holds a number that is not finite (NaN or inf)")
    return dict(zip(made, np.split(values, np.cumsum(sizes)[:-1], axis=-1), strict=True))


def _input(name: str, kind: str, frame: str) -> ModelInput:
    if kind in _AT_FRAMES:
        return _AT_FRAMES[kind](frame, name)
    if kind not in _INPUTS or frame:
        raise ArgumentError(f"'input_kinds' holds {kind!r}; there are {', '.join((*_INPUTS, *_AT_FRAMES))}")
    return replace(_INPUTS[kind], name=name)


def _shaped(name: str, arrays: Mapping[str, Any], key: str, shape: tuple[int, ...]) -> Any:
    held = arrays.get(key)
    if held is None or held.shape != shape:
        raise FormatError(f"{name}: {key!r} has shape {getattr(held, 'shape', None)}; {shape} is expected")
    return held
