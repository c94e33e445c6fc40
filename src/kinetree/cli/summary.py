"""The torques of a motion against the limits, gathered block by block."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from kinetree.cli.limits import all_given
from kinetree.cli.terminal import Column, make_table, number
from kinetree.robot import Robot
from kinetree.trajectories.block import Block
from kinetree.trajectories.coordinates import Coordinates
from kinetree.validation import Array


@dataclass
class Summary:
    """Peaks and squares of the torques so far, and the worst excess over the limits of q and v.

    Attributes
    ----------
    robot : Robot
    coordinates : Coordinates
    rows : int
        Samples so far.
    """

    robot: Robot
    coordinates: Coordinates
    rows: int = 0
    timed: bool = True
    peak: Array = field(init=False)
    peak_at: Array = field(init=False)
    squares: Array = field(init=False)
    over: NDArray[np.int_] = field(init=False)
    low: Array = field(init=False)
    high: Array = field(init=False)
    speed: Array = field(init=False)
    jump: Array = field(init=False)
    _last: Array | None = None

    def __post_init__(self) -> None:
        nq, nv = self.robot.nq, self.robot.nv
        self.peak, self.squares, self.speed = (np.zeros(nv) for _ in range(3))
        self.peak_at, self.over = np.zeros(nv), np.zeros(nv, dtype=np.int_)
        self.low, self.high, self.jump = np.full(nq, np.inf), np.full(nq, -np.inf), np.zeros(nq)

    def add(self, block: Block, tau: Array) -> None:
        """Take a block and its torques into account."""
        size = np.abs(tau)
        row = size.argmax(axis=0)
        peak = size.max(axis=0)
        self.timed = block.t is not None
        self.peak_at = np.where((peak > self.peak) | (self.rows == 0), block.when[row], self.peak_at)
        self.peak = np.maximum(self.peak, peak)
        self.squares += np.einsum("ij,ij->j", tau, tau)
        self.over += np.sum(size > all_given(self.robot.effort_limits), axis=0)
        self.rows += len(tau)
        self.low = np.minimum(self.low, block.q.min(axis=0))
        self.high = np.maximum(self.high, block.q.max(axis=0))
        if block.v is not None:
            self.speed = np.maximum(self.speed, np.abs(block.v).max(axis=0))
        before = block.q[:1] if self._last is None else self._last
        self.jump = np.maximum(self.jump, np.abs(np.diff(block.q, axis=0, prepend=before)).max(axis=0))
        self._last = block.q[-1:]

    def table(self, width: int) -> Table:
        """Return the torques of every degree of freedom against its effort limit."""
        headings = ("peak |τ|", "at t (s)" if self.timed else "at sample", "rms", "limit", "used", "samples over")
        columns = [Column("joint"), *(Column(heading, "right") for heading in headings)]
        rms, limits = np.sqrt(self.squares / self.rows), all_given(self.robot.effort_limits)
        rows = [
            (
                name,
                number(self.peak[k]),
                number(self.peak_at[k]),
                number(rms[k]),
                number(limits[k]),
                f"{100 * self.peak[k] / limits[k]:.0f} %" if limits[k] < np.inf else "–",
                f"OVER {self.over[k]}" if self.over[k] else "–",
            )
            for k, name in enumerate(self.coordinates.v)
        ]
        return make_table(columns, rows, width, {int(k) for k in np.flatnonzero(self.over)})

    def warnings(self) -> list[str]:
        """Return what about the motion itself is beyond the robot's limits, or suspicious."""
        lower, upper = self.robot.lower_limits, self.robot.upper_limits
        said = []
        outside = [
            f"{name} ({number(self.low[k])} … {number(self.high[k])}, allowed {number(lower[k])} … {number(upper[k])})"
            for k, name in enumerate(self.coordinates.q)
            if self.low[k] < lower[k] or self.high[k] > upper[k]
        ]
        if outside:
            far = np.abs([self.low, self.high]).max() > 4 * np.pi
            said.append(f"beyond the limits of position: {'; '.join(outside)}{'. Is it in degrees?' if far else ''}")
        fastest = all_given(self.robot.velocity_limits)
        fast = [
            f"{name} ({number(self.speed[k])}, allowed {number(fastest[k])})"
            for k, name in enumerate(self.coordinates.v)
            if self.speed[k] > fastest[k]
        ]
        if fast:
            said.append(f"faster than the limits of velocity: {'; '.join(fast)}")
        jumps = [f"{name} (by {number(self.jump[k])})" for k, name in enumerate(self.coordinates.q) if self.jump[k] > 3]
        if jumps:
            said.append(f"jumps from one sample to the next: {'; '.join(jumps)}. Do the angles wrap around?")
        return said
