"""Simulations called again and again: all arrays stay where they are, and the tables of their addresses too."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.glossary.symbols import RANGES
from kinetree.motions.states import End, State
from kinetree.motions.trajectory import Trajectory
from kinetree.signatures import friendly_call_errors
from kinetree.simulation import run
from kinetree.simulation.choices import Forces, by_name, chosen, own
from kinetree.simulation.given import Times, as_given, constraint_arrays, contacts_of, state
from kinetree.simulation.plan import Planned
from kinetree.simulation.rollout import Rollout
from kinetree.validation import check_finite

LARGEST = 1 << 16
"""Bytes of what is kept, beyond which nothing is to be gained."""


class Bound:
    """A simulation in memory of its own, into which calls write what they give; a short one is one kernel call."""

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
        self._rollout: Rollout | None = None
        self._sizes = {name: (len(s.arrays["q"]), 1 + s.times.steps // s.record.every, n) for name, n in s.kept.items()}
        size = 8 * sum(math.prod(shape) for shape in self._sizes.values())
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
            forces = chosen(Forces, forces)
            as_made = {"frame": made.plan.f_ext_frame, "interpolation": "linear" if made.plan.linear else "held"}
            for name, value in as_made.items() if forces.f_ext is not None else ():
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
        self._now.check_start()
        found = self._at_once(self._now) if self._is_simple else None
        return run.run(self._now) if found is None else found

    def _at_once(self, s: Simulation) -> Trajectory | None:
        """Return the motion of which q and v are kept, by one call of the kernel; None where it lasts too long."""
        kept, records = {name: np.empty(shape) for name, shape in self._sizes.items()}, {}
        for name, array in kept.items():
            array[:, 0], records[name] = self._arrays[name], array[:, 1:]
        if self._rollout is None:
            self._rollout = Rollout(s.step, {name: self._arrays[name] for name in s.carried}, s.given, records, {})
        if "memory" in self._rollout.first:
            self._arrays["memory"][...] = run.memory(s)
        self._rollout.begin(records)
        if not self._rollout.again(s.times.steps, s.record.every):
            return None
        return run.motion(s, kept, self._rollout.carried, s.times.steps)

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


@dataclass(frozen=True, eq=False, repr=False)
class Simulation(Planned):
    """A simulation whose choices are made: called with states, and with what changes from call to call.

    `Robot.simulation` makes one. A short call costs some microseconds more than its steps, so that it serves control
    loops and planners.

    Attributes
    ----------
    robot : Robot or Mechanism
    plan : Plan
        What its compiled step depends on.
    times : Times
    lead : tuple of int
        The leading axes of the states.
    arrays : dict of array
        By the names of the step (see `Plan`): the first values of what goes from step to step, and all else; n to a
        row, with an axis of steps if they change from step to step, and flat.
    kept : dict of int
        What is kept, and its length.
    record : Record
    controller : Controller, or None
    before : End, or None
        Where the trajectory ended from which it goes on.
    progress : callable, or None
    """

    _bound: list[Bound] = field(default_factory=list, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self) if x.init)

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.lead))} robots, " if self.lead else ""
        return f"<Simulation of {self.tree.name!r}: {of}{self.times.steps} steps of {self.times.dt:g} s>"

    def run(self) -> Trajectory:
        """Return the motion from the states that it was made with."""
        return run.run(self)

    @friendly_call_errors
    def __call__(
        self,
        q: Any,
        v: Any = None,
        *,
        forces: Any = None,
        inputs: Mapping[Any, Any] | None = None,
        contacts: ContactInputs | None = None,
    ) -> Trajectory:
        """Return the motion from other states; what is not given is as it was when this was made.

        Parameters
        ----------
        q : (..., nq) array-like, Trajectory or State
            With the leading axes that it was made with, or the same for all. It goes on from a trajectory; from a state
            it begins at its time.
        v : (..., nv) array-like, optional
            Zero if not given.
        forces : array-like, dict or Forces, optional
            Other joint forces, and other wrenches if some were given when this was made.
        inputs : dict, optional
            Other values of some of the inputs.
        contacts : ContactInputs, optional
            Other values of the arrays for constraints that were given when this was made.

        Raises
        ------
        ArgumentError
            If a name is not known, or a value has another shape or is not finite.
        """
        bound = self._bound.pop() if self._bound else Bound(self)  # one for each thread that calls at the same time
        try:
            return bound(q, v, forces, {} if inputs is None else inputs, contacts)
        finally:
            self._bound.append(bound)
