"""What acts on a simulated robot beside its controller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.functions.wrenches import named_wrenches
from kinetree.options import one_of
from kinetree.robot.robot import Robot
from kinetree.signatures import told
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kinetree.robot.mechanism import Mechanism


@told
@dataclass(frozen=True, eq=False)
class Forces:
    """Joint forces and wrenches that act on a simulated robot: `simulate` with ``forces=…``.

    With one axis more than q and v have, they change from step to step, and say how many steps there are.

    Parameters
    ----------
    tau : (..., nv) or (..., steps, nv) array or dict, optional
        Joint forces (N·m, N), to which those of a controller are added; zero if not given. A dict has those of some
        joints by name, without the last axis where a joint has one degree of freedom.
    f_ext : (..., nb, 6) or (..., steps, nb, 6) array or dict, optional
        Wrenches on the bodies, or by the names of frames, as in `forward_dynamics`.
    frame : {"body", "world"}
        Axes and reference point of the wrenches.
    interpolation : {"held", "linear"}
        What values over time are during a step: held, or changing linearly to the next one; there is one more than
        there are steps then.

    Raises
    ------
    ArgumentError
        If a choice is none of these. Shapes are checked where a simulation takes them.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("panda")
    >>> push = kt.Forces(f_ext={"panda_hand": [0, 0, 0, 0, 20.0, 0]}, frame="world")
    >>> robot.simulate([0, -0.3, 0, -2.2, 0, 2, 0.8], duration=0.1, forces=push)
    <Trajectory of 'panda': 101 samples from 0 to 0.1 s>
    """

    tau: ArrayLike | Mapping[str, ArrayLike] | None = None
    f_ext: ArrayLike | Mapping[str, ArrayLike] | None = None
    frame: str = "body"
    interpolation: str = "held"

    def __post_init__(self) -> None:
        one_of("body", "world")("frame", self.frame)
        one_of("held", "linear")("interpolation", self.interpolation)

    @classmethod
    def of(cls, value: Any) -> Forces:
        """Return forces; an array or a dict is that of the joints."""
        return value if isinstance(value, Forces) else cls(value)

    def arrays(self, robot: Robot | Mechanism) -> dict[str, Any]:
        """Return what is given of ``tau`` and ``f_ext``, as arrays."""
        found = {"tau": self.tau, "f_ext": self.f_ext}
        if isinstance(self.tau, Mapping):
            found["tau"] = _named_forces(robot if isinstance(robot, Robot) else robot.tree, self.tau)
        if isinstance(self.f_ext, Mapping):
            found["f_ext"] = named_wrenches(robot.model, "simulate")(self.f_ext, {"f_ext_frame": self.frame})
        return {name: value for name, value in found.items() if value is not None}


def _named_forces(robot: Robot, given: Mapping[str, Any]) -> Array:
    """Return joint forces (..., nv) from those of some joints by name, zero at the others.

    That of a joint of one degree of freedom has the leading axes of the result; others have an axis of their own.
    """
    parts: dict[str, tuple[slice, Array]] = {}
    for name, value in given.items():
        joint = robot.joint(name)
        if joint.mimic is not None:
            raise ArgumentError(f"tau: {name!r} follows {joint.mimic[0]!r}: name that one")
        size = joint.v_slice.stop - joint.v_slice.start
        array = real_array(f"tau[{name!r}]", value, *((size,) if size != 1 else ()))
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
