"""What a simulation is, with all choices made and checked, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from kinetree.errors import ArgumentError, LimitWarning, SimulationWarning, warn_user
from kinetree.graph import Port
from kinetree.lazy import cached_property
from kinetree.motions.states import End, read_only
from kinetree.robot.base import beyond_limits
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.simulation.choices import Controller, Record, own
from kinetree.simulation.given import Times
from kinetree.simulation.step import LINEAR, Plan, remembered, step_function
from kinetree.validation import Array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism

OPEN = 1e-3
"""Errors of constraints (m, rad) that are no rounding: the first step takes away smaller ones."""


@dataclass(frozen=True, eq=False, repr=False)
class Planned:
    """All that a simulation depends on (see `Simulation`)."""

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

    def at(self, **changed: Any) -> Self:
        """Return the same with other times, arrays, or end to go on from, and with what is known of it."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__, **changed)
        for known in ("record_times", "_bound"):
            made.__dict__.pop(known, None)
        return made

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
        for name in given.keys() & LINEAR if self.plan.linear else ():
            whole = given[name]
            ends = (whole[:, :-1], whole[:, 1:]) if whole.ndim == 3 else (whole, whole)
            given[name], given[name + "_end"] = ends
        return given

    @cached_property
    def places(self) -> dict[str, Port]:
        """The names in the step, and the shapes, of all that users give, by what messages call it."""
        return self.plan.places(self.robot.model)

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
    def step(self) -> Function:
        """The compiled step."""
        return remembered(self.robot, step_function, self.plan)

    @cached_property
    def digest(self) -> str:
        """A digest of the step's program; "" if it is not known."""
        identity = self.step.spec.identity()
        return "" if identity is None else sha256(identity).hexdigest()

    def clocked(self) -> dict[str, Any]:
        """Return the arguments of a step that concern time."""
        clock, row_motion = self.times, self.arrays.get("row_motion")
        since = 0.0 if row_motion is None or row_motion.ndim == 2 else clock.of(np.arange(clock.steps))[:, None]
        return {"dt": clock.dt, "t0": clock.rest, "begin": clock.first, "period": self.period, "since": since}

    # -- where it begins ---------------------------------------------------------------------------------------------

    @cached_property
    def stops(self) -> tuple[Array, Array] | None:
        """The limits of the joints where they are springs that push back; where contacts are solved they are rows."""
        soft = self.plan.limits in ("position", "all") and not self.plan.integrator.impulses
        return (self.tree.lower_limits, self.tree.upper_limits) if soft else None

    @cached_property
    def loops(self) -> list[tuple[str, slice]]:
        """The constraints that must hold at the beginning, those that no impulses reach, and their rows."""
        if isinstance(self.robot, Robot):
            return []
        rows, jumps = self.robot.row_slices.values(), self.plan.integrator.impulses
        both = zip(self.robot.constraints, rows, strict=True)
        return [(c.label, rows) for c, rows in both if not jumps or c.force_set() is None]

    def begin(self) -> None:
        """Find the values of conditions; raise where constraints do not hold, and warn of joints beyond stops."""
        q = self.arrays["q"]
        for k, event in enumerate(self.plan.events):
            first, everyone = {"q": q, "v": self.arrays["v"], "t": self.times.of(0)}, np.arange(len(q))
            self.arrays["event_values"][:, k] = self.called(event.condition, first, self.arrays, everyone, 0 * everyone)
        if self.loops:
            self._check_closed(q)
        if self.stops and self.before is None and np.count_nonzero((q < self.stops[0]) | (q > self.stops[1])):
            leading = self.robot.model.leading
            if told := beyond_limits(leading, q.max(axis=0)) or beyond_limits(leading, q.min(axis=0)):
                warn_user(
                    f"the simulation begins beyond joint limits, at which stops push back hard: {told}; "
                    "joints='none' has no stops",
                    LimitWarning,
                )

    def _check_closed(self, q: Array) -> None:
        mech: Any = self.robot
        first = {name: x[:, 0] if x.ndim == 3 else x for name, x in self.arrays.items()}
        error = mech.constraint_error(q)
        if "row_motion" in first:
            d, d_dot, d_ddot = first["row_motion"].reshape(-1, 3, mech.nrows).swapaxes(0, 1)
            since = self.times.of(0) - first["since"]
            error = error - (d + since * (d_dot + 0.5 * since * d_ddot))
        v, speed = self.arrays["v"], np.zeros_like(error)
        if self.before is None and "row_motion" not in first and np.count_nonzero(v):
            speed = np.einsum("nij,nj->ni", mech.constraint_jacobian(q), v)
        if "active" in first:
            acts = first["active"][:, list(mech.model.constraint_of_row)] != 0.0
            error, speed = error * acts, speed * acts
        for label, rows in self.loops:
            worst, unfit = (abs(x[:, rows]).max(axis=1, initial=0.0) for x in (error, speed))
            unfit = np.where(unfit > 1e-6 * abs(v).max(axis=1), unfit, 0.0)
            state = f" of state {np.argmax(worst if worst.max() > OPEN else unfit)}" if len(q) > 1 else ""
            if worst.max() > OPEN:
                raise ArgumentError(
                    f"the simulation begins with {label!r} open by {worst.max():.3g} (m or rad) at q{state}: give one "
                    "that closes it, as mech.assemble(q, fixed=[…]) finds, or active = 0 for those that do not act"
                )
            if unfit.any():
                warn_user(
                    f"the simulation begins with v{state} that opens {label!r}, which the first step changes: "
                    "mech.complete_velocity(q, v[…, mech.independent]) is one that fits",
                    SimulationWarning,
                )

    def called(
        self, function: Function, known: Mapping[str, Any], carried: Mapping[str, Array], robots: Any, done: Any
    ) -> Any:
        """Return the results of a user's function for some of the robots, of which each has done so many steps."""
        values = dict[str, Any]()
        for port in function.spec.ports(()):
            if port.name in known:
                values[port.name] = known[port.name]
                continue
            array = (carried if own(port) in carried else self.arrays)[own(port)][robots]
            if array.ndim == 3:
                array = array[np.arange(len(robots)), np.minimum(done, array.shape[1] - 1)]
            values[port.name] = array.reshape(len(robots), *port.shape)
        return function(**values)
