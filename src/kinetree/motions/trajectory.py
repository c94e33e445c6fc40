"""A motion in time, as a simulation returns it: states, torques, energies, frames, pictures and files."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
from numpy.typing import ArrayLike

from kinetree.errors import ArgumentError
from kinetree.functions.model_inputs import ModelInput
from kinetree.lazy import lazy_method
from kinetree.motions.interpolation import hermite
from kinetree.motions.paths import Sample
from kinetree.motions.signatures import PicturesAndFiles
from kinetree.motions.states import RECORDED, End, Quantities, State, of_robots, read_only, stops_of, times_of
from kinetree.robot import Robot
from kinetree.signatures import friendly_call_errors
from kinetree.validation import Array, real_array

if TYPE_CHECKING:
    from kinetree.robot.mechanism import Mechanism


@friendly_call_errors
class Trajectory(Quantities, PicturesAndFiles):
    """A motion of a robot, or of a batch of robots: samples in time, and what follows from them.

    `Robot.simulate` returns one; recorded motions make one too. It does not change, and its arrays are read-only views
    of those given: do not write to these. ``trajectory[10:100:2]`` is that part in time, ``trajectory[-1]`` one
    `State`; ``trajectory.robots[3]`` is one robot of a batch.

    Parameters
    ----------
    robot : Robot
        Or a `Mechanism`, of which it is the motion of the tree.
    t : (n,) array-like
        Times (s), increasing, the same for all robots; the first one is that of the initial state.
    q : (..., n, nq) array-like
        Configurations; the leading axes are the robots of a batch.
    v : (..., n, nv) array-like
        Velocities.
    a, tau : (..., n, nv) array-like, optional
        Accelerations and joint torques.
    f : (..., n, nrows) array-like, optional
        Forces of the constraints of a `Mechanism`.
    stopped_at : (...) array-like, optional
        When a robot stopped; NaN where it did not. From then on its samples are its last state.
    reasons : (...) array-like of str or None, optional
        Why it stopped: a `kinetree.StopReason`, or the name of the event that stopped it.
    events : sequence, optional
        Records of what happened on the way, with their times ``time``.
    counts : dict of (...) arrays, optional
        What was counted for each robot, such as steps of the integrator's own.
    inputs : mapping, optional
        Numbers of the robot that were given (`kinetree.gravity`, …), (..., n or 1, …); energies, momentum count them.
    end : End, optional
        What the simulation carried at its end.

    Attributes
    ----------
    robot : Robot
    t, q, v, a, tau, f : arrays
        As above, read-only; reading a, tau or f that was not recorded is an `ArgumentError`.
    stopped_at : (...) array
    reasons : (...) array of str or None
    events : tuple
    end : End or None
        None where this is not a simulation, or a part of one.

    Raises
    ------
    ArgumentError
        If the arrays do not fit the robot or each other, or the times are not finite and increasing.

    Examples
    --------
    >>> import numpy as np, kinetree as kt
    >>> robot = kt.load("ur5")
    >>> path = kt.motions.quintic(robot, robot.neutral(), [0, -1, 1, 0, 0, 0], duration=2.0)
    >>> t = np.linspace(0, 2, 21)
    >>> motion = kt.Trajectory(robot, t, *path(t))
    >>> motion
    <Trajectory of 'ur5': 21 samples from 0 to 2 s>
    >>> motion[::2].at(0.5).q.round(4)
    array([ 0.    , -0.1035,  0.1035,  0.    ,  0.    ,  0.    ])
    >>> motion.kinetic_energy.shape
    (21,)
    """

    if TYPE_CHECKING:
        robot: Robot
        t: Array
        q: Array
        v: Array
        stopped_at: Array
        reasons: np.ndarray[Any, np.dtype[np.object_]]
        events: tuple[Any, ...]
        end: End | None

    def __init__(
        self,
        robot: Robot | Mechanism,
        t: ArrayLike,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike | None = None,
        tau: ArrayLike | None = None,
        *,
        stopped_at: ArrayLike | None = None,
        reasons: ArrayLike | str | None = None,
        f: ArrayLike | None = None,
        events: Sequence[Any] = (),
        counts: Mapping[str, ArrayLike] | None = None,
        inputs: Mapping[ModelInput, Array] | None = None,
        end: End | None = None,
    ) -> None:
        robot = getattr(robot, "tree", robot)
        if not isinstance(robot, Robot):
            raise ArgumentError(f"a Trajectory takes the robot first; {type(robot).__name__} was given")
        times = times_of(t)
        Q = real_array("q", q, len(times), robot.nq)
        lead, arrays = Q.shape[:-2], {}
        rows = 0 if f is None else real_array("f", f, None).shape[-1]
        given: Any = ("v", v, robot.nv), ("a", a, robot.nv), ("tau", tau, robot.nv), ("f", f, rows)
        for name, value, n in given:
            needed = name == "v" or value is not None
            arrays[name] = real_array(name, value, *lead, len(times), n, batch=False) if needed else None
        stops, why = stops_of(stopped_at, lead), of_robots("reasons", reasons, lead)
        kept = {"t": times, "q": Q, "v": arrays["v"], "stopped_at": stops, "reasons": why.astype(object)}
        kept |= {f"_{name}": arrays[name] for name in RECORDED}
        seen = {name: None if value is None else read_only(value) for name, value in kept.items()}
        counts, inputs = {} if counts is None else counts, {} if inputs is None else inputs
        if not isinstance(events, Sequence) or not isinstance(counts, Mapping) or not isinstance(inputs, Mapping):
            raise ArgumentError(
                f"events takes a list, counts and inputs take a dict, not {events!r}, {counts!r} and {inputs!r}"
            )
        counted = {name: read_only(of_robots(f"counts[{name!r}]", x, lead)) for name, x in counts.items()}
        own = {name: read_only(x) for name, x in inputs.items()}
        self.__dict__.update(seen, robot=robot, events=tuple(events), counts=counted, inputs=own, end=end)

    @classmethod
    def of_arrays(cls, robot: Robot, t: Array, kept: dict[str, Array], stopped_at: Array, reasons: Any,
                  events: Sequence[Any], counts: Callable[[], Any], inputs: Any, end: End) -> Trajectory:  # fmt: skip
        """Return a trajectory of arrays that are known to fit: nothing is checked."""
        made = cls.__new__(cls)
        seen: dict[str, Any] = dict.fromkeys(f"_{name}" for name in RECORDED) | {
            name if name in ("q", "v") else f"_{name}": read_only(x) for name, x in kept.items()
        }
        seen |= {"t": t, "stopped_at": read_only(stopped_at), "reasons": read_only(reasons)}
        own = {name: read_only(x) for name, x in inputs.items()}
        made.__dict__.update(seen, robot=robot, events=tuple(events), _count=counts, inputs=own, end=end)
        return made

    def __setattr__(self, name: str, value: object = None) -> NoReturn:
        raise AttributeError(f"a Trajectory does not change, {name!r} cannot be set")

    __delattr__ = __setattr__

    def __reduce__(self) -> tuple[Any, ...]:
        rest = {name: getattr(self, name) for name in ("stopped_at", "reasons", "events", "counts", "inputs", "end")}
        rest |= {name: self.__dict__[f"_{name}"] for name in RECORDED}
        return partial(type(self), **rest), (self.robot, self.t, self.q, self.v)

    # -- what it is ---------------------------------------------------------------------------------------------

    @property
    def recorded(self) -> tuple[str, ...]:
        """What was recorded: "q" and "v", and "a", "tau" and "f" if they were."""
        return ("q", "v", *(name for name in RECORDED if self.__dict__[f"_{name}"] is not None))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """The leading axes: the robots of a batch; empty for one robot."""
        return tuple(self.q.shape[:-2])

    @property
    def duration(self) -> float:
        """Time from the first sample to the last (s)."""
        return float(self.t[-1] - self.t[0])

    @property
    def final(self) -> State:
        """The last sample; of one robot that has stopped until then, with the time at which it did."""
        last = self[-1]
        return last if self.batch_shape else last._replace(t=float(np.fmin(last.t, self.stopped_at)))

    def __len__(self) -> int:
        return len(self.t)

    def __iter__(self) -> Iterator[State]:
        return (self[k] for k in range(len(self)))

    def __repr__(self) -> str:
        of = f"{' × '.join(map(str, self.batch_shape))} robots, " if self.batch_shape else ""
        stopped = int(np.isfinite(self.stopped_at).sum())
        end = f" s, {f'{stopped} ' if self.batch_shape else ''}stopped" if stopped else " s"
        return f"<Trajectory of {self.robot.name!r}: {of}{len(self)} samples from {self.t[0]:g} to {self.t[-1]:g}{end}>"

    # -- parts of it --------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, index: int) -> State: ...
    @overload
    def __getitem__(self, index: slice) -> Trajectory: ...
    def __getitem__(self, index: int | slice) -> State | Trajectory:
        if isinstance(index, int | np.integer) and not isinstance(index, bool):
            if not -len(self) <= index < len(self):
                raise IndexError(f"sample {index} of {len(self)}: there is none")
            return State(float(self.t[index]), self.q[..., index, :], self.v[..., index, :])
        if not isinstance(index, slice):
            raise ArgumentError(
                f"trajectory[…] takes a number or a slice of the samples, not {type(index).__name__}; "
                "robots[…] takes those of the robots"
            )
        t = self.t[index]
        first, last = (t[0], t[-1]) if len(t) else (0.0, 0.0)
        events = [e for e in self.events if first <= getattr(e, "time", first) <= last]
        return self._with(t, lambda x: x if x.shape[-2] == 1 else x[..., index, :], lambda x: x, events, last)

    @property
    def robots(self) -> Robots:
        """The robots of a batch: ``robots[3]``, ``robots[:10]`` and ``robots[2, 0]`` are trajectories of those.

        As in NumPy, an array of numbers or a mask chooses too: ``robots[[5, 2]]``, ``robots[stopped_at < 1.0]``.
        """
        return Robots(self)

    def _with(self, t: Array, part: Any, of_robots: Any, events: Sequence[Any], last: float = np.inf) -> Trajectory:
        """Return the trajectory of the part of its arrays over time, and of those over robots, until the last time."""
        stops = of_robots(self.stopped_at)
        rest: dict[str, Any] = {"stopped_at": np.where(stops > last, np.nan, stops), "events": events}
        rest["reasons"] = np.where(stops > last, None, of_robots(self.reasons))
        rest |= {x: part(self.__dict__[f"_{x}"]) for x in RECORDED if x in self.recorded}
        rest["counts"] = {x: of_robots(n) for x, n in self.counts.items()}
        rest["inputs"] = {x: part(n) for x, n in self.inputs.items()}
        return Trajectory(self.robot, t, part(self.q), part(self.v), **rest)

    def at(self, t: ArrayLike) -> Sample:
        """Return q, v and a at any times t (...) within, between the samples by interpolation on the manifold.

        Hermite polynomials in the coordinates of each joint's group, quintic where accelerations were recorded and
        cubic elsewhere: their error is of the order 6, or 4, in the time between samples (the velocity's one lower,
        the acceleration's two). The curve goes through the samples and has a continuous velocity. From one sample to
        the next no joint may turn by half a turn or more. A robot that has stopped stays where it is.

        Parameters
        ----------
        t : array-like
            Times in s.

        Returns
        -------
        q : (..., nq) array
            The leading axes are the robots of a batch and then those of t.
        v, a : (..., nv) arrays
            a is the second derivative of the curve, whether it was recorded or not.

        Raises
        ------
        ArgumentError
            If a time is not within the trajectory.
        """
        times = real_array("t", t)
        if (outside := times[~((times >= self.t[0]) & (times <= self.t[-1]))]).size:
            raise ArgumentError(f"t holds {outside[0]:g} s; this trajectory is from {self.t[0]:g} to {self.t[-1]:g} s")
        flat = times.ravel()
        first = np.minimum(np.searchsorted(self.t, flat, side="right") - 1, max(0, len(self) - 2))
        pair = first, np.minimum(first + 1, len(self) - 1)
        stop = np.where(np.isnan(self.stopped_at), np.inf, self.stopped_at)[..., None]
        ends = np.minimum(self.t[pair[0]], stop), np.minimum(self.t[pair[1]], stop)
        known = [x for x in (self.v, self.__dict__["_a"]) if x is not None]
        rates = tuple((x[..., pair[0], :], x[..., pair[1], :]) for x in known)
        q = self.q[..., pair[0], :], self.q[..., pair[1], :]
        found = hermite(self.robot, ends, q, rates, np.minimum(flat, stop))
        return Sample(*(x.reshape(*self.batch_shape, *times.shape, x.shape[-1]) for x in found))

    if not TYPE_CHECKING:  # imported at first use: type checkers read the stub of `PicturesAndFiles`
        table = lazy_method("kinetree.motions.extremes", "table")
        to_dict = lazy_method("kinetree.motions.extremes", "to_dict")
        plot = lazy_method("kinetree.drawing.motion", "plot", friendly_call_errors)
        plot_motion = lazy_method("kinetree.drawing.sticks", "plot_motion", friendly_call_errors)
        animate = lazy_method("kinetree.drawing.sticks", "animate", friendly_call_errors)
        view = lazy_method("kinetree.viewer.view", "view_trajectory", friendly_call_errors)
        save_html = lazy_method("kinetree.viewer.view", "save_html", friendly_call_errors)
        save = lazy_method("kinetree.logs.saved", "save", friendly_call_errors)
        load = lazy_method("kinetree.logs.saved", "load", friendly_call_errors)  # Trajectory.load(path, robot)


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
