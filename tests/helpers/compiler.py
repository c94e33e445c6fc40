"""The inside of the library, as far as the tests of the whole must know it. When modules move, this file follows.

From an algorithm of the table to its programs and their LLVM IR, and what makes small batches go to several threads.
"""

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from helpers.verify import InvalidProgramError as InvalidProgramError
from helpers.verify import verify as verify
from kinetree.algorithms import ALGORITHMS as ALGORITHMS
from kinetree.algorithms import Algorithm as Algorithm
from kinetree.algorithms import shape_of as shape_of
from kinetree.algorithms.registry import Joints, OneFrame
from kinetree.algorithms.table import table_of as table_of
from kinetree.backends.llvm import Target
from kinetree.backends.llvm.module import batch_ir, legal_operations, single_ir
from kinetree.functions.of_robot import robot_function as robot_function
from kinetree.functions.of_robot import robot_spec
from kinetree.graph.array_operations import ArrayOperation
from kinetree.graph.graph import digest as digest
from kinetree.passes import PASSES
from kinetree.passes import optimize as optimize
from kinetree.runtime import batch, threads
from kinetree.runtime.spec import Variant

LEGAL = legal_operations()

FIXED = Target(Target.host().triple, cpu="", features="", vector_bits=512)
"""A target of which the IR shows nothing of this machine but the triple and the data layout, each in a line of its own.

The triple is the host's because LLVM knows no other everywhere.
"""


class Use(NamedTuple):
    """One way to call an algorithm: the names of the optional inputs that are given, and the options."""

    optional: tuple[str, ...]
    options: dict[str, Any]

    @property
    def name(self):
        """What tells it from the other ways to call the same algorithm of the same model."""
        return ", ".join([*self.optional, *(f"{k}={v}" for k, v in self.options.items())])


def uses(algorithm, frames, joint):
    """Return ways to call an algorithm in which all that can be chosen is chosen: first the defaults, the rest after.

    Every choice of every option is there once, though not with every choice of the others; every optional input is
    given and left out; names of joints are none, then one. Options that need a frame take one of these each.
    """
    values = algorithm.options.values()
    count = max((len(option) for option in values if isinstance(option, tuple)), default=1)
    count += any(isinstance(option, Joints) for option in values)  # the default choices once more, with a joint
    first = 0 if algorithm.optional else 1  # without the optional inputs there are the defaults already
    others = [Use(tuple(algorithm.optional), _options(algorithm, k, frames, joint)) for k in range(first, count)]
    return [Use((), _options(algorithm, 0, frames, joint)), *others]


def _options(algorithm, k, frames, joint):
    """Return the k-th choice of every option, beginning again where there are no more; defaults are left out."""
    options = {}
    free = iter(frames)
    for name, option in algorithm.options.items():
        if isinstance(option, OneFrame):
            frame = next(free)
            if option.required or k:
                options[name] = frame
        elif isinstance(option, Joints):
            if k:
                options[name] = (joint,)
        elif k % len(option):
            options[name] = option[k % len(option)]
    return options


def trace(model, algorithm, use=Use((), {})):  # noqa: B008
    """Return the program of an algorithm for a model as it is traced."""
    spec = robot_spec(model, algorithm)
    return spec.trace(Variant(use.optional, spec.chosen(use.options), "float64"))


def stages(program):
    """Yield the program and what becomes of it, pass by pass, with the name of each."""
    yield "trace", program
    for one_pass in PASSES:
        program = one_pass(program)
        yield one_pass.__name__, program


def single_text(program, dtype):
    """Return the LLVM IR of the kernel for one state."""
    return single_ir(program, dtype, FIXED)[0]


def batch_text(program, dtype, lanes):
    """Return the LLVM IR of the kernel for many states."""
    return batch_ir(program, dtype, FIXED, lanes)[0]


def share_small_batches(monkeypatch):
    """Let every batch of two chunks and more be shared by two threads, whatever time it takes.

    No thread goes on with its first chunk before the other one has one too, so both have a part of every batch.

    Returns
    -------
    list of int
        It grows by the number of threads that took part in each batch that is shared.
    """
    for name in ("SHARED_SECONDS", "SMALLEST_SECONDS", "CHUNK_SECONDS"):
        assert hasattr(batch, name)
        monkeypatch.setattr(batch, name, 0.0)
    taken_part = []

    class Together(threads.Job):
        def __init__(self, run, n, **kwargs):
            self._shared = kwargs.get("part", 1) > 1  # others are for one thread
            meeting = threading.Barrier(2 if self._shared else 1, timeout=30)
            workers = set()

            def meet() -> Callable[[int, int], None]:
                chunk = run()

                def chunk_of_two(start: int, count: int) -> None:
                    if threading.get_ident() not in workers:
                        workers.add(threading.get_ident())
                        meeting.wait()
                    chunk(start, count)

                return chunk_of_two

            super().__init__(meet, n, **kwargs)
            self._workers = workers

        def finish(self):
            super().finish()
            if self._shared:
                taken_part.append(len(self._workers))

    monkeypatch.setattr(threads, "Job", Together)
    return taken_part


def names_of_operations():
    """Return the names of kinetree's array operations that are compiled, without those of tests."""
    found = {o.name for o in ArrayOperation.__subclasses__() if o.__module__.startswith("kinetree.")}
    return found - {"declared"}
