"""The call glue of a function: the record of its compiled variants, and the built-in function that reads it."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping
from types import NoneType
from typing import Any

import numpy as np

from kinetree import locks
from kinetree.glue import descriptor, entry
from kinetree.runtime.kernels import Glue, Kernels, call_glue
from kinetree.runtime.options import Value, plain
from kinetree.runtime.spec import FunctionSpec, Variant


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
    """What a function tells the glue of its compiled variants.

    One result does not wait for the glue to be loaded, or compiled, which takes longer than compiling a small program:
    it `is_awaited` then, and made at the next call.
    """

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
