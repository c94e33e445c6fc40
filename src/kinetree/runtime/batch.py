"""Many states in one call: the batch kernel on arrays as they lie, in chunks, on one thread or several.

The kernel runs without the GIL. It is called for about a millisecond at a time, so that Ctrl-C is heard and threads
can share; how long a state takes is measured on the way. Chunks are multiples of the lane count, so that only the
last one has idle lanes. Which thread computes a state changes nothing in its bits.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.expr import Port
from kinetree.runtime import threads
from kinetree.runtime.arguments import Array, strides

CHUNK_SECONDS = 1e-3  # how long Ctrl-C may have to wait, about
SHARED_SECONDS = 2e-4  # a batch shorter than this is not worth waking a thread
CHUNKS_PER_THREAD = 6  # so that a thread that starts late or runs slowly holds nobody up for long
_FIRST = 64  # lane blocks in the first chunk of all, whose time is not known
_QUICKEST = 1e-10  # seconds; no state is done in less, whatever the clock says
LANES = (1, 2, 4, 8, 16)

_Pointers = ctypes.c_void_p
_Kernel = ctypes.CFUNCTYPE(None, _Pointers, _Pointers, _Pointers, ctypes.c_int64, _Pointers)
_Single = ctypes.CFUNCTYPE(None, _Pointers, _Pointers, _Pointers)


class Laid(NamedTuple):
    """An array as a kernel sees it."""

    array: Array  # keeps the memory
    address: int
    stride: int  # bytes between consecutive states


def lay(array: Array, lead: tuple[int, ...], port: Port) -> Laid:
    """Return an input where it lies, or a copy of it where a kernel cannot read it there."""
    stride = strides(array, lead, port.shape)
    if stride is None:
        array = np.ascontiguousarray(np.broadcast_to(array, lead + port.shape))
        stride = array.itemsize * port.size
    return Laid(array, array.ctypes.data, stride)


def writable(array: Array, lead: tuple[int, ...], port: Port) -> bool:
    """Return whether a kernel can write results where this array lies: each state its own contiguous place."""
    stride = strides(array, lead, port.shape)
    if stride is None or not array.flags.aligned:
        return False
    return abs(stride) >= array.itemsize * port.size or array.size <= port.size


def forced_lanes() -> int | None:
    """Return the lane count that ``KINETREE_LANES`` asks for, None if it does not."""
    setting = os.environ.get("KINETREE_LANES", "").strip()
    return check_lanes(int(setting) if setting.isdecimal() else setting, "KINETREE_LANES") if setting else None


def check_lanes(lanes: object, what: str = "lanes") -> int:
    """Return a lane count that is one of those there are."""
    for known in LANES:
        if lanes == known:
            return known
    raise ArgumentError(f"{what} is {lanes!r}, it must be one of {', '.join(map(str, LANES))}")


class _Local(threading.local):
    scratch: Array = np.empty(0, np.uint8)


_local = _Local()


def _scratch(size: int) -> tuple[Array, int]:
    """Return scratch memory of this thread (keep it while it is used), and the 64-byte-aligned address in it."""
    if _local.scratch.size < size + 64:
        _local.scratch = np.empty(size + 64, np.uint8)
    memory = _local.scratch
    return memory, (memory.ctypes.data + 63) & ~63


class SingleKernel:
    """``kt_single`` at this address for the general path: one state, called through ctypes.

    `keep` is what keeps the code in memory (see `kernels.hidden`).
    """

    def __init__(self, address: int, scratch: int, keep: object) -> None:
        self.keep = keep
        self._call = _Single(address)
        self._scratch = scratch

    def run(self, inputs: list[Laid], outputs: list[Laid]) -> None:
        """Evaluate one state."""
        memory, scratch = _scratch(self._scratch)
        self._call(_array_of(inputs), _array_of(outputs), scratch)
        del memory


def _array_of(laid: list[Laid]) -> Any:
    return (ctypes.c_void_p * len(laid))(*(x.address for x in laid))


class BatchKernel:
    """``kt_batch`` at this address, and what is known of its speed.

    `keep` is what keeps the code in memory (see `kernels.hidden`).
    """

    def __init__(self, address: int, scratch: int, keep: object, lanes: int) -> None:
        self.keep = keep
        self.lanes = lanes
        self._call = _Kernel(address)
        self._scratch = scratch
        self._seconds = float("inf")  # for one state: the least that was seen

    def run(self, inputs: list[Laid], outputs: list[Laid], n: int) -> None:
        """Evaluate n >= 1 states."""
        step = self._runner(inputs, outputs)
        done = 0
        if self._seconds == float("inf"):
            done = min(n, _FIRST * self.lanes)
            step()(0, done)
            if done == n:
                return
        seconds = (n - done) * self._seconds
        count = threads.get_num_threads() if seconds > SHARED_SECONDS else 1
        chunk = self._chunk(n - done, count)
        if count == 1:
            work = step()
            for start in range(done, n, chunk):
                work(start, min(chunk, n - start))
            return

        def shifted() -> Callable[[int, int], None]:
            work = step()
            return lambda start, m: work(done + start, m)

        threads.pool.share(threads.Job(shifted, n - done, chunk), count)

    def _chunk(self, n: int, count: int) -> int:
        """Return how many states to run at a time: a multiple of the lanes."""
        states = max(1, int(CHUNK_SECONDS / self._seconds))
        if count > 1:
            states = min(states, -(-n // (count * CHUNKS_PER_THREAD)))
        return -(-states // self.lanes) * self.lanes

    def _runner(self, inputs: list[Laid], outputs: list[Laid]) -> Callable[[], Callable[[int, int], None]]:
        """Return what makes, in each thread, the function that runs the states from `start` on."""
        laid = [*inputs, *outputs]
        distances = (ctypes.c_int64 * len(laid))(*(x.stride for x in laid))
        bases = [(k, x.address, x.stride) for k, x in enumerate(laid)]
        outs_offset = len(inputs) * ctypes.sizeof(ctypes.c_void_p)

        def runner() -> Callable[[int, int], None]:
            pointers = (ctypes.c_void_p * len(laid))()
            ins = ctypes.addressof(pointers)
            memory, scratch = _scratch(self._scratch)

            def run(start: int, count: int, keep: object = (self.keep, laid, memory)) -> None:
                for k, address, stride in bases:
                    pointers[k] = address + start * stride
                begin = time.perf_counter()
                self._call(ins, ins + outs_offset, distances, count, scratch)
                spent = (time.perf_counter() - begin) / count
                self._seconds = max(min(self._seconds, spent), _QUICKEST)

            return run

        return runner
