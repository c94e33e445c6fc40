"""Users' functions in a simulation: controllers and conditions of events, in Python or as part of the compiled step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.options import count, option, value
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GIVEN = ("q", "v", "t", "dt")
"""The arguments that a simulation gives."""

OWN = "controller_"
"""With which the step's names of further arguments begin."""


def own(port: Port) -> str:
    """Return the name in the step of an argument of the controller's or of an event's."""
    return OWN + port.name


def _law(name: str, given: Any) -> Any:
    if not callable(given):
        raise ArgumentError(
            f"controller takes a compiled function, a function of (q, v, t) or a kt.Controller, not {given!r}"
        )
    return given


def by_name(name: str, given: Any) -> dict[str, Any]:
    """Return values by name: the names of arguments, or the robot's numbers that they are of."""
    if not isinstance(given, Mapping):
        raise ArgumentError(
            f"{name} takes a dict of values by the names of the controller's arguments, and by the robot's numbers: "
            f"{{'kp': 100.0, kt.gravity: (0, 0, -1.62)}}; it is {given!r:.100}"
        )
    names = [str(key.name if isinstance(key, ModelInput) else key) for key in given]
    if len({*names}) < len(names):
        raise ArgumentError(f"{name}: these do not have different names: {names}")
    return dict(zip(names, given.values(), strict=True))


def _named(name: str, given: Any) -> dict[str, Any]:
    return by_name(f"Controller: {name}", given)


@value
class Controller:
    """A law for joint forces, with how it is called: `simulate` with ``controller=…``.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("ur5")
    >>> @robot.compile
    ... def follow(q, v, q_des, kp: float):
    ...     return robot.inverse_dynamics(q, v, kp * (q_des - q) - 2 * np.sqrt(kp) * v)
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=1.0)
    >>> wanted = path(np.arange(1000) * 1e-3).q
    >>> law = kt.Controller(follow, every=10, inputs={"kp": 400.0}, over_time={"q_des": wanted})
    >>> robot.simulate(robot.neutral(), controller=law)
    <Trajectory of 'ur5': 1001 samples from 0 to 1 s>
    """

    law: Function | Callable[..., Any] = option(
        kw_only=False,
        check=_law,
        help="a compiled function (`compile`) of any of ``q``, ``v``, ``t``, ``dt`` and further arguments is part of "
        "the native loop. Arguments that are results too are its own state: "
        '``return {"tau": …, "integral": …}``. A law without such a state is a feedback in continuous time, evaluated '
        "wherever the integrator asks for accelerations; one with it is called at the beginning of each step, and its "
        "joint forces are held. A plain Python function ``law(q, v, t)`` is called at the beginning of each step with "
        "all robots' states, which is slower by far",
    )
    every: int | None = option(
        default=None,
        check=count,
        help="call it at the first step of a simulation and every so many, and hold its joint forces in between",
    )
    inputs: Mapping[str, ArrayLike] = option(
        default_factory=dict,
        check=_named,
        help="values of its arguments by name, of its own state the first ones: the same for all robots, or for each "
        "its own",
    )
    over_time: Mapping[str, ArrayLike] = option(
        default_factory=dict,
        check=_named,
        help="values that change from step to step: (steps, …) arrays for all robots, or (..., steps, …) for each",
    )

    def compiled(self, model: Model) -> CompiledLaw | None:
        """Return the law as part of the step; None where it is called in Python, with (q, v, t)."""
        if isinstance(self.law, Function):
            return compiled_law(model, self.law)
        try:
            inspect.signature(self.law).bind("q", "v", "t")
        except TypeError as error:
            raise ArgumentError(
                f"controller: a Python function is called with (q, v, t), and this one is not: {error}"
            ) from None
        except ValueError:
            pass  # one of C, which does not say what it takes
        return None


class CompiledLaw(NamedTuple):
    """A compiled controller as the simulation calls it."""

    function: Function
    state: tuple[Port, ...]  # arguments that are results too
    torque: str  # the name of the result that is the joint forces

    def parts(self, results: Any) -> tuple[Any, dict[str, Any]]:
        """Return the joint forces and the next state, from the function's results."""
        if len(self.function.spec.outputs) == 1:
            return results, {}
        return getattr(results, self.torque), {port.name: getattr(results, port.name) for port in self.state}


def further(function: Function) -> list[Port]:
    """Return the arguments of a function that the simulation does not know."""
    return [port for port in function.spec.ports(()) if port.name not in GIVEN]


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


def compiled_law(model: Model, function: Function) -> CompiledLaw:
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
    state = [name for name in outputs if name != torque]
    for name in state:
        if name not in inputs or name in GIVEN:
            raise ArgumentError(
                f"controller: {spec.name} returns {name!r}, which is not an argument of its own: what goes from step "
                f"to step is an argument and a result of one name"
            )
        if inputs[name].shape != outputs[name].shape:
            raise ArgumentError(
                f"controller: {spec.name} takes {name} of shape {inputs[name].shape} and returns one of shape "
                f"{outputs[name].shape}"
            )
    return CompiledLaw(function, tuple(inputs[name] for name in state), torque)
