"""The native loop over steps, a piece at a time, so that nothing computed is lost where it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kinetree.backends.base import Steps, Stops
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
    carried: dict[str, Array]
    over_time: list[tuple[int, Array]]
    logs: list[Array]


@dataclass
class Rollout:
    """Many steps of n robots; what has been done is replaced at once, and fits together wherever Ctrl-C comes."""

    step: Function  # from what is carried and given to the next values of what is carried
    carried: dict[str, Array]  # (n, size): present values, replaced by those after the last piece
    given: Mapping[str, Array]  # (n, size), or (n, steps, size) for what changes from step to step
    records: Mapping[str, Array]  # (n, records, size): where what is carried is written, every so many steps
    logs: dict[str, Array]  # the same of the last piece, for what is looked at after each piece and not kept
    done: int = 0
    _turns: tuple[ScanKernel, list[_Turn]] | None = None

    def __post_init__(self) -> None:
        self.first = self.carried

    def begin(self, records: Mapping[str, Array]) -> None:
        """Begin anew, from what the arrays that were carried at first hold now."""
        self.records, self.carried, self.done = records, self.first, 0

    def run(self, steps: int, every: int, hold: Callable[[], None] | None = None, period: int = 1) -> Iterator[None]:
        """Run steps until all robots have stopped, yielding after each piece; `hold` is called first in each period."""
        most = 64
        while (done := self.done) < steps:
            left, to_record = steps - done, every - done % every
            if hold is not None:
                if done % period == 0:
                    hold()
                left = min(left, period - done % period)
            if hold is None or not self.again(left if to_record == every else min(left, to_record), every):
                whole = to_record == every <= most
                count = min(left, most // every * every if whole else min(most, to_record))
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

    @property
    def _steps(self) -> Steps:
        """Which of the step's inputs are its own outputs, and which outputs are kept."""
        names = [port.name for port in self.step.spec.inputs]
        outputs = [port.name for port in self.step.spec.outputs]
        return Steps(
            tuple((names.index(name), outputs.index(name)) for name in self.carried),
            tuple(outputs.index(name) for name in (*self.records, *self.logs)),
            Stops(names.index("reason"), outputs.index("trouble"), tuple(outputs.index(name) for name in CHECKED)),
        )

    def _kernel(self, steps: Steps) -> ScanKernel:
        """Return the compiled loop over the steps."""
        return self.step._kernels.scan(VARIANT, steps, len(self.carried["reason"]))

    def _inputs(self, carried: Mapping[str, Array]) -> list[Array]:
        """Return the arrays of all inputs in order, with these in the place of what is carried."""
        return [carried[x.name] if x.name in carried else self.given[x.name] for x in self.step.spec.inputs]

    def _piece(self, count: int, every: int) -> None:
        """Run so many steps of all states."""
        done, steps = self.done, self._steps
        rows = slice(done // every, (done + count) // every)
        between = every if done % every == 0 else count + (rows.start == rows.stop)
        inputs = [x[:, done : done + count] if x.ndim == 3 else x for x in self._inputs(self.carried)]
        last = {name: np.empty(array.shape) for name, array in self.carried.items()}
        shapes = {name: self.carried[name].shape for name in self.logs}
        logs = {name: np.empty((n, rows.stop - rows.start, size)) for name, (n, size) in shapes.items()}
        recorded = [*(record[:, rows] for record in self.records.values()), *logs.values()]
        run_steps(self._kernel(steps), steps, inputs, [*last.values()], recorded, count, between)
        self._finish(done + count, last, logs)

    def again(self, count: int, every: int) -> bool:
        """Run so few steps by calls whose tables are there; False, and nothing, where they are too many for that."""
        if self._turns is None:
            self._turns = self._made_turns()
        kernel, turns = self._turns
        done, n = self.done, len(self.carried["reason"])
        rows = (done + count) // every - done // every
        if not kernel.is_short(n, count) or (self.logs and rows and (rows > 1 or (done + count) % every)):
            return False
        turn, other = turns if turns[0].carried is self.carried else turns[::-1]
        if turn.carried is not self.carried:
            for name, array in self.carried.items():
                turn.carried[name][...] = array
        for k, array in turn.over_time:
            turn.tables.ins[k] = address(array) + done * array.strides[1]
        for k, array in enumerate(self.records.values() if rows else (), len(other.carried)):
            turn.tables.outs[k] = address(array) + done // every * array.strides[1]
        between = every if done % every == 0 else count + (not rows)
        kernel.run(turn.tables, n, count, between, with_gil=kernel.long)
        logs = {name: other.carried[name][:, None][:, :rows].copy() for name in self.logs}
        self._finish(done + count, other.carried, logs)
        return True

    def _made_turns(self) -> tuple[ScanKernel, list[_Turn]]:
        """Return the kernel, and calls from one set of memory to another and back."""
        sets, turns = [self.carried, {name: array.copy() for name, array in self.carried.items()}], []
        for carried, last in (sets, sets[::-1]):
            logs = [np.empty((len(last[name]), 1, last[name].shape[1])) for name in self.logs]
            inputs, records = self._inputs(carried), [*self.records.values(), *logs]
            over_time = [(i, x) for i, x in enumerate(inputs) if x.ndim == 3]
            turns.append(_Turn(tables(inputs, [*last.values()], records), carried, over_time, logs))
        return self._kernel(self._steps), turns
