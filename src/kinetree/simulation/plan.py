"""A simulation as a value: all choices made and checked by one expression, run as often as one likes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, LimitWarning, warn_user
from kinetree.integrators import Integrator
from kinetree.lazy import cached_property
from kinetree.motions.quantities import read_only
from kinetree.motions.states import End
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.limits import beyond
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation import constrained
from kinetree.simulation.bound import Bound
from kinetree.simulation.calls import OWN, own
from kinetree.simulation.checks import by_name
from kinetree.simulation.compiled import Plan, setting, step_function
from kinetree.simulation.controllers import Controller, Law, law_of
from kinetree.simulation.events import Event, events_of
from kinetree.simulation.forces import Forces
from kinetree.simulation.given import as_given, input_arrays, model_inputs
from kinetree.simulation.record import Record
from kinetree.simulation.run import remembered, run
from kinetree.simulation.starting import physics, start, usual_integrator
from kinetree.simulation.times import Times, times
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

LINEAR = ("tau", "f_ext")
"""What changes linearly during a step, if that is chosen."""


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
    start, values : dict of array
        By the names of the step (see `Plan`): the first values of what goes from step to step, and all else; n to a
        row, with an axis of steps if they change from step to step, and flat.
    kept : dict of int
        What is kept, and its length.
    record : Record
    law : Law
    before : End, or None
        Where the trajectory ended from which it goes on.
    progress : callable, or None
    """

    robot: Robot | Mechanism
    plan: Plan
    times: Times
    lead: tuple[int, ...]
    start: Mapping[str, Array]
    values: Mapping[str, Array]
    kept: Mapping[str, int]
    record: Record
    law: Law
    before: End | None = None
    progress: Callable[[int, int], object] | None = None
    _bound: list[Bound] = field(default_factory=list, init=False)

    @property
    def tree(self) -> Robot:
        """The robot itself, or that of the mechanism."""
        return self.robot if isinstance(self.robot, Robot) else self.robot.tree

    @property
    def given(self) -> dict[str, Array]:
        """What is given to the step; of what changes linearly the values at the beginning and at the end."""
        given = dict(self.values)
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
        return read_only(self.times.of(self._recorded))

    @cached_property
    def _recorded(self) -> Array:
        """After how many steps something is kept."""
        return np.arange(1 + self.times.steps // self.record.every, dtype=np.float64) * self.record.every

    @cached_property
    def unstopped(self) -> tuple[Array, Any]:
        """When robots stopped, and why, where none has (read-only)."""
        return read_only(np.full(self.lead, math.nan)), read_only(np.full(self.lead, None))

    @cached_property
    def stops(self) -> tuple[Array, Array] | None:
        """The lower and the upper limits of the joints where they are stops that push back."""
        return (self.tree.lower_limits, self.tree.upper_limits) if self.plan.has_soft_stops else None

    @cached_property
    def has_loops(self) -> bool:
        """Whether there are constraints that must hold at the beginning."""
        return constrained.must_hold(self.robot, self.plan.integrator)

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
        clock = self.times
        over_time = "drift" in self.values and self.values["drift"].ndim == 3
        since = clock.of(np.arange(clock.steps))[:, None] if over_time else 0.0
        period = self.law.period or 1
        return {"dt": clock.dt, "t0": clock.rest, "begin": clock.first, "period": period, "since": since}

    def check_start(self, before: End | None) -> None:
        """Raise where constraints do not hold at the beginning; warn where joints are beyond their stops.

        They may be where the simulation goes on from another one: stops give way.
        """
        q = self.start["q"]
        if self.has_loops and not isinstance(self.robot, Robot):
            constrained.check_closed(self.robot, self.plan.integrator, q, self.values, self.times.of(0))
        if self.stops and before is None and np.count_nonzero((q < self.stops[0]) | (q > self.stops[1])):
            for extreme in (q.max(axis=0), q.min(axis=0)):
                if told := beyond(self.robot.model.leading, extreme):
                    warn_user(
                        f"the simulation begins beyond stops, which throw joints back: {told}; joints='none' has none",
                        LimitWarning,
                    )
                    break

    def first_value(self, event: Event) -> Array:
        """Return what the condition of an event is at the beginning."""
        known = {"q": self.start["q"], "v": self.start["v"], "t": np.float64(self.times.of(0))}
        for port in event.parameters:
            array = (self.start if own(port) in self.start else self.values)[own(port)]
            array = array[:, 0] if array.ndim == 3 else array
            known[port.name] = array.reshape(len(array), *port.shape)
        return np.asarray(event(known))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self) if x.init)

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.lead))} robots, " if self.lead else ""
        return f"<Simulation of {self.tree.name!r}: {of}{self.times.steps} steps of {self.times.dt:g} s>"

    def run(self) -> Trajectory:
        """Return the motion from the states that it was made with."""
        return run(self)

    def __call__(
        self, q: Any, v: Any = None, *, forces: Any = None, inputs: Mapping[Any, Any] | None = None, **changed: Any
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
        **changed : array-like
            Other values of ``active``, ``restitution``, ``friction``, ``slots`` or ``drift``, if these were given when
            this was made.

        Raises
        ------
        ArgumentError
            If a name is not known, or a value has another shape or is not finite.
        """
        bound = self._bound.pop() if self._bound else Bound(self)  # one for each thread that calls at the same time
        try:
            return bound(q, v, forces, {} if inputs is None else inputs, changed)
        finally:
            self._bound.append(bound)


def planned(
    robot: Robot | Mechanism, q: Any, v: Any, *, duration: Any, steps: Any, dt: Any, controller: Any, forces: Any,
    inputs: Any, integrator: Any, joints: Any, events: Sequence[Any], record: Any, progress: Any, contacts: Any,
    tolerance: Any, max_iterations: Any, **of_constraints: Any,
) -> Simulation:  # fmt: skip
    """Return the simulation for the arguments of `simulate`."""
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress takes a function of the steps done and of all, not {progress!r}")
    model, inputs = robot.model, {} if inputs is None else inputs
    controller, forces, record = Controller.of(controller), Forces.of(forces), Record.of(record)
    begin, law, events = start(robot, q, v), law_of(model, controller), events_of(model, events)
    values, numbers = by_name("inputs", inputs), model_inputs(model, inputs)
    limits, friction = physics(model, joints, numbers)
    method: Integrator = constrained.chosen_integrator(
        robot, integrator or usual_integrator(friction, numbers), contacts, tolerance, max_iterations
    )
    acting = {"tau": np.zeros(robot.nv)} | forces.arrays(robot)
    acting |= constrained.arrays(robot, {name: x for name, x in of_constraints.items() if x is not None})
    plan = Plan(
        integrator=method.untuned,
        limits=limits,
        f_ext_frame=forces.frame,
        controller=law.compiled,
        events=events,
        sampled=law.is_sampled,
        wrenches="f_ext" in acting,
        of_constraints=tuple(name for name in acting if name not in LINEAR),
        linear=forces.interpolation == "linear",
        smooth=False,
        friction=friction,
        inputs=numbers,
    )
    if controller is not None:
        if twice := values.keys() & controller.inputs.keys():
            raise ArgumentError(f"inputs: {min(twice)!r} is given by the controller too")
        values |= controller.inputs
    if begin.before is not None:
        values = {p.name: x for p in plan.state if (x := begin.before.controller.get(p.name)) is not None} | values
    shapes = {name: constrained.of_shape(robot, name) for name in acting}
    arrays = {name: as_given(name, x, shapes[name], begin.lead) for name, x in acting.items()}
    for name in plan.of_constraints:
        constrained.check_range(name, arrays[name])
    arrays |= input_arrays(model, plan, values, {} if controller is None else controller.over_time, begin.lead)
    changing = {name: x.shape[1] - (plan.linear and name in LINEAR) for name, x in arrays.items() if x.ndim == 3}
    plan = plan._replace(smooth=not (plan.sampled or changing))
    clock = times(dt, duration, steps, {name.removeprefix(OWN): n for name, n in changing.items()}, begin.t)
    n, shapes = len(begin.q), plan.carried(model)
    carried = {"q": begin.q, "v": begin.v, "step": np.full((n, 1), clock.first)}
    carried |= {name: x for name, x in arrays.items() if name in shapes}
    carried |= {name: np.zeros((n, math.prod(shape))) for name, shape in shapes.items() if name not in carried}
    given = {name: x for name, x in arrays.items() if name not in shapes}
    if record.memory:  # which may be where these are
        carried, given = ({k: record.apart(x) for k, x in x.items()} for x in (carried, given))
    kept = record.sizes(model, method, clock.steps)
    made = Simulation(robot, plan, clock, begin.lead, carried, given, kept, record, law, begin.before, progress)
    constants = made.clocked() | {setting(name): x for name, x in method.settings.items()}
    given |= {name: full(n, x) for name, x in constants.items() if name in plan.given(model)}
    made.check_start(begin.before)
    for k, event in enumerate(events):
        carried["event_values"][:, k] = made.first_value(event)
    return made


def full(n: int, value: Any) -> Array:
    """Return one value for n states, as an array of one of them."""
    value = np.asarray(value, float)
    return np.broadcast_to(value, (n, *(value.shape or (1,))))
