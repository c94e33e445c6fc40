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
    - ``int kt_c_entry(const T *input, …, T *output, …)``, optional, beside `kt_single`: brings its own scratch and
      returns 0, or -1 where there is no memory.
    - ``kt_call``, optional, beside `kt_single`: a vectorcall function of CPython (see `kinetree.glue.entry`), and
      ``void kt_set_table(ptr)``, which sets the table that it reads.

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

    @abstractmethod
    def load(self, code: ObjectCode) -> LoadedCode:
        """Bring code into memory; `LookupError` where an external symbol is not known."""
