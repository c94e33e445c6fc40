"""What acts on a simulated robot, from a controller or not, and what of its motion is kept: choices as values."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput
from kinetree.functions.wrenches import named_wrenches
from kinetree.graph import Port
from kinetree.integrators import Integrator
from kinetree.model import Model
from kinetree.options import count, option, value
from kinetree.robot.robot import Robot
from kinetree.runtime.function import Function
from kinetree.runtime.spec import FunctionSpec
from kinetree.stepping import SIZES, Kept, kept_names
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot.mechanism import Mechanism

T = TypeVar("T")


def chosen(kind: Callable[[Any], T], given: Any) -> T:
    """Return a choice as a value: what is none is its first field."""
    return given if isinstance(given, kind) else kind(given)  # type: ignore[arg-type]


@value
class Forces:
    """Joint forces and wrenches that act on a simulated robot: `simulate` with ``forces=…``.

    With one axis more than q and v have, they change from step to step, and say how many steps there are. A push at a
    frame's origin along the world's axes is a controller's: ``J.T @ push`` with its Jacobian, ``reference="aligned"``.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("panda")
    >>> push = kt.Forces(f_ext={"panda_hand": [0, 0, 0, 0, 20.0, 0]})  # 20 N along the hand's y
    >>> robot.simulate([0, -0.3, 0, -2.2, 0, 2, 0.8], duration=0.1, forces=push)
    <Trajectory of 'panda': 101 samples from 0 to 0.1 s>
    """

    tau: ArrayLike | Mapping[str, ArrayLike] | None = option(
        default=None,
        kw_only=False,
        help="joint forces (N·m, N), to which those of a controller are added, (..., nv) or (..., steps, nv); zero if "
        "not given. A dict has those of some joints by name, without the last axis where a joint has one degree of "
        "freedom",
    )
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = option(
        default=None,
        kw_only=False,
        help="wrenches on the bodies, (..., nb, 6) or (..., steps, nb, 6), or by the names of frames, as in "
        "`forward_dynamics`",
    )
    frame: str = option(
        default="body", choices=("body", "world"), help="axes and reference point of the wrenches: body or world"
    )
    interpolation: str = option(
        default="held",
        choices=("held", "linear"),
        help="what values over time are during a step: held, or changing linearly to the next one (linear); there is "
        "one more than there are steps then",
    )

    def arrays(self, robot: Robot | Mechanism) -> dict[str, Any]:
        """Return ``tau`` and ``f_ext`` as arrays, those that are given."""
        found = {"tau": self.tau, "f_ext": self.f_ext}
        if isinstance(self.tau, Mapping):
            found["tau"] = _named_forces(robot if isinstance(robot, Robot) else robot.tree, self.tau)
        if isinstance(self.f_ext, Mapping):
            found["f_ext"] = named_wrenches(robot.model, "simulate")(self.f_ext, {"f_ext_frame": self.frame})
        return {name: array for name, array in found.items() if array is not None}


def _named_forces(robot: Robot, given: Mapping[str, Any]) -> Array:
    """Return joint forces (..., nv) from those of some joints by name, zero at the others."""
    parts: dict[str, tuple[slice, Array]] = {}
    for name, force in given.items():
        joint = robot.joint(name)
        if joint.mimic is not None:
            raise ArgumentError(f"tau: {name!r} follows {joint.mimic[0]!r}: name that one")
        size = joint.v_slice.stop - joint.v_slice.start
        array = real_array(f"tau[{name!r}]", force, *((size,) if size != 1 else ()))
        parts[name] = joint.v_slice, array if size != 1 else array[..., None]
    try:
        lead = np.broadcast_shapes(*(array.shape[:-1] for _, array in parts.values()))
    except ValueError:
        shown = ", ".join(f"{name}: {array.shape[:-1]}" for name, (_, array) in parts.items())
        raise ArgumentError(f"tau: the leading axes of the joints' forces do not fit together: {shown}") from None
    tau = np.zeros((*lead, robot.nv))
    for place, array in parts.values():
        tau[..., place] = array
    return tau


def _memory(name: str, given: Any) -> Any:
    if not isinstance(given, Mapping):
        raise ArgumentError(f"out takes a dict of arrays by {', '.join(SIZES)}; {type(given).__name__} was given")
    arrays = [given[x] for x in kept_names(name, [*map(str, given)])]
    if any(np.shares_memory(x, y) for k, x in enumerate(arrays) for y in arrays[:k]):
        raise ArgumentError("out: two of the arrays share memory, so one result would overwrite the other")
    return given


@value
class Record(Kept):
    """What a simulation keeps, how often, and in whose memory: `simulate` with ``record=…``.

    Row k of each array is of the time ``t[k]``. Its "tau" are the joint forces with which the step from there begins,
    and its "a" goes with them. No step begins at the end: forces that are held during steps are those of the last step
    there; a law in continuous time is evaluated once more.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> robot.simulate(robot.neutral(), duration=1.0, record=kt.Record("q v tau", every=100)).tau.shape
    (11, 6)
    """

    out: Mapping[str, Array] | None = option(
        default=None,
        check=_memory,
        help="memory for what is kept, by name: float64 of shape (..., 1 + steps // every, n)",
    )

    def sizes(self, model: Model, integrator: Integrator, steps: int) -> dict[str, int]:
        """Return the quantities that are kept of so many steps, and the length of each."""
        known = {name: n for name, size in SIZES.items() if (n := getattr(model, size, None)) is not None}
        wanted = {"q", "v", *self.names, *(self.out or ())}
        if missing := wanted - known.keys():
            raise ArgumentError(f"record: {min(missing)!r} is of the constraints of a mechanism; a robot has none")
        if "a" in wanted and integrator.impulses:
            raise ArgumentError("record: where contacts are solved velocities jump, and there is no a to record")
        if self.every > steps:
            raise ArgumentError(f"every is {self.every}, and there are {steps} steps: none of them would be kept")
        return {name: n for name, n in known.items() if name in wanted}

    def array(self, name: str, shape: tuple[int, ...], flat: tuple[int, ...]) -> Array:
        """Return an array that takes a result, one robot to a row: that of the caller's, if there is one."""
        array: Any = (self.out or {}).get(name)
        if array is None:
            try:
                return np.empty(flat)
            except (MemoryError, ValueError):
                raise ArgumentError(
                    f"{name} would be kept as an array of shape {shape}, of {8 * math.prod(shape)} bytes: there is no "
                    "room for it; record=kt.Record(every=…) keeps less"
                ) from None
        right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
        if not right or not array.flags.c_contiguous or not array.flags.writeable:
            shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(type(array))
            raise ArgumentError(f"out[{name!r}] is {shown}; a contiguous, writeable float64 array {shape} is needed")
        result: Array = array.reshape(flat)
        return result


def _law(name: str, given: Any) -> Any:
    if not callable(given):
        raise ArgumentError(
            f"controller takes a compiled function, a function of (q, v, t) or a kt.Controller, not {given!r}"
        )
    if not isinstance(given, Function):
        try:
            inspect.signature(given).bind("q", "v", "t")
        except TypeError as error:
            raise ArgumentError(
                f"controller: a Python function is called with (q, v, t), and this one is not: {error}"
            ) from None
        except ValueError:
            pass  # one of C, which does not say what it takes
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


# -- functions of users that are part of the step ----------------------------------------------------------------------

GIVEN = ("q", "v", "t", "dt")
"""The arguments that a simulation gives."""

OWN = "controller_"
"""With which the step's names of further arguments begin."""


def own(port: Port) -> str:
    """Return the name in the step of an argument of the controller's or of an event's."""
    return OWN + port.name


def further(function: Function) -> list[Port]:
    """Return the arguments of a function that the simulation does not know."""
    return [port for port in function.spec.ports(()) if port.name not in GIVEN]


def checked_arguments(model: Model, function: Function, what: str) -> FunctionSpec:
    """Return the inputs and outputs of a function; `ArgumentError` where the simulation has other shapes."""
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


class Law(NamedTuple):
    """A compiled controller as the simulation calls it."""

    function: Function
    state: tuple[Port, ...]  # arguments that are results too
    torque: str  # the name of the result that is the joint forces

    @classmethod
    def of(cls, model: Model, function: Function) -> Law:
        """Return a compiled function as a controller; `ArgumentError` where it cannot be one."""
        spec = checked_arguments(model, function, "controller")
        inputs = {port.name: port for port in spec.ports(())}
        outputs = {port.name: port.shape for port in spec.outputs}
        torque = "tau" if len(outputs) > 1 else next(iter(outputs))
        if torque not in outputs:
            raise ArgumentError(
                f"controller: {spec.name} returns {', '.join(outputs)}: of several results one must be named 'tau', "
                "the joint forces, and the others like the arguments that they are the next values of"
            )
        if (shape := outputs.pop(torque)) != (model.nv,):
            raise ArgumentError(
                f"the controller {spec.name!r} returns an array of shape {shape}; this robot takes joint forces of "
                f"shape ({model.nv},)"
            )
        if torque in inputs:
            raise ArgumentError(
                f"controller: {torque!r} is the joint forces that {spec.name} returns: call the state {torque}_before"
            )
        for name, shape in outputs.items():
            if name not in inputs or name in GIVEN:
                raise ArgumentError(
                    f"controller: {spec.name} returns {name!r}, which is not an argument of its own: what goes from "
                    "step to step is an argument and a result of one name"
                )
            if inputs[name].shape != shape:
                raise ArgumentError(
                    f"controller: {spec.name} takes {name} of shape {inputs[name].shape} and returns one of shape "
                    f"{shape}"
                )
        return cls(function, tuple(inputs[name] for name in outputs), torque)

    def parts(self, results: Any) -> tuple[Any, dict[str, Any]]:
        """Return the joint forces and the next state, from the function's results."""
        if len(self.function.spec.outputs) == 1:
            return results, {}
        return getattr(results, self.torque), {port.name: getattr(results, port.name) for port in self.state}
