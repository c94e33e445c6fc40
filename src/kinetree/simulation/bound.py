"""Short simulations called again and again: all arrays stay where they are, and the tables of their addresses too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, CallError, unknown_name
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.runtime.batch import address
from kinetree.runtime.steps import tables
from kinetree.simulation import run
from kinetree.simulation.calls import OWN, own
from kinetree.simulation.checks import by_name, check_finite
from kinetree.simulation.constrained import OF_CONSTRAINTS, check_range, numbers, of_shape
from kinetree.simulation.forces import Forces
from kinetree.simulation.given import as_given, ports_of
from kinetree.simulation.rollout import VARIANT, Rollout
from kinetree.simulation.starting import state
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.simulation.plan import Simulation

LARGEST = 1 << 16
"""Bytes of what is kept, beyond which nothing is to be gained."""


ARGUMENTS = ("q", "v", "forces", "inputs", *OF_CONSTRAINTS)


class Bound:
    """A simulation in memory of its own, into which what a call gives is written.

    A short one, of which only q and v are kept, is one call of the kernel; others run as they always do.
    """

    def __init__(self, simulation: Simulation) -> None:
        s = self._made = simulation
        self.start = {name: np.array(x, order="C") for name, x in s.start.items()}
        self.values = {name: np.array(x, order="C") for name, x in s.values.items()}
        self.now = replace(s, start=self.start, values=self.values)
        shapes = {name: of_shape(s.robot, name) for name in ("tau", "f_ext", *OF_CONSTRAINTS) if name in s.values}
        self._inputs = ports_of(s.robot.model, s.plan)
        shapes |= dict(self._inputs.values()) | {"q": (s.robot.nq,), "v": (s.robot.nv,)}
        memory = self.values | self.start
        self._views = {name: _unflattened(memory[name], s.lead, shape) for name, shape in shapes.items()}
        self._flat = {name: memory[name].reshape(-1) for name in shapes}
        self._rest = np.zeros(s.robot.nv)
        self._shapes = shapes
        self._changed: set[str] = set()
        self._call: _Call | None = None
        size = 8 * sum(s.kept.values()) * len(s.start["q"]) * (1 + s.times.steps // s.record.every)
        is_plain = not (s.law.callback or s.plan.events or s.record.memory or s.progress)
        self._is_simple = s.kept.keys() == {"q", "v"} and is_plain and size <= LARGEST

    def __call__(
        self, q: Any, v: Any, forces: Any, inputs: Mapping[Any, Any], changed: Mapping[str, Any]
    ) -> Trajectory:
        """Return the motion from these states."""
        for name in changed:
            if name not in OF_CONSTRAINTS:
                raise CallError(f"a simulation that is called has {unknown_name('argument', name, ARGUMENTS)}")
        t, before = None, None
        if isinstance(q, str | Trajectory | State):
            q, v, t, before = state(self._made.robot, q, v)
        if forces is not None:
            forces = Forces.of(forces)
            self._check_choices(forces)
            changed = changed | forces.arrays(self._made.robot)
        self._set_clock(t)
        self._take(q, v, before, by_name("inputs", inputs) if inputs else {}, changed)
        self.now.check_start(before)
        if self._is_simple:
            self._call = self._call or _Call(self.now)
            if self._call.kernel.is_short(len(self.start["q"]), self.now.times.steps):
                return self._call(self.now, before)
        return run.run(self.now.at(self.now.times, before))

    def _check_choices(self, forces: Forces) -> None:
        """Raise where forces are chosen to act otherwise than when the simulation was made."""
        plan = self._made.plan
        made = {"frame": plan.f_ext_frame, "interpolation": "linear" if plan.linear else "held"}
        for name, value in made.items() if forces.f_ext is not None else ():
            if getattr(forces, name) != value:
                raise ArgumentError(f"{name} is {getattr(forces, name)!r}; this simulation was made with {value!r}")

    def _set_clock(self, t0: float | None) -> None:
        """Let the steps begin at another time."""
        clock = self._made.times if t0 is None else self._made.times.starting(t0)
        if clock != self.now.times:
            self.now = self.now.at(clock)
            self.start["step"][...] = clock.first
            for name, value in self.now.clocked().items():
                if name in self.values:
                    self.values[name][...] = value

    def _take(self, q: Any, v: Any, before: End | None, inputs: Mapping[Any, Any], changed: Mapping[str, Any]) -> None:
        """Write the states and what has changed, and put back what had changed in the call before."""
        given = {"q": q, "v": self._rest if v is None else v, **changed}
        if before is not None:
            given |= {own(port): before.controller[port.name] for port in self.now.plan.state if before.controller}
        for name, value in inputs.items():
            if name not in self._inputs:
                raise ArgumentError(f"inputs: {unknown_name('argument', name, self._inputs)}")
            given[self._inputs[name][0]] = value
        for name in self._changed.difference(given):
            (self.values if name in self.values else self.start)[name][...] = (
                self._made.values[name] if name in self.values else self._made.start[name]
            )
        self._changed = {name for name in given if name in self._views}
        for name, value in given.items():
            self._write(name, value)

    def _write(self, name: str, value: Any) -> None:
        """Write what is given for all robots, or for each."""
        view = self._views.get(name)
        if view is not None and type(value) is np.ndarray and value.shape == view.shape and value.dtype == np.float64:
            view[...] = value
            self._check(name)
            return
        if view is None:
            known = [x for x in self._views if x in self.values and not x.startswith(OWN)]
            raise ArgumentError(
                f"{unknown_name('argument', name, known)}; what changes from call to call is given when the "
                "simulation is made"
            )
        memory = (self.values if name in self.values else self.start)[name]
        array = as_given(name, numbers(name, value), self._shapes[name], self._made.lead)
        if array.shape[:-1] != memory.shape[:-1]:
            made = f"made with {memory.shape[1]} steps" if memory.ndim == 3 else "made without an axis of steps"
            raise ArgumentError(f"{name} has shape {np.shape(value)}; this simulation was {made}")
        memory[...] = array
        self._check(name)

    def _check(self, name: str) -> None:
        """Raise where what has been written makes no sense."""
        flat = self._flat[name]
        if np.count_nonzero(np.isfinite(flat)) < flat.size:
            check_finite(name, self._views[name])
        if name in OF_CONSTRAINTS:
            check_range(name, flat)


def _unflattened(array: Array, lead: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """Return an array of the step with the axes that a caller's has."""
    return array.reshape((*lead, *array.shape[1:-1], *shape))


class _Call:
    """A call of the kernel for all steps of a simulation, whose results are new arrays."""

    def __init__(self, s: Simulation) -> None:
        rows = {name: np.empty((len(s.start["q"]), s.times.steps // s.record.every, n)) for name, n in s.kept.items()}
        rollout = Rollout(s.step, dict(s.start), s.given, rows, {})
        self.kernel = s.step._kernels.scan(VARIANT, rollout.steps, len(s.start["q"]))
        names = [port.name for port in s.step.spec.inputs]
        given = s.given
        self._inputs = [s.start[name] if name in s.start else given[name] for name in names]
        self._last = {name: np.empty_like(x) for name, x in s.start.items()}
        n, count = len(s.start["q"]), 1 + s.times.steps // s.record.every
        self._shapes = [(n, count, size) for size in s.kept.values()]
        self._tables = tables(self._inputs, [*self._last.values()], [np.empty(x)[:, 1:] for x in self._shapes])
        self._counts = n, s.times.steps, s.record.every

    def __call__(self, s: Simulation, before: End | None) -> Trajectory:
        """Return the motion."""
        if "memory" in s.start:
            s.start["memory"][...] = run.memory(s, before)
        kept = {}
        for k, (name, shape) in enumerate(zip(s.kept, self._shapes, strict=True)):
            kept[name] = array = np.empty(shape)
            array[:, 0] = s.start[name]
            self._tables.outs[len(self._last) + k] = address(array) + array.strides[1]
        self.kernel.run(self._tables, *self._counts, with_gil=self.kernel.long)
        return run.motion(s, kept, self._last, s.times.steps)
