"""The contract of a backend: it compiles programs and loads the code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kinetree.graph import Program


@dataclass(frozen=True)
class ObjectCode:
    """The result of a compilation, which can be stored, and loaded by another process without the compiler."""

    objects: tuple[bytes, ...]  # object files, or whatever the backend loads; a long program has several
    scratch: int  # bytes of scratch, aligned to 64, that one running call needs
    symbols: tuple[str, ...]  # the entry points
    externals: tuple[str, ...]  # symbols that the code needs from outside


@dataclass(frozen=True)
class Stops:
    """Which states stop for good: those in which a checked output is not finite, or which give a reason.

    Attributes
    ----------
    reason : int
        The index of a carried input of one number, which is zero while a state goes on.
    trouble : int
        That of the output which is the reason where a checked output is not finite.
    checked : tuple of int
        Those of the outputs that must be finite.
    """

    reason: int
    trouble: int
    checked: tuple[int, ...]


@dataclass(frozen=True)
class Steps:
    """How a program is one step of many: inputs that are its own outputs of the step before, and what is recorded.

    `carried` has the indices of such an input and of the output; `recorded` has indices of outputs.
    Once a state stops, what is carried and recorded of it stays as it is: before the step that is not finite, and after
    a step that gives a reason.
    """

    carried: tuple[tuple[int, int], ...]
    recorded: tuple[int, ...]
    stops: Stops | None = None


class LoadedCode(Protocol):
    """Code in memory, freed with this object: keep it as long as anything may be called."""

    def address(self, symbol: str) -> int | None:
        """Return the address of an entry point, None where there is no such one."""


def check_legal(program: Program, legal: frozenset[str], backend: str) -> None:
    """Raise NotImplementedError if the program has an operation that is not legal; every backend must check that."""
    illegal = _operations(program) - legal
    if illegal:
        raise NotImplementedError(f"the {backend} backend cannot do {', '.join(sorted(illegal))}")


def _operations(program: Program) -> set[str]:
    """Return the names of all operations of a program, those of array operations' programs among them."""
    nodes, names = program.graph.nodes, set[str]()
    for i in program.schedule():
        names.add(nodes[i].op)
        if nodes[i].op == "call":
            names.add(nodes[i].payload.name)
            names.update(*(_operations(nested) for nested in nodes[i].payload.programs))
    return names


class Backend(ABC):
    """Compiles programs for the machine that this process runs on.

    Compiling returns to Python about every second or more often, so that Ctrl-C is handled.

    An entry point is a C function. `ins`, `outs` are arrays of pointers, one a port, and `scratch` is 64-byte aligned
    memory of as many bytes as the code says:

    - ``void kt_single(ptr ins, ptr outs, ptr scratch)``: one state, its arrays contiguous.
    - ``void kt_batch(ptr ins, ptr outs, ptr strides, i64 n, ptr scratch)``: n states; `strides` has the bytes from a
      state to the next, for each input and then for each output; 0 repeats one state.
    - ``void kt_scan(ptr ins, ptr outs, ptr strides, ptr steps, i64 n, i64 count, i64 every, ptr scratch)``: `count`
      steps of n states (see `Steps`). The outputs are the carried inputs after the last step, and then what is recorded
      of every step whose number is a multiple of `every`. `strides` is as above; `steps` has the bytes from a step to
      the next of every input (0: the same at all steps) and from a record to the next of every recorded output.
    - ``int kt_run(ptr ins, ptr outs)``, optional, beside `kt_single`: brings its own scratch and returns 0, -1 where
      there is no memory, or 1 where a signal's handler has raised an exception; it is called with the GIL. Without it
      calls take the general path.
    - ``int kt_c_entry(const T *input, …, T *output, …)``, optional, beside `kt_single`: the same for callers from C.
    - ``kt_call``: the call glue, see `compile_glue`.

    The bits of a result depend neither on the entry point nor on the lanes.
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def legal(self) -> frozenset[str]:
        """The names of the operations that it can compile."""

    @property
    @abstractmethod
    def target(self) -> str:
        """What object code depends on besides the program: the processor, and the versions of the compiler."""

    @abstractmethod
    def lanes(self, dtype: str) -> int:
        """Return how many states of a batch are best computed side by side."""

    @abstractmethod
    def compile_single(self, program: Program, dtype: str) -> ObjectCode:
        """Return code with the entry point `kt_single`."""

    @abstractmethod
    def compile_batch(self, program: Program, dtype: str, lanes: int) -> ObjectCode:
        """Return code with the entry point `kt_batch`, which computes so many states side by side."""

    def compile_scan(self, program: Program, dtype: str, lanes: int, steps: Steps) -> ObjectCode:
        """Return code with the entry point `kt_scan`; a backend may have none."""
        raise NotImplementedError(f"the {self.name} backend cannot compile loops over steps")

    def compile_glue(self) -> ObjectCode | None:
        """Return `kinetree.glue.code` with the entry point ``kt_call``; None where this backend does not compile it."""
        return None

    @abstractmethod
    def load(self, code: ObjectCode) -> LoadedCode:
        """Bring code into memory; `LookupError` where an external symbol is not known."""
