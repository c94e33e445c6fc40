"""The native loop over steps, a piece at a time, so that nothing computed is lost where it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.backends.base import Steps, Stops
from kinetree.runtime.function import Function
from kinetree.runtime.spec import Variant
from kinetree.runtime.steps import run_steps
from kinetree.validation import Array

PIECE_SECONDS = 0.1
"""How long one piece takes, about: what an interrupt loses."""


CHECKED = ("q", "v")
"""What must be finite: a robot whose state is not stops."""


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

    def end(self, steps: int, every: int) -> None:
        """Take all steps as done where every robot has stopped, whose states are kept then."""
        if not (self.carried["reason"] == 0.0).any():
            for name, record in self.records.items():
                record[:, self.done // every :] = self.carried[name][:, None]
            self.done = steps

    def _finish(self, done: int, carried: dict[str, Array], logs: dict[str, Array]) -> None:
        """Replace what has been done, as one operation that no signal interrupts."""
        self.__dict__.update({"done": done, "carried": carried, "logs": logs})

    def one(self, every: int) -> None:
        """Run one step."""
        done = self.done
        inputs = [
            (self.carried[p.name] if p.name in self.carried else _now(self.given[p.name], done)).reshape(-1, *p.shape)
            for p in self.step.spec.inputs
        ]
        results = {
            port.name: result.reshape(len(result), -1)
            for port, result in zip(self.step.spec.outputs, self.step(*inputs), strict=True)
        }
        before = self.carried["reason"]
        live = (before == 0.0) & np.isfinite(np.hstack([results[name] for name in CHECKED])).all(axis=1, keepdims=True)
        carried = {name: np.where(live, results[name], array) for name, array in self.carried.items()}
        carried["reason"] = np.where(live | (before != 0.0), carried["reason"], results["trouble"])
        is_recorded = (done + 1) % every == 0
        if is_recorded:
            for name, record in self.records.items():
                record[:, done // every] = carried[name]
        logs = {name: carried[name][:, None][:, : int(is_recorded)] for name in self.logs}
        self._finish(done + 1, carried, logs)

    def _piece(self, count: int, every: int) -> None:
        done = self.done
        names = [port.name for port in self.step.spec.inputs]
        outputs = [port.name for port in self.step.spec.outputs]
        kept = [*self.records, *self.logs]
        steps = Steps(
            tuple((names.index(name), outputs.index(name)) for name in self.carried),
            tuple(outputs.index(name) for name in kept),
            Stops(names.index("reason"), outputs.index("trouble"), tuple(outputs.index(name) for name in CHECKED)),
        )
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
        variant = Variant((), (), "float64")
        kernel = self.step._kernels.scan(variant, steps, len(inputs[0]))
        run_steps(kernel, steps, inputs, last, recorded, count, between)
        self._finish(done + count, dict(zip(self.carried, last, strict=True)), logs)


def _now(array: Array, done: int) -> Array:
    """Return what is given for the step after so many."""
    return array[:, done] if array.ndim == 3 else array
