"""The thread pool of long batches: its size, and how threads share one batch."""

from __future__ import annotations

import contextlib
import operator
import os
import sys
import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import SupportsIndex

from kinetree.errors import ArgumentError
from kinetree.glue import interrupts

_STOPPING_SECONDS = 1e-2  # between two attempts to end a helper's loops
_HANDLING_SECONDS = 5e-2  # after which a signal that another thread received is handled

_chosen: int | None = None


def set_num_threads(n: SupportsIndex | None) -> None:
    """Choose how many threads a long batch may use, the calling one included.

    Parameters
    ----------
    n : int or None
        At least 1. None goes back to the default: the environment variable ``KINETREE_NUM_THREADS``, or else as
        many as the process has CPUs.

    Raises
    ------
    ArgumentError
        If `n` is not an integer or less than 1.

    Examples
    --------
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(None)
    """
    global _chosen
    _chosen = None if n is None else _count(n, "the number of threads")


def get_num_threads() -> int:
    """Return how many threads a long batch may use, the calling one included."""
    if _chosen is not None:
        return _chosen
    if setting := os.environ.get("KINETREE_NUM_THREADS", "").strip():
        return _count(int(setting) if setting.isdecimal() else setting, "KINETREE_NUM_THREADS")
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count(value: object, what: str) -> int:
    try:
        n = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        n = 0
    if n < 1 or isinstance(value, bool):
        raise ArgumentError(f"{what} is {value!r}, it must be an integer of at least 1")
    return n


class Job:
    """States 0 to n - 1, handed out in chunks to whoever asks next.

    A chunk, which ``run()(start, count)`` runs, is what is left divided by `part`, at most `largest`, and a multiple of
    `unit` but for the last: few, since each needs the GIL, and the last ones small, since no thread should wait.
    """

    def __init__(
        self, run: Callable[[], Callable[[int, int], None]], n: int, *, largest: int, unit: int = 1, part: int = 1
    ) -> None:
        self.run = run
        self.n = n
        self.error: BaseException | None = None
        self.cancelled = False  # by an error in the thread that owns the job; long chunks may look
        self._largest, self._unit, self._part = largest, unit, part
        self._next = 0
        self._helping: set[int] = set()  # threads
        self._lock = threading.Lock()
        self._left: SimpleQueue[None] = SimpleQueue()
        self._process = os.getpid()

    def work(self) -> None:
        """Run chunks until there are none."""
        chunk = self.run()
        while (taken := self._take()) is not None:
            chunk(*taken)

    def help(self) -> None:
        """Do as `work` does, in a thread of the pool: an error is stored for the thread that owns the job."""
        this = threading.get_ident()
        with self._lock:
            if self._next >= self.n:
                return
            self._helping.add(this)
        try:
            self.work()
        except BaseException as error:
            self.error = error
            self._stop()
        finally:
            with self._lock:
                self._helping.discard(this)
                if interrupts.stopped.value == this:
                    interrupts.stopped.value = 0
            self._left.put(None)

    def finish(self) -> None:
        """Hand out no more chunks and wait for the helpers, even if this thread is interrupted."""
        interrupted: BaseException | None = None
        waiting = True
        while waiting:
            try:
                while self._stop():  # counted anew each time: an interrupt may lose what get() returned
                    with contextlib.suppress(Empty):
                        self._left.get(timeout=_STOPPING_SECONDS if self.cancelled else _HANDLING_SECONDS)
                waiting = False
            except BaseException as error:  # Ctrl-C while the others are at work, or once more
                self.cancelled, interrupted = True, error
        if interrupted is not None:
            raise interrupted

    def _take(self) -> tuple[int, int] | None:
        """Return the start and the size of the next chunk, None if there is none left."""
        with self._lock:
            start = self._next
            left = self.n - start
            if left <= 0:
                return None
            units = -(-min(left // self._part, self._largest) // self._unit)
            count = min(left, max(1, units) * self._unit)
            self._next += count
        return start, count

    def _stop(self) -> int:
        """Hand out no more chunks; return how many helpers are still at work. If cancelled, end the loops of one."""
        if os.getpid() != self._process:  # a signal's handler has returned in the child of a fork too
            self.error = RuntimeError(
                "the process was forked in a call of a compiled function: its child has no result"
            )
            return 0
        with self._lock:
            self._next = self.n
            if self.cancelled:
                interrupts.stopped.value = next(iter(self._helping), 0)
            return len(self._helping)


class Pool:
    """Threads that wait for jobs. They are daemons: an idle one must not keep a process alive."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._threads = 0
        self._lock = threading.Lock()

    def share(self, job: Job, threads: int, *, away: bool = False) -> None:
        """Run a job on this thread and others, and raise what one of them raises after all have stopped.

        If `away`, the main thread has another one do its part, so that Ctrl-C need not wait for the end of a chunk.
        """
        try:
            for _ in range(min(threads - 1, self._grown(threads - 1))):
                self._jobs.put(job)
            if away and threading.current_thread() is threading.main_thread() and not sys.is_finalizing():
                _in_place_of_this(job)
            else:
                job.work()
        except BaseException:
            job.cancelled = True
            raise
        finally:
            job.finish()
        if job.error is not None:
            raise job.error

    def _grown(self, threads: int) -> int:
        """Return how many threads there are, after adding those that are missing."""
        with self._lock, contextlib.suppress(RuntimeError):  # no more threads: the ones there are will do
            while self._threads < threads:
                threading.Thread(target=self._serve, name=f"kinetree-{self._threads}", daemon=True).start()
                self._threads += 1
        return self._threads

    def _serve(self) -> None:
        while True:
            self._jobs.get().help()  # in no variable: the arrays of a finished batch must not live until the next one


def _in_place_of_this(job: Job) -> None:
    """Run a job on a new thread: those of the pool may be busy."""
    thread = threading.Thread(target=job.help, name="kinetree-main", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no more threads
        job.work()
    else:
        while thread.is_alive():
            thread.join(_HANDLING_SECONDS)


pool = Pool()


def _after_fork() -> None:
    global pool
    pool = Pool()  # the threads and the locks of the parent are not ours
    interrupts.stopped.value = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
