"""What a trajectory is made of, checked: states, events, ends; and what follows from its states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput
from kinetree.functions.of_user import compile
from kinetree.lazy import cached_property
from kinetree.options import names_of
from kinetree.robot import Robot
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, real_array


@friendly_call_errors
class State(NamedTuple):
    """One sample of a trajectory: the time (s), q (..., nq) and v (..., nv)."""

    t: float
    q: Array
    v: Array


class Happened(NamedTuple):
    """An event of a robot: its name, the index of the robot (empty if there is one only), time (s), q and v."""

    time: float
    name: str
    robot: tuple[int, ...]
    q: Array
    v: Array


class End(NamedTuple):
    """What a simulation carries at its end: another one that begins with its trajectory goes on as if it were one.

    Attributes
    ----------
    t : float
    q, v : (..., nq), (..., nv) arrays
    controller : dict of array
        The controller's own state.
    memory : (n, …) array
        What the integrator carries.
    acting : str
        A digest of all that acts on the robot: where it is another, the integrator begins anew.
    """

    t: float
    q: Array
    v: Array
    controller: Mapping[str, Array]
    memory: Array
    acting: str


COUNTING = {
    "kinetic_energy": ("inertia", "payload", "armature"),
    "potential_energy": ("gravity", "inertia", "payload"),
    "centroidal_momentum": ("inertia", "payload"),
}
"""Which kinds of numbers of the robot count in each function."""


RECORDED = ("a", "tau", "f")  # what is recorded on request


class Quantities:
    """Energies, momentum and frames of the states (q, v) of a robot over time, by the robot's functions of batches."""

    if TYPE_CHECKING:
        robot: Robot
        q: Array
        v: Array
        inputs: Mapping[ModelInput, Array]

    def _of_states(self, name: str, *states: Array) -> Any:
        """Return a function of the robot in all states, with the numbers of the robot that were given."""
        counting = {i: x for i, x in self.inputs.items() if i.kind in COUNTING[name]}
        if not counting:
            return getattr(self.robot, name)(*states)
        return compile(self.robot, name, inputs=tuple(counting))(*states, *counting.values())

    @cached_property
    def kinetic_energy(self) -> Array:
        """Kinetic energy (..., n) in J."""
        return read_only(self._of_states("kinetic_energy", self.q, self.v))

    @cached_property
    def potential_energy(self) -> Array:
        """Potential energy of gravity and springs (..., n) in J."""
        return read_only(self._of_states("potential_energy", self.q))

    @property
    def mechanical_energy(self) -> Array:
        """Kinetic and potential energy (..., n) in J: constant where nothing but gravity and springs act."""
        return self.kinetic_energy + self.potential_energy

    @property
    def energy_drift(self) -> Any:
        """How far the mechanical energy gets from that of the first sample, over the largest kinetic energy (...).

        ``max |E(t) − E(0)| / max T(t)``: the error of the integration where nothing but gravity and springs act, and
        what torques and friction put in or take out where they act. Zero for a robot that rests.
        """
        E = self.mechanical_energy
        with np.errstate(invalid="ignore"):  # of a motion that was no longer finite
            far, largest = np.abs(E - E[..., :1]).max(axis=-1), self.kinetic_energy.max(axis=-1)
            return np.divide(far, largest, out=np.zeros_like(far), where=largest != 0)[()]

    def momentum(self) -> Array:
        """Return the momentum about the centre of mass (..., n, 6): angular (N·m·s), linear (N·s), world axes."""
        return np.asarray(self._of_states("centroidal_momentum", self.q, self.v))

    def frame_placement(self, *, frame: str) -> Array:
        """Return the poses of a frame in the world, (..., n, 4, 4)."""
        return np.asarray(self.robot.frame_placement(self.q, frame=frame))

    def frame_positions(self, names: Sequence[str]) -> Array:
        """Return where the origins of some frames are in the world, (..., n, len(names), 3) in m."""
        names = names_of("frame_positions", names)
        found = np.empty((*self.q.shape[:-1], len(names), 3))
        for k, name in enumerate(names):
            found[..., k, :] = self.frame_placement(frame=name)[..., :3, 3]
        return found

    def _recorded(self, name: str) -> Array:
        array: Array | None = self.__dict__[f"_{name}"]
        if array is None:
            raise ArgumentError(f'{name} was not recorded: simulate(…, record="q v {name}") records it')
        return array

    @property
    def a(self) -> Array:
        """Accelerations (..., n, nv); an error where they were not recorded."""
        return self._recorded("a")

    @property
    def tau(self) -> Array:
        """Joint torques (..., n, nv); an error where they were not recorded."""
        return self._recorded("tau")

    @property
    def f(self) -> Array:
        """Constraint forces (..., n, nrows), row by row (`Mechanism.row_slices`); an error if not recorded."""
        return self._recorded("f")

    @cached_property
    def counts(self) -> dict[str, Array]:
        """What was counted for each robot, such as steps of the integrator's own."""
        return {name: read_only(x) for name, x in self.__dict__["_count"]().items()}


def read_only(array: Any) -> Array:
    """Return the array, or a view of it, that cannot be written to."""
    seen: Array = np.asarray(array)
    if seen.flags.writeable:
        seen = seen.view()
        seen.flags.writeable = False
    return seen


def of_robots(name: str, value: Any, lead: tuple[int, ...]) -> Array:
    """Return an array of one entry a robot; None for each if it is None."""
    try:
        array = np.full(lead, None) if value is None else np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{name} is not an array: {error}") from None
    if array.shape != lead:
        raise ArgumentError(f"{name} has shape {array.shape}, {lead} is needed")
    return array


def stops_of(stopped_at: ArrayLike | None, lead: tuple[int, ...]) -> Array:
    """Return when robots stopped, NaN where they did not."""
    given = np.full(lead, np.nan) if stopped_at is None else stopped_at
    stops = real_array("stopped_at", given, *lead, batch=False)
    if np.isinf(stops).any():
        raise ArgumentError("stopped_at holds inf, which is not a time; of a robot that did not stop it is NaN")
    return stops


def times_of(t: ArrayLike) -> Array:
    """Return times (n,), finite and increasing."""
    times = real_array("t", t, None, batch=False)
    if not len(times):
        raise ArgumentError("a Trajectory has at least one sample, and none was given")
    if not np.isfinite(times).all():
        raise ArgumentError("t holds NaN or inf, which is not a time")
    bad = np.flatnonzero(np.diff(times) <= 0)
    if len(bad):
        k = int(bad[0]) + 1
        raise ArgumentError(
            f"t must increase: sample {k} is at {times[k]:g} s, the one before it at {times[k - 1]:g} s"
        )
    return times
