"""The torques of a motion against the limits, gathered block by block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import JustifyMethod
from rich.table import Table

from kinetree.robot import Robot
from kinetree.robot.limits import given
from kinetree.tables import make_table, number
from kinetree.validation import Array


class Summary:
    """Peaks and squares of the torques so far, and the extremes of q and v; `rows` is the number of samples."""

    def __init__(self, robot: Robot) -> None:
        nq, nv = robot.nq, robot.nv
        self.robot = robot
        self.rows = 0
        self._timed = True
        self._peak, self._peak_at = np.full(nv, -np.inf), np.zeros(nv)
        self._squares, self._over, self._speed = np.zeros(nv), np.zeros(nv, dtype=np.int_), np.zeros(nv)
        self._low, self._high, self._jump = np.full(nq, np.inf), np.full(nq, -np.inf), np.zeros(nq)
        self._last: Array | None = None

    def add(self, block: Mapping[str, Array], when: Array) -> None:
        """Take a block, "q", "v" and "tau" at some times or samples, into account."""
        q, tau = block["q"], block["tau"]
        size = np.abs(tau)
        peak = size.max(axis=0)
        self._timed = "t" in block
        self._peak_at = np.where(peak > self._peak, when[size.argmax(axis=0)], self._peak_at)
        self._peak = np.maximum(self._peak, peak)
        self._squares += np.einsum("ij,ij->j", tau, tau)
        self._over += np.sum(size > given(self.robot.effort_limits), axis=0)
        self.rows += len(tau)
        self._low = np.minimum(self._low, q.min(axis=0))
        self._high = np.maximum(self._high, q.max(axis=0))
        self._speed = np.maximum(self._speed, np.abs(block["v"]).max(axis=0))
        before = q[:1] if self._last is None else self._last
        self._jump = np.maximum(self._jump, np.abs(np.diff(q, axis=0, prepend=before)).max(axis=0))
        self._last = q[-1:]

    def joints(self) -> list[dict[str, Any]]:
        """Return the figures of every degree of freedom; its limit is infinite where there is none."""
        rms, limits = np.sqrt(self._squares / self.rows), given(self.robot.effort_limits)
        columns = zip(self.robot.v_names, self._peak, self._peak_at, rms, limits, self._over.tolist(), strict=True)
        return [dict(zip(("name", "peak", "at", "rms", "limit", "samples_over"), row, strict=True)) for row in columns]

    def table(self, width: int) -> Table:
        """Return the torques of every degree of freedom against its effort limit."""
        when = "at t (s)" if self._timed else "at sample"
        headings = ("peak |τ|", when, "rms", "limit", "used", "samples over")
        columns: dict[str, JustifyMethod] = {"joint": "left", **dict.fromkeys(headings, "right")}
        rows = [
            (
                joint["name"],
                *(number(joint[key]) for key in ("peak", "at", "rms", "limit")),
                f"{100 * joint['peak'] / joint['limit']:.0f} %" if joint["limit"] < np.inf else "–",
                f"OVER {joint['samples_over']}" if joint["samples_over"] else "–",
            )
            for joint in self.joints()
        ]
        optional = ["rms", when, "limit", "used"]
        return make_table(columns, rows, width, optional=optional, marked=np.flatnonzero(self._over))

    def warnings(self) -> list[str]:
        """Return what about the motion itself is beyond the robot's limits, or suspicious."""
        q_names, v_names = self.robot.q_names, self.robot.v_names
        low, high, lower, upper = self._low, self._high, self.robot.lower_limits, self.robot.upper_limits
        fastest = given(self.robot.velocity_limits)
        outside = [
            f"{q_names[k]} ({number(low[k])} … {number(high[k])}, allowed {number(lower[k])} … {number(upper[k])})"
            for k in np.flatnonzero((low < lower) | (high > upper))
        ]
        fast = [
            f"{v_names[k]} ({number(self._speed[k])}, allowed {number(fastest[k])})"
            for k in np.flatnonzero(self._speed > fastest)
        ]
        jumps = [f"{q_names[k]} (by {number(self._jump[k])})" for k in np.flatnonzero(self._jump > 3)]
        far = np.abs([low, high]).max() > 4 * np.pi
        findings = (
            ("beyond the limits of position", outside, ". Is it in degrees?" if far else ""),
            ("faster than the limits of velocity", fast, ""),
            ("jumps from one sample to the next", jumps, ". Do the angles wrap around?"),
        )
        return [f"{what}: {'; '.join(found)}{hint}" for what, found, hint in findings if found]
