"""What a motion asks of each degree of freedom, its range, speed and force, beside the robot's limits."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.robot import Robot
from kinetree.tables import Cells, number
from kinetree.validation import Array, given_limits

if TYPE_CHECKING:
    from kinetree.motions.trajectory import Trajectory


class Extremes:
    """The extremes of q, v and, where they are known, tau of samples, at times or numbers; `rows` is their number."""

    def __init__(self, robot: Robot, arrays: Mapping[str, Array], when: Array) -> None:
        q, self._forces = arrays["q"], "tau" in arrays
        self.robot, self.rows = robot, len(q)
        self._low, self._high, self._speed = q.min(axis=0), q.max(axis=0), np.abs(arrays["v"]).max(axis=0)
        self._jump = np.abs(np.diff(q, axis=0, prepend=q[:1])).max(axis=0)
        size = np.abs(arrays["tau"]) if self._forces else np.zeros((1, robot.nv))
        self._peak, self._at = size.max(axis=0), when[size.argmax(axis=0)]
        self._rms = np.sqrt(np.einsum("ij,ij->j", size, size) / len(size))
        self._over = np.sum(size > given_limits(robot.effort_limits), axis=0)

    def joints(self) -> list[dict[str, Any]]:
        """Return what is asked of every degree of freedom; a limit is infinite, a range NaN, where there is none."""
        robot, spans = self.robot, np.full((3, self.robot.nv), np.nan)
        outside = (self._low < robot.lower_limits) | (self._high > robot.upper_limits)
        for body in robot.model.leading:
            if len(body.q_index) == len(body.v_index) == 1:
                spans[:, body.v_index[0]] = [x[body.q_index[0]] for x in (self._low, self._high, outside)]
        limits = given_limits(robot.velocity_limits), given_limits(robot.effort_limits)
        columns: dict[str, Any] = {"low": spans[0], "high": spans[1], "beyond": spans[2] == 1.0}
        columns |= {"peak_v": self._speed, "limit_v": limits[0], "fast": self._speed > limits[0]}
        if self._forces:
            columns |= {"peak_tau": self._peak, "at": self._at, "rms": self._rms}
            columns |= {"limit_tau": limits[1], "strong": self._over > 0, "samples_over": self._over}
        rows = zip(robot.v_names, *(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(("name", *columns), row, strict=True)) for row in rows]

    def table(self) -> Cells:
        """Return the range, speed and force of every degree of freedom against its limits."""
        shown = {"peak_v": "peak |v|", "limit_v": "limit v", "peak_tau": "peak |τ|", "limit_tau": "limit τ"}
        shown = dict(list(shown.items())[: 4 if self._forces else 2])
        rows, marked = [], set()
        for k, joint in enumerate(self.joints()):
            what = {"beyond": "position", "fast": "speed", "strong": "torque"}
            if over := [word for key, word in what.items() if joint.get(key)]:
                marked.add(k)
            span = "–" if np.isnan(joint["low"]) else f"{_tidy(joint['low'])} … {_tidy(joint['high'])}"
            rows.append((joint["name"], span, *(_tidy(joint[key]) for key in shown), ", ".join(over) or "–"))
        columns: Any = {"joint": "left", **dict.fromkeys(("range", *shown.values(), "over"), "right")}
        return Cells(columns, rows, [x for x in ("limit v", "limit τ", "range") if x in columns], marked)

    def warnings(self) -> list[str]:
        """Return warnings about the motion: beyond the robot's limits, or suspicious."""
        robot, names, fastest = self.robot, self.robot.q_names, given_limits(self.robot.velocity_limits)
        low, high, lower, upper = self._low, self._high, robot.lower_limits, robot.upper_limits
        outside = [
            f"{names[k]} ({number(low[k])} … {number(high[k])}, allowed {number(lower[k])} … {number(upper[k])})"
            for k in np.flatnonzero((low < lower) | (high > upper))
        ]
        fast = [
            f"{robot.v_names[k]} ({number(self._speed[k])}, allowed {number(fastest[k])})"
            for k in np.flatnonzero(self._speed > fastest)
        ]
        jumps = [f"{names[k]} (by {number(self._jump[k])})" for k in np.flatnonzero(self._jump > 3)]
        far = np.abs([low, high]).max() > 4 * np.pi
        findings = (
            ("beyond the limits of position", outside, ". Is it in degrees?" if far else ""),
            ("faster than the limits of velocity", fast, ""),
            ("jumps from one sample to the next", jumps, ". Do the angles wrap around?"),
        )
        return [f"{what}: {'; '.join(found)}{hint}" for what, found, hint in findings if found]


def _tidy(x: float) -> str:
    """Return a number for people, without what is rounding alone."""
    return number(0.0 if abs(x) < 1e-9 else x)


def _of(trajectory: Trajectory) -> Extremes:
    """Return the extremes of all samples of all robots."""
    kept = {x: getattr(trajectory, x) for x in trajectory.recorded if x in ("q", "v", "tau")}
    every = {x: y.reshape(-1, y.shape[-1]) for x, y in kept.items()}
    return Extremes(trajectory.robot, every, np.resize(trajectory.t, len(every["q"])))


def table(self: Trajectory) -> Cells:
    """Return a row for each degree of freedom: its range, its largest speed and force, beside the robot's limits.

    Of a batch these are the extremes of all robots. Forces are there where they were recorded. ``str`` of it, and so
    ``print``, is text.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=0.5)
    >>> t = np.linspace(0, 0.5, 51)
    >>> q, v, a = path(t)
    >>> motion = kt.Trajectory(robot, t, q, v, tau=robot.inverse_dynamics(q, v, a))
    >>> print(motion.table())
    joint                 range  peak |v|  limit v  peak |τ|  limit τ   over
    shoulder_pan_joint    0 … 0         0     3.15     7.165      150      –
    shoulder_lift_joint  -1 … 0      3.75     3.15     115.4      150  speed
    elbow_joint           0 … 1      3.75     3.15     31.19      150  speed
    wrist_1_joint         0 … 0         0      3.2    0.1326       28      –
    wrist_2_joint         0 … 0         0      3.2         0       28      –
    wrist_3_joint         0 … 0         0      3.2         0       28      –
    """
    return _of(self).table()


def plain(value: Any) -> Any:
    """Return a value as JSON has it: arrays are lists, and infinities and what is not a number are None."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Mapping):
        return {str(key): plain(x) for key, x in value.items()}
    if isinstance(value, list | tuple):
        return [plain(x) for x in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)


def to_dict(self: Trajectory) -> dict[str, Any]:
    """Return the times, what was recorded, why it stopped, and of each joint what `table` has, for JSON.

    What is infinite or not a number, as a limit that there is not, is None. Of a joint: its range (``low``, ``high``;
    None for one of several degrees of freedom) and whether that is ``beyond`` its limits; the largest speed and force
    (``peak_v``, ``peak_tau``) with the limits, whether it was too ``fast`` or too ``strong``; when the force was
    largest (``at``, s), its root mean square, and how many samples are over.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> motion = robot.simulate(robot.neutral(), duration=0.1)
    >>> found = motion.to_dict()
    >>> found["samples"], found["end"], found["reason"], round(found["joints"][1]["peak_v"], 3)
    (101, 0.1, None, 2.548)
    """
    found = {"robot": self.robot.name, "samples": len(self), "start": float(self.t[0]), "end": float(self.t[-1])}
    found |= {"batch_shape": self.batch_shape, "recorded": self.recorded}
    found |= {"stopped_at": self.stopped_at, "reason": self.reasons}
    return dict(plain(found | {"counts": self.counts, "joints": _of(self).joints()}))
