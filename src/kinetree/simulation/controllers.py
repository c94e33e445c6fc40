"""Compiled controllers: which of their arguments the simulation gives, and what they carry from step to step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.validation import Array

GIVEN = ("q", "v", "t", "dt")
"""The arguments that a simulation gives."""


class Controller(NamedTuple):
    """A compiled controller as the simulation calls it.

    Attributes
    ----------
    function : Function
    state : tuple of Port
        Arguments that are results too: the controller's own state.
    parameters : tuple of Port
        All others that the simulation does not know.
    torque : str
        Name of the result that is the joint forces.
    """

    function: Function
    state: tuple[Port, ...]
    parameters: tuple[Port, ...]
    torque: str

    @property
    def defaults(self) -> Mapping[str, Array]:
        """The values of arguments that need not be given."""
        return self.function.spec.defaults

    def __call__(self, values: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Return the joint forces and the next state, from the values of all arguments, while a step is traced."""
        names = [port.name for port in self.function.spec.ports(())]
        results = self.function(**{name: values[name] for name in names})
        if len(self.function.spec.outputs) == 1:
            return results, {}
        return getattr(results, self.torque), {port.name: getattr(results, port.name) for port in self.state}


def callback_of(controller: Callable[..., Any]) -> Callable[..., Any]:
    """Return a Python function as a controller; `ArgumentError` where it does not take (q, v, t)."""
    try:
        inspect.signature(controller).bind("q", "v", "t")
    except TypeError as error:
        raise ArgumentError(
            f"controller: a Python function is called with (q, v, t), and this one is not: {error}"
        ) from None
    except ValueError:
        pass  # one of C, which does not say what it takes
    return controller


def checked_arguments(model: Model, function: Function, what: str) -> FunctionSpec:
    """Return what a function takes and returns; `ArgumentError` where the simulation has other shapes."""
    spec = function.spec
    if spec.default_options is None:
        raise ArgumentError(f"{what}: {spec.name} has options that must be chosen first: use {spec.name}.bind(...)")
    spec = spec.of((), spec.default_options)
    sizes = {"q": (model.nq,), "v": (model.nv,), "t": (), "dt": ()}
    for port in spec.ports(()):
        if port.shape != sizes.get(port.name, port.shape):
            raise ArgumentError(
                f"{what}: {spec.name} takes {port.name} of shape {port.shape}, the simulation gives {sizes[port.name]}"
            )
    return spec


def controller_of(model: Model, function: Function) -> Controller:
    """Return a compiled function as a controller; `ArgumentError` where it cannot be one."""
    spec = checked_arguments(model, function, "controller")
    inputs = {port.name: port for port in spec.ports(())}
    outputs = {port.name: port for port in spec.outputs}
    torque = "tau" if len(outputs) > 1 else next(iter(outputs))
    if torque not in outputs:
        raise ArgumentError(
            f"controller: {spec.name} returns {', '.join(outputs)}: of several results one must be named 'tau', the "
            "joint forces, and the others like the arguments that they are the next values of"
        )
    if outputs[torque].shape != (model.nv,):
        raise ArgumentError(
            f"controller: {spec.name} returns joint forces of shape {outputs[torque].shape}, this robot has nv = "
            f"{model.nv}: they are ({model.nv},)"
        )
    own = [name for name in outputs if name != torque and len(outputs) > 1]
    for name in own:
        if name not in inputs or name in GIVEN:
            raise ArgumentError(
                f"controller: {spec.name} returns {name!r}, which is no argument of its own: what it carries from step "
                f"to step is an argument and a result of one name"
            )
        if inputs[name].shape != outputs[name].shape:
            raise ArgumentError(
                f"controller: {spec.name} takes {name} of shape {inputs[name].shape} and returns one of shape "
                f"{outputs[name].shape}"
            )
    state = tuple(inputs[name] for name in own)
    parameters = tuple(port for name, port in inputs.items() if name not in GIVEN and name not in own)
    return Controller(function, state, parameters, torque)
