"""The compiled code of a function: loaded from the disk cache, or traced, optimised and compiled when first asked for.

The compiler is imported only where something has to be compiled: a cached function needs no tracing.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinetree import locks
from kinetree.backends import get_backend
from kinetree.backends.base import ObjectCode
from kinetree.glue import cpython, entry
from kinetree.graph import Program
from kinetree.runtime import cache
from kinetree.runtime.batch import BatchKernel, SingleKernel
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.tracing import context

_K = TypeVar("_K")


observer: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext
"""Entered, with the function's name, while something is compiled; the command line sets it to show that."""


class _Wanted(NamedTuple):
    """Code of this kind, as the disk cache knows it, and how to compile it."""

    kind: str
    compiled: Callable[[], ObjectCode]


class Single(NamedTuple):
    """The kernel for one state, and what else may be compiled with it: an entry for C, and the call glue.

    `call` is the address of ``kt_call``, and `table` what it reads.
    """

    kernel: SingleKernel
    c_entry: int | None
    call: int | None
    table: entry.CallTable


class Kernels:
    """What is compiled of a function, variant by variant; `lanes` of its batch kernels suit the processor if None."""

    def __init__(self, spec: FunctionSpec, backend: str, lanes: int | None) -> None:
        self._spec, self._backend_name, self._lanes = spec, backend, lanes
        self._programs: dict[tuple[Any, ...], Program] = {}
        self.singles: dict[Variant, Single] = {}
        self.batches: dict[Variant, BatchKernel] = {}

    def program(self, variant: Variant) -> Program:
        """Return the optimised program of a variant, the same for every dtype."""
        key = variant[:2]
        if key in self._programs:
            return self._programs[key]
        with locks.compiling:
            if key not in self._programs:
                from kinetree.passes.pipeline import optimize

                with context.outside():
                    self._programs[key] = optimize(self._spec.trace(variant))
            return self._programs[key]

    def single(self, variant: Variant) -> Single:
        """Return the kernel for one state."""
        if variant in self.singles:
            return self.singles[variant]
        backend = get_backend(self._backend_name)
        wanted = _Wanted("single", lambda: backend.compile_single(self._checked(variant), variant.dtype))
        return self._made(self.singles, variant, wanted, self._loaded_single)

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        if variant in self.batches:
            return self.batches[variant]
        backend = get_backend(self._backend_name)
        lanes = backend.lanes(variant.dtype) if self._lanes is None else self._lanes
        wanted = _Wanted(f"batch {lanes}", lambda: backend.compile_batch(self._checked(variant), variant.dtype, lanes))
        return self._made(self.batches, variant, wanted, lambda variant, code: self._loaded_batch(code, lanes))

    def _loaded_single(self, variant: Variant, code: ObjectCode) -> Single:
        spec = self._spec
        loaded = get_backend(self._backend_name).load(code)
        kernel = SingleKernel(loaded.address("kt_single") or 0, code.scratch, entry.gc_opaque(loaded))
        values = dict(variant.options)
        options = [(option.name, values[option.name]) for option in spec.open_options]
        needed = frozenset(o.name for o in spec.open_options if o.required or values[o.name] != o.default)
        table = entry.CallTable(spec.result, options, needed)
        call, set_table = loaded.address("kt_call"), loaded.address("kt_set_table")
        if set_table is not None:
            table.install(set_table)
        return Single(kernel, loaded.address("kt_c_entry"), call, table)

    def _loaded_batch(self, code: ObjectCode, lanes: int) -> BatchKernel:
        loaded = get_backend(self._backend_name).load(code)
        return BatchKernel(loaded.address("kt_batch") or 0, code.scratch, entry.gc_opaque(loaded), lanes)

    def _checked(self, variant: Variant) -> Program:
        """Return the program of a variant, whose constants its dtype can hold."""
        from kinetree.passes.constants import check_constants

        program = self.program(variant)
        check_constants(program, variant.dtype, self._spec.name)
        return program

    def _made(
        self, made: dict[Variant, _K], variant: Variant, wanted: _Wanted, loaded: Callable[[Variant, ObjectCode], _K]
    ) -> _K:
        """Load the code of a variant from the disk cache, or compile it.

        Only compiling takes the lock. Two threads may both load the same code: the first one's is everybody's.
        """
        with locks.loading():
            target = get_backend(self._backend_name).target
            key = cache_key(self._spec, variant, target, f"{self._backend_name} {wanted.kind}")
            code = None if key is None else cache.load(key)
            if code is not None:
                return made.setdefault(variant, loaded(variant, code))
        with locks.compiling:
            if variant in made:
                return made[variant]
            code = None if key is None else cache.load(key)  # another thread may have compiled it in the meantime
            if code is None:
                with observer(self._spec.name):
                    code = wanted.compiled()
                if key is not None:
                    cache.store(key, code)
            return made.setdefault(variant, loaded(variant, code))


def cache_key(spec: FunctionSpec, variant: Variant, target: str, kind: str) -> str | None:
    """Return the digest of all that this code depends on, None if that cannot be known."""
    source, identity = cache.source_digest(), spec.identity()
    if source is None or identity is None:
        return None
    ports = repr((spec.inputs, spec.outputs))
    return cache.digest([source, _abi(), target, spec.name, ports, identity, repr(variant), kind])


@functools.cache
def _abi() -> str:
    """Return what marks the Python and NumPy that code is made for."""
    known: tuple[Any, ...] = (
        sys.implementation.cache_tag,
        sys.abiflags if hasattr(sys, "abiflags") else "",
        object.__basicsize__,
        tuple.__basicsize__,
        np.__version__.split(".")[0],
        None if cpython.find() is None else (cpython.find(), cpython.numpy_api().abi),
    )
    return repr(known)
