"""One step of a simulation as a compiled function, and what is observed in a state."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from kinetree.algorithms.table import table_of
from kinetree.functions.model_inputs import ModelInput, traced, traced_model, with_inputs
from kinetree.functions.of_robot import identity
from kinetree.glossary.symbols import SHAPES, shape_of
from kinetree.graph import Port
from kinetree.integrators import Integrator, StopReason, System
from kinetree.integrators.step import is_own
from kinetree.model import JointFriction, Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, select_less
from kinetree.simulation.calls import called, controlled, flat, own, sampled
from kinetree.simulation.controllers import CompiledLaw
from kinetree.simulation.events import FIRST_EVENT, Event
from kinetree.simulation.locating import located, logged

MOVING, NOT_FINITE, FAILED = 0.0, 1.0, 2.0
"""Why a robot has stopped, as carried from step to step; then come the events."""


class Plan(NamedTuple):
    """What the compiled step of a simulation depends on, besides the robot.

    Attributes
    ----------
    integrator : Integrator
    limits, f_ext_frame : str
        As in `System`.
    controller : CompiledLaw, optional
    events : tuple of Event
    sampled : bool
        Whether the controller is called at the beginning of some steps, and its joint forces are held between.
    wrenches, linear : bool
        Whether there are wrenches on the bodies; whether these and the joint forces change linearly during a step.
    of_constraints : tuple of str
        What is given for the constraints of a mechanism: "active", "restitution", "friction", "slots", "drift".
    smooth : bool
        Whether what acts is smooth from step to step too: nothing changes with the steps.
    friction : JointFriction
        Which friction of the joints counts.
    inputs : tuple of ModelInput
        The robot's numbers that are given.
    """

    integrator: Integrator
    limits: str
    f_ext_frame: str
    controller: CompiledLaw | None
    events: tuple[Event, ...]
    sampled: bool
    wrenches: bool
    of_constraints: tuple[str, ...]
    linear: bool
    smooth: bool
    friction: JointFriction
    inputs: tuple[ModelInput, ...]

    def carried(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Return the shapes of what goes from step to step."""
        shapes: dict[str, tuple[int, ...]] = {"q": (model.nq,), "v": (model.nv,), "step": (), "reason": ()}
        if n := self.integrator.memory(model):
            shapes["memory"] = (n,)
        if self.sampled:
            shapes["held"] = (model.nv,)
        if self.events:
            shapes |= {"event_values": (len(self.events),), "event_counts": (len(self.events),)}
        if n := sum(event.log(model) for event in self.events):
            shapes["event_log"] = (n,)
        return shapes | {own(port): port.shape for port in self.state}

    @property
    def reasons(self) -> list[StopReason | str | None]:
        """Why a robot has stopped, by the number that is carried."""
        return [None, StopReason.NOT_FINITE, self.integrator.failure, *(event.name for event in self.events)]

    @property
    def has_soft_stops(self) -> bool:
        """Whether stops are springs that push back; where contacts are solved they are rows of these."""
        return self.limits in ("position", "all") and not self.integrator.impulses

    @property
    def without_events(self) -> Plan:
        """The same without events."""
        return self._replace(events=())

    @property
    def state(self) -> tuple[Port, ...]:
        """The controller's own state."""
        return self.controller.state if self.controller else ()

    @property
    def parameters(self) -> tuple[Port, ...]:
        """All other arguments of the controller and of the events' conditions that the simulation does not know."""
        ports = {port.name: port for event in self.events for port in event.parameters}
        ports |= {port.name: port for port in (self.controller.parameters if self.controller else ())}
        return tuple(port for port in ports.values() if port.name not in (p.name for p in self.state))

    def given(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Return the shapes of what is given."""
        shapes: dict[str, tuple[int, ...]] = {"dt": (), "t0": (), "tau": (model.nv,)}
        if self.sampled:
            shapes |= {"begin": (), "period": ()}
        if self.wrenches:
            shapes["f_ext"] = (model.nb, 6)
        shapes |= {name: shape_of(SHAPES[name], model) for name in self.of_constraints}
        if "drift" in self.of_constraints:
            shapes["since"] = ()
        if self.linear:
            shapes |= {name + "_end": shapes[name] for name in ("tau", "f_ext") if name in shapes}
        shapes |= {setting(name): () for name in self.integrator.tolerances}
        return shapes | {own(port): port.shape for port in self.parameters}


def setting(name: str) -> str:
    """Return the name in the step of a number for the integrator."""
    return "integrator_" + name


def step_function(model: Model, plan: Plan) -> Function:
    """Return one step: from what is carried and given to the next values of what is carried.

    The loop over the steps looks whether these are finite (see `Rollout`); "trouble" is why they are not.
    """

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        acting, following = _acting(model, plan, given)
        q, v, reason = Column(given["q"]), Column(given["v"]), given["reason"]
        dt = select_less(reason, 0.5, given["dt"], 0.0)
        going = select_less(reason, 0.5, 1.0, 0.0)

        def advance(part: Scalar) -> tuple[Column, Column, Column]:
            memory = Column(given.get("memory", ()))
            return plan.integrator.advance(acting, now(given), q, v, part * dt, memory)

        moving: Scalar = MOVING
        if plan.events:
            following |= _with_events(model, plan, given, advance, going)
            moving = following["reason"]
        else:
            following |= zip(("q", "v", "memory"), advance(1.0), strict=True)
            following["step"] = given["step"] + 1.0
        following["reason"] = moving
        following["trouble"] = select_less(0.5, plan.integrator.failed(following["memory"]), FAILED, NOT_FINITE)
        return list(_ordered(following, outputs).values())

    model, outputs = model.with_friction(plan.friction), plan.carried(model) | {"trouble": ()}
    return _function("simulation_step", model, plan, outputs, evaluate)


def _with_events(
    model: Model,
    plan: Plan,
    given: Mapping[str, Any],
    advance: Callable[[Scalar], tuple[Column, Column, Column]],
    going: Scalar,
) -> dict[str, Any]:
    """Return the next values of what is carried, after a step whose events are located."""

    def conditions(part: Scalar, q: Column, v: Column) -> list[Scalar]:
        t = now(given) + part * given["dt"]
        return [flat(called(event, event.condition, given, t, q, v))[0] for event in plan.events]

    sizes = model.nq, model.nv, plan.integrator.memory(model)
    found = located(plan.events, advance, conditions, given["event_values"], sizes, going)
    log, counts = logged(plan.events, model, found, given["step"], given.get("event_log", ()), given["event_counts"])
    reason = sum(((FIRST_EVENT + k) * x for k, x in enumerate(found.stopped)), 0.0)
    return {
        "q": found.q, "v": found.v, "memory": found.memory, "step": given["step"] + found.part, "reason": reason,
        "event_values": found.values, "event_log": log, "event_counts": counts,
    }  # fmt: skip


def observer(model: Model, plan: Plan) -> Function:
    """Return what is observed in a state: the forces of motors and of constraints, and the accelerations."""

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        acting, _ = _acting(model, plan, given)
        state = now(given), Column(given["q"]), Column(given["v"])
        return [acting.motor_forces(*state), *acting.accelerations(*state)]

    model = model.with_friction(plan.friction)
    outputs = {"tau": (model.nv,)} | dict(table_of(model)["forward_dynamics"].outputs)
    return _function("simulation_observer", model, plan, {n: shape_of(s, model) for n, s in outputs.items()}, evaluate)


def now(given: Mapping[str, Any]) -> Scalar:
    """Return the time at the beginning of the step."""
    return given["step"] * given["dt"] + given["t0"]


def _ordered(values: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _acting(model: Model, plan: Plan, given: Mapping[str, Any]) -> tuple[System, dict[str, Any]]:
    """Return what acts on the robot during the step, and the next values of what the controller carries."""
    start, dt = now(given), given["dt"]
    following: dict[str, Any] = {}

    def at(name: str, t: Scalar) -> Any:
        if not plan.linear:
            return given[name]
        return _between(given[name], given[name + "_end"], (t - start) / dt)

    def motors(t: Scalar, q: Column, v: Column) -> Column:
        tau = Column(at("tau", t))
        if plan.sampled:
            return tau + Column(following["held"])
        return tau + controlled(plan.controller, given, t, q, v)[0] if plan.controller else tau

    if plan.sampled:
        following |= sampled(plan.controller, given, start) if plan.controller else {"held": given["held"]}
    wrenches = (lambda t: at("f_ext", t)) if plan.wrenches else None
    settings = {name: given[setting(name)] for name in plan.integrator.tolerances}
    table = table_of(model)
    model = traced_model(model, table["forward_dynamics"].joint_space)
    more = {"since": given["since"]} if "since" in given else {}
    if plan.of_constraints:
        from kinetree.constraints.inputs import ContactInputs

        renamed = {"drift": "row_motion"}
        own = {renamed.get(name, name): given[name] for name in plan.of_constraints}
        more["contacts"] = ContactInputs(**own)
    system = table.system(model, motors, wrenches, plan.f_ext_frame, plan.limits, plan.smooth, settings, **more)
    return system, following


def _between(a: Any, b: Any, s: Scalar) -> Any:
    if isinstance(a, (list, tuple)):
        return [_between(x, y, s) for x, y in zip(a, b, strict=True)]
    return a + s * (b - a)


def _function(
    name: str,
    model: Model,
    plan: Plan,
    outputs: Mapping[str, tuple[int, ...]],
    evaluate: Callable[[Mapping[str, Any], Mapping[str, Any]], Sequence[Any]],
) -> Function:
    """Return the function of all that is carried and given, and of the robot's numbers that are given."""
    spec = FunctionSpec(
        name=name,
        doc="",
        inputs=tuple(Port(*item) for item in (plan.carried(model) | plan.given(model)).items()),
        outputs=tuple(Port(*item) for item in outputs.items()),
        evaluate=evaluate,
        identity=functools.cache(
            lambda: identity(model) + repr((plan.integrator.name, *plan[1:3], *plan[5:])).encode()
        ),
    )
    if plan.controller or plan.events or not is_own(plan.integrator):
        spec = traced(spec)  # what these compute is known by its program only
    return Function(with_inputs(spec, model, plan.inputs) if plan.inputs else spec)
