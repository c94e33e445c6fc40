"""What a simulation keeps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError, unknown_name
from kinetree.integrators import Integrator
from kinetree.model import Model
from kinetree.options import count
from kinetree.signatures import told
from kinetree.validation import Array

SIZES = {"q": "nq", "v": "nv", "a": "nv", "tau": "nv", "f": "nrows"}
"""What can be kept, and of which length it is; the last one is a mechanism's."""


@told
@dataclass(frozen=True, eq=False)
class Record:
    """What a simulation keeps, how often, and in whose memory: `simulate` with ``record=…``.

    Parameters
    ----------
    names : str or sequence of str
        Out of "q", "v", "a", "tau" (the joint forces of motors: given ones and a controller's) and, of a mechanism, "f"
        (the forces of the constraints); q and v are kept always.
    every : int
        Keep every so many steps; the initial state is kept too. The state at the end is in ``trajectory.end`` where it
        is not the last that is kept.
    out : dict of array, optional
        Memory for what is kept, by name: float64 of shape (..., 1 + steps // every, n).

    Raises
    ------
    ArgumentError
        If one of them is no such thing.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> robot.simulate(robot.neutral(), duration=1.0, record=kt.Record("q v tau", every=100)).tau.shape
    (11, 6)
    """

    names: str | Sequence[str] = ("q", "v")
    every: int = 1
    out: Mapping[str, Array] | None = None

    def __post_init__(self) -> None:
        names = self.names.replace(",", " ").split() if isinstance(self.names, str) else self.names
        if not isinstance(names, Sequence) or not all(isinstance(x, str) for x in names):
            raise ArgumentError(f"record takes names out of {', '.join(SIZES)}, or a kt.Record; not {self.names!r}")
        for name in names:
            if name not in SIZES:
                raise ArgumentError(f"record: {unknown_name('quantity', name, SIZES)}")
        if not (self.out is None or isinstance(self.out, Mapping)):
            raise ArgumentError(
                f"out takes a dict of arrays by {', '.join(SIZES)}; {type(self.out).__name__} was given"
            )
        for name in self.memory:
            if name not in SIZES:
                raise ArgumentError(f"out: {unknown_name('quantity', str(name), SIZES)}")
        arrays = list(self.memory.values())
        if any(np.shares_memory(x, y) for k, x in enumerate(arrays) for y in arrays[:k]):
            raise ArgumentError("out: two of the arrays share memory, so one result would overwrite the other")
        object.__setattr__(self, "names", tuple(names))
        object.__setattr__(self, "every", count("every", self.every))

    @classmethod
    def of(cls, value: Any) -> Record:
        """Return what to keep; names alone are kept at each step."""
        return value if isinstance(value, Record) else cls(value)

    @property
    def memory(self) -> Mapping[str, Array]:
        """The caller's memory by name."""
        return self.out or {}

    def sizes(self, model: Model, integrator: Integrator, steps: int) -> dict[str, int]:
        """Return what is kept of so many steps, and the length of each."""
        known = {name: n for name, size in SIZES.items() if (n := getattr(model, size, None)) is not None}
        for name in (*self.names, *self.memory):
            if name not in known:
                raise ArgumentError(f"record: {name!r} is of the constraints of a mechanism; a robot has none")
            if name == "a" and integrator.impulses:
                raise ArgumentError("record: where contacts are solved velocities jump, and there is no a to record")
        if self.every > steps:
            raise ArgumentError(f"every is {self.every}, and there are {steps} steps: none of them would be kept")
        wanted = {"q", "v", *self.names, *self.memory}
        return {name: n for name, n in known.items() if name in wanted}

    def apart(self, array: Array) -> Array:
        """Return an array that is not in the caller's memory."""
        return array.copy() if any(np.may_share_memory(array, y) for y in self.memory.values()) else array

    def array(self, name: str, shape: tuple[int, ...]) -> Array:
        """Return an array that takes a result: that of the caller's, if there is one."""
        array: Any = self.memory.get(name)
        if array is None:
            try:
                return np.empty(shape)
            except (MemoryError, ValueError):
                size = 8 * math.prod(shape)
                raise ArgumentError(
                    f"{name} would be kept as an array of shape {shape}, of {size} bytes: there is no room for it; "
                    "record=kt.Record(every=…) keeps less"
                ) from None
        right = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
        if not right or not array.flags.c_contiguous or not array.flags.writeable:
            shown = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else repr(type(array))
            raise ArgumentError(f"out[{name!r}] is {shown}; a contiguous, writeable float64 array {shape} is needed")
        result: Array = array
        return result
