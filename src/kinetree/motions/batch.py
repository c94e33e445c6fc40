"""The robots of a batch of trajectories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError

if TYPE_CHECKING:
    from kinetree.motions.trajectory import Trajectory


class Robots(Sequence["Trajectory"]):
    """The robots of a batch of trajectories, by the leading axes."""

    def __init__(self, trajectory: Trajectory) -> None:
        if not trajectory.batch_shape:
            raise ArgumentError("this is the trajectory of one robot: there are no robots to choose from")
        self._all = trajectory

    def __len__(self) -> int:
        return self._all.batch_shape[0]

    def __getitem__(self, index: Any) -> Any:
        whole = self._all
        keys = tuple(map(_checked, index if isinstance(index, tuple) else (index,)))
        chosen = np.arange(math.prod(whole.batch_shape)).reshape(whole.batch_shape)[keys]  # an IndexError is NumPy's
        if chosen.size == 0:
            raise ArgumentError(f"robots[…]: the batch is {whole.batch_shape}, and none of its robots is chosen")
        places: dict[int, list[tuple[int, ...]]] = {}
        for place, robot in np.ndenumerate(chosen):
            places.setdefault(int(robot), []).append(place)
        events = []
        for event in whole.events:
            robot = getattr(event, "robot", None)  # those of no robot are everybody's
            if robot is None:
                events.append(event)
            else:
                own = places.get(int(np.ravel_multi_index(robot, whole.batch_shape)), ())
                events += [event._replace(robot=place) for place in own]
        return whole._with(whole.t, lambda x: x[keys], lambda x: x[keys], events)


def _checked(key: Any) -> Any:
    """Return a number, a slice, or an array of numbers or booleans; `ArgumentError` for anything else."""
    if isinstance(key, slice):
        return key
    try:
        array = np.asarray(key)
    except ValueError:  # lists of several lengths
        array = np.asarray(None)
    if array.size == 0 and isinstance(key, list):
        array = array.astype(np.int_)
    if array.dtype.kind not in "iub" or (array.ndim == 0 and array.dtype.kind == "b"):
        given = f"an array of {array.dtype}" if isinstance(key, np.ndarray) else repr(key)[:60]
        raise ArgumentError(f"robots[…] takes numbers, slices, and arrays of numbers or of booleans, not {given}")
    return int(array) if array.ndim == 0 else array
