"""The traces of a user's function: all of them see the same values around it."""

from __future__ import annotations

import inspect
import threading
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.runtime.options import Value
from kinetree.runtime.spec import FunctionSpec
from kinetree.tracing import context

Options = tuple[tuple[str, Value], ...]

CHANGED = (
    "{name}: a value that it takes from around it ({which}) has "
    "changed since its first trace, so that this one would mix old and new ones: make the value an argument, or "
    "compile the function again after the change"
)


WHICH = "a global, an attribute, an array, what its closure holds"


class _Comparing(threading.local):
    now = False


_comparing = _Comparing()


class Traces:
    """The specs of a function's variants, each traced when first asked for.

    What a function takes from around it becomes constants of its programs, read when it is traced. Before the function
    is called for another variant, or as part of another function, its first variant is traced once more: another
    program means that such a value has changed.

    Parameters
    ----------
    name : str
        Of the function, for messages.
    trace : callable
        ``trace(optional, options) -> spec``, whose identity tells its programs apart.
    function : callable
        The function.
    """

    def __init__(
        self, name: str, trace: Callable[[tuple[str, ...], Options], FunctionSpec], function: Callable[..., Any]
    ) -> None:
        self._name, self._trace, self._function = name, trace, function
        self._first: dict[str, object] = {}  # what was around it at the first trace
        self._specs: dict[tuple[tuple[str, ...], Options], FunctionSpec] = {}
        self._compared: Callable[[], object] = lambda: None

    def __call__(self, optional: tuple[str, ...], options: Options) -> FunctionSpec:
        """Return the spec of a variant."""
        key = optional, options
        if key not in self._specs:
            self._first = self._first or _around(self._function)
            self._specs.setdefault(key, self._trace(*key))
        return self._specs[key]

    def compare(self) -> None:
        """Raise `ArgumentError` if the first variant, traced now, is another program; once in each outermost trace."""
        outermost = context.outermost()
        if _comparing.now or (outermost is not None and self._compared() is outermost):
            return
        for key, first in list(self._specs.items())[:1]:
            _comparing.now = True  # for functions inside too: their values are in the program of this one
            try:
                changed = self._trace(*key).identity() != first.identity()
            except Exception as error:  # the other value has another shape, say
                raise ArgumentError(self._changed()) from error
            finally:
                _comparing.now = False
            if changed:
                raise ArgumentError(self._changed())
        self._compared = weakref.ref(outermost) if outermost is not None else self._compared

    def _changed(self) -> str:
        now = _around(self._function)
        names = [name for name in {**self._first, **now} if self._first.get(name) != now.get(name)]
        return CHANGED.format(name=self._name, which=", ".join(names) or WHICH)


def _around(function: Callable[..., Any]) -> dict[str, object]:
    """Return what globals and variables of the closure look like, by name: those whose values show all they hold."""
    try:
        found = inspect.getclosurevars(inspect.unwrap(function))
    except TypeError:  # no function of Python
        return {}
    return {
        name: (value.dtype.str, value.shape, value.tobytes()) if isinstance(value, np.ndarray) else repr(value)
        for name, value in {**found.globals, **found.nonlocals}.items()
        if isinstance(value, int | float | str | list | tuple | dict | np.ndarray | SimpleNamespace)
    }
