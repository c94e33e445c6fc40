"""The native loop over steps, a piece at a time, so that nothing computed is lost where it is interrupted."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import NamedTuple

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


class Rollout(NamedTuple):
    """Many steps of n robots.

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
    """

    step: Function
    carried: dict[str, Array]
    given: Mapping[str, Array]
    records: Mapping[str, Array]
    logs: dict[str, Array]

    def run(self, steps: int, every: int) -> Iterator[int]:
        """Run all steps and yield, after each piece, how many are done: some records, or a part of the way to one.

        Where all robots have stopped it ends at once.
        """
        done, most = 0, 64
        while done < steps:
            to_record = every - done % every
            whole = to_record == every <= most
            count = min(steps - done, most // every * every if whole else min(most, to_record))
            begin = time.perf_counter()
            self._piece(done, count, every)
            done = self.ended(done + count, steps, every)
            most = max(1, int(count * min(8.0, PIECE_SECONDS / max(time.perf_counter() - begin, 1e-6))))
            yield done

    def ended(self, done: int, steps: int, every: int) -> int:
        """Return how many steps are done: all of them where every robot has stopped, whose states are kept then."""
        if (self.carried["reason"] == 0.0).any():
            return done
        for name, record in self.records.items():
            record[:, done // every :] = self.carried[name][:, None]
        return steps

    def one(self, done: int, every: int) -> None:
        """Run one step, where so many were done before."""
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
        for name, array in self.carried.items():
            self.carried[name] = np.where(live, results[name], array)
        self.carried["reason"] = np.where(live | (before != 0.0), self.carried["reason"], results["trouble"])
        is_recorded = (done + 1) % every == 0
        if is_recorded:
            for name, record in self.records.items():
                record[:, done // every] = self.carried[name]
        for name in self.logs:
            self.logs[name] = self.carried[name][:, None][:, : int(is_recorded)]

    def _piece(self, done: int, count: int, every: int) -> None:
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
        for name in self.logs:
            array = self.carried[name]
            self.logs[name] = np.empty((len(array), rows.stop - rows.start, array.shape[1]))
        recorded = [*(record[:, rows] for record in self.records.values()), *self.logs.values()]
        variant = Variant((), (), "float64")
        kernel = self.step._kernels.scan(variant, steps, len(inputs[0]))
        run_steps(kernel, steps, inputs, last, recorded, count, between)
        for name, array in zip(self.carried, last, strict=True):
            self.carried[name] = array


def _now(array: Array, done: int) -> Array:
    """Return what is given for the step after so many."""
    return array[:, done] if array.ndim == 3 else array
