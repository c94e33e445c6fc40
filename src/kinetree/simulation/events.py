"""Events: conditions on time and state whose zeros are located within a step, and what has happened."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError, warn_user
from kinetree.integrators import INTEGRATORS, StopReason
from kinetree.integrators.adaptive import entry, select_all
from kinetree.model import Model
from kinetree.motions.states import Happened
from kinetree.options import count, only, option, text, value
from kinetree.runtime.function import Function
from kinetree.scalars.functions import Scalar, larger, select, select_less
from kinetree.scalars.linalg import Column
from kinetree.scalars.loops import repeat
from kinetree.simulation.choices import checked_arguments
from kinetree.simulation.given import Times
from kinetree.validation import Array

LOGS = ("event_counts", "event_log")
"""What comes with records: how many events there were, and the last ones."""

FIRST_EVENT = 3
"""Why a robot has stopped, as carried from step to step, where it is the first event; others follow."""

HALVINGS = 40
"""An event is located to ``2 ** -HALVINGS`` of a step, 9e-13."""

NEVER = 2.0
"""When an event happens that does not happen in this step, in steps."""


class EventWarning(UserWarning):
    """There were more events than are kept."""


def _condition(name: str, given: Any) -> Function:
    if not isinstance(given, Function):
        raise ArgumentError(
            f"an event's condition is {given!r:.80}; it takes a compiled function that returns one number: "
            "robot.compile(lambda q: q[0] - 1.0)"
        )
    return given


@value
class Event:
    """A condition whose zero is looked for while a robot is simulated: `simulate` with ``events=[...]``.

    Examples
    --------
    >>> import kinetree as kt
    >>> robot = kt.load("ur5")
    >>> @robot.compile
    ... def swings_back(v):
    ...     return v[1]
    >>> motion = robot.simulate([0, 0.5, 0, 0, 0, 0], duration=2.0, integrator="rk4", events=[kt.Event(swings_back)])
    >>> motion.events[0].name, bool(abs(motion.events[0].v[1]) < 1e-10)
    ('swings_back', True)
    """

    condition: Function = option(
        kw_only=False,
        check=_condition,
        help="a compiled function (`Robot.compile`) of any of ``q``, ``v``, ``t`` and further arguments, whose values "
        "are `inputs` of the simulation. It returns one number, and where that reaches zero or changes its sign is the "
        "event",
    )
    name: str = option(default="", check=text, help="that of the function if not given")
    stop: bool = option(default=False, help="whether the robot stops there. Others go on")
    direction: int = option(
        default=0,
        check=only(lambda x: isinstance(x, int | np.integer) and type(x) is not bool and x in (-1, 0, 1), "−1, 0 or 1"),
        help="only where the number falls (−1) or rises (1); 0 for both",
    )
    most: int = option(
        default=2,
        check=count,
        help="how many of a robot are kept from one record to the next, the last ones; all are counted",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.condition.spec.name)

    def log(self, model: Model) -> int:
        """Return how many numbers of its log are carried: the times in steps, q and v of the last ones."""
        return 0 if self.stop else self.most * (1 + model.nq + model.nv)

    def crosses(self, before: Scalar, after: Scalar) -> Scalar:
        """Return 1 where the number reaches zero or changes its sign on the way, 0 elsewhere."""
        rises = select((before < 0.0) & (after >= 0.0), 1.0, 0.0) if self.direction >= 0 else 0.0
        falls = select((before > 0.0) & (after <= 0.0), 1.0, 0.0) if self.direction <= 0 else 0.0
        return rises + falls


def events_of(model: Model, events: Any) -> tuple[Event, ...]:
    """Return events, made of compiled functions too; `ArgumentError` where they cannot be events of this robot."""
    if isinstance(events, Event | Function) or not isinstance(events, Sequence):
        raise ArgumentError(f"events takes a list: [kt.Event(condition)]; it is {events!r}")
    made = tuple(event if isinstance(event, Event) else Event(event) for event in events)
    taken = {*StopReason}.union(*((name for name, _ in i.counts) for i in INTEGRATORS.values()))
    for event in made:
        spec = checked_arguments(model, event.condition, f"event {event.name!r}")
        if len(spec.outputs) != 1 or spec.outputs[0].shape:
            shown = ", ".join(f"{port.name} {port.shape}" for port in spec.outputs)
            raise ArgumentError(f"event {event.name!r}: {spec.name} returns {shown}: it must be one number")
        if sum(other.name == event.name for other in made) > 1:
            raise ArgumentError(f"events: {event.name!r} is the name of two; name= gives another one")
        if event.name in taken:
            raise ArgumentError(f"event {event.name!r}: a simulation uses this name; name= gives another one")
        if "dt" in (port.name for port in spec.ports(())):
            raise ArgumentError(f"event {event.name!r}: {spec.name} takes dt, which is not a part of a state")
    return made


# -- where in a step they happen -------------------------------------------------------------------------------------


class _Search(NamedTuple):
    """What the loop carries: the end of the step, the event in hand with its bracket, and those that were located."""

    event: Scalar  # its number; −1 while the whole step is done
    part: Scalar  # of the step, to try next
    q: Sequence[Scalar]
    v: Sequence[Scalar]
    memory: Sequence[Scalar]
    values: Sequence[Scalar]  # of the conditions at the end of the step
    low: Scalar
    high: Scalar
    value_low: Scalar
    value_high: Scalar
    room: Scalar
    state: Sequence[Scalar]  # q and v at the upper end of the bracket
    parts: Sequence[Scalar]  # where in the step each event happened
    states: Sequence[Scalar]  # q and v there, one event after the other


def located(
    events: Sequence[Event],
    advance: Callable[[Scalar], tuple[Column, Column, Column]],
    conditions: Callable[[Scalar, Column, Column], list[Scalar]],
    given: Mapping[str, Any],
    going: Scalar,
) -> dict[str, Any]:
    """Return the state after a step whose events are located by bracketing, each to `HALVINGS` at most.

    Where conditions change their signs, the step is done again as far as a part of it, so that the state of an event is
    one that the integrator reaches. One loop does it all, the whole step first: compiled code has one step. `advance`
    leads to q, v and memory after a part of it, `conditions` to the numbers of all events; `going` is 0 for a robot
    that has stopped.
    """
    before, number, nq = given["event_values"], len(events), len(given["q"])
    size = nq + len(given["v"])

    def body(s: _Search) -> _Search:
        q, v, memory = advance(s.part)
        found = conditions(s.part, q, v)
        whole = s.event < -0.5
        values = select_all(whole, found, s.values)
        end_q, end_v = select_all(whole, q, s.q), select_all(whole, v, s.v)
        crossed = [e.crosses(x, y) for e, x, y in zip(events, before, values, strict=True)]

        value, first = entry(found, s.event), entry(before, s.event)
        beyond = ((first < 0.0) & (value >= 0.0)) | ((first > 0.0) & (value <= 0.0))
        low, high = select(beyond, s.low, s.part), select(beyond, s.part, s.high)
        value_low, value_high = select(beyond, s.value_low, value), select(beyond, value, s.value_high)
        state = select_all(beyond, [*q, *v], s.state)
        room = s.room / 2.0
        done = select(whole, 1.0, select_less(2.0**-HALVINGS, high - low, 0.0, 1.0))

        here = [select((done > 0.5) & (s.event == k), 1.0, 0.0) for k in range(number)]
        parts = [select_less(0.5, is_it, high, x) for is_it, x in zip(here, s.parts, strict=True)]
        states = [select_less(0.5, here[k // size], state[k % size], x) for k, x in enumerate(s.states)]

        event: Scalar = float(number)
        for k in reversed(range(number)):
            event = select((crossed[k] > 0.5) & (s.event < k - 0.5), float(k), event)
        event = select_less(0.5, done, event, s.event)
        low, high, room = (select_less(0.5, done, x, y) for x, y in ((0.0, low), (1.0, high), (1.0, room)))
        value_low = select_less(0.5, done, entry(before, event), value_low)
        value_high = select_less(0.5, done, entry(values, event), value_high)
        return _Search(
            event, inside(low, high, value_low, value_high, room), end_q, end_v, select_all(whole, memory, s.memory),
            values, low, high, value_low, value_high, room,
            [select_less(0.5, done, x, y) for x, y in zip([*end_q, *end_v], state, strict=True)], parts, states,
        )  # fmt: skip

    zeros = [0.0] * size
    start = _Search(
        select_less(0.5, going, -1.0, float(number)), 1.0, zeros[:nq], zeros[nq:],
        [0.0] * len(given.get("memory", ())), list(before), 0.0, 1.0, 0.0, 0.0, 1.0, zeros,
        [NEVER] * number, zeros * number,
    )  # fmt: skip
    most = 1 + number * (HALVINGS + 2)
    s = repeat(body, start, until=lambda s: s.event > number - 0.5, most=most, like=going)
    return _after(events, given, s, size)


def _after(events: Sequence[Event], given: Mapping[str, Any], s: _Search, size: int) -> dict[str, Any]:
    """Return the state after the step as far as the first event that stops it, without those after it."""
    states = [Column(s.states[k * size : (k + 1) * size]) for k in range(len(events))]
    part, state, stopped = 1.0, [*s.q, *s.v], [0.0] * len(events)
    for k, event in enumerate(events):
        if event.stop:
            earlier = (s.parts[k] <= 1.0) & ((s.parts[k] < part) | (sum(stopped) < 0.5))
            part, state = select(earlier, s.parts[k], part), select_all(earlier, states[k], state)
            stopped = [select(earlier, 1.0 if j == k else 0.0, x) for j, x in enumerate(stopped)]
    parts = [
        select((x <= part) & (stopped[k] > 0.5) if event.stop else x <= part, x, NEVER)
        for k, (event, x) in enumerate(zip(events, s.parts, strict=True))
    ]
    log, rest = list[Scalar](), list(given.get("event_log", ()))
    for event, at, there in zip(events, parts, states, strict=True):  # the last one first
        own = [rest.pop(0) for _ in range(0 if event.stop else event.most * (1 + size))]
        log += select_all(at <= 1.0, [given["step"] + at, *there, *own[: -1 - size]], own) if own else ()
    return {
        "q": Column(state[: len(s.q)]), "v": Column(state[len(s.q) :]), "memory": Column(s.memory),
        "step": given["step"] + part, "reason": sum(((FIRST_EVENT + k) * x for k, x in enumerate(stopped)), 0.0),
        "event_values": list(s.values), "event_log": log,
        "event_counts": [select(x <= 1.0, n + 1.0, n) for x, n in zip(parts, given["event_counts"], strict=True)],
    }  # fmt: skip


def inside(low: Scalar, high: Scalar, value_low: Scalar, value_high: Scalar, room: Scalar) -> Scalar:
    """Return where to look next between two places where a number has different signs, as fast as a secant (ITP).

    The room is halved each time from 1 on: after `HALVINGS` + 1 calls it is as near as bisection gets in one call less.

    References: Oliveira and Takahashi, An enhancement of the bisection method average performance preserving minmax
    optimality, ACM Transactions on Mathematical Software 47 (2020).
    """
    width, middle = high - low, 0.5 * (low + high)
    span = value_high - value_low
    secant = (value_high * low - value_low * high) / select(span == 0.0, 1.0, span)
    toward = select_less(secant, middle, 1.0, -1.0)
    away, nudge = toward * (middle - secant), 0.2 * width * width
    nudged = select(nudge <= away, secant + toward * nudge, middle)
    most = larger(0.0, room - 0.5 * width)
    return select(toward * (middle - nudged) <= most, nudged, middle - toward * most)


# -- what happened ---------------------------------------------------------------------------------------------------


class History:
    """What happened in a simulation, from the logs that come with records; one entry a piece, for Ctrl-C."""

    def __init__(self, model: Model, events: tuple[Event, ...], lead: tuple[int, ...], times: Times) -> None:
        self._model, self._events, self._lead, self._times = model, events, lead, times
        self._pieces = {0: (list[Happened](), np.zeros((math.prod(lead), len(events))))}  # by steps: events, counts

    def take(self, logs: Mapping[str, Array], done: int) -> None:
        """Take the logs of robots (n, records, size), of further records up to so many steps."""
        if logs and done not in self._pieces:
            self._pieces[done] = self._in(logs)

    def end(self, carried: Mapping[str, Array]) -> tuple[Happened, ...]:
        """Return all events in the order of time, with those after the last record and those that stopped a robot."""
        if not self._events:
            return ()
        last, _ = self._in({name: carried[name][:, None] for name in LOGS if name in carried})
        found = [*itertools.chain(*(some for some, _ in self._pieces.values())), *last]
        ends = np.hstack([carried[x] for x in ("step", "q", "v")])
        for k, event in enumerate(self._events):
            stopped = np.flatnonzero(carried["reason"] == FIRST_EVENT + k)
            found += [self._happened(event, int(robot), ends[robot]) for robot in stopped]
        for number, event in zip(carried["event_counts"].sum(axis=0), self._events, strict=True):
            if lost := int(number) - sum(e.name == event.name for e in found):
                warn_user(
                    f"event {event.name!r}: {lost} of {int(number)} were not kept, more than most={event.most} of a "
                    "robot from one record to the next: make most larger, or every of record smaller",
                    EventWarning,
                )
        return tuple(sorted(found, key=lambda event: (event.time, event.robot)))

    def _in(self, logs: Mapping[str, Array]) -> tuple[list[Happened], Array]:
        """Return the events in further logs that did not stop a robot, and how many there were of each until then."""
        counts, first, found = logs["event_counts"], 0, []
        before = next(reversed(self._pieces.values()))[1]
        new = np.diff(counts, axis=1, prepend=before[:, None])
        for k, event in enumerate(self._events):
            if event.stop:
                continue
            log = logs["event_log"][..., first : first + event.log(self._model)]
            first += event.log(self._model)
            for robot, row in np.argwhere(new[..., k] > 0):
                entries = log[robot, row].reshape(event.most, -1)[: int(new[robot, row, k])]
                found += [self._happened(event, int(robot), entry) for entry in entries]
        return found, counts[:, -1] if counts.shape[1] else before

    def _happened(self, event: Event, robot: int, entry: Array) -> Happened:
        nq, times = self._model.nq, self._times
        index = tuple(int(i) for i in np.unravel_index(robot, self._lead)) if self._lead else ()
        time, q, v = float(times.of(entry[0] - times.first)), entry[1 : 1 + nq].copy(), entry[1 + nq :].copy()
        return Happened(time, event.name, index, q, v)
