"""What acts on a simulated robot beside its controller, and what of its motion is kept: choices as values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.wrenches import named_wrenches
from kinetree.integrators import Integrator
from kinetree.model import Model
from kinetree.options import option, value
from kinetree.robot.robot import Robot
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

    With one axis more than q and v have, they change from step to step, and say how many steps there are.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("panda")
    >>> push = kt.Forces(f_ext={"panda_hand": [0, 0, 0, 0, 20.0, 0]}, frame="world")
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
        """Return what is given of ``tau`` and ``f_ext``, as arrays."""
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
        """Return what is kept of so many steps, and the length of each."""
        known = {name: n for name, size in SIZES.items() if (n := getattr(model, size, None)) is not None}
        wanted = {"q", "v", *self.names, *(self.out or ())}
        if missing := wanted - known.keys():
            raise ArgumentError(f"record: {min(missing)!r} is of the constraints of a mechanism; a robot has none")
        if "a" in wanted and integrator.impulses:
            raise ArgumentError("record: where contacts are solved velocities jump, and there is no a to record")
        if self.every > steps:
            raise ArgumentError(f"every is {self.every}, and there are {steps} steps: none of them would be kept")
        return {name: n for name, n in known.items() if name in wanted}

    def apart(self, array: Array) -> Array:
        """Return an array that is not in the caller's memory."""
        return array.copy() if any(np.may_share_memory(array, y) for y in (self.out or {}).values()) else array

    def array(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array that takes a result: that of the caller's, if there is one."""
        array: Any = (self.out or {}).get(name)
        if array is None:
            try:
                return np.empty(shape)
            except (MemoryError, ValueError):
                raise ArgumentError(
                    f"{name} would be kept as an array of shape {shape}, of {8 * math.prod(shape)} bytes: there is no "
                    "room for it; record=kt.Record(every=…) keeps less"
                ) from None
        right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
        if not right or not array.flags.c_contiguous or not array.flags.writeable:
            shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(type(array))
            raise ArgumentError(f"out[{name!r}] is {shown}; a contiguous, writeable float64 array {shape} is needed")
        result: Array = array
        return result
