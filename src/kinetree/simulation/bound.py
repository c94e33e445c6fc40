"""Short simulations called again and again: all arrays stay where they are, and the tables of their addresses too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import RANGES
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.runtime.batch import address
from kinetree.simulation import run
from kinetree.simulation.choices import Forces
from kinetree.simulation.controllers import by_name, own
from kinetree.simulation.given import Times, as_given, check_finite, constraint_arrays, contacts_of, state
from kinetree.simulation.rollout import Rollout

if TYPE_CHECKING:
    from kinetree.simulation.plan import Simulation

LARGEST = 1 << 16
"""Bytes of what is kept, beyond which nothing is to be gained."""


class Bound:
    """A simulation in memory of its own, into which what a call gives is written.

    A short one, of which only q and v are kept, is one call of the kernel; others run as they always do.
    """

    def __init__(self, simulation: Simulation) -> None:
        s = self._made = simulation
        self._arrays = {name: np.array(x, order="C") for name, x in s.arrays.items()}
        self._now = replace(s, arrays=self._arrays, before=None)
        model = s.robot.model
        self._inputs = s.plan.ports(model)
        self._shapes = {"q": (model.nq,), "v": (model.nv,), **s.plan.shapes(model), **dict(self._inputs.values())}
        self._views = {}
        for name, shape in self._shapes.items():
            array = self._arrays[name]
            self._views[name] = array.reshape((*s.lead, *array.shape[1:-1], *shape))
        self._rest = np.zeros(s.robot.nv)
        self._changed: set[str] = set()
        self._call: _Call | None = None
        size = 8 * sum(s.kept.values()) * len(s.arrays["q"]) * (1 + s.times.steps // s.record.every)
        is_plain = not (s.callback or s.plan.events or s.record.out or s.progress)
        self._is_simple = s.kept.keys() == {"q", "v"} and is_plain and size <= LARGEST

    def __call__(
        self, q: Any, v: Any, forces: Any, inputs: Mapping[Any, Any], contacts: ContactInputs | None
    ) -> Trajectory:
        """Return the motion from these states."""
        made, t, before = self._made, None, None
        if isinstance(q, str | Trajectory | State):
            q, v, t, before = state(made.robot, q, v)
        given = {"q": q, "v": self._rest if v is None else v}
        if before is not None and before.controller:
            given |= {own(port): before.controller[port.name] for port in made.plan.state}
        if forces is not None:
            forces = Forces.of(forces)
            chosen = {"frame": made.plan.f_ext_frame, "interpolation": "linear" if made.plan.linear else "held"}
            for name, value in chosen.items() if forces.f_ext is not None else ():
                if getattr(forces, name) != value:
                    raise ArgumentError(f"{name} is {getattr(forces, name)!r}; this simulation was made with {value!r}")
            given |= forces.arrays(made.robot)
        if contacts is not None:
            given |= constraint_arrays(made.robot, contacts_of(made.robot, contacts))
        for name, value in by_name("inputs", inputs).items() if inputs else ():
            if name not in self._inputs:
                raise ArgumentError(f"inputs: {unknown_name('argument', name, self._inputs)}")
            given[self._inputs[name][0]] = value
        self._begin(made.times if t is None else made.times.starting(t), before)
        for name in self._changed.difference(given):
            self._arrays[name][...] = made.arrays[name]
        self._changed = {name for name in given if name in self._views}
        for name, value in given.items():
            self._write(name, value)
        now = self._now
        now.check_start()
        if self._is_simple:
            self._call = self._call or _Call(now)
            if self._call.kernel.is_short(len(self._arrays["q"]), now.times.steps):
                return self._call(now)
        return run.run(now)

    def _begin(self, clock: Times, before: End | None) -> None:
        """Let the steps begin at some time, and go on from an end if there is one."""
        last = self._now
        if clock != last.times or before is not last.before:
            self._now = last.at(clock, before)
        if clock != last.times:
            self._arrays["step"][...] = clock.first
            for name, value in self._now.clocked().items():
                if name in self._arrays:
                    self._arrays[name][...] = value

    def _write(self, name: str, value: Any) -> None:
        """Write what is given for all robots, or for each."""
        view, array = self._views.get(name), self._arrays.get(name)
        if view is None or array is None:
            known = [x for x in self._made.plan.acting if x in self._views]
            raise ArgumentError(
                f"{unknown_name('argument', name, known)}; what changes from call to call is given when the "
                "simulation is made"
            )
        if type(value) is np.ndarray and value.shape == view.shape and value.dtype == np.float64:
            view[...] = value
        else:
            given = as_given(name, value, self._shapes[name], self._made.lead)
            if given.shape[:-1] != array.shape[:-1]:
                made = f"made with {array.shape[1]} steps" if array.ndim == 3 else "made without an axis of steps"
                raise ArgumentError(f"{name} has shape {np.shape(value)}; this simulation was {made}")
            array[...] = given
        if np.count_nonzero(np.isfinite(array)) < array.size:
            check_finite(name, view)
        if name in RANGES:
            RANGES[name].check(name, array)


class _Call:
    """A call of the kernel for all steps of a simulation, whose results are new arrays."""

    def __init__(self, s: Simulation) -> None:
        n, rows = len(s.arrays["q"]), s.times.steps // s.record.every
        self._shapes = {name: (n, 1 + rows, size) for name, size in s.kept.items()}
        start = {name: s.arrays[name] for name in s.carried}
        rollout = Rollout(s.step, start, s.given, {name: np.empty(x)[:, 1:] for name, x in self._shapes.items()}, {})
        self.kernel = rollout.kernel(rollout.steps)
        self._last = {name: np.empty_like(x) for name, x in start.items()}
        self._held = rollout.inputs(start)  # which the tables point to
        self._tables = rollout.tables(start, self._last)
        self._counts = n, s.times.steps, s.record.every

    def __call__(self, s: Simulation) -> Trajectory:
        """Return the motion."""
        if "memory" in s.carried:
            s.arrays["memory"][...] = run.memory(s)
        kept = {}
        for k, (name, shape) in enumerate(self._shapes.items(), len(self._last)):
            kept[name] = array = np.empty(shape)
            array[:, 0] = s.arrays[name]
            self._tables.outs[k] = address(array) + array.strides[1]
        self.kernel.run(self._tables, *self._counts, with_gil=self.kernel.long)
        return run.motion(s, kept, self._last, s.times.steps)
