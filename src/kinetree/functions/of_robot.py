"""An algorithm of a model as a compiled function."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from typing import Any

from kinetree.algorithms.derivatives import JACOBIANS
from kinetree.algorithms.registry import Algorithm, Joints, OneFrame
from kinetree.algorithms.registry import Option as DeclaredOption
from kinetree.algorithms.table import table_of
from kinetree.errors import ArgumentError, unknown_name
from kinetree.functions.tangent_spaces import spaces_of
from kinetree.functions.wrenches import named_wrenches
from kinetree.glossary.symbols import Choices, shape_of
from kinetree.graph import Port
from kinetree.joints import Joint
from kinetree.lazy import lazy_method
from kinetree.locks import importing
from kinetree.model import Body, Model
from kinetree.runtime.cache import covers_source_of
from kinetree.runtime.function import Function
from kinetree.runtime.options import Names, OneName, Option, Value
from kinetree.runtime.spec import FunctionSpec

# What only a trace needs is imported for the first one: a cached function needs none.
extended, traced_model = (lazy_method("kinetree.functions.model_inputs", name) for name in ("extended", "traced_model"))


def robot_function(model: Model, name: str, module: str | None = None) -> Function:
    """Return the compiled function of this name for this model; its module is imported first, if it is a pickle's."""
    table = table_of(model)
    if name not in table and module is not None:
        import_module(module)
    if name not in table:
        raise ArgumentError(unknown_name("function", name, table))
    return Function(robot_spec(model, table[name]))


def robot_spec(model: Model, algorithm: Algorithm) -> FunctionSpec:
    """Return the spec of this algorithm for this model."""
    inputs = {**algorithm.inputs, **algorithm.optional}

    def shapes(**options: Any) -> dict[str, tuple[int, ...]]:
        declared = {**inputs, **algorithm.outputs}
        return {name: shape_of(shape, model, **options) for name, shape in declared.items()}

    def evaluate(arguments: Mapping[str, Any], options: Mapping[str, Any]) -> Sequence[Any]:
        result = algorithm(traced_model(model, algorithm.joint_space), arguments, options)
        return (result,) if len(algorithm.outputs) == 1 else result

    spec = FunctionSpec(
        name=algorithm.name,
        doc=inspect.getdoc(algorithm.function) or "",
        inputs=tuple(Port(name, shapes()[name]) for name in inputs),
        outputs=tuple(Port(name, shapes()[name]) for name in algorithm.outputs),
        evaluate=evaluate,
        identity=lambda: identity(model) if covers_source_of(algorithm.function) else None,
        optional=tuple(algorithm.optional),
        options=tuple(_option(model, name, kind) for name, kind in algorithm.options.items()),
        describe=lambda port: describe(model, port, inputs[port.name]),
        named={"f_ext": named_wrenches(model, algorithm.name)} if "f_ext" in inputs else {},
        ranges=algorithm.ranges,
        group=algorithm.group,
        jacobians=_jacobians(model, algorithm),
        spaces=None if model.constraints else spaces_of(model, {**inputs, **algorithm.outputs}, identity),
        truths=frozenset({"converged"} & algorithm.outputs.keys()),
        reduce=lambda: (robot_function, (model, algorithm.name, algorithm.function.__module__)),
    )

    @functools.cache
    def variant(optional: tuple[str, ...], options: tuple[tuple[str, Value], ...]) -> FunctionSpec:
        known = shapes(rows=dict(options)["rows"])
        inputs, outputs = (
            tuple(port._replace(shape=known[port.name]) for port in ports)
            for ports in (spec.ports(optional), spec.outputs)
        )
        return replace(
            spec,
            inputs=inputs,
            outputs=outputs,
            optional=(),
            options=(),
            evaluate=lambda arguments, _: evaluate(arguments, dict(options)),
            identity=lambda: extended(spec.identity(), repr((optional, options))),
        )

    return replace(spec, variant=variant) if "rows" in algorithm.options else spec


def _jacobians(model: Model, algorithm: Algorithm) -> Any:
    """Return the page of an algorithm's derivatives, if there is one, for this model (see `FunctionSpec`)."""
    if model.constraints or algorithm.name not in JACOBIANS:
        return None
    known, page = JACOBIANS[algorithm.name]
    return known, lambda arguments, options, wrt: page(
        traced_model(model, algorithm.joint_space), arguments, options, wrt
    )


def _option(model: Model, name: str, kind: DeclaredOption) -> Option:
    """Return an option for this model: which names it may take."""
    if isinstance(kind, OneFrame):
        return OneName(name, model.frame_names, "frame", kind.required)
    if isinstance(kind, Joints):
        return Names(name, model.joint_names, "joint", refused=_followers(model))
    return Option(name, tuple(kind), hint=kind.hint if isinstance(kind, Choices) else "")


def _followers(model: Model) -> dict[str, str]:
    """Return a note on mimic joints: they have no coordinate of their own."""
    names = {body.joint_name: model.leader(body).joint_name for body in model.bodies if body.joint.follows is not None}
    return {f: f"{f!r} follows {leader!r}: name that one" for f, leader in names.items()}


def describe(model: Model, port: Port, shape: tuple[int | str, ...]) -> str:
    """Return the parts of an input, for error messages; `shape` is its declared one."""
    known = (model.describe(str(symbol)) for symbol in ("nb", "nq", "nv", *shape) if symbol in shape)
    return next(filter(None, known), f"one state has shape {port.shape}")


def identity(model: Model) -> bytes:
    """Return the digests of the model and of its user-defined types, on which its programs depend."""
    joints = [_behaviour_of_joint(body) for body in model.bodies if _is_foreign(body.joint)]
    constraints = [_behaviour_of_constraint(model, c) for c in model.constraints if _is_foreign(c)]
    return model.digest.encode() + b"".join((*joints, *constraints))


def _is_foreign(part: Any) -> bool:
    """Return whether a type is a user's, or that of a joint inside it: a mimic joint or a loop holds another one."""
    inside = (getattr(part, field.name) for field in fields(part))  # all are dataclasses
    return not covers_source_of(type(part)) or any(_is_foreign(value) for value in inside if isinstance(value, Joint))


def _behaviour_of_joint(body: Body) -> bytes:
    """Return a hash of a joint type's traced methods; its source may be unavailable."""

    def entries(q: Sequence[Any], v: Sequence[Any], q1: Sequence[Any]) -> list[Any]:
        state = joint.jcalc(q, v)
        found = [
            *(x for row in state.X.placement for x in row),
            *(x for m in (*state.S, state.vJ, state.cJ) for x in m),
        ]
        return [*found, *joint.inertia_for_parent(body.inertia), *joint.integrate(q, v), *joint.difference(q, q1)]

    joint = body.joint
    return _traced(entries, q=joint.nq, v=joint.nv, q1=joint.nq)


def _behaviour_of_constraint(model: Model, constraint: Any) -> bytes:
    """Return a hash of a constraint type's traced methods."""

    def entries(q: Sequence[Any], v: Sequence[Any], f: Sequence[Any]) -> list[Any]:
        rows, wrenches = constraint.rows(model, q, v), constraint.wrenches(model, q, f)
        found = [x for row in rows for x in (*row.J, row.gamma, row.phi, row.rebounds, row.angular)]
        found += [x for item in constraint.reaches(model).items() for x in item]
        found += [*constraint.errors(model, q), *(x for i, wrench in wrenches.items() for x in (i, *wrench))]
        return [math.inf if x is None else x for x in found]

    return _traced(entries, q=model.nq, v=model.nv, f=constraint.size)


def _traced(entries: Callable[..., list[Any]], **lengths: int) -> bytes:
    """Return a hash of what this makes of arguments of these lengths."""
    with importing:
        from kinetree.graph.graph import digest
        from kinetree.tracing.tracer import Tracer

    tracer = Tracer()
    found = entries(**tracer.arguments([Port(name, (n,)) for name, n in lengths.items()]))
    return digest(tracer.program({"all": ((len(found),), found)}))
