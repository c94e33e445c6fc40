"""The compiled code of a function: loaded from the disk cache, or traced, optimised and compiled when first asked for.

The compiler is imported only where something has to be compiled: a cached function needs no tracing.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinetree import locks
from kinetree.backends import get_backend
from kinetree.backends.base import ObjectCode, Steps
from kinetree.glue import cpython, entry
from kinetree.graph import Program
from kinetree.runtime import cache
from kinetree.runtime.batch import BatchKernel, SingleKernel
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.runtime.steps import ScanKernel
from kinetree.tracing import context

_K = TypeVar("_K")
_V = TypeVar("_V")


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
        self.scans: dict[tuple[Variant, Steps], ScanKernel] = {}

    def program(self, variant: Variant) -> Program:
        """Return the optimised program of a variant, the same for every dtype."""
        key = variant[:2]
        with locks.compiling:
            if key not in self._programs:
                from kinetree.passes.pipeline import optimize

                with context.outside():
                    self._programs[key] = optimize(self._spec.trace(variant))
            return self._programs[key]

    def single(self, variant: Variant) -> Single:
        """Return the kernel for one state."""
        return self.singles.get(variant) or _made_once(self.singles, variant, self._make_single)

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        return self.batches.get(variant) or _made_once(self.batches, variant, self._make_batch)

    def scan(self, variant: Variant, steps: Steps) -> ScanKernel:
        """Return the kernel for many steps of many states."""
        key = variant, steps
        return self.scans.get(key) or _made_once(self.scans, key, lambda _: self._make_scan(variant, steps))

    def _make_single(self, variant: Variant) -> Single:
        backend = get_backend(self._backend_name)
        code = self._code(variant, "single", lambda: backend.compile_single(self.checked(variant), variant.dtype))
        loaded = backend.load(code)
        kernel = SingleKernel(loaded.address("kt_single") or 0, code.scratch, entry.gc_opaque(loaded))
        return Single(kernel, loaded.address("kt_c_entry"), loaded.address("kt_run"))

    def _make_batch(self, variant: Variant) -> BatchKernel:
        backend = get_backend(self._backend_name)
        lanes = backend.lanes(variant.dtype) if self._lanes is None else self._lanes
        code = self._code(
            variant, f"batch {lanes}", lambda: backend.compile_batch(self.checked(variant), variant.dtype, lanes)
        )
        loaded = backend.load(code)
        return BatchKernel(loaded.address("kt_batch") or 0, code.scratch, entry.gc_opaque(loaded), lanes)

    def _make_scan(self, variant: Variant, steps: Steps) -> ScanKernel:
        backend = get_backend(self._backend_name)
        lanes = backend.lanes(variant.dtype) if self._lanes is None else self._lanes
        code = self._code(
            variant,
            f"scan {lanes} {steps!r}",
            lambda: backend.compile_scan(self.checked(variant), variant.dtype, lanes, steps),
        )
        loaded = backend.load(code)
        return ScanKernel(loaded.address("kt_scan") or 0, code.scratch, entry.gc_opaque(loaded), lanes)

    def checked(self, variant: Variant) -> Program:
        """Return the program of a variant, whose constants its dtype can hold."""
        from kinetree.passes.constants import check_constants

        program = self.program(variant)
        check_constants(program, variant.dtype, self._spec.name)
        return program

    def _code(self, variant: Variant, kind: str, compiled: Callable[[], ObjectCode]) -> ObjectCode:
        key = cache_key(self._spec, variant, get_backend(self._backend_name).target, f"{self._backend_name} {kind}")
        code = None if key is None else cache.load(key)
        return code or _stored(key, compiled())


def _made_once(kernels: dict[_V, _K], variant: _V, make: Callable[[_V], _K]) -> _K:
    with locks.compiling:
        if variant not in kernels:
            kernels[variant] = make(variant)
        return kernels[variant]


def _stored(key: str | None, code: ObjectCode) -> ObjectCode:
    if key is not None:
        cache.store(key, code)
    return code


_glues: dict[str, Glue | None] = {}  # by the backend's name; None where it has none


def call_glue(backend_name: str, *, load: bool) -> Glue | None:
    """Return the call glue of a backend, None if there is none; unless `load`, only what is in memory already."""
    if cpython.find() is None:
        return None
    with locks.compiling:
        if backend_name not in _glues and load:
            backend, source = get_backend(backend_name), cache.source_digest()
            parts = None if source is None else [source, _abi(), backend.target, f"{backend_name} call glue"]
            key = None if parts is None else cache.digest(parts)
            code = None if key is None else cache.load(key)
            if code is None and (compiled := backend.compile_glue()) is not None:
                code = _stored(key, compiled)
            loaded = None if code is None else backend.load(code)
            _glues[backend_name] = None if loaded is None else Glue(loaded.address("kt_call") or 0, loaded)
        return _glues.get(backend_name)


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
