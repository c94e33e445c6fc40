"""The robots of a batch of trajectories."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.errors import ArgumentError

if TYPE_CHECKING:
    from kinetree.trajectories.trajectory import Trajectory


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
        keys = index if isinstance(index, tuple) else (index,)
        if not all(isinstance(k, int | np.integer | slice) and not isinstance(k, bool) for k in keys):
            raise ArgumentError(f"robots[…] takes numbers and slices, not {index!r}")
        chosen = np.arange(math.prod(whole.batch_shape)).reshape(whole.batch_shape)[keys]  # an IndexError is NumPy's
        if chosen.size == 0:
            raise ArgumentError(f"robots[{index!r}]: there are {whole.batch_shape}, and none of them is chosen")
        places = {int(robot): place for place, robot in np.ndenumerate(chosen)}
        events = []
        for event in whole.events:
            robot = getattr(event, "robot", None)  # those of no robot are everybody's
            place = () if robot is None else places.get(int(np.ravel_multi_index(robot, whole.batch_shape)))
            if place is not None:
                events.append(event if robot is None else event._replace(robot=place))
        return whole._with(whole.t, lambda x: x[keys], lambda x: x[keys], events)
