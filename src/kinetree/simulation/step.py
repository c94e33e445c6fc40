"""One step of a simulation as a compiled function, and what is observed in a state."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.algorithms.table import table_of
from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput, traced, traced_model, with_inputs
from kinetree.functions.of_robot import identity
from kinetree.glossary.symbols import SHAPES, shape_of
from kinetree.graph import Port
from kinetree.integrators import Integrator, StopReason, System
from kinetree.integrators.step import is_own
from kinetree.model import JointFriction, Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.scalars.functions import Scalar, floor, select_less
from kinetree.scalars.linalg import Column
from kinetree.simulation.choices import OWN, Law, further, own
from kinetree.simulation.events import Event, located
from kinetree.tracing import context
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.expr import Expr
from kinetree.tracing.loops import repeat_relaxed
from kinetree.tracing.tracer import flatten

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism
    from kinetree.robot.robot import Robot

MOVING, NOT_FINITE, FAILED = 0.0, 1.0, 2.0
"""Why a robot has stopped, as carried from step to step; then come the events."""

LINEAR = ("tau", "f_ext")
"""What changes linearly during a step, if that is chosen; all else that acts is for constraints."""

SETTING = "integrator_"
"""With which the step's names of numbers for the integrator begin."""

_REMEMBERED = 16
"""Compiled simulations that a robot keeps."""


class Plan(NamedTuple):
    """What the compiled step of a simulation depends on, besides the robot."""

    integrator: Integrator
    limits: str  # this and the next one as in `System`
    f_ext_frame: str
    friction: JointFriction  # which of the joints' counts
    inputs: tuple[ModelInput, ...]  # the robot's numbers that are given
    acting: tuple[str, ...]  # "tau", and what is given of "f_ext" and, for constraints, "active", "friction", …
    linear: bool  # whether forces change linearly during a step
    sampled: bool  # whether the controller is called at the beginning of some steps, and its forces are held between
    smooth: bool  # whether what acts is smooth from step to step too: nothing changes with the steps
    controller: Law | None
    events: tuple[Event, ...]

    @property
    def state(self) -> tuple[Port, ...]:
        """The controller's own state."""
        return self.controller.state if self.controller else ()

    @property
    def functions(self) -> list[Function]:
        """The conditions of the events and the controller."""
        return [*(event.condition for event in self.events), *([self.controller.function] if self.controller else ())]

    @property
    def parameters(self) -> list[Port]:
        """All other arguments of these that the simulation does not know."""
        ports = {port.name: port for function in self.functions for port in further(function)}
        return [port for name, port in ports.items() if name not in (own_state.name for own_state in self.state)]

    @property
    def reasons(self) -> list[StopReason | str | None]:
        """Why a robot has stopped, by the number that is carried."""
        return [None, StopReason.NOT_FINITE, self.integrator.failure, *(event.name for event in self.events)]

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

    def given(self, model: Model) -> dict[str, tuple[int, ...]]:
        """Return the shapes of what is given, but for the robot's numbers."""
        shapes: dict[str, tuple[int, ...]] = {"dt": (), "t0": ()}
        if self.sampled:
            shapes |= {"begin": (), "period": ()}
        shapes |= {name: shape_of(SHAPES[name], model) for name in self.acting}
        if "row_motion" in self.acting:
            shapes["since"] = ()
        if self.linear:
            shapes |= {name + "_end": shapes[name] for name in LINEAR if name in shapes}
        shapes |= {SETTING + name: () for name in self.integrator.tolerances}
        return shapes | {own(port): port.shape for port in self.parameters}

    def arguments(self, model: Model) -> dict[str, Port]:
        """Return the names in the step and the shapes of all arguments, and of the robot's numbers, by their names."""
        ports = {i.name: i.port(model) for i in self.inputs}
        for name in {*self.carried(model), *self.given(model)} & {*ports} if ports else ():
            raise ArgumentError(
                f"inputs: {name!r} is a name of the simulation's own: give that number of the robot another"
            )
        for port in (*self.parameters, *self.state):
            if port.name in ports:
                raise ArgumentError(f"inputs: {port.name!r} is an argument of a function and a number of the robot")
            ports[port.name] = Port(own(port), port.shape)
        for event in self.events:
            for port in further(event.condition):
                if port.shape != (other := ports[port.name].shape):
                    raise ArgumentError(
                        f"event {event.name!r} takes {port.name} of shape {port.shape}, where others take one of shape "
                        f"{other}"
                    )
        return ports

    def places(self, model: Model) -> dict[str, Port]:
        """Return the names in the step and the shapes of all that users give, by what messages call it."""
        shapes = {"q": (model.nq,), "v": (model.nv,)} | self.given(model)
        ports = {name: Port(name, shapes[name]) for name in ("q", "v", *self.acting)}
        return ports | {label(name): port for name, port in self.arguments(model).items()}


def label(name: str) -> str:
    """Return what messages call a value that `inputs` gives."""
    return f"inputs[{name!r}]"


def step_function(model: Model, plan: Plan) -> Function:
    """Return one step: from what is carried and given to what is carried next; "trouble" is why that is not finite."""

    def evaluate(given: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        acting, following = _acting(model, plan, given)
        q, v, reason, start = Column(given["q"]), Column(given["v"]), given["reason"], now(given)
        dt = select_less(reason, 0.5, given["dt"], 0.0)
        going = select_less(reason, 0.5, 1.0, 0.0)

        def advance(part: Scalar) -> tuple[Column, Column, Column]:
            return plan.integrator.advance(acting, start, q, v, part * dt, Column(given.get("memory", ())))

        def conditions(part: Scalar, q: Column, v: Column) -> list[Scalar]:
            t = now(given) + part * given["dt"]
            return [next(flatten(called(event.condition, given, t, q, v))) for event in plan.events]

        if plan.events:
            following |= located(plan.events, advance, conditions, given, going)
        else:
            following |= zip(("q", "v", "memory"), advance(1.0), strict=True)
            following |= {"step": given["step"] + 1.0, "reason": MOVING}
        following["trouble"] = select_less(0.5, plan.integrator.failed(following["memory"]), FAILED, NOT_FINITE)
        return [following[name] for name in outputs]

    model, outputs = model.with_friction(plan.friction), plan.carried(model) | {"trouble": ()}
    return _function("simulation_step", model, plan, outputs, evaluate)


def observer(model: Model, plan: Plan) -> Function:
    """Return the observed quantities of a state: forces of motors and of constraints, and accelerations."""

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


def _acting(model: Model, plan: Plan, given: Mapping[str, Any]) -> tuple[System, dict[str, Any]]:
    """Return the forces on the robot during the step, and the next values of the controller's state."""
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
        return tau + Column(flatten(called(plan.controller.function, given, t, q, v))) if plan.controller else tau

    if plan.sampled:
        following |= sampled(plan.controller, given, start) if plan.controller else {"held": given["held"]}
    wrenches = (lambda t: at("f_ext", t)) if "f_ext" in plan.acting else None
    settings = {name: given[SETTING + name] for name in plan.integrator.tolerances}
    table = table_of(model)
    model = traced_model(model, table["forward_dynamics"].joint_space)
    more = {"since": given["since"]} if "since" in given else {}
    if contacts := {name: given[name] for name in plan.acting if name not in LINEAR}:
        from kinetree.constraints.inputs import gathered

        more["contacts"] = gathered(contacts)
    system = table.system(model, motors, wrenches, plan.f_ext_frame, plan.limits, plan.smooth, settings, **more)
    return system, following


def called(function: Function, given: Mapping[str, Any], t: Scalar, q: Any, v: Any, state: Any = None) -> Any:
    """Return the results of a user's function, which knows the robot as it is, without the given inputs."""
    known = {"q": q, "v": v, "t": t, "dt": given["dt"], **(state or {})}
    graph = next(x.graph for x in q if isinstance(x, Expr))
    with context.outside(), context.tracing({}, graph):
        values = {
            port.name: traced_array([*flatten(known.get(port.name, given.get(own(port))))], port.shape)
            for port in function.spec.ports(())
        }
        return function(**values)


def sampled(law: Law, given: Mapping[str, Any], t: Scalar) -> dict[str, Any]:
    """Return the joint forces to hold and the controller's next state: computed anew once a period."""
    state = {port.name: [*flatten(given[own(port)])] for port in law.state}
    done = given["step"] - given["begin"]
    elapsed = done - given["period"] * floor(done / given["period"])
    between = dict(given) | {"dt": given["period"] * given["dt"]}  # from one call of the controller to the next

    def sample(held: Any, before: Any) -> tuple[Any, Any]:
        tau, after = law.parts(called(law.function, between, t, given["q"], given["v"], before))
        return [*flatten(tau)], {name: [*flatten(entries)] for name, entries in after.items()}

    with context.outside(), context.tracing({}, t.graph):
        held, state = repeat_relaxed(t, sample, (given["held"], state), lambda *_: elapsed > 0.0, 1)
    return {"held": held} | {OWN + name: entries for name, entries in state.items()}


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
        identity=functools.cache(lambda: identity(model) + repr((plan.integrator.identity, *plan[1:9])).encode()),
    )
    if plan.controller or plan.events or not is_own(plan.integrator):
        spec = traced(spec)  # what these compute is known by its program only
    return Function(with_inputs(spec, model, plan.inputs) if plan.inputs else spec)


def remembered(robot: Robot | Mechanism, make: Callable[..., Function], plan: Plan) -> Function:
    """Return a compiled function of this robot and plan, the same one each time."""
    known: dict[Any, Function] = robot.__dict__.setdefault("_simulations", {})
    key = make.__name__, plan
    found = known.get(key)
    if found is None:
        for old in list(known)[: max(len(known) - _REMEMBERED + 1, 0)]:
            known.pop(old, None)  # which another thread may have done
        found = known.setdefault(key, make(robot.model, plan))
    return found
