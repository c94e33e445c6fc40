"""Users' compiled functions as part of a step: controllers and conditions of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kinetree.graph import Port
from kinetree.runtime.function import Function
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, floor
from kinetree.simulation.controllers import CompiledLaw
from kinetree.tracing import context
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.expr import Expr
from kinetree.tracing.loops import repeat_relaxed

OWN = "controller_"


def own(port: Port) -> str:
    """Return the name in the step of an argument of the controller's or of an event's."""
    return OWN + port.name


def controlled(
    controller: CompiledLaw, given: Mapping[str, Any], t: Scalar, q: Any, v: Any, state: Mapping[str, Any] | None = None
) -> tuple[Column, dict[str, list[Any]]]:
    """Return the controller's joint forces and its next state."""
    tau, following = called(controller.__call__, controller.function, given, t, q, v, state)
    return Column(flat(tau)), {name: nested(entries) for name, entries in following.items()}


def called(
    call: Callable[..., Any],
    function: Function,
    given: Mapping[str, Any],
    t: Scalar,
    q: Any,
    v: Any,
    state: Mapping[str, Any] | None = None,
) -> Any:
    """Return what a user's function gives. It knows the robot as it is, without what is given."""
    known = {"q": list(q), "v": list(v), "t": t, "dt": given["dt"]} | dict(state or {})
    graph = next(x.graph for x in q if isinstance(x, Expr))
    with context.outside(), context.tracing({}, graph):
        return call(
            {
                port.name: traced_array(flat(known.get(port.name, given.get(own(port)))), port.shape)
                for port in function.spec.ports(())
            }
        )


def flat(value: Any) -> list[Any]:
    """Return the entries of nested sequences or of an array, or a scalar alone, in order."""
    if hasattr(value, "tolist") and not isinstance(value, Expr):
        value = value.tolist()
    return [x for entry in value for x in flat(entry)] if isinstance(value, (list, tuple)) else [value]


def nested(value: Any) -> Any:
    """Return an array as nested lists."""
    return value.tolist() if hasattr(value, "tolist") and not isinstance(value, Expr) else value


def sampled(controller: CompiledLaw, given: Mapping[str, Any], t: Scalar) -> dict[str, Any]:
    """Return the joint forces to hold and the controller's next state: computed anew once a period."""
    state = {port.name: given[own(port)] for port in controller.state}
    done = given["step"] - given["begin"]
    elapsed = done - given["period"] * floor(done / given["period"])

    between = dict(given) | {"dt": given["period"] * given["dt"]}  # from one call of the controller to the next

    def sample(held: Any, before: Any) -> tuple[Any, Any]:
        tau, after = controlled(controller, between, t, given["q"], given["v"], before)
        return list(tau), after

    with context.outside(), context.tracing({}, t.graph):
        held, state = repeat_relaxed(t, sample, (given["held"], state), lambda *_: elapsed > 0.0, 1)
    return {"held": held} | {own(port): nested(state[port.name]) for port in controller.state}
