"""Where the two wings meet: an algorithm of a model becomes a compiled function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from kinetree.algorithms import ALGORITHMS, Algorithm, shape_of
from kinetree.algorithms.registry import Joints, OneFrame
from kinetree.algorithms.registry import Option as DeclaredOption
from kinetree.functions import context as tracing
from kinetree.graph import Port, Program
from kinetree.graph.digest import digest
from kinetree.joints import Joint
from kinetree.model import Body, Model
from kinetree.model.regroup import regrouped
from kinetree.runtime.function import Function
from kinetree.runtime.options import Names, OneName, Option
from kinetree.runtime.spec import Declaration

if TYPE_CHECKING:
    from kinetree.tracing.expr import Expr


def robot_function(model: Model, algorithm: Algorithm) -> Function:
    """Return the compiled function of this algorithm for this model; nothing is compiled yet."""
    return Function(declare(model, algorithm))


def declare(model: Model, algorithm: Algorithm) -> Declaration:
    """Return what the runtime must know of this algorithm for this model."""
    inputs = {name: shape_of(shape, model) for name, shape in (*algorithm.inputs.items(), *algorithm.optional.items())}
    outputs = {name: shape_of(shape, model) for name, shape in algorithm.outputs.items()}

    def inline(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        page_model = tracing.model_for(model, algorithm.joint_space)
        result = algorithm.function(page_model, **arguments, **options)
        return (result,) if len(outputs) == 1 else result

    def trace(optional: tuple[str, ...], options: Mapping[str, Any]) -> Program:
        return traced(model, algorithm, optional, options)

    return Declaration(
        name=algorithm.name,
        doc=inspect.getdoc(algorithm.function) or "",
        inputs=tuple(Port(name, shape) for name, shape in inputs.items()),
        outputs=tuple(Port(name, shape) for name, shape in outputs.items()),
        trace=trace,
        identity=lambda: identity(model),
        optional=tuple(algorithm.optional),
        options=tuple(_option(model, name, kind) for name, kind in algorithm.options.items()),
        describe=lambda port: describe(model, port, {**algorithm.inputs, **algorithm.optional}[port.name]),
        reduce=lambda: (function_of, (model, algorithm.name)),
        inline=inline,
    )


def _option(model: Model, name: str, kind: DeclaredOption) -> Option:
    """Return an option for this model: which names it may take."""
    if isinstance(kind, OneFrame):
        return OneName(name, model.frame_names, "frame", kind.required)
    if isinstance(kind, Joints):
        return Names(name, model.joint_names, "joint", _followers(model))
    return Option(name, kind)


def _followers(model: Model) -> dict[str, str]:
    """Return what to say of the mimic joints: they have no coordinate of their own."""
    leaders = {k: model.bodies[i].joint_name for i in model.joint_order for k in model.bodies[i].v_index}
    names = {body.joint_name: leaders[body.v_index[0]] for body in model.bodies if body.v_index}
    return {f: f"{f!r} follows {leader!r}: name that one" for f, leader in names.items() if f != leader}


def function_of(model: Model, name: str) -> Function:
    """Return the function of this name: how a pickled function comes back."""
    return robot_function(model, ALGORITHMS[name])


def traced(model: Model, algorithm: Algorithm, optional: Sequence[str], options: Mapping[str, Any]) -> Program:
    """Return the program of an algorithm for a model, with these optional inputs and options."""
    from kinetree.tracing.tracer import Tracer

    tracer = Tracer()
    shapes = {**algorithm.inputs, **{name: algorithm.optional[name] for name in optional}}
    arguments = {}
    for name, shape in shapes.items():
        port = Port(name, shape_of(shape, model))
        arguments[name] = nested(tracer.input(port), port.shape)
    result = algorithm.function(regrouped(model) if algorithm.joint_space else model, **arguments, **options)
    results = (result,) if len(algorithm.outputs) == 1 else result
    outputs = {
        name: (shape_of(shape, model), list(tracing.flat(entries)))
        for (name, shape), entries in zip(algorithm.outputs.items(), results, strict=True)
    }
    return tracer.program(outputs)


def nested(entries: list[Expr], shape: tuple[int, ...]) -> Any:
    """Return flat row-major entries as nested lists of this shape."""
    if not shape:
        return entries[0]
    if len(shape) == 1:
        return entries
    step = len(entries) // shape[0]
    return [nested(entries[k * step : (k + 1) * step], shape[1:]) for k in range(shape[0])]


def describe(model: Model, port: Port, shape: tuple[int | str, ...]) -> str:
    """Return what an input is made of, for error messages; `shape` is its declared one."""
    if "nb" in shape:
        return f"one wrench (n, f) for each of the nb = {model.nb} moving bodies: {_listed(model.body_names)}"
    for symbol in ("nq", "nv"):
        if symbol in shape:
            return f"this robot has {symbol} = {getattr(model, symbol)}: joints {_listed(model.joint_names)}"
    return f"one state has shape {port.shape}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:10]) + (", …" if len(names) > 10 else "")


def identity(model: Model) -> bytes:
    """Return what the programs of a model depend on beside kinetree's source: its numbers, and foreign joints."""
    foreign = [body for body in model.bodies if _is_foreign(body.joint)]
    return model.digest.encode() + b"".join(map(_behaviour, foreign))


def _is_foreign(joint: Joint) -> bool:
    """Return whether a joint's type is not ours, or that of a joint inside it: a mimic joint holds another one."""
    inside = (getattr(joint, field.name) for field in fields(joint))  # type: ignore[arg-type]  # all are dataclasses
    theirs = (_is_foreign(value) for value in inside if isinstance(value, Joint))
    return not type(joint).__module__.startswith("kinetree.") or any(theirs)


def _behaviour(body: Body) -> bytes:
    """Return what a joint does that is not ours: its functions as they are traced, wherever their code comes from."""
    from kinetree.tracing.tracer import Tracer

    joint, tracer = body.joint, Tracer()
    q, v = tracer.input(Port("q", (joint.nq,))), tracer.input(Port("v", (joint.nv,)))
    state = joint.jcalc(q, v)
    entries = [*(x for row in state.X.placement for x in row), *(x for m in (*state.S, state.vJ, state.cJ) for x in m)]
    entries += [*joint.inertia_for_parent(body.inertia), *joint.integrate(q, v)]
    entries += joint.difference(q, tracer.input(Port("q1", (joint.nq,))))
    return digest(tracer.program({"all": ((len(entries),), entries)}))
