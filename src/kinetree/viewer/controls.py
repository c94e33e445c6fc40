"""What a viewer's panel has: a slider for each joint, and the player of a motion."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.algorithms.kinematics.manifold import turning
from kinetree.drawing.panels import units
from kinetree.robot import Robot
from kinetree.validation import Array

BOUNDLESS = {"rad": np.pi, "m": 1.0, "1": 1.0}  # how far a slider goes each way where a coordinate has no limit
RATE = 30.0  # pictures a second
SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "4×")


class Sliders:
    """A slider for each coordinate within its limits; for a joint with a quaternion, for its turns and shifts.

    These are displacements from where the joint was first, in its own axes: shifts, and then the turn.
    """

    def __init__(self, gui: Any, robot: Robot, q: Array, show: Callable[[Array], object]) -> None:
        self._robot, self._start, self._show = robot, q, show
        self._turns = np.array(turning(robot.model), dtype=np.bool_)
        self._of_q, self._of_v = dict[int, Any](), dict[int, Any]()
        lower, upper, unit = robot.lower_limits, robot.upper_limits, units(robot)["q"]
        with gui.add_folder("joints"):
            for body in robot.model.leading:
                if len(body.q_index) == len(body.v_index):
                    for k in body.q_index:
                        far = BOUNDLESS[unit[k]]
                        ends = lower[k] if lower[k] > -1e3 else -far, upper[k] if upper[k] < 1e3 else far
                        self._of_q[k] = self._add(gui, robot.q_names[k], *ends, float(q[k]))
                else:
                    for k in body.v_index:
                        far = BOUNDLESS["rad" if self._turns[k] else "m"]
                        self._of_v[k] = self._add(gui, robot.v_names[k], -far, far, 0.0)
            reset = gui.add_button("reset")
        first = [(slider, slider.value) for slider in (*self._of_q.values(), *self._of_v.values())]
        reset.on_click(lambda _: [setattr(slider, "value", value) for slider, value in first])

    def _add(self, gui: Any, name: str, low: float, high: float, value: float) -> Any:
        low, high = float(min(low, value)), float(max(high, value))
        slider = gui.add_slider(name, low, max(high, low + 1e-6), step=1e-3 * max(high - low, 1e-6), initial_value=value)
        slider.on_update(lambda _: self._show(self.q))
        return slider

    @property
    def q(self) -> Array:
        """The configuration (nq,)."""
        q, v = self._start.copy(), np.zeros(self._robot.nv)
        for k, slider in self._of_q.items():
            q[k] = slider.value
        for k, slider in self._of_v.items():
            v[k] = slider.value
        if self._of_v:
            q = self._robot.integrate(self._robot.integrate(q, v * ~self._turns), v * self._turns)
        return q


class Player:
    """Plays a motion: a slider for the time, play and pause, and how quick it is. It begins anew at the end."""

    def __init__(self, server: Any, times: Array, show: Callable[[float], object]) -> None:
        self._server, self._show, self._start, self._end = server, show, float(times[0]), float(times[-1])
        self._stopped, self._t = threading.Event(), self._start
        self.playing = self._end > self._start
        with server.gui.add_folder("motion"):
            last = max(self._end, self._start + 1e-9)
            step = (last - self._start) / 1000.0
            self._time = server.gui.add_slider("t [s]", self._start, last, step=step, initial_value=self._start)
            self._speed = server.gui.add_dropdown("speed", SPEEDS, initial_value="1×")
            self._button = server.gui.add_button("pause")
        self._time.on_update(self._moved)
        self._button.on_click(self._pressed)
        self._thread = threading.Thread(target=self._play, daemon=True)
        self._thread.start()

    def _moved(self, event: Any) -> None:
        if event.client is not None:  # by hand
            self._t = float(event.target.value)
            self._show(self._t)

    def _pressed(self, _: Any) -> None:
        self.playing = not self.playing
        self._button.label = "pause" if self.playing else "play"

    def _play(self) -> None:
        before = time.monotonic()
        while not self._stopped.wait(1.0 / RATE):
            passed, before = time.monotonic() - before, time.monotonic()
            if self.playing and self._server.get_clients():
                t = self._t + passed * float(self._speed.value[:-1])
                self._t = t if t <= self._end else self._start
                self._show(self._t)
                self._time.value = self._t

    def stop(self) -> None:
        """Play no more."""
        self._stopped.set()
        self._thread.join(timeout=2.0)
