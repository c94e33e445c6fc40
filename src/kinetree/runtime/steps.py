"""The kernel of many steps, and how it is called: a bounded number of steps at a time, so that Ctrl-C is handled."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from kinetree.backends.base import LoadedCode, ObjectCode, Steps
from kinetree.glue import interrupts
from kinetree.runtime import threads
from kinetree.runtime.arguments import Array
from kinetree.runtime.batch import SHARED_SECONDS, Kernel, _scratch, address, table_types

CHUNK_SECONDS = 5e-3
"""How long one call of the kernel lasts at most, about."""

SHORT_SECONDS = 1e-3
"""How long a call of a kernel with long loops lasts at most, about, that keeps the GIL and handles signals itself."""

_ARGUMENTS = *[ctypes.c_void_p] * 4, *[ctypes.c_int64] * 3, ctypes.c_void_p
_Kernel = ctypes.CFUNCTYPE(None, *_ARGUMENTS)
_KernelWithGIL = ctypes.PYFUNCTYPE(None, *_ARGUMENTS)


class ScanKernel(Kernel):
    """``kt_scan``, with its measured speed."""

    def __init__(self, code: ObjectCode, loaded: LoadedCode, lanes: int) -> None:
        super().__init__(code, loaded, "kt_scan")
        self.lanes = lanes
        self.seconds = 1e-6  # for one step of one state: the last that was measured
        self._call = _Kernel(self.address)
        self._call_with_gil = _KernelWithGIL(self.address)

    def run(self, tables: Tables, *counts: int, with_gil: bool = False) -> None:
        """Run a number of steps of a number of states: `counts` are these, states first, and that between records."""
        memory, scratch = _scratch(self.scratch)
        begin = time.perf_counter()
        if with_gil:
            interrupts.running.value = threading.get_ident()
            try:
                self._call_with_gil(*tables, *counts, scratch)  # raises what a signal's handler has raised
            finally:
                interrupts.running.value = 0
                if interrupts.is_stopped():
                    interrupts.stopped.value = 0
        else:
            self._call(*tables, *counts, scratch)
        if not interrupts.is_stopped():
            self.seconds = max((time.perf_counter() - begin) / (counts[0] * counts[1]), 1e-10)
        del memory

    def is_short(self, n: int, count: int) -> bool:
        """Return whether so many steps of so many states may be one call, for which no thread has to be asked."""
        return n * count * self.seconds < SHORT_SECONDS


class Tables(NamedTuple):
    """Addresses of inputs and of outputs, and the bytes from a state, and from a step, to the next: as C has them."""

    ins: Any
    outs: Any
    strides: Any
    steps: Any


def tables(inputs: Sequence[Array], last: Sequence[Array], records: Sequence[Array]) -> Tables:
    """Return a kernel's description of arrays of states, of steps or records if they have these, and of entries."""
    outputs = *last, *records
    return Tables(
        _table(0, [address(a) for a in inputs]),
        _table(0, [address(a) for a in outputs]),
        _table(1, [a.strides[0] for a in (*inputs, *outputs)]),
        _table(1, [a.strides[1] if a.ndim == 3 else 0 for a in (*inputs, *records)]),
    )


class Run(NamedTuple):
    """All steps of n states; the arrays have axes of states, of steps (if there is one) and of entries."""

    kernel: ScanKernel
    steps: Steps
    inputs: list[Array]
    finals: list[Array]
    records: list[Array]
    total: int
    every: int
    cancelled: Callable[[], bool]
    with_gil: bool

    def states(self, start: int, n: int) -> None:
        """Run n states from `start` on: as few of them at a time as make a call, so that they stay in cache."""
        group = self._group()
        for first in range(start, start + n, group):
            self._run(first, min(group, start + n - first))

    def _group(self) -> int:
        """Return how many states take about as long as one call, if all their steps are one."""
        lanes = self.kernel.lanes
        most = int(CHUNK_SECONDS / (self.kernel.seconds * self.total * lanes))
        return lanes * max(most, 1)

    def _run(self, start: int, n: int) -> None:
        """Run n states from `start` on, so many steps at a time that Ctrl-C is handled soon."""
        present = [self.inputs[k][start : start + n] for k, _ in self.steps.carried]
        done = 0
        while done < self.total and not self.cancelled():
            count, between = self._counts(n, done)
            following = [np.empty((n, a.shape[1]), a.dtype) for a in present]
            self._call(start, (n, count, between), done, present, following)
            present, done = following, done + count
        for out, value in zip(self.finals, present, strict=True):
            out[start : start + n] = value

    def _counts(self, n: int, done: int) -> tuple[int, int]:
        """Return how many steps the next call does, and how many there are between records; it may record none."""
        left, most = self.total - done, max(int(CHUNK_SECONDS / (self.kernel.seconds * n)), 1)
        to_record = self.every - done % self.every
        if to_record == self.every <= most:
            return min(left, most // self.every * self.every), self.every
        count = min(left, most, to_record)
        return count, count if count == to_record else count + 1

    def _call(
        self, start: int, counts: tuple[int, int, int], done: int, present: list[Array], following: list[Array]
    ) -> None:
        inputs = [a[start:] if a.ndim == 2 else a[start:, done:] for a in self.inputs]
        for (k, _), value in zip(self.steps.carried, present, strict=True):
            inputs[k] = value
        records = [a[start:, done // self.every :] for a in self.records]
        self.kernel.run(tables(inputs, following, records), *counts, with_gil=self.with_gil)


def run_steps(
    kernel: ScanKernel,
    steps: Steps,
    inputs: list[Array],
    last: list[Array],
    recorded: list[Array],
    count: int,
    every: int,
) -> None:
    """Run so many steps of all states, on as many threads as are worth it; arrays as in `Run`, contiguous."""
    n = len((last or recorded)[0])
    inputs = [a if a.flags.aligned else a.copy() for a in inputs]
    short = kernel.long and kernel.is_short(n, count)
    run = Run(kernel, steps, inputs, last, recorded, count, every, lambda: job.cancelled, short)
    unit = kernel.lanes
    workers = 1 if n * count * kernel.seconds < SHARED_SECONDS else min(threads.get_num_threads(), -(-n // unit))
    part = 1 if workers == 1 else 2 * workers
    job = threads.Job(lambda: run.states, n, largest=-(-n // unit) * unit, unit=unit, part=part)
    if short or (workers == 1 and not kernel.long):
        run.states(0, n)
    else:
        threads.pool.share(job, workers, away=kernel.long)


def _table(kind: int, entries: list[int]) -> Any:
    return table_types(max(len(entries), 1))[kind](*entries)
