"""Many states in one call: the batch kernel on arrays as they lie, in chunks, on one thread or several.

The call glue runs those of up to 0.2 milliseconds by itself, up to 20 microseconds without releasing the GIL; what is
here is for the others, and for the first of a variant. The kernel runs without the GIL. It is called for about a
millisecond at a time, so that Ctrl-C is handled and threads can share the work; the time per state is measured. Chunks
are multiples of the lane count, so that only the last one has idle lanes. Which thread computes a state changes nothing
in its bits.
"""

from __future__ import annotations

import ctypes
import functools
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from kinetree.backends.base import LoadedCode, ObjectCode
from kinetree.errors import ArgumentError
from kinetree.glue import cpython, descriptor, entry, interrupts
from kinetree.graph import Port
from kinetree.runtime import threads
from kinetree.runtime.arguments import Array, strides

CHUNK_SECONDS = 1e-3  # how long Ctrl-C may have to wait, about
SHARED_SECONDS = 2e-4  # a batch shorter than this is not worth waking a thread
SMALLEST_SECONDS = 2e-5  # a shared chunk shorter than this is not worth taking the GIL
_FIRST_BLOCKS = 64  # lane blocks in a kernel's first chunk, before its speed is known
_LEAST_SECONDS = 1e-10  # for one state: guards against a coarse clock
LANES = (1, 2, 4, 8, 16)

Chunk: TypeAlias = Callable[[int, int], None]
"""Runs so many states from one on."""

_layout = cpython.find()
_DATA = None if _layout is None else _layout.data  # offset of the pointer to the data in an array

_POINTER = ctypes.sizeof(ctypes.c_void_p)
_Pointers = ctypes.c_void_p
_Kernel = ctypes.CFUNCTYPE(None, _Pointers, _Pointers, _Pointers, ctypes.c_int64, _Pointers)
_Single = ctypes.CFUNCTYPE(None, _Pointers, _Pointers, _Pointers)


class KernelArguments(NamedTuple):
    """Addresses and strides of the inputs, and after them of the outputs."""

    arrays: list[Array]  # these own the memory
    addresses: list[int]
    strides: list[int]  # bytes between consecutive states
    outputs: int  # where the outputs begin


def lay_out(arrays: Sequence[Array], ports: Sequence[Port], lead: tuple[int, ...], outputs: int) -> KernelArguments:
    """Return the arguments of a kernel for these arrays, copies of those whose layout it cannot read."""
    laid_out = KernelArguments([], [], [], outputs)
    for given, port in zip(arrays, ports, strict=True):
        array = given
        stride = strides(array, lead, port.shape)
        if stride is None:
            array = np.ascontiguousarray(np.broadcast_to(array, lead + port.shape))
            stride = array.itemsize * port.size
        laid_out.arrays.append(array)
        laid_out.addresses.append(address(array))
        laid_out.strides.append(stride)
    return laid_out


def address(array: Array) -> int:
    """Return the address of an array's first entry."""
    if _DATA is None:
        return int(array.ctypes.data)
    return ctypes.c_void_p.from_address(id(array) + _DATA).value or 0  # several times quicker


def writable(array: Array, lead: tuple[int, ...], port: Port) -> bool:
    """Return whether a kernel can write results to this array: each state is contiguous, and none overlap."""
    stride = strides(array, lead, port.shape)
    if stride is None or not array.flags.aligned:
        return False
    return abs(stride) >= array.itemsize * port.size or array.size <= port.size


def forced_lanes() -> int | None:
    """Return the lane count that ``KINETREE_LANES`` asks for, None if it does not."""
    setting = os.environ.get("KINETREE_LANES", "").strip()
    return check_lanes(int(setting) if setting.isdecimal() else setting, "KINETREE_LANES") if setting else None


def check_lanes(lanes: object, what: str = "lanes") -> int:
    """Return the lane count as an int if it is one of `LANES`."""
    if lanes not in LANES:
        raise ArgumentError(f"{what} is {lanes!r}, it must be one of {', '.join(map(str, LANES))}")
    return LANES[LANES.index(lanes)]  # an int, whatever is equal to it


class _Local(threading.local):
    memory: Array = np.empty(0, np.uint8)
    address = 0


_local = _Local()


def _scratch(size: int) -> tuple[Array, int]:
    """Return scratch memory of this thread (keep it while it is used), and the 64-byte-aligned address in it."""
    if _local.memory.size < size + 64:
        memory = np.empty(size + 64, np.uint8)
        _local.memory, _local.address = memory, (address(memory) + 63) & ~63
    return _local.memory, _local.address


@functools.cache
def table_types(n: int) -> tuple[Any, Any]:
    """Return the C types of n pointers and of n distances."""
    return ctypes.c_void_p * n, ctypes.c_int64 * n


class Kernel:
    """An entry point of code; `keep` keeps it in memory (see `entry.gc_opaque`), `long`: loops in it may take long."""

    def __init__(self, code: ObjectCode, loaded: LoadedCode, symbol: str) -> None:
        self.keep = entry.gc_opaque(loaded)
        self.address = loaded.address(symbol) or 0
        self.scratch = code.scratch
        self.long = "kinetree_stopped" in code.externals

    def share(self, work: Callable[[], Chunk], n: int, count: int = 1, *, largest: int, **parts: int) -> None:
        """Run n states on so many threads, in chunks as of `Job`; the main thread does not run long loops itself."""
        if count > 1 or self.long:
            threads.pool.share(threads.Job(work, n, largest=largest, **parts), count, away=self.long)
            return
        run = work()
        for start in range(0, n, largest):
            run(start, min(largest, n - start))


class SingleKernel(Kernel):
    """``kt_single``, called through ctypes, with the addresses of the entries that bring their own scratch, if any."""

    def __init__(self, code: ObjectCode, loaded: LoadedCode) -> None:
        super().__init__(code, loaded, "kt_single")
        self.c_entry, self.run_entry = loaded.address("kt_c_entry"), loaded.address("kt_run")
        self._call = _Single(self.address)

    def run(self, laid_out: KernelArguments) -> None:
        """Evaluate one state."""
        self.share(lambda: lambda start, n: self._run(laid_out), 1, largest=1)

    def _run(self, laid_out: KernelArguments) -> None:
        memory, scratch = _scratch(self.scratch)
        pointers = table_types(len(laid_out.addresses))[0](*laid_out.addresses)
        ins = ctypes.addressof(pointers)
        self._call(ins, ins + _POINTER * laid_out.outputs, scratch)
        del memory


class BatchKernel(Kernel):
    """``kt_batch``, with its measured speed."""

    def __init__(self, code: ObjectCode, loaded: LoadedCode, lanes: int) -> None:
        super().__init__(code, loaded, "kt_batch")
        self.lanes = lanes
        self._call = _Kernel(self.address)
        self._seconds = math.inf  # for one state: the least that was seen
        self.limits = np.zeros(2, np.int64)  # for the call glue: see `kinetree.glue.descriptor`
        self.record = self.address, self.scratch, descriptor.address(self.limits)

    def run(self, laid_out: KernelArguments, n: int) -> None:
        """Evaluate n >= 1 states."""
        done = 0
        if self._seconds == math.inf:
            done = min(n, _FIRST_BLOCKS * self.lanes)
            self.share(lambda: self._runner(laid_out), done, largest=done)
        seconds = (n - done) * self._seconds
        unit = -(-max(1, int(SMALLEST_SECONDS / self._seconds)) // self.lanes) * self.lanes
        count = min(threads.get_num_threads(), -(-(n - done) // unit)) if seconds > SHARED_SECONDS else 1
        largest = max(1, int(CHUNK_SECONDS / self._seconds))
        parts = {"unit": unit, "part": 2 * count} if count > 1 else {}
        largest = largest if parts else -(-largest // self.lanes) * self.lanes
        if done < n:
            self.share(lambda: self._runner(laid_out, done), n - done, count, largest=largest, **parts)

    def _runner(self, laid_out: KernelArguments, first: int = 0) -> Chunk:
        """Return a call that runs `count` states from `first` and `start` on, in one thread."""
        pointer_table, distance_table = table_types(len(laid_out.addresses))
        pointers = pointer_table(*laid_out.addresses)
        ins = ctypes.addressof(pointers)
        outs = ins + _POINTER * laid_out.outputs
        distances = distance_table(*laid_out.strides)
        memory, scratch = _scratch(self.scratch)

        def run(start: int, count: int, keep: object = (self.keep, memory)) -> None:
            if start := first + start:
                pointers[:] = [a + start * s for a, s in zip(laid_out.addresses, laid_out.strides, strict=True)]
            begin = time.perf_counter()
            self._call(ins, outs, distances, count, scratch)
            spent = (time.perf_counter() - begin) / count
            if spent < self._seconds and not interrupts.is_stopped():
                self._seconds = max(spent, _LEAST_SECONDS)
                keeps_gil = SHARED_SECONDS if self.long else SMALLEST_SECONDS  # without it, signals are not handled
                self.limits[:] = [int(most / self._seconds) for most in (keeps_gil, SHARED_SECONDS)]

        return run
