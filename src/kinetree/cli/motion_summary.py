"""What a simulated motion comes to: ranges, speeds and torques against the limits, and energy."""

from __future__ import annotations

from typing import Any

import numpy as np
from rich.console import JustifyMethod
from rich.table import Table

from kinetree.integrators import StopReason
from kinetree.motions import Trajectory
from kinetree.robot.limits import given
from kinetree.tables import make_table, number


class MotionSummary:
    """The extremes of a motion of one robot, by the samples that were kept."""

    def __init__(self, motion: Trajectory) -> None:
        self.motion, self.robot = motion, motion.robot

    def joints(self) -> list[dict[str, Any]]:
        """Return the figures of every degree of freedom; a limit is infinite, a range None, where there is none."""
        robot, motion = self.robot, self.motion
        speed, torque = (np.abs(x).max(axis=0) for x in (motion.v, motion.tau))
        limits = given(robot.velocity_limits), given(robot.effort_limits)
        low, high = motion.q.min(axis=0), motion.q.max(axis=0)
        position = {
            k: j
            for body in robot.model.leading
            if len(body.q_index) == len(body.v_index) == 1
            for k, j in zip(body.v_index, body.q_index, strict=True)
        }
        rows = []
        for k, name in enumerate(robot.v_names):
            j = position.get(k)
            held = {"low": None, "high": None, "beyond": False} if j is None else {"low": low[j], "high": high[j]}
            if j is not None:
                held["beyond"] = bool(low[j] < robot.lower_limits[j] or high[j] > robot.upper_limits[j])
            speeds = {"peak_v": speed[k], "limit_v": limits[0][k], "fast": bool(speed[k] > limits[0][k])}
            torques = {"peak_tau": torque[k], "limit_tau": limits[1][k], "strong": bool(torque[k] > limits[1][k])}
            rows.append({"name": name, **held, **speeds, **torques})
        return rows

    def table(self, width: int) -> Table:
        """Return the extremes of every degree of freedom against its limits."""
        headings = ("range", "peak |v|", "limit v", "peak |τ|", "limit τ", "over")
        columns: dict[str, JustifyMethod] = {"joint": "left", **dict.fromkeys(headings, "right")}
        rows, marked = [], []
        for k, joint in enumerate(self.joints()):
            what = (("beyond", "position"), ("fast", "speed"), ("strong", "torque"))
            over = [word for key, word in what if joint[key]]
            marked += [k] if over else []
            span = "–" if joint["low"] is None else f"{_tidy(joint['low'])} … {_tidy(joint['high'])}"
            figures = [_tidy(joint[key]) for key in ("peak_v", "limit_v", "peak_tau", "limit_tau")]
            rows.append((joint["name"], span, *figures, ", ".join(over) or "–"))
        return make_table(columns, rows, width, optional=["limit v", "limit τ", "range"], marked=marked)

    def energy(self, free: bool) -> str:
        """Return a line about the energy: how well it is kept where only gravity acts, or where it came to."""
        motion, E = self.motion, self.motion.mechanical_energy
        if not np.isfinite(E).all():
            return f"energy {number(E[0])} J at first, beyond all numbers at last"
        line = f"energy {number(E[0])} J at first, {number(E[-1])} J at last"
        if not free:
            return line
        return f"{line}: off by {motion.energy_drift:.2g} of the largest kinetic energy at most"

    def warnings(self) -> list[str]:
        """Return what a person should know."""
        motion = self.motion
        if motion.reasons.item() is None:
            return []
        reason = motion.reasons.item()
        advice = "--integrator implicit_euler" if reason is StopReason.TOO_MANY_STEPS else "A smaller --dt"
        return [f"it stopped at {float(motion.stopped_at):g} s: {reason}. {advice} may help"]


def _tidy(x: float) -> str:
    """Return a number for people, without what is rounding alone."""
    return number(0.0 if abs(x) < 1e-9 else x)
