"""What a call of `simulate` asks for: checked, and as arrays for the compiled step."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError, LimitWarning, unknown_name, warn_user
from kinetree.functions.wrenches import named_wrenches
from kinetree.integrators import INTEGRATORS
from kinetree.integrators.step import LIMITS
from kinetree.robot.limits import beyond
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation import inputs as given_inputs
from kinetree.simulation.calls import own
from kinetree.simulation.compiled import Plan, setting
from kinetree.simulation.constrained import CONTACTS, check_closed, check_range, chosen_integrator, of_rows
from kinetree.simulation.controllers import Controller, callback_of, controller_of
from kinetree.simulation.events import Event, events_of
from kinetree.simulation.times import Times, count, times
from kinetree.trajectories.states import End
from kinetree.trajectories.trajectory import Trajectory
from kinetree.validation import Array, positive, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

SIZES = {"q": "nq", "v": "nv", "a": "nv", "tau": "nv", "f": "nrows"}
"""What can be kept, and of which length it is; the last one is a mechanism's."""


class Request:
    """A simulation to be done: the plan of its step, and arrays of all that is given.

    Attributes
    ----------
    robot : Robot or Mechanism
    tree : Robot
        The robot itself, or that of the mechanism.
    callback : callable, or None
        The controller, where it is a plain Python function.
    lead : tuple of int
        The leading axes of the states.
    carried, given : dict of array
        By the names of the step (see `Plan`): the first values of what goes from step to step, and all else, flattened
        to one axis of states, one of steps if they change from step to step, and one of entries.
    times : Times
    before : End, or None
        Where the trajectory ended from which it goes on.
    kept : dict of array
        What is kept, (..., 1 + records, n).
    every : int
        The number of steps between records.
    """

    def __init__(
        self,
        robot: Robot | Mechanism,
        integrator: object,
        limits: str,
        controller: object,
        control_every: int | None,
        interpolation: str,
        inputs: Any,
        per_step: Sequence[str],
        events: Any,
        contacts: str,
    ) -> None:
        self.robot, self._per_step = robot, given_inputs.names("per_step", per_step)
        self.tree = robot if isinstance(robot, Robot) else robot.tree
        choice("contacts", contacts, CONTACTS)
        self._integrator = chosen_integrator(robot, integrator, contacts)
        self._limits = choice("limits", limits, LIMITS)
        self._linear = choice("interpolation", interpolation, ("held", "linear")) == "linear"
        self._numbers, self._values = given_inputs.separated(robot.model, inputs)
        self._controller: Controller | None = None
        self.callback: Callable[..., Any] | None = None
        if isinstance(controller, Function):
            self._controller = controller_of(robot.model, controller)
        elif callable(controller):
            self.callback = callback_of(controller)
        elif controller is not None:
            raise ArgumentError(f"controller takes a compiled function or a function of (q, v, t), not {controller!r}")
        period = None if control_every is None else count("control_every", control_every)
        if period is not None and controller is None:
            raise ArgumentError("control_every is for a controller; there is none")
        if self._controller is not None and self._controller.state:
            period = period or 1
        self.period = period
        self._events = events_of(robot.model, events)
        self.before: End | None = None
        self.carried: dict[str, Array] = {}
        self.given: dict[str, Array] = {}

    def begin(self, q: Any, v: Any) -> None:
        """Take the states to begin with."""
        robot = self.robot
        if isinstance(q, Trajectory):
            if v is not None:
                raise ArgumentError("v is not taken where the simulation goes on from a trajectory, which has it")
            last = q.final
            self.before = q.end or End(last.t, last.q, last.v, {}, np.empty(0), "")
            q, v = self.before.q, self.before.v
        q = real_array("q", self.tree.configuration(q) if isinstance(q, str) else q, robot.nq)
        v = np.zeros(robot.nv) if v is None else real_array("v", v, robot.nv)
        try:
            self.lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        except ValueError:
            raise ArgumentError(f"the leading axes of q {q.shape} and v {v.shape} do not fit together") from None
        for name, array in (("q", q), ("v", v)):
            if not np.isfinite(array).all():
                where = np.argwhere(~np.isfinite(array))[0].tolist()
                raise ArgumentError(f"{name} holds a number that is not finite, at {where}: the motion begins there")
            self.carried[name] = flattened(array, self.lead, 1, False).copy()  # `out` may be where these are
        if not len(self.carried["q"]):
            raise ArgumentError(f"q and v have the leading axes {self.lead}: there is no robot to simulate")
        if self._limits in ("position", "all") and not self._integrator.impulses:
            for extreme in (self.carried["q"].max(axis=0), self.carried["q"].min(axis=0)):
                if told := beyond(robot.model.leading, extreme):
                    warn_user(f"the simulation begins beyond stops, which throw joints back: {told}", LimitWarning)
                    break

    def act(self, tau: Any, f_ext: Any, f_ext_frame: str, **of_constraints: Any) -> None:
        """Take what acts on the robot, and make the plan of a step."""
        robot, model = self.robot, self.robot.model
        choice("f_ext_frame", f_ext_frame, ("body", "world"))
        if isinstance(f_ext, Mapping):
            f_ext = named_wrenches(model, "simulate")(f_ext, {"f_ext_frame": f_ext_frame})
        sampled = self._controller is not None and self.period is not None
        self.plan = Plan(
            self._integrator,
            self._limits,
            f_ext_frame,
            self._controller,
            self._events,
            sampled or self.callback is not None,
            f_ext is not None,
            tuple(of_constraints),
            self._linear,
            False,
            self._numbers,
        )
        self._counted: dict[str, int] = {}
        if isinstance(tau, Mapping):
            tau = given_inputs.named_forces(self.tree, tau)
        forces = {"tau": (np.zeros(robot.nv) if tau is None else tau, (robot.nv,)), "f_ext": (f_ext, (robot.nb, 6))}
        for name, (value, shape) in forces.items():
            if value is not None:
                self._take_force(name, value, shape, self._linear)
        for name, value in of_constraints.items():
            if isinstance(robot, Robot):
                raise ArgumentError(f"{name} is for the constraints of a mechanism; a robot has none")
            self._take_force(name, *of_rows(robot.model, name, value), False)
            check_range(name, self.given[name])
        if self.before is not None:
            own_names = {port.name for port in self.plan.state}
            self._values = {k: x for k, x in self.before.controller.items() if k in own_names} | self._values
        values = given_inputs.values(model, self.plan, self._values, self._per_step, self.lead)
        for name, (array, axes) in values.items():
            over_time = name.removeprefix("controller_") in self._per_step
            flat = flattened(array, self.lead, axes, over_time)
            (self.carried if name in self.plan.carried(model) else self.given)[name] = flat
            if over_time:
                self._counted[name.removeprefix("controller_")] = flat.shape[1]
        self.plan = self.plan._replace(smooth=not (self.plan.sampled or self._counted))

    def _take_force(self, name: str, value: Any, shape: tuple[int, ...], linear: bool) -> None:
        """Take what acts on each state, with an axis of steps after the states' axes if it has one more."""
        array = real_array(name, value, *shape)
        if not np.isfinite(array).all():
            raise ArgumentError(f"{name} holds a number that is not finite (NaN or inf)")
        axes, most = array.ndim - len(shape), len(self.lead)
        over_time = axes == most + 1
        if not given_inputs.fits(array.shape[: axes - over_time], self.lead):
            hint = f"; the same over time for all is {(*(1,) * most, 'steps', *shape)}" if most else ""
            raise ArgumentError(
                f"{name} has shape {array.shape}; q and v have the leading axes {self.lead}, so it takes "
                f"{(*self.lead, *shape)}, or over time {(*self.lead, 'steps', *shape)}{hint}"
            )
        flat = flattened(array, self.lead, len(shape), over_time)
        if over_time:
            self._counted[name] = flat.shape[1] - linear
        if over_time and linear:
            self.given[name], self.given[name + "_end"] = flat[:, :-1], flat[:, 1:]
        else:
            self.given[name] = flat
            if linear:
                self.given[name + "_end"] = flat

    def count(self, dt: Any, duration: Any, steps: Any, t0: Any) -> None:
        """Take the times of the steps; what begins with zero begins."""
        if t0 is None:
            t0 = 0.0 if self.before is None else self.before.t
        self.times: Times = times(dt, duration, steps, self._counted, t0)
        n, numbers = len(self.carried["q"]), {"dt": self.times.dt, "t0": self.times.rest}
        numbers |= {"begin": self.times.first, "period": self.period or 1}
        numbers["since"] = self.times.of(np.arange(self.times.steps))[:, None] if "drift" in self._counted else 0.0
        for name in self.plan.given(self.robot.model):
            if name in numbers:
                self.given[name] = np.broadcast_to(x := np.asarray(numbers[name], float), (n, *(x.shape or (1,))))
        if not isinstance(self.robot, Robot):
            check_closed(self.robot, self._integrator, self.carried["q"], self.given, self.times.of(0))
        for name, shape in self.plan.carried(self.robot.model).items():
            if name not in self.carried:
                first = self.times.first if name == "step" else 0.0
                self.carried[name] = np.full((n, math.prod(shape)), first)
        for k, event in enumerate(self._events):
            self.carried["event_values"][:, k] = self._first_value(event)

    def _first_value(self, event: Event) -> Array:
        """Return what the condition of an event is at the beginning."""
        known = {"q": self.carried["q"], "v": self.carried["v"], "t": np.float64(self.times.of(0))}
        for port in event.parameters:
            array = (self.carried if own(port) in self.carried else self.given)[own(port)]
            array = array[:, 0] if array.ndim == 3 else array
            known[port.name] = array.reshape(len(array), *port.shape)
        return np.asarray(event(known))

    def set(self, **settings: Any) -> None:
        """Take numbers for the integrator, those that are not None."""
        known, n = dict(self.plan.integrator.settings), len(self.carried["q"])
        for name, value in settings.items():
            if value is not None and name not in known:
                able = [k for k, i in sorted(INTEGRATORS.items()) if name in dict(i.settings)]
                who = f"the integrator {self.plan.integrator.name!r} has none"
                raise ArgumentError(f"{name} is for {', '.join(able) or 'contacts that are solved'}; {who}")
        for name, usual in known.items():
            value = settings.get(name)
            self.given[setting(name)] = np.full((n, 1), usual if value is None else positive(name, value))

    def keep(self, record: str | Sequence[str], every: Any, out: Any) -> None:
        """Take what is to be kept, and find memory for it."""
        names = given_inputs.names("record", record.replace(",", " ").split() if isinstance(record, str) else record)
        sizes = {name: n for name, size in SIZES.items() if (n := getattr(self.robot.model, size, None)) is not None}
        for name in names:
            if name not in sizes:
                raise ArgumentError(f"record: {unknown_name('quantity', name, sizes)}")
            if name == "a" and self.plan.integrator.impulses:
                raise ArgumentError("record: where contacts are solved velocities jump, and there is no a to record")
        self.every = count("record_every", every)
        if self.every > self.times.steps:
            raise ArgumentError(
                f"record_every is {self.every}, and there are {self.times.steps} steps: none of them would be kept"
            )
        rows = 1 + self.times.steps // self.every
        if not (out is None or isinstance(out, Mapping)):
            raise ArgumentError(f"out takes a dict of arrays by {', '.join(sizes)}; {type(out).__name__} was given")
        given = dict(out or {})
        for name in given:
            if name not in sizes:
                raise ArgumentError(f"out: {unknown_name('quantity', str(name), sizes)}")
        if any(np.shares_memory(x, y) for x, y in itertools.combinations(given.values(), 2)):
            raise ArgumentError("out: two of the arrays share memory, so one result would overwrite the other")
        self.kept: dict[str, Array] = {}
        for name, size in sizes.items():
            if name in names or name in ("q", "v") or name in given:
                self.kept[name] = memory(name, given.get(name), (*self.lead, rows, size))
        for arrays in (self.carried, self.given):  # which may be where results go
            for name, x in arrays.items():
                if any(np.may_share_memory(x, y) for y in given.values()):
                    arrays[name] = x.copy()


def memory(name: str, array: Any, shape: tuple[int, ...]) -> Array:
    """Return an array that takes a result: that of the caller's, if there is one."""
    if array is None:
        try:
            return np.empty(shape)
        except (MemoryError, ValueError):
            size = 8 * math.prod(shape)
            raise ArgumentError(
                f"{name} would be kept as an array of shape {shape}, of {size} bytes: there is no room for it; "
                "a larger record_every keeps less"
            ) from None
    right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    if not right or not array.flags.c_contiguous or not array.flags.writeable:
        shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(type(array))
        raise ArgumentError(f"out[{name!r}] is {shown}; a contiguous, writeable float64 array {shape} is needed")
    result: Array = array
    return result


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """Return one of several strings; `ArgumentError` for anything else."""
    if not isinstance(value, str) or value not in choices:
        raise ArgumentError(f"{name} is {value!r}; choose from {', '.join(choices)}")
    return str(value)


def flattened(array: Array, lead: tuple[int, ...], axes: int, over_time: bool) -> Array:
    """Return an array with one axis of states, one of steps if it has one, and one of the entries of its last axes."""
    own = array.shape[array.ndim - axes - over_time :]
    wide = np.broadcast_to(array, (*lead, *own))
    entries = math.prod(own[over_time:])
    return np.ascontiguousarray(wide).reshape(math.prod(lead), *own[: int(over_time)], entries)
