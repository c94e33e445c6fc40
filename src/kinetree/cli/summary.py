"""What a motion comes to, gathered block by block: ranges, speeds and forces against the limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from kinetree.robot import Robot
from kinetree.robot.limits import given
from kinetree.tables import Cells, number
from kinetree.validation import Array


class Summary:
    """The extremes of q, v and the forces so far, with squares of these; `rows` is the number of samples."""

    def __init__(self, robot: Robot) -> None:
        nq, nv = robot.nq, robot.nv
        self.robot, self.rows, self.timed = robot, 0, True
        self._peak, self._peak_at, self._squares, self._speed = np.full(nv, -1.0), *np.zeros((3, nv))
        self._over, self._jump = np.zeros(nv, dtype=np.int_), np.zeros(nq)
        self._low, self._high = np.full(nq, np.inf), np.full(nq, -np.inf)
        self._last: Array | None = None

    def add(self, block: Mapping[str, Array], when: Array) -> Self:
        """Take a block, "q", "v" and "tau" at some times or samples, into account."""
        q, size = block["q"], np.abs(block["tau"])
        peak = size.max(axis=0)
        self.timed = "t" in block
        self._peak_at = np.where(peak > self._peak, when[size.argmax(axis=0)], self._peak_at)
        self._peak = np.maximum(self._peak, peak)
        self._squares += np.einsum("ij,ij->j", size, size)
        self._over += np.sum(size > given(self.robot.effort_limits), axis=0)
        self.rows += len(q)
        self._low, self._high = np.minimum(self._low, q.min(axis=0)), np.maximum(self._high, q.max(axis=0))
        self._speed = np.maximum(self._speed, np.abs(block["v"]).max(axis=0))
        before = q[:1] if self._last is None else self._last
        self._jump = np.maximum(self._jump, np.abs(np.diff(q, axis=0, prepend=before)).max(axis=0))
        self._last = q[-1:]
        return self

    def forces(self) -> list[dict[str, Any]]:
        """Return the forces of every degree of freedom; its limit is infinite where there is none."""
        rms, limits = np.sqrt(self._squares / self.rows), given(self.robot.effort_limits)
        columns = zip(self.robot.v_names, self._peak, self._peak_at, rms, limits, self._over.tolist(), strict=True)
        return [dict(zip(("name", "peak", "at", "rms", "limit", "samples_over"), row, strict=True)) for row in columns]

    def table_of_forces(self) -> Cells:
        """Return the forces of every degree of freedom against its effort limit."""
        when = "at t (s)" if self.timed else "at sample"
        rows = [
            (
                joint["name"],
                *(number(joint[key]) for key in ("peak", "at", "rms", "limit")),
                f"{100 * joint['peak'] / joint['limit']:.0f} %" if joint["limit"] < np.inf else "–",
                f"OVER {joint['samples_over']}" if joint["samples_over"] else "–",
            )
            for joint in self.forces()
        ]
        marked = set(np.flatnonzero(self._over).tolist())
        headings = ("peak |τ|", when, "rms", "limit", "used", "samples over")
        return Cells(_columns(*headings), rows, ["rms", when, "limit", "used"], marked)

    def joints(self) -> list[dict[str, Any]]:
        """Return the motion of every degree of freedom; a limit is infinite, a range None, where there is none."""
        robot, rows = self.robot, []
        leading = [body for body in robot.model.leading if len(body.q_index) == len(body.v_index) == 1]
        position = {body.v_index[0]: body.q_index[0] for body in leading}
        speeds, efforts = given(robot.velocity_limits), given(robot.effort_limits)
        for k, name in enumerate(robot.v_names):
            low = high = None
            beyond = False
            if (j := position.get(k)) is not None:
                low, high = self._low[j], self._high[j]
                beyond = bool(low < robot.lower_limits[j] or high > robot.upper_limits[j])
            row = {"name": name, "low": low, "high": high, "beyond": beyond}
            row |= {"peak_v": self._speed[k], "limit_v": speeds[k], "fast": bool(self._speed[k] > speeds[k])}
            row |= {"peak_tau": self._peak[k], "limit_tau": efforts[k], "strong": bool(self._peak[k] > efforts[k])}
            rows.append(row)
        return rows

    def table_of_joints(self) -> Cells:
        """Return the range, speed and force of every degree of freedom against its limits."""
        rows, marked = [], set()
        for k, joint in enumerate(self.joints()):
            what = {"beyond": "position", "fast": "speed", "strong": "torque"}
            if over := [word for key, word in what.items() if joint[key]]:
                marked.add(k)
            span = "–" if joint["low"] is None else f"{_tidy(joint['low'])} … {_tidy(joint['high'])}"
            figures = [_tidy(joint[key]) for key in ("peak_v", "limit_v", "peak_tau", "limit_tau")]
            rows.append((joint["name"], span, *figures, ", ".join(over) or "–"))
        columns = _columns("range", "peak |v|", "limit v", "peak |τ|", "limit τ", "over")
        return Cells(columns, rows, ["limit v", "limit τ", "range"], marked)

    def warnings(self) -> list[str]:
        """Return what about the motion itself is beyond the robot's limits, or suspicious."""
        robot, names, fastest = self.robot, self.robot.q_names, given(self.robot.velocity_limits)
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


def _columns(*headings: str) -> Any:
    return {"joint": "left", **dict.fromkeys(headings, "right")}


def _tidy(x: float) -> str:
    """Return a number for people, without what is rounding alone."""
    return number(0.0 if abs(x) < 1e-9 else x)
