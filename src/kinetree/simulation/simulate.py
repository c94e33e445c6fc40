"""`simulate`: the motion of a robot, or of many, from an initial state."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kinetree.constraints.inputs import ContactInputs
from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.model_inputs import ModelInput, check_inputs
from kinetree.graph import Port
from kinetree.integrators import Integrator
from kinetree.motions.states import State
from kinetree.motions.trajectory import Trajectory
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.signatures import friendly_call_errors, wrong_call
from kinetree.simulation.choices import Controller, Forces, Law, Record, by_name, chosen, own
from kinetree.simulation.events import Event, events_of
from kinetree.simulation.given import (
    Start,
    arrays_of,
    as_given,
    check_configurations,
    chosen_integrator,
    contacts_of,
    lead_of,
    physics,
    times,
)
from kinetree.simulation.plan import Planned
from kinetree.simulation.run import Run
from kinetree.simulation.step import LINEAR, SETTING, Plan, label
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


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

    _bound: list[Run] = field(default_factory=list, init=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, x.name) for x in fields(self) if x.init)

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.lead))} robots, " if self.lead else ""
        return f"<Simulation of {self.tree.name!r}: {of}{self.times.steps} steps of {self.times.dt:g} s>"

    def run(self) -> Trajectory:
        """Return the motion from the states that it was made with."""
        return Run(self)()  # each time in another memory: threads may run it at the same time

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
        bound = self._bound.pop() if self._bound else Run(self, own=True)  # one for each thread that calls meanwhile
        try:
            return bound.called(q, v, forces, inputs, contacts)
        finally:
            self._bound.append(bound)


def simulate(
    robot: Robot | Mechanism,
    q: ArrayLike | str | Trajectory | State,
    v: ArrayLike | None = None,
    *,
    duration: float | None = None,
    steps: int | None = None,
    dt: float = 1e-3,
    controller: Controller | Function | Callable[[Array, Array, float], ArrayLike] | None = None,
    forces: Forces | ArrayLike | Mapping[str, ArrayLike] | None = None,
    inputs: Mapping[Any, ArrayLike] | None = None,
    contacts: ContactInputs | None = None,
    integrator: str | Integrator | None = None,
    joints: str | Sequence[str] = "all",
    events: Sequence[Event | Function] = (),
    record: Record | str | Sequence[str] = ("q", "v"),
    progress: Callable[[int, int], object] | None = None,
) -> Trajectory:
    """Return the motion from an initial state, or from many, computed as one native loop over the steps.

    Parameters
    ----------
    q : (..., nq) array, str, Trajectory or State
        Initial configurations, or the name of one. Leading axes are independent robots, bit-identical to running each
        alone. From a trajectory the simulation goes on where that one ended, bit-identical to one longer simulation;
        a `kinetree.State` has the velocities and the time to begin with.
    v : (..., nv) array, optional
        Initial velocities; zero if not given.
    duration, steps : float, int, optional
        How long (s), or how many steps; not needed where something is given over time.
    dt : float
        Length of a step (s). An integrator with steps of its own takes as many as its tolerances ask for; dt is then
        how often the motion is looked at: for records, controllers and events.
    controller : Function, callable or Controller, optional
        Joint forces from the state: a compiled function (`compile`) of any of ``q``, ``v``, ``t``, ``dt`` and further
        arguments, or a plain one of (q, v, t). `kinetree.Controller` says how often it is called, and values over time.
    forces : (..., nv) or (..., steps, nv) array, dict or Forces, optional
        Joint forces (N·m, N), or by the names of joints, to which those of the controller are added; with wrenches they
        are a `kinetree.Forces`. With one axis more than q and v they change from step to step.
    inputs : dict, optional
        Values of arguments of the controller and of events by name, and of the robot's numbers (`kinetree.gravity`,
        `kinetree.payload`, …): for all robots, for each its own, or with one axis more, from step to step. The
        controller does not know these numbers: it is compiled for the robot as it is.
    contacts : ContactInputs, optional
        Of a mechanism: which constraints act, properties of contacts, and how these are solved, or stick.
    integrator : str or Integrator, optional
        The method (see `step`), such as "rk4" or `kinetree.Tsitouras` with its tolerances. If not given it is
        "semi_implicit_euler", and where joints have friction "implicit_euler", which is stable however large it is.
    joints : str or sequence of str
        What counts of that which the file says of the joints: any of "stops" (limits of position), "effort" (limits of
        motors) and "friction" (damping and Coulomb friction); "all", or "none". Friction that `Robot.with_friction` has
        turned on always counts, and so do figures that are inputs.
    events : sequence of Event
        Conditions whose zeros are located, and which may stop a robot.
    record : str, sequence of str or Record
        What to keep beside q and v: "a", "tau", "f"; `kinetree.Record` says how often, and in whose memory.
    progress : callable, optional
        Called with the number of steps done and that of all, about ten times a second.

    Returns
    -------
    Trajectory
        A robot whose state is no longer finite stops with its last finite state, and so does one at an event that
        stops it; the others go on. ``reasons`` says why, ``events`` has what happened, and ``counts`` how often.

    Raises
    ------
    ArgumentError
        If a shape, name or number is wrong: before anything moves.
    SimulationInterrupted
        At Ctrl-C; it is a `KeyboardInterrupt` and has what was computed as ``trajectory``.

    Warns
    -----
    SimulationWarning, LimitWarning, EventWarning
        If a motion is no longer finite or contacts were not solved to the tolerance; if a joint begins beyond a stop;
        if more events happened than are kept.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("panda")
    >>> @robot.compile
    ... def hold(q, v, q_des):
    ...     return robot.inverse_dynamics(q, v, 100.0 * (q_des - q) - 20.0 * v)
    >>> q = robot.random_configuration(seed=0, size=5)
    >>> held = robot.simulate(q, duration=2.0, controller=hold, inputs={"q_des": q[0]}, joints="none")
    >>> held.q.shape, bool(abs(held.q[:, -1] - q[0]).max() < 1e-5)
    ((5, 2001, 7), True)
    """
    return planned(**locals()).run()


def simulation(
    robot: Robot | Mechanism, q: ArrayLike | str | Trajectory | State, v: ArrayLike | None = None, **choices: Any
) -> Simulation:
    """Return a simulation whose choices are made once, to be called with other states: for control loops and planners.

    Parameters
    ----------
    q, v : array-like
        As in `simulate`: they say how many robots there are.
    **choices
        All other arguments of `simulate`. Of what acts, values that change from call to call are given here too, so
        that their shapes are known.

    Returns
    -------
    Simulation
        It is called with states, and with what changes: ``rollout(q, v, forces=tau)``, or with a trajectory that it has
        returned, to go on from there. Each call returns a `Trajectory`, that of `simulate` to the bit. It pickles.

    Raises
    ------
    ArgumentError
        As `simulate` does.

    Examples
    --------
    A controller that runs outside, every 10 ms:

    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> period = robot.simulation(robot.neutral(), steps=10, record=kt.Record(every=10))
    >>> motion = period(robot.neutral(), [0.5] * 6)
    >>> for _ in range(100):
    ...     motion = period(motion, forces=robot.gravity_forces(motion.q[-1]) - 2.0 * motion.v[-1])
    >>> float(motion.t[-1].round(9)), bool(abs(motion.v[-1]).max() < 0.5)
    (1.01, True)
    """
    of_simulate = inspect.signature(simulate)
    try:
        bound = of_simulate.bind(robot, q, v, **choices)
    except TypeError as error:
        raise wrong_call("simulation", of_simulate, (), choices, error) from None
    bound.apply_defaults()
    return planned(**bound.arguments)


def planned(
    robot: Robot | Mechanism, q: Any, v: Any, *, duration: Any, steps: Any, dt: Any, controller: Any, forces: Any,
    inputs: Any, integrator: Any, joints: Any, events: Sequence[Any], record: Any, progress: Any, contacts: Any,
) -> Simulation:  # fmt: skip
    """Return the simulation for the arguments of `simulate`."""
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress takes a function of the steps done and of all, not {progress!r}")
    model, inputs = robot.model, {} if inputs is None else inputs
    forces, record, contacts = chosen(Forces, forces), chosen(Record, record), contacts_of(robot, contacts)
    controller = None if controller is None else chosen(Controller, controller)
    start, values = Start.of(robot, q, v), by_name("inputs", inputs)
    lead = lead_of(model, **start.states)
    law = Law.of(model, controller.law) if controller and isinstance(controller.law, Function) else None
    numbers = tuple(key for key in inputs if isinstance(key, ModelInput))
    check_inputs(model, numbers)
    limits, friction, usual = physics(model, joints, numbers)
    method = chosen_integrator(robot, usual if integrator is None else integrator, contacts)
    acting = {"tau": np.zeros(robot.nv)} | forces.arrays(robot) | arrays_of(contacts)
    plan = Plan(
        integrator=method.untuned,
        limits=limits,
        f_ext_frame=forces.frame,
        friction=friction,
        inputs=numbers,
        acting=tuple(acting),
        linear=forces.interpolation == "linear",
        sampled=bool(controller) and (law is None or controller.every is not None or bool(law.state)),
        smooth=False,
        controller=law,
        events=events_of(model, events),
    )
    places, over_time = plan.places(model), {label(name) for name in (controller.over_time if controller else ())}
    given = start.states | acting | _inputs(plan, plan.arguments(model), values, controller, start)
    arrays = {
        places[name].name: as_given(model, name, x, places[name].shape, lead, name in over_time)
        for name, x in given.items()
    }
    check_configurations(model, arrays["q"])
    for port in plan.state:
        if arrays[own(port)].ndim == 3:
            raise ArgumentError(f"{label(port.name)} is the controller's own state, of which the first value is given")
    over = {name: arrays[port.name] for name, port in places.items() if arrays[port.name].ndim == 3}
    counted = {name: x.shape[1] - (plan.linear and name in LINEAR) for name, x in over.items()}
    plan = plan._replace(smooth=not (plan.sampled or over))
    clock = times(dt, duration, steps, counted, 0.0 if start.t is None else start.t)
    kept, n = record.sizes(model, method, clock.steps), math.prod(lead)
    arrays = {name: np.zeros((n, math.prod(shape))) for name, shape in plan.carried(model).items()} | arrays
    arrays["step"][...] = clock.first
    made = Simulation(robot, plan, clock, lead, arrays, kept, record, controller, start.before, progress)
    constants = made.clocked() | {SETTING + name: x for name, x in method.settings.items()}
    for name in constants.keys() & plan.given(model).keys():  # one value for n states
        value = np.asarray(constants[name], float)
        arrays[name] = np.broadcast_to(value, (n, *(value.shape or (1,))))
    made.begin()
    return made


def _inputs(
    plan: Plan, ports: Mapping[str, Port], inputs: Mapping[str, Any], controller: Controller | None, start: Start
) -> dict[str, Any]:
    """Return the values of all arguments and of the robot's numbers, by what messages call them."""
    sources = [inputs, *([controller.inputs, controller.over_time] if controller else ())]
    for name in itertools.chain(*sources):
        if name not in ports:
            said = unknown_name("argument", name, ports)
            hint = "" if said.endswith("?") else "; a number of the robot is given as inputs={kt.gravity: …}"
            raise ArgumentError(f"inputs: {said}{hint}")
        if sum(name in source for source in sources) > 1:
            raise ArgumentError(f"inputs: {name!r} is given twice: by the controller too, or over time")
    values: dict[str, Any] = start.own(plan.state)
    for source in sources:
        values |= source
    usual: dict[str, Any] = {}
    for function in plan.functions:
        for name, value in function.spec.defaults.items():
            if name not in values and not np.array_equal(usual.setdefault(name, value), value):
                raise ArgumentError(
                    f"inputs: {name!r} has two defaults, {usual[name]} and {value}: it is one number to all "
                    "functions, so give it, or give it two names"
                )
    values = usual | values
    if missing := [name for name in ports if name not in values]:
        raise ArgumentError(
            f"the controller{' or an event' * bool(plan.events)} has arguments without a value: {', '.join(missing)}; "
            f"give inputs={{{missing[0]!r}: …}}, of a controller's own state the initial value"
        )
    return {label(name): values[name] for name in ports}
