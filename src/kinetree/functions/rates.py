"""Derivatives of compiled functions along directions: their programs on values and rates."""

from __future__ import annotations

import functools

from kinetree.graph import Program
from kinetree.graph.digest import digest
from kinetree.passes.tangents import tangent
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec, Variant


def rates(function: Function, *optional: str) -> Function:
    """Return the compiled function of how fast a function's results change while its arguments do: exact.

    It takes the same arguments in the same order, each as a vector of its entries followed by their rates, and returns
    the rates of each result as a vector. It cannot be a part of other functions.

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
    both = tangent(spec.trace(Variant(optional, spec.default_options or (), "float64")))
    outputs = tuple(port._replace(shape=(port.size // 2,)) for port in both.outputs)
    halves = tuple(entries[len(entries) // 2 :] for entries in both.results)
    program = Program(both.graph, both.inputs, outputs, halves)

    def evaluate(*given: object) -> list[object]:
        raise NotImplementedError(f"the rates of {spec.name} cannot be part of another function")

    return Function(
        FunctionSpec(
            name=f"{spec.name}_rates",
            doc=f"Rates of the results of {spec.name}.",
            inputs=program.inputs,
            outputs=outputs,
            evaluate=evaluate,
            identity=functools.cache(lambda: b"rates " + digest(program)),
            program=program,
        )
    )
