"""A model taken apart into its structure and its numbers, and put together again.

Anything made of dataclasses, tuples and the small spatial types is a tree; its leaves are numbers (floats, or any
other scalar: traced, symbolic) and structure (strings, integers, types). Two robots of the same structure
differ in numbers only.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, TypeVar

from kinetree.spatial import Composite

T = TypeVar("T")


@cache
def _fields(kind: type[Any]) -> Sequence[str] | None:
    """Return the names of the parts of composite values of a type, None for leaves."""
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind)]
    return kind.parts if issubclass(kind, Composite) else None


def flatten(value: Any) -> tuple[Hashable, tuple[Any, ...]]:
    """Return a hashable description of everything but the numbers, and the numbers in a fixed order."""
    numbers: list[Any] = []

    def walk(v: Any) -> Hashable:
        if v is None or isinstance(v, (str, int)):
            return v
        if isinstance(v, tuple):
            return ("tuple", *map(walk, v))
        names = _fields(type(v))  # type: ignore[arg-type]  # types are hashable
        if names is not None:
            return (f"{type(v).__module__}.{type(v).__qualname__}", *(walk(getattr(v, name)) for name in names))
        numbers.append(v)
        return "number"

    return walk(value), tuple(numbers)


def map_leaves(value: T, function: Callable[[Any], Any]) -> T:
    """Return the same value with every number replaced by the function of it, in the fixed order."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, tuple):
        return tuple(map_leaves(v, function) for v in value)  # type: ignore[return-value]
    names = _fields(type(value))  # type: ignore[arg-type]
    if names is None:
        return function(value)  # type: ignore[no-any-return]
    copy = object.__new__(type(value))
    for name in names:
        object.__setattr__(copy, name, map_leaves(getattr(value, name), function))
    return copy
