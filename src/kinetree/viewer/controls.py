"""The panel of a viewer: a slider for each joint, the player of a motion."""

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

BOUNDLESS = {"rad": np.pi, "m": 1.0, "1": 1.0}  # how far a slider goes where a coordinate has no limit
RATE = 30.0  # pictures a second
SPEEDS = ("0.1×", "0.25×", "0.5×", "1×", "2×", "4×")


class Sliders:
    """A slider for each coordinate, within its limits; for a joint with a quaternion, for shifts and turns.

    Those are in its own axes, away from where it was first: the shift, and then the turn.
    """

    def __init__(self, gui: Any, robot: Robot, start: Array, show: Callable[[Array], object]) -> None:
        self._robot, self._start, self._show = robot, start, show
        self._turns, unit = np.array(turning(robot.model), dtype=np.bool_), units(robot)["q"]
        self._sliders: list[tuple[Any, bool, int]] = []
        with gui.add_folder("joints"):
            for body in robot.model.leading:
                away = len(body.q_index) > len(body.v_index)
                for k in body.v_index if away else body.q_index:
                    low, high = (-np.inf, np.inf) if away else (robot.lower_limits[k], robot.upper_limits[k])
                    far = BOUNDLESS[("rad" if self._turns[k] else "m") if away else unit[k]]
                    value = 0.0 if away else float(start[k])
                    low = min(value, float(low) if low > -1e3 else -far)
                    high = max(value, low + 1e-6, float(high) if high < 1e3 else far)
                    name = (robot.v_names if away else robot.q_names)[k]
                    slider = gui.add_slider(name, low, high, (high - low) / 1000.0, value)
                    slider.on_update(self._moved)
                    self._sliders.append((slider, away, k))
            gui.add_button("reset").on_click(lambda _: self._reset())

    def _moved(self, event: Any) -> None:
        if event.client is None:  # not by hand, but by `follow`
            return
        q, v = self._start.copy(), np.zeros(self._robot.nv)
        for slider, away, k in self._sliders:
            (v if away else q)[k] = slider.value
        self._show(self._robot.integrate(self._robot.integrate(q, v * ~self._turns), v * self._turns))

    def _reset(self) -> None:
        self._show(self._start)
        self.follow(self._start)

    def follow(self, q: Array) -> None:
        """Move the sliders to a configuration."""
        turn = self._robot.difference(self._start, q) * self._turns
        shift = self._robot.difference(self._start, self._robot.integrate(q, -turn)) * ~self._turns
        for slider, away, k in self._sliders:
            slider.value = float((shift + turn if away else q)[k])


class Player(threading.Thread):
    """Plays a motion over and over: a slider for the time, whether it plays, and how quick it is."""

    def __init__(self, server: Any, times: Array, show: Callable[[float], object]) -> None:
        super().__init__(daemon=True)
        self._server, self._stopped = server, threading.Event()
        self._start, self._end = float(times[0]), max(float(times[-1]), float(times[0]) + 1e-9)
        with server.gui.add_folder("motion"):
            step = (self._end - self._start) / 1000.0
            self.time = server.gui.add_slider("t [s]", self._start, self._end, step, self._start)
            self.speed = server.gui.add_dropdown("speed", SPEEDS, initial_value="1×")
            self.playing = server.gui.add_checkbox("play", True)
        self.time.on_update(lambda _: show(self.time.value))
        self.start()

    def run(self) -> None:
        """Move on, while a browser looks, until `stop`."""
        before = time.monotonic()
        while not self._stopped.wait(1.0 / RATE):
            passed, before = time.monotonic() - before, time.monotonic()
            if self.playing.value and self._server.get_clients():
                t = self.time.value + passed * float(self.speed.value[:-1])
                self.time.value = t if t <= self._end else self._start

    def stop(self) -> None:
        """Play no more."""
        self._stopped.set()
        self.join(timeout=2.0)
