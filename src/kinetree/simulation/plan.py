"""A simulation as a value: all choices made and checked by one expression, run as often as one likes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import LimitWarning, warn_user
from kinetree.graph import Port
from kinetree.lazy import cached_property
from kinetree.motions.states import End, read_only
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.limits import beyond
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.signatures import told
from kinetree.simulation.bound import Bound
from kinetree.simulation.choices import Record
from kinetree.simulation.controllers import Controller, own
from kinetree.simulation.events import Event
from kinetree.simulation.given import Times, check_closed, loops_of
from kinetree.simulation.run import remembered, run
from kinetree.simulation.step import LINEAR, Plan, step_function
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
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

    robot: Robot | Mechanism
    plan: Plan
    times: Times
    lead: tuple[int, ...]
    arrays: Mapping[str, Array]
    kept: Mapping[str, int]
    record: Record
    controller: Controller | None
    before: End | None = None
    progress: Callable[[int, int], object] | None = None
    _bound: list[Bound] = field(default_factory=list, init=False)

    @property
    def tree(self) -> Robot:
        """The robot itself, or that of the mechanism."""
        return self.robot if isinstance(self.robot, Robot) else self.robot.tree

    @property
    def callback(self) -> Callable[..., Any] | None:
        """The controller in Python, if there is one."""
        return self.controller.law if self.controller and not self.plan.controller else None

    @property
    def period(self) -> int:
        """How many steps there are from one call of a controller whose forces are held to the next."""
        return (self.controller and self.controller.every) or 1

    @cached_property
    def carried(self) -> tuple[str, ...]:
        """The names of what goes from step to step."""
        return tuple(self.plan.carried(self.robot.model))

    @property
    def given(self) -> dict[str, Array]:
        """What is given to the step; of what changes linearly the values at the beginning and at the end."""
        given = {name: x for name, x in self.arrays.items() if name not in self.carried}
        for name in LINEAR if self.plan.linear else ():
            if name in given:
                whole = given[name]
                over_time = whole.ndim == 3
                given[name] = whole[:, :-1] if over_time else whole
                given[name + "_end"] = whole[:, 1:] if over_time else whole
        return given

    def at(self, clock: Times, before: End | None = None) -> Simulation:
        """Return the same, with what is known of it, at other times."""
        made = object.__new__(Simulation)
        made.__dict__.update(self.__dict__, times=clock, before=before)
        made.__dict__.pop("record_times", None)
        return made

    @cached_property
    def record_times(self) -> Array:
        """The times of what is kept (read-only)."""
        every = self.record.every
        return read_only(self.times.of(np.arange(1 + self.times.steps // every, dtype=np.float64) * every))

    @cached_property
    def unstopped(self) -> tuple[Array, Any]:
        """When robots stopped, and why, where none has (read-only)."""
        return read_only(np.full(self.lead, math.nan)), read_only(np.full(self.lead, None))

    @cached_property
    def stops(self) -> tuple[Array, Array] | None:
        """The limits of the joints where they are springs that push back; where contacts are solved they are rows."""
        soft = self.plan.limits in ("position", "all") and not self.plan.integrator.impulses
        return (self.tree.lower_limits, self.tree.upper_limits) if soft else None

    @cached_property
    def loops(self) -> list[tuple[Any, slice]]:
        """The constraints that must hold at the beginning, and their rows."""
        return loops_of(self.robot, self.plan.integrator)

    @cached_property
    def step(self) -> Function:
        """The compiled step."""
        return remembered(self.robot, step_function, self.plan)

    @cached_property
    def digest(self) -> str:
        """A digest of the step's program; "" if it is not known."""
        identity = self.step.spec.identity()
        return "" if identity is None else sha256(identity).hexdigest()

    def clocked(self) -> dict[str, Any]:
        """Return what a step is told of the time."""
        clock, row_motion = self.times, self.arrays.get("row_motion")
        since = 0.0 if row_motion is None or row_motion.ndim == 2 else clock.of(np.arange(clock.steps))[:, None]
        return {"dt": clock.dt, "t0": clock.rest, "begin": clock.first, "period": self.period, "since": since}

    def check_start(self) -> None:
        """Raise where constraints do not hold at the beginning; warn where joints are beyond their stops.

        They may be where the simulation goes on from another one: stops give way.
        """
        q = self.arrays["q"]
        if self.loops and not isinstance(self.robot, Robot):
            check_closed(self.robot, self.loops, q, self.arrays, self.times.of(0))
        if self.stops and self.before is None and np.count_nonzero((q < self.stops[0]) | (q > self.stops[1])):
            for extreme in (q.max(axis=0), q.min(axis=0)):
                if told := beyond(self.robot.model.leading, extreme):
                    warn_user(
                        f"the simulation begins beyond stops, which throw joints back: {told}; joints='none' has none",
                        LimitWarning,
                    )
                    break

    def first_value(self, event: Event) -> Array:
        """Return what the condition of an event is at the beginning."""
        known = {"q": self.arrays["q"], "v": self.arrays["v"], "t": np.float64(self.times.of(0))}
        everyone = np.arange(len(self.arrays["q"]))
        return np.asarray(event(known | self.arguments(event.parameters, self.arrays, everyone, 0 * everyone)))

    def arguments(self, ports: Sequence[Port], carried: Mapping[str, Array], robots: Any, done: Any) -> dict[str, Any]:
        """Return what a user's function is given for some of the robots, of which each has done so many steps."""
        found = {}
        for port in ports:
            array = (carried if own(port) in carried else self.arrays)[own(port)][robots]
            if array.ndim == 3:
                array = array[np.arange(len(robots)), np.minimum(done, array.shape[1] - 1)]
            found[port.name] = array.reshape(len(robots), *port.shape)
        return found

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self) if x.init)

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.lead))} robots, " if self.lead else ""
        return f"<Simulation of {self.tree.name!r}: {of}{self.times.steps} steps of {self.times.dt:g} s>"

    def run(self) -> Trajectory:
        """Return the motion from the states that it was made with."""
        return run(self)

    @told
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
