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


def add_sliders(gui: Any, robot: Robot, start: Array, show: Callable[[Array], object]) -> None:
    """Add a slider for each coordinate, within its limits; for a joint with a quaternion, for shifts and turns.

    Those are in its own axes, away from where it was first: the shift, and then the turn.
    """
    turns, unit, sliders = np.array(turning(robot.model), dtype=np.bool_), units(robot)["q"], []
    away = {k for body in robot.model.leading if len(body.q_index) > len(body.v_index) for k in body.v_index}

    def add(name: str, k: int, low: float, high: float, value: float, unit: str) -> None:
        low = min(value, low if low > -1e3 else -BOUNDLESS[unit])
        high = max(value, low + 1e-6, high if high < 1e3 else BOUNDLESS[unit])
        slider = gui.add_slider(name, float(low), float(high), float(high - low) / 1000.0, float(value))
        slider.on_update(lambda _: show(moved()))
        sliders.append((slider, k, float(value)))

    def moved() -> Array:
        q, v = start.copy(), np.zeros(robot.nv)
        for slider, k, _ in sliders:
            (v if slider.label in distances else q)[k] = slider.value
        return robot.integrate(robot.integrate(q, v * ~turns), v * turns) if away else q

    distances = {robot.v_names[k] for k in away}
    with gui.add_folder("joints"):
        for body in robot.model.leading:
            if away.isdisjoint(body.v_index):
                for k in body.q_index:
                    add(robot.q_names[k], k, robot.lower_limits[k], robot.upper_limits[k], start[k], unit[k])
            else:
                for k in body.v_index:
                    add(robot.v_names[k], k, -np.inf, np.inf, 0.0, "rad" if turns[k] else "m")
        button = gui.add_button("reset")

    @button.on_click  # type: ignore[untyped-decorator]
    def _(event: Any) -> None:
        for slider, _, value in sliders:
            slider.value = value


class Player(threading.Thread):
    """Plays a motion over and over: a slider for the time, a button for play and pause, and how quick it is."""

    def __init__(self, server: Any, times: Array, show: Callable[[float], object]) -> None:
        super().__init__(daemon=True)
        self._server, self._show, self._stopped, self.playing = server, show, threading.Event(), True
        self._start, self._end = float(times[0]), max(float(times[-1]), float(times[0]) + 1e-9)
        with server.gui.add_folder("motion"):
            step = (self._end - self._start) / 1000.0
            self._time = server.gui.add_slider("t [s]", self._start, self._end, step, self._start)
            self._speed = server.gui.add_dropdown("speed", SPEEDS, initial_value="1×")
            self._button = server.gui.add_button("pause")
        self._time.on_update(self._moved)
        self._button.on_click(self._pressed)
        self.start()

    def _moved(self, event: Any) -> None:
        if event.client is not None:  # by hand, not by `run`
            self._show(float(event.target.value))

    def _pressed(self, _: Any) -> None:
        self.playing = not self.playing
        self._button.label = "pause" if self.playing else "play"

    def run(self) -> None:
        """Move on, while a browser looks, until `stop`."""
        before, t = time.monotonic(), self._start
        while not self._stopped.wait(1.0 / RATE):
            passed, before = time.monotonic() - before, time.monotonic()
            if self.playing and self._server.get_clients():
                t = float(self._time.value) + passed * float(self._speed.value[:-1])
                t = t if t <= self._end else self._start
                self._show(t)
                self._time.value = t

    def stop(self) -> None:
        """Play no more."""
        self._stopped.set()
        self.join(timeout=2.0)
