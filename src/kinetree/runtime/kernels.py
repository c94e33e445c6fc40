"""The compiled code of a function: loaded from the disk cache, or traced, optimised and compiled; and its call glue.

The compiler is imported only where something has to be compiled: a cached function needs no tracing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import NoneType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinetree import locks
from kinetree.backends import get_backend
from kinetree.backends.base import LoadedCode, ObjectCode, Steps
from kinetree.glue import cpython, descriptor, entry
from kinetree.graph import Program
from kinetree.runtime import cache
from kinetree.runtime.batch import BatchKernel, SingleKernel
from kinetree.runtime.options import Value, plain
from kinetree.runtime.spec import FunctionSpec, Variant
from kinetree.runtime.steps import ScanKernel
from kinetree.tracing import context

_K = TypeVar("_K")
_V = TypeVar("_V")


observer: Callable[[str], AbstractContextManager[object]] = contextlib.nullcontext
"""Entered, with the function's name, while something is compiled; the command line sets it to show that."""


class _KernelRequest(NamedTuple):
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
        request = _KernelRequest(
            variant, "single", lambda: backend.compile_single(self.checked(variant), variant.dtype)
        )

        def made(code: ObjectCode, loaded: LoadedCode) -> Single:
            return Single(SingleKernel(code, loaded), loaded.address("kt_c_entry"), loaded.address("kt_run"))

        return self._loaded(self.singles, variant, request, made)

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        if variant in self.batches:
            return self.batches[variant]
        backend, lanes = get_backend(self._backend_name), self._lanes_for(variant)
        request = _KernelRequest(
            variant, f"batch {lanes}", lambda: backend.compile_batch(self.checked(variant), variant.dtype, lanes)
        )
        return self._loaded(self.batches, variant, request, lambda code, loaded: BatchKernel(code, loaded, lanes))

    def scan(self, variant: Variant, steps: Steps, states: int) -> ScanKernel:
        """Return the kernel for many steps of so many states: of one state it is a kernel of one lane."""
        lanes = 1 if states == 1 and self._lanes is None else self._lanes_for(variant)
        key = variant, steps, lanes
        if key in self.scans:
            return self.scans[key]
        backend = get_backend(self._backend_name)
        request = _KernelRequest(
            variant,
            f"scan {lanes} {steps!r}",
            lambda: backend.compile_scan(self.checked(variant), variant.dtype, lanes, steps),
        )
        return self._loaded(self.scans, key, request, lambda code, loaded: ScanKernel(code, loaded, lanes))

    def _lanes_for(self, variant: Variant) -> int:
        return get_backend(self._backend_name).lanes(variant.dtype) if self._lanes is None else self._lanes

    def checked(self, variant: Variant) -> Program:
        """Return the program of a variant, whose constants its dtype can hold."""
        from kinetree.passes.constants import check_constants

        program = self.program(variant)
        check_constants(program, variant.dtype, self._spec.name)
        return program

    def _loaded(
        self, made: dict[_V, _K], key: _V, request: _KernelRequest, kernel: Callable[[ObjectCode, LoadedCode], _K]
    ) -> _K:
        """Load code from the disk cache, or compile it under the lock; of two threads that load it, one's counts."""
        backend = get_backend(self._backend_name)
        with locks.loading():
            name = cache_key(self._spec, request.variant, backend.target, f"{self._backend_name} {request.kind}")
            code = None if name is None else cache.load(name)
            if code is not None:
                return made.setdefault(key, kernel(code, backend.load(code)))
        with locks.compiling:
            if key in made:
                return made[key]
            code = None if name is None else cache.load(name)  # another thread may have compiled it in the meantime
            if code is None:
                with observer(self._spec.name):
                    code = _stored(name, request.compiled())
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
    """Return a tag of the Python and NumPy that code is made for."""
    known: tuple[Any, ...] = (
        sys.implementation.cache_tag,
        sys.abiflags if hasattr(sys, "abiflags") else "",
        object.__basicsize__,
        tuple.__basicsize__,
        np.__version__.split(".")[0],
        None if cpython.find() is None else (cpython.find(), cpython.numpy_api().abi),
    )
    return repr(known)


class OptionCodes:
    """The small numbers by which the glue knows the values of one option.

    Every spelling that it has met is known to it (of a sequence of names, each order in which it was given), and
    objects by their addresses too, which is quicker. So that a caller who makes new ones on every call costs no memory,
    only the first `MOST` are kept.
    """

    MOST = 64

    def __init__(self, name: str, default: Value, required: bool) -> None:
        self.name = sys.intern(name)
        self._codes: dict[Value, int] = {}
        self._known: dict[object, int] = {}
        self._seen = np.zeros(1 + 2 * self.MOST, np.int64)
        self._kept: list[object] = []  # what has been seen: no other object may come to its address
        self.default = -1 if required else self.code(default)

    def code(self, value: Value) -> int:
        """Return the code of a value, a new one if need be."""
        with locks.installing:
            if value not in self._codes:
                self._codes[value] = len(self._codes)
                given = sys.intern(value) if type(value) is str else plain(value)
                if type(given) in (int, NoneType) or _are_strings(given):  # others are known by their addresses
                    self._known[given] = self._codes[value]
                self._see(given, self._codes[value])
            return self._codes[value]

    def learn(self, given: object, value: Value) -> None:
        """Note that this is how a value was given."""
        key = tuple(given) if type(given) is list else given
        if not _are_strings(key):
            return
        with locks.installing:
            if value in self._codes:
                if len(self._known) < self.MOST + len(self._codes):
                    self._known.setdefault(key, self._codes[value])
                if given is key:
                    self._see(given, self._codes[value])

    def _see(self, given: object, code: int) -> None:
        if len(self._kept) < self.MOST and not any(given is x for x in self._kept):
            self._kept.append(given)
            n = len(self._kept)
            self._seen[2 * n - 1 : 2 * n + 1] = id(given), code
            self._seen[0] = n  # last: the glue may be reading

    @property
    def choice(self) -> descriptor.Choice:
        """What the glue reads, also of spellings to be learned."""
        return descriptor.Choice(self._known, self._seen, self.default)


class CallGlue:
    """What a function tells the glue of its variants; while that is not loaded, it `is_awaited`."""

    def __init__(self, spec: FunctionSpec, kernels: Kernels, backend: str) -> None:
        self._spec, self._kernels, self._backend = spec, kernels, backend
        self._options = [OptionCodes(o.name, o.default, o.required) for o in spec.open_options]
        names = [*(port.name for port in spec.inputs), *(option.name for option in self._options), "out"]
        self._names = [sys.intern(spec.spelled(name)) for name in names]
        positions = [names.index(name) for name in itertools.takewhile(names.__contains__, spec.positional)]
        defaults = [(wide, _narrow(wide)) for wide in spec.defaults.values()]
        self._inputs = descriptor.Inputs(spec.inputs, len(spec.required), defaults, positions, spec.ranges)
        self._is_possible = descriptor.is_describable(spec.inputs, len(spec.optional), len(self._options))
        self._glue: Glue | None = None
        self.is_awaited = False

    def learn(self, given: Mapping[str, object], variant: Variant) -> None:
        """Note how the options of a variant were given."""
        values = dict(variant.options)
        for option in self._options:
            if (name := self._spec.spelled(option.name)) in given:
                option.learn(given[name], values[option.name])

    def fetch(self, *, load: bool, wait: bool) -> None:
        """Look for the glue in memory or, if `load`, bring it there; unless `wait`, not while something is compiled."""
        if self._is_possible and self._glue is None:
            self._glue, known = call_glue(self._backend, load=load, wait=wait)
            self.is_awaited = not known

    def builtin(self, general: Callable[..., Any]) -> Callable[..., Any] | None:
        """Return the function that calls the variants, else `general`; None without glue. The caller holds the lock."""
        glue = self._glue
        if glue is None:
            return None
        entries, keep = [], []
        singles, batches = self._kernels.singles, self._kernels.batches
        for variant in {**singles, **batches}:
            single, batch = singles.get(variant), batches.get(variant)
            key = self._key(variant)
            run = single and single.run
            results = self._spec.of(variant.optional, variant.options)
            is_shaped = all(results.shaped(port) == port for port in self._spec.inputs)
            if key is not None and is_shaped and (run or batch) and len(results.outputs) <= descriptor.MOST_PORTS:
                record = batch.record if batch else (0, 0, 0)
                entries.append(descriptor.Entry(key, run or 0, *record, results.outputs, results.result))
                keep += [single and single.kernel.keep, batch and (batch.keep, batch.limits), results.result]
        choices = [option.choice for option in self._options]
        words = descriptor.describe(self._inputs, self._names, choices, entries)
        owner = entry.gc_opaque((keep, self._names, self._options, self._inputs, glue))
        return entry.builtin(self._spec.name, glue.address, words, general, owner)

    def _key(self, variant: Variant) -> int | None:
        values = dict(variant.options)
        codes = [option.code(values[option.name]) for option in self._options]
        optional = [self._spec.optional.index(name) for name in variant.optional]
        if any(code >= descriptor.MOST_CODES for code in codes):
            return None
        return descriptor.key(variant.dtype == "float32", optional, codes)


def _are_strings(given: object) -> bool:
    return type(given) is str or (type(given) is tuple and all(type(entry) is str for entry in given))


def _narrow(wide: descriptor.Array) -> descriptor.Array:
    """Return an array in float32."""
    with np.errstate(over="ignore"):
        return wide.astype(np.float32)
