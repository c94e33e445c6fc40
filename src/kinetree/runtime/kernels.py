"""The compiled code of a function: loaded from the disk cache, or traced, optimised and compiled; and its call glue.

The compiler is imported only where something has to be compiled: a cached function needs no tracing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import sys
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from types import NoneType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinetree import locks
from kinetree.backends import get_backend
from kinetree.backends.base import Backend, LoadedCode, ObjectCode, Steps
from kinetree.glue import cpython, descriptor, entry
from kinetree.graph import Program
from kinetree.lazy import cached_property
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


class Glue(NamedTuple):
    """The compiled glue: the address of ``kt_call``, and what keeps it in memory."""

    address: int
    keep: object


def load_or_compile(
    made: dict[Any, Any],
    key: Hashable,
    name: str | None,
    backend: Backend,
    compiled: Callable[[], ObjectCode | None],
    loaded: Callable[[ObjectCode, LoadedCode], Any],
    wait: bool = True,
) -> None:
    """Put into `made` what is made of code: of that in the disk cache under a name, else of new code, if there is any.

    Of two threads that load it, one's counts. Unless `wait`, nothing is done while something else is compiled.
    """

    def is_there() -> bool:
        with locks.loading():
            code = None if key in made or name is None else cache.load(name)
            if code is not None:
                made.setdefault(key, loaded(code, backend.load(code)))
        return key in made

    if is_there() or not locks.compiling.acquire(blocking=wait):
        return
    try:
        if not is_there():  # another thread may have compiled it in the meantime
            code = compiled()
            if code is not None and name is not None:
                cache.store(name, code)
            made.setdefault(key, code and loaded(code, backend.load(code)))
    finally:
        locks.compiling.release()


class Kernels:
    """What is compiled of a function, variant by variant; `lanes` of its batch kernels suit the processor if None."""

    def __init__(self, spec: FunctionSpec, backend: str, lanes: int | None) -> None:
        self._spec, self._backend_name, self._lanes = spec, backend, lanes
        self._programs: dict[tuple[Any, ...], Program] = {}
        self.singles: dict[Variant, SingleKernel] = {}
        self.batches: dict[Variant, BatchKernel] = {}
        self.scans: dict[tuple[Variant, Steps, int], ScanKernel] = {}

    @cached_property
    def _backend(self) -> Backend:
        return get_backend(self._backend_name)

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

    def checked(self, variant: Variant) -> Program:
        """Return the program of a variant, whose constants its dtype can hold."""
        from kinetree.passes.constants import check_constants

        program = self.program(variant)
        check_constants(program, variant.dtype, self._spec.name)
        return program

    def single(self, variant: Variant) -> SingleKernel:
        """Return the kernel for one state."""
        return self._kernel(self.singles, variant, variant, "single", self._backend.compile_single, SingleKernel)

    def batch(self, variant: Variant) -> BatchKernel:
        """Return the kernel for many states."""
        lanes, compiler = self._lanes_for(variant), self._backend.compile_batch
        return self._kernel(self.batches, variant, variant, f"batch {lanes}", compiler, BatchKernel, lanes)

    def scan(self, variant: Variant, steps: Steps, states: int) -> ScanKernel:
        """Return the kernel for many steps of so many states: of one state it is a kernel of one lane."""
        lanes = 1 if states == 1 and self._lanes is None else self._lanes_for(variant)
        key, kind, compiler = (variant, steps, lanes), f"scan {lanes} {steps!r}", self._backend.compile_scan
        return self._kernel(self.scans, key, variant, kind, compiler, ScanKernel, lanes, steps)

    def _lanes_for(self, variant: Variant) -> int:
        return self._backend.lanes(variant.dtype) if self._lanes is None else self._lanes

    def _kernel(
        self,
        made: dict[_V, _K],
        key: _V,
        variant: Variant,
        kind: str,
        compiler: Callable[..., ObjectCode],
        of: Callable[..., _K],
        *how: Any,
    ) -> _K:
        """Return a kernel of this kind, compiled if need be for these lanes and steps, if it has any."""

        def compiled() -> ObjectCode:
            with observer(self._spec.name):
                return compiler(self.checked(variant), variant.dtype, *how)

        if key not in made:
            name = cache_key(self._spec, variant, self._backend.target, f"{self._backend_name} {kind}")
            load_or_compile(made, key, name, self._backend, compiled, lambda *code: of(*code, *how[:1]))
        return made[key]


_glues: dict[str, Glue | None] = {}  # by the backend's name; None where it has none


def call_glue(backend_name: str, *, load: bool, wait: bool) -> tuple[Glue | None, bool]:
    """Return a backend's call glue, None if there is none, and whether that is known; see `CallGlue.fetch`."""
    if cpython.find() is None:
        return None, True
    if load and backend_name not in _glues:
        backend, source = get_backend(backend_name), cache.source_digest()
        key = source and cache.digest([source, _abi(), backend.target, f"{backend_name} call glue"])

        def loaded(code: ObjectCode, own: LoadedCode) -> Glue:
            return Glue(own.address("kt_call") or 0, own)

        load_or_compile(_glues, backend_name, key, backend, backend.compile_glue, loaded, wait)
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
            run = single and single.run_entry
            results = self._spec.of(variant.optional, variant.options)
            is_shaped = all(results.shaped(port) == port for port in self._spec.inputs)
            if key is not None and is_shaped and (run or batch) and len(results.outputs) <= descriptor.MOST_PORTS:
                record = batch.record if batch else (0, 0, 0)
                entries.append(descriptor.Entry(key, run or 0, *record, results.outputs, results.result))
                keep += [single and single.keep, batch and (batch.keep, batch.limits), results.result]
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
