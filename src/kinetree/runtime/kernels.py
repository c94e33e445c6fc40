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
from kinetree.backends.base import LoadedCode, ObjectCode, Steps
from kinetree.glue import cpython
from kinetree.graph import Program
from kinetree.runtime import cache
from kinetree.runtime.batch import BatchKernel, SingleKernel
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.runtime.steps import ScanKernel
from kinetree.tracing import context

_K = TypeVar("_K")
_V = TypeVar("_V")


observer: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext
"""Entered, with the function's name, while something is compiled; the command line sets it to show that."""


class _Wanted(NamedTuple):
    """Code of this variant and kind, as the disk cache knows it, and how to compile it."""

    variant: Variant
    kind: str
    compiled: Callable[[], ObjectCode]


class Single(NamedTuple):
    """The kernel for one state, and the addresses of the entries that bring their own scratch, if there are any."""

    kernel: SingleKernel
    c_entry: int | None
    run: int | None


class Glue(NamedTuple):
    """The compiled glue: the address of ``kt_call``, and what keeps it in memory."""

    address: int
    keep: object


class Kernels:
    """What is compiled of a function, variant by variant; `lanes` of its batch kernels suit the processor if None."""

    def __init__(self, spec: FunctionSpec, backend: str, lanes: int | None) -> None:
        self._spec, self._backend_name, self._lanes = spec, backend, lanes
        self._programs: dict[tuple[Any, ...], Program] = {}
        self.singles: dict[Variant, Single] = {}
        self.batches: dict[Variant, BatchKernel] = {}
        self.scans: dict[tuple[Variant, Steps, int], ScanKernel] = {}

    @property
    def count(self) -> int:
        """How many kernels there are that a call may run."""
        return len(self.singles) + len(self.batches)

    def program(self, variant: Variant) -> Program:
        """Return the optimised program of a variant, the same for every dtype."""
        key = variant[:2]
        if key in self._programs:
            return self._programs[key]
        with locks.compiling:
            if key not in self._programs:
                from kinetree.passes import optimize

                with context.outside():
                    self._programs[key] = optimize(self._spec.trace(variant))
            return self._programs[key]

    def single(self, variant: Variant) -> Single:
        """Return the kernel for one state."""
        if variant in self.singles:
            return self.singles[variant]
        backend = get_backend(self._backend_name)
        wanted = _Wanted(variant, "single", lambda: backend.compile_single(self.checked(variant), variant.dtype))

        def made(code: ObjectCode, loaded: LoadedCode) -> Single:
            return Single(SingleKernel(code, loaded), loaded.address("kt_c_entry"), loaded.address("kt_run"))

        return self._made(self.singles, variant, wanted, made)

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        if variant in self.batches:
            return self.batches[variant]
        backend, lanes = get_backend(self._backend_name), self._lanes_for(variant)
        wanted = _Wanted(
            variant, f"batch {lanes}", lambda: backend.compile_batch(self.checked(variant), variant.dtype, lanes)
        )
        return self._made(self.batches, variant, wanted, lambda code, loaded: BatchKernel(code, loaded, lanes))

    def scan(self, variant: Variant, steps: Steps, states: int) -> ScanKernel:
        """Return the kernel for many steps of so many states: of one state it is a kernel of one lane."""
        lanes = 1 if states == 1 and self._lanes is None else self._lanes_for(variant)
        key = variant, steps, lanes
        if key in self.scans:
            return self.scans[key]
        backend = get_backend(self._backend_name)
        wanted = _Wanted(
            variant,
            f"scan {lanes} {steps!r}",
            lambda: backend.compile_scan(self.checked(variant), variant.dtype, lanes, steps),
        )
        return self._made(self.scans, key, wanted, lambda code, loaded: ScanKernel(code, loaded, lanes))

    def _lanes_for(self, variant: Variant) -> int:
        return get_backend(self._backend_name).lanes(variant.dtype) if self._lanes is None else self._lanes

    def checked(self, variant: Variant) -> Program:
        """Return the program of a variant, whose constants its dtype can hold."""
        from kinetree.passes.constants import check_constants

        program = self.program(variant)
        check_constants(program, variant.dtype, self._spec.name)
        return program

    def _made(self, made: dict[_V, _K], key: _V, wanted: _Wanted, kernel: Callable[[ObjectCode, LoadedCode], _K]) -> _K:
        """Load code from the disk cache, or compile it under the lock; of two threads that load it, one's counts."""
        backend = get_backend(self._backend_name)
        with locks.loading():
            name = cache_key(self._spec, wanted.variant, backend.target, f"{self._backend_name} {wanted.kind}")
            code = None if name is None else cache.load(name)
            if code is not None:
                return made.setdefault(key, kernel(code, backend.load(code)))
        with locks.compiling:
            if key in made:
                return made[key]
            code = None if name is None else cache.load(name)  # another thread may have compiled it in the meantime
            if code is None:
                with observer(self._spec.name):
                    code = _stored(name, wanted.compiled())
            return made.setdefault(key, kernel(code, backend.load(code)))


def _stored(key: str | None, code: ObjectCode) -> ObjectCode:
    if key is not None:
        cache.store(key, code)
    return code


_glues: dict[str, Glue | None] = {}  # by the backend's name; None where it has none


def call_glue(backend_name: str, *, load: bool, wait: bool) -> tuple[Glue | None, bool]:
    """Return a backend's call glue, None if there is none, and whether that is known; see `CallGlue.fetch`."""
    if cpython.find() is None:
        return None, True
    if backend_name in _glues or not load:
        return _glues.get(backend_name), backend_name in _glues
    backend, source = get_backend(backend_name), cache.source_digest()
    parts = None if source is None else [source, _abi(), backend.target, f"{backend_name} call glue"]
    key = None if parts is None else cache.digest(parts)
    with locks.loading():
        code = None if key is None else cache.load(key)
    if code is None and locks.compiling.acquire(blocking=wait):
        try:
            if backend_name not in _glues and (compiled := backend.compile_glue()) is not None:
                code = _stored(key, compiled)
            elif backend_name not in _glues:
                _glues[backend_name] = None
        finally:
            locks.compiling.release()
    if code is not None:
        with locks.loading():
            loaded = backend.load(code)
            _glues.setdefault(backend_name, Glue(loaded.address("kt_call") or 0, loaded))
    return _glues.get(backend_name), backend_name in _glues


def cache_key(spec: FunctionSpec, variant: Variant, target: str, kind: str) -> str | None:
    """Return the digest of all that this code depends on, None if that cannot be known."""
    if spec.variant is not None:
        spec, variant = spec.of(variant.optional, variant.options), Variant((), (), variant.dtype)
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
