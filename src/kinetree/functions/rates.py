"""Derivatives of compiled functions along directions: their programs on values and rates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kinetree.graph import Program
from kinetree.graph.ops import interpret
from kinetree.passes.tangents import pushed, tangent
from kinetree.runtime.function import Function
from kinetree.runtime.spec import Arguments, FunctionSpec, Variant
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import flatten


def rates(function: Function, *optional: str) -> Function:
    """Return the compiled function of how fast a function's results change while its arguments do: exact.

    It takes the same arguments in the same order, each as a vector of its entries followed by their rates, and returns
    the rates of each result as a vector.

    Parameters
    ----------
    function : Function
        Its options have their defaults.
    *optional : str
        Which of its optional arguments there are.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> q, v, _ = robot.random_state(seed=0)
    >>> turning = rates(robot.gravity_forces)
    >>> step = 1e-6 * v
    >>> change = robot.gravity_forces(q + step) - robot.gravity_forces(q - step)
    >>> bool(abs(turning([*q, *v]) - change / 2e-6).max() < 1e-6)
    True
    """
    spec = function.spec
    traced = spec.trace(Variant(optional, spec.default_options or (), "float64"))
    both = tangent(traced)
    outputs = tuple(port._replace(shape=(port.size // 2,)) for port in both.outputs)
    halves = tuple(entries[len(entries) // 2 :] for entries in both.results)
    program = Program(both.graph, both.inputs, outputs, halves)

    def evaluate(arguments: Arguments, _: object) -> Sequence[Any]:
        given = [list(flatten(arguments[port.name])) for port in program.inputs]
        graph = next((x.graph for entries in given for x in entries if isinstance(x, Expr)), None)
        if graph is None:
            return interpret(program, given)
        known = [[x if isinstance(x, Expr) else Expr(graph, graph.const(x)) for x in entries] for entries in given]
        found = pushed(traced, graph, lambda port, k: (known[port][k], known[port][len(known[port]) // 2 + k]))
        return [[rate for _, rate in entries] for entries in found]

    doc = f"Rates of the results of {spec.name}."
    made = FunctionSpec(f"{spec.name}_rates", doc, program.inputs, outputs, evaluate, identity=lambda: None)
    return Function(made.with_program(program, "rates"))
