"""Where in a step events happen: conditions on time and state cross zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from kinetree.model import Model
from kinetree.scalars.column import Column
from kinetree.scalars.functions import Scalar, select, select_less
from kinetree.scalars.loops import repeat
from kinetree.simulation.events import Event

HALVINGS = 40
"""An event is located to ``2 ** -HALVINGS`` of a step, 9e-13."""

NEVER = 2.0
"""When an event happens that does not happen in this step, in steps."""


class Located(NamedTuple):
    """A step with what happened in it.

    Attributes
    ----------
    part : scalar
        Which part of the step was done: 1, or less where an event stops it.
    q, v, memory : columns
        After that part.
    values : list of scalar
        What the conditions are at the end of the step.
    stopped : list of scalar
        1 for the event that stops it, 0 for others.
    parts : list of scalar
        Where in the step each event happened, `NEVER` where it did not or was after the stop.
    states : list of columns
        q and v there.
    """

    part: Scalar
    q: Column
    v: Column
    memory: Column
    values: list[Scalar]
    stopped: list[Scalar]
    parts: list[Scalar]
    states: list[Column]


class _Search(NamedTuple):
    """What the loop carries: the end of the step, the event in hand with its bracket, and those that were located."""

    event: Scalar  # its number; −1 while the whole step is done
    part: Scalar  # of the step, to try next
    q: Sequence[Scalar]
    v: Sequence[Scalar]
    memory: Sequence[Scalar]
    values: Sequence[Scalar]
    low: Scalar
    high: Scalar
    value_low: Scalar
    value_high: Scalar
    room: Scalar
    state: Sequence[Scalar]  # q and v at the upper end of the bracket
    parts: Sequence[Scalar]
    states: Sequence[Scalar]


def located(
    events: Sequence[Event],
    advance: Callable[[Scalar], tuple[Column, Column, Column]],
    conditions: Callable[[Scalar, Column, Column], list[Scalar]],
    before: Sequence[Scalar],
    sizes: tuple[int, int, int],
    going: Scalar,
) -> Located:
    """Return a step whose events are located by bracketing, each to `HALVINGS` halvings at most.

    Where conditions change their signs, the step is done again as far as a part of it, by the integrator itself: the
    state of an event is one that the integrator reaches, exact to its order. One loop does it all, the whole step
    first, so that compiled code has one step; of most steps this is the only iteration.

    Parameters
    ----------
    advance : callable
        From a part of the step to q, v and memory after it.
    conditions : callable
        From a part, q and v to the numbers of all events.
    before : sequence of scalar
        These at the beginning of the step.
    sizes : tuple of int
        Of q, v and memory.
    going : scalar
        0 for a robot that has stopped.
    """
    nq, nv, n_memory = sizes
    number = len(events)

    def body(s: _Search) -> _Search:
        q, v, memory = advance(s.part)
        found = conditions(s.part, q, v)
        whole = s.event < -0.5
        values = _chosen(whole, found, s.values)
        end_q, end_v = _chosen(whole, q, s.q), _chosen(whole, v, s.v)
        crossed = [e.crosses(x, y) for e, x, y in zip(events, before, values, strict=True)]

        value, first = _pick(found, s.event), _pick(before, s.event)
        beyond = ((first < 0.0) & (value >= 0.0)) | ((first > 0.0) & (value <= 0.0))
        low, high = select(beyond, s.low, s.part), select(beyond, s.part, s.high)
        value_low, value_high = select(beyond, s.value_low, value), select(beyond, value, s.value_high)
        state = _chosen(beyond, [*q, *v], s.state)
        room = s.room / 2.0
        done = select(whole, 1.0, select_less(2.0**-HALVINGS, high - low, 0.0, 1.0))

        here = [select((done > 0.5) & (s.event == k), 1.0, 0.0) for k in range(number)]
        parts = [select_less(0.5, is_it, high, x) for is_it, x in zip(here, s.parts, strict=True)]
        states = [select_less(0.5, here[k // (nq + nv)], state[k % (nq + nv)], x) for k, x in enumerate(s.states)]

        event: Scalar = float(number)
        for k in reversed(range(number)):
            event = select((crossed[k] > 0.5) & (s.event < k - 0.5), float(k), event)
        event = select_less(0.5, done, event, s.event)
        low, high, room = (select_less(0.5, done, x, y) for x, y in ((0.0, low), (1.0, high), (1.0, room)))
        value_low = select_less(0.5, done, _pick(before, event), value_low)
        value_high = select_less(0.5, done, _pick(values, event), value_high)
        return _Search(
            event, inside(low, high, value_low, value_high, room), end_q, end_v, _chosen(whole, memory, s.memory),
            values, low, high, value_low, value_high, room,
            [select_less(0.5, done, x, y) for x, y in zip([*end_q, *end_v], state, strict=True)], parts, states,
        )  # fmt: skip

    zeros = [0.0] * (nq + nv)
    start = select_less(0.5, going, -1.0, float(number))
    s = repeat(
        body,
        _Search(
            start, 1.0, zeros[:nq], zeros[nq:], [0.0] * n_memory, list(before), 0.0, 1.0, 0.0, 0.0, 1.0, zeros,
            [NEVER] * number, zeros * number,
        ),
        until=lambda s: s.event > number - 0.5,
        most=1 + number * (HALVINGS + 2),
        like=going,
    )  # fmt: skip
    return _stopped(events, s, nq + nv, nq)


def _stopped(events: Sequence[Event], s: _Search, size: int, nq: int) -> Located:
    """Return the step as far as the first event that stops it, without those after it."""
    states = [Column(s.states[k * size : (k + 1) * size]) for k in range(len(events))]
    part, state, stopped = 1.0, [*s.q, *s.v], [0.0] * len(events)
    for k, event in enumerate(events):
        if event.stop:
            earlier = (s.parts[k] <= 1.0) & ((s.parts[k] < part) | (sum(stopped) < 0.5))
            part, state = select(earlier, s.parts[k], part), _chosen(earlier, states[k], state)
            stopped = [select(earlier, 1.0 if j == k else 0.0, x) for j, x in enumerate(stopped)]
    parts = [
        select((x <= part) & (stopped[k] > 0.5) if event.stop else x <= part, x, NEVER)
        for k, (event, x) in enumerate(zip(events, s.parts, strict=True))
    ]
    q, v = Column(state[:nq]), Column(state[nq:])
    return Located(part, q, v, Column(s.memory), list(s.values), stopped, parts, states)


def inside(low: Scalar, high: Scalar, value_low: Scalar, value_high: Scalar, room: Scalar) -> Scalar:
    """Return where to look next between two places where a number has different signs.

    It gets there as fast as a secant where the number is smooth. After `HALVINGS` + 1 calls, with the room halved each
    time from 1 on, it is as near as bisection gets in one call less.

    References: Oliveira and Takahashi, An enhancement of the bisection method average performance preserving minmax
    optimality, ACM Transactions on Mathematical Software 47 (2020).
    """
    width, middle = high - low, 0.5 * (low + high)
    span = value_high - value_low
    secant = (value_high * low - value_low * high) / select(span == 0.0, 1.0, span)
    toward = select_less(secant, middle, 1.0, -1.0)
    away, nudge = toward * (middle - secant), 0.2 * width * width
    nudged = select(nudge <= away, secant + toward * nudge, middle)
    most = room - 0.5 * width
    most = select_less(0.0, most, most, 0.0)
    return select(toward * (middle - nudged) <= most, nudged, middle - toward * most)


def logged(
    events: Sequence[Event], model: Model, found: Located, step: Scalar, log: Sequence[Scalar], counts: Sequence[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """Return the log with what happened in a step, the last first, and how often each event did."""
    rest, after = list(log), []
    size = 1 + model.nq + model.nv
    for event, part, state in zip(events, found.parts, found.states, strict=True):
        own, rest = rest[: event.log(model)], rest[event.log(model) :]
        if own:
            after += _chosen(part <= 1.0, [step + part, *state, *own[:-size]], own)
    return after, [select(part <= 1.0, count + 1.0, count) for part, count in zip(found.parts, counts, strict=True)]


def _pick(values: Sequence[Scalar], number: Scalar) -> Scalar:
    """Return the value of this number, the first one for numbers below and the last one for those above."""
    found = values[-1]
    for k in reversed(range(len(values) - 1)):
        found = select_less(number, k + 0.5, values[k], found)
    return found


def _chosen(condition: Any, x: Sequence[Scalar], y: Sequence[Scalar]) -> list[Scalar]:
    return [select(condition, a, b) for a, b in zip(x, y, strict=True)]
