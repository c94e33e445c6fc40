"""The native loop over steps, a piece at a time, so that nothing computed is lost where it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
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
    """A call of one step from memory that stays where it is: what is given over time, and records, move on in it."""

    tables: Tables
    carried: dict[str, Array]
    over_time: list[tuple[int, Array]]
    records: list[tuple[int, Array]]
    logs: list[Array]


@dataclass
class Rollout:
    """Many steps of n robots.

    What has been done is replaced at once (see `_finish`), so that it fits together wherever Ctrl-C comes.

    Attributes
    ----------
    step : Function
        From what is carried and given to the next values of what is carried.
    carried : dict of array
        (n, size): present values, replaced by those after the last piece.
    given : dict of array
        (n, size), or (n, steps, size) for what changes from step to step.
    records : dict of array
        (n, records, size): where what is carried is written, every so many steps.
    logs : dict of array
        (n, records, size) of the last piece: the same for what is looked at after each piece, not kept.
    done : int
        How many steps have been done.
    """

    step: Function
    carried: dict[str, Array]
    given: Mapping[str, Array]
    records: Mapping[str, Array]
    logs: dict[str, Array]
    done: int = 0
    _turns: tuple[ScanKernel, list[_Turn]] | None = None

    def run(self, steps: int, every: int) -> Iterator[None]:
        """Run all steps and yield after each piece: some records, or a part of the way to one.

        Where all robots have stopped it ends at once.
        """
        most = 64
        while self.done < steps:
            to_record = every - self.done % every
            whole = to_record == every <= most
            count = min(steps - self.done, most // every * every if whole else min(most, to_record))
            begin = time.perf_counter()
            self._piece(count, every)
            self.end(steps, every)
            most = max(1, int(count * min(8.0, PIECE_SECONDS / max(time.perf_counter() - begin, 1e-6))))
            yield

    @property
    def all_move(self) -> bool:
        """Whether no robot has stopped."""
        return not np.count_nonzero(self.carried["reason"])

    def end(self, steps: int, every: int) -> None:
        """Take all steps as done where every robot has stopped, whose states are kept then."""
        if np.count_nonzero(reason := self.carried["reason"]) == len(reason):
            for name, record in self.records.items():
                record[:, self.done // every :] = self.carried[name][:, None]
            self.done = steps

    def _finish(self, done: int, carried: dict[str, Array], logs: dict[str, Array]) -> None:
        """Replace what has been done, as one operation that no signal interrupts."""
        self.__dict__.update({"done": done, "carried": carried, "logs": logs})

    def one(self, every: int) -> None:
        """Run one step; of few states by calls whose tables are there, else as a piece."""
        if self._turns is None:
            self._turns = self._made_turns()
        kernel, turns = self._turns
        n = len(self.carried["reason"])
        if not kernel.is_short(n, 1):
            self._piece(1, every)
            return
        done = self.done
        turn, following = turns[0], turns[1]
        for name, array in self.carried.items():
            if array is not turn.carried[name]:
                turn.carried[name][...] = array
        for k, array in turn.over_time:
            turn.tables.ins[k] = address(array) + done * array.strides[1]
        is_recorded = (done + 1) % every == 0
        if is_recorded:
            for k, array in turn.records:
                turn.tables.outs[k] = address(array) + done // every * array.strides[1]
        kernel.run(turn.tables, n, 1, 1 if is_recorded else 2, with_gil=kernel.long)
        carried = following.carried
        logs = {name: carried[name][:, None][:, : int(is_recorded)].copy() for name in self.logs}
        turns.reverse()
        self._finish(done + 1, carried, logs)

    def _made_turns(self) -> tuple[ScanKernel, list[_Turn]]:
        """Return the kernel, and calls from one set of memory to another and back."""
        names = [port.name for port in self.step.spec.inputs]
        kernel = self.step._kernels.scan(VARIANT, self.steps, len(self.carried["reason"]))
        sets = [{name: array.copy() for name, array in self.carried.items()} for _ in range(2)]
        records = list(self.records.values())
        turns = []
        for k, carried in enumerate(sets):
            inputs = [carried[name] if name in carried else self.given[name] for name in names]
            last = [*sets[1 - k].values()]
            logs = [np.empty((*self.carried[name].shape[:1], 1, self.carried[name].shape[1])) for name in self.logs]
            over_time = [(i, array) for i, array in enumerate(inputs) if array.ndim == 3]
            made = tables(inputs, last, [*(x[:, :1] for x in records), *logs])
            turns.append(_Turn(made, carried, over_time, [*enumerate(records, len(last))], logs))
        return kernel, turns

    @property
    def steps(self) -> Steps:
        """Which of the step's inputs are its own outputs, and which outputs are kept."""
        names = [port.name for port in self.step.spec.inputs]
        outputs = [port.name for port in self.step.spec.outputs]
        return Steps(
            tuple((names.index(name), outputs.index(name)) for name in self.carried),
            tuple(outputs.index(name) for name in (*self.records, *self.logs)),
            Stops(names.index("reason"), outputs.index("trouble"), tuple(outputs.index(name) for name in CHECKED)),
        )

    def _piece(self, count: int, every: int) -> None:
        done = self.done
        names = [port.name for port in self.step.spec.inputs]
        inputs = []
        for name in names:
            array = self.carried[name] if name in self.carried else self.given[name]
            inputs.append(array[:, done : done + count] if array.ndim == 3 else array)
        last = [np.empty(array.shape) for array in self.carried.values()]
        rows = slice(done // every, (done + count) // every)
        between = every if done % every == 0 else count + (rows.start == rows.stop)
        shapes = {name: self.carried[name].shape for name in self.logs}
        logs = {name: np.empty((n, rows.stop - rows.start, size)) for name, (n, size) in shapes.items()}
        recorded = [*(record[:, rows] for record in self.records.values()), *logs.values()]
        steps = self.steps
        kernel = self.step._kernels.scan(VARIANT, steps, len(inputs[0]))
        run_steps(kernel, steps, inputs, last, recorded, count, between)
        self._finish(done + count, dict(zip(self.carried, last, strict=True)), logs)
