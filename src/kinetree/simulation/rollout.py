"""The native loop over steps, a piece at a time, so that nothing computed is lost where it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kinetree.backends.base import Steps, Stops
from kinetree.lazy import cached_property
from kinetree.runtime.batch import address
from kinetree.runtime.function import Function
from kinetree.runtime.spec import Variant
from kinetree.runtime.steps import ScanKernel, Tables, run_steps, tables
from kinetree.validation import Array

PIECE_SECONDS = 0.1
"""How long one piece takes, about: what an interrupt loses."""

CHECKED = ("q", "v")
"""What must be finite: a robot whose state is not stops."""

VARIANT = Variant((), (), "float64")


class _Turn(NamedTuple):
    """A call of the kernel from memory that stays where it is: what is given over time, and records, move on in it."""

    tables: Tables
    last: dict[str, Array]
    over_time: list[tuple[int, Array]]


class Rollout:
    """Many steps of n robots; what has been done is replaced at once, and fits together wherever Ctrl-C comes.

    What is carried (n, size) begins with `first`; what is given may have an axis of steps too. The step's outputs that
    are `recorded` are written to the memory that `begin` is given; `logged` ones are those of the last piece.
    """

    def __init__(
        self, step: Function, first: dict[str, Array], given: Mapping[str, Array], recorded: Sequence[str],
        logged: Sequence[str],
    ) -> None:  # fmt: skip
        self.step, self.given, self._first, self._logged = step, given, first, logged
        names, outputs = ([port.name for port in ports] for ports in (step.spec.inputs, step.spec.outputs))
        self._steps = Steps(
            tuple((names.index(name), outputs.index(name)) for name in first),
            tuple(outputs.index(name) for name in (*recorded, *logged)),
            Stops(names.index("reason"), outputs.index("trouble"), tuple(outputs.index(name) for name in CHECKED)),
        )
        self._sets: list[dict[str, Array]] = []
        self._turns: dict[int, _Turn] = {}

    @cached_property
    def _kernel(self) -> ScanKernel:
        """The compiled loop: a controller in Python is called first, and what it returns is checked."""
        return self.step._kernels.scan(VARIANT, self._steps, len(self._first["reason"]))

    def begin(self, records: Mapping[str, Array]) -> None:
        """Begin anew, from what the first values are now, with other memory for what is written."""
        self.records, self.carried, self.done, self.logs = records, self._first, 0, dict[str, Array]()

    def run(self, steps: int, every: int, hold: Callable[[], None] | None = None, period: int = 1) -> Iterator[None]:
        """Run steps until all robots have stopped, yielding after each piece; `hold` is called first in each period."""
        most = 64
        while (done := self.done) < steps:
            left, to_record = steps - done, every - done % every
            if hold is not None:
                if done % period == 0:
                    hold()
                left = min(left, period - done % period)
            whole = to_record == every <= most
            count = min(left, most // every * every if whole else min(most, to_record))
            if self.again(count, every):
                most = 8 * count
            else:
                begin = time.perf_counter()
                self._piece(count, every)
                most = max(1, int(count * min(8.0, PIECE_SECONDS / max(time.perf_counter() - begin, 1e-6))))
            if np.count_nonzero(reason := self.carried["reason"]) == len(reason):
                for name, record in self.records.items():
                    record[:, self.done // every :] = self.carried[name][:, None]
                self.done = steps
            yield

    def _finish(self, done: int, carried: dict[str, Array], logs: dict[str, Array]) -> None:
        """Replace what has been done, as one operation that no signal interrupts."""
        self.__dict__.update({"done": done, "carried": carried, "logs": logs})

    def _inputs(self, carried: Mapping[str, Array]) -> list[Array]:
        """Return the arrays of all inputs in order, with these in the place of what is carried."""
        return [carried[x.name] if x.name in carried else self.given[x.name] for x in self.step.spec.inputs]

    def _piece(self, count: int, every: int) -> None:
        """Run so many steps of all states, on all cores."""
        done = self.done
        rows = slice(done // every, (done + count) // every)
        between = every if done % every == 0 else count + (rows.start == rows.stop)
        inputs = [x[:, done : done + count] if x.ndim == 3 else x for x in self._inputs(self.carried)]
        last = {name: np.empty(array.shape) for name, array in self.carried.items()}
        shapes = {name: self.carried[name].shape for name in self._logged}
        logs = {name: np.empty((n, rows.stop - rows.start, size)) for name, (n, size) in shapes.items()}
        recorded = [*(record[:, rows] for record in self.records.values()), *logs.values()]
        run_steps(self._kernel, self._steps, inputs, [*last.values()], recorded, count, between)
        self._finish(done + count, last, logs)

    def again(self, count: int, every: int) -> bool:
        """Run so few steps by a call whose tables are there; False, and nothing, where they are too many for that."""
        done, n = self.done, len(self.carried["reason"])
        if self._logged or not self._kernel.is_short(n, count):
            return False
        rows = (done + count) // every - done // every
        turn = self._turns.get(id(self.carried)) or self._turn()
        for k, array in turn.over_time:
            turn.tables.ins[k] = address(array) + done * array.strides[1]
        for k, array in enumerate(self.records.values() if rows else (), len(turn.last)):
            turn.tables.outs[k] = address(array) + done // every * array.strides[1]
        between = every if done % every == 0 else count + (not rows)
        self._kernel.run(turn.tables, n, count, between, with_gil=self._kernel.long)
        self._finish(done + count, turn.last, {})
        return True

    def _turn(self) -> _Turn:
        """Return a call from the present values, which are the first ones or are in one of two sets of memory."""
        if not self._sets:
            self._sets = [{name: np.empty_like(array) for name, array in self._first.items()} for _ in range(2)]
        (one, other), carried = self._sets, self.carried
        if carried is not self._first and carried is not one and carried is not other:  # those of a piece
            for name, array in carried.items():
                one[name][...] = array
            carried = one
        if id(carried) not in self._turns:
            last, inputs = other if carried is one else one, self._inputs(carried)
            over_time = [(i, x) for i, x in enumerate(inputs) if x.ndim == 3]
            made = tables(inputs, [*last.values()], [*self.records.values()])
            self._turns[id(carried)] = _Turn(made, last, over_time)
        return self._turns[id(carried)]
