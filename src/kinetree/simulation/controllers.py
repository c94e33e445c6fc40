"""Controllers: which of their arguments the simulation gives, and what they carry from step to step."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from kinetree.errors import ArgumentError
from kinetree.graph import Port
from kinetree.model import Model
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.signatures import told
from kinetree.simulation.checks import by_name, count
from kinetree.validation import Array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

GIVEN = ("q", "v", "t", "dt")
"""The arguments that a simulation gives."""


@told
@dataclass(frozen=True, eq=False)
class Controller:
    """A law for joint forces, with how it is called: `simulate` with ``controller=…``.

    Parameters
    ----------
    law : Function or callable
        A compiled function (`compile`) of any of ``q``, ``v``, ``t``, ``dt`` and further arguments is part of the
        native loop. Arguments that are results too are its own state: ``return {"tau": …, "integral": …}``.
        A law without such a state is a feedback in continuous time, evaluated wherever the integrator asks for
        accelerations; one with it is called at the beginning of each step, and its joint forces are held. A plain
        Python function ``law(q, v, t)`` is called at the beginning of each step with all robots' states, which is
        slower by far.
    every : int, optional
        Call it at the first step of a simulation and every so many, and hold its joint forces in between.
    inputs : dict, optional
        Values of its arguments by name, of its own state the first ones: the same for all robots, or for each its own.
    over_time : dict, optional
        Values that change from step to step: (steps, …) arrays for all robots, or (..., steps, …) for each.

    Raises
    ------
    ArgumentError
        If one of them is no such thing.

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

    law: Function | Callable[..., Any]
    every: int | None = None
    inputs: Mapping[str, ArrayLike] = field(default_factory=dict)
    over_time: Mapping[str, ArrayLike] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not callable(self.law):
            raise ArgumentError(
                f"controller takes a compiled function, a function of (q, v, t) or a kt.Controller, not {self.law!r}"
            )
        if self.every is not None:
            count("every", self.every)
        for name in ("inputs", "over_time"):
            object.__setattr__(self, name, by_name(f"Controller: {name}", getattr(self, name)))

    @classmethod
    def of(cls, value: Any) -> Controller | None:
        """Return a controller, of a law alone too; None if there is none."""
        return value if value is None or isinstance(value, Controller) else cls(value)


class Law(NamedTuple):
    """A controller as the simulation calls it: compiled, or in Python, and how many steps there are between calls."""

    compiled: CompiledLaw | None = None
    callback: Callable[..., Any] | None = None
    period: int | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether its joint forces are held between calls."""
        return self.callback is not None or (self.compiled is not None and self.period is not None)


def law_of(model: Model, controller: Controller | None) -> Law:
    """Return the law of a controller, if there is one, for a robot."""
    if controller is None:
        return Law()
    if not isinstance(controller.law, Function):
        return Law(None, callback_of(controller.law), controller.every)
    compiled = compiled_law(model, controller.law)
    return Law(compiled, None, controller.every or (1 if compiled.state else None))


class CompiledLaw(NamedTuple):
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
    return CompiledLaw(function, state, parameters, torque)
