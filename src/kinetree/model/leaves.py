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
def _parts(kind: type[Any]) -> tuple[str, Sequence[str]] | None:
    """Return the name of a type of composite values and those of their parts, None for leaves."""
    if not dataclasses.is_dataclass(kind) and not issubclass(kind, Composite):
        return None
    parts = [f.name for f in dataclasses.fields(kind)] if dataclasses.is_dataclass(kind) else kind.parts
    return f"{kind.__module__}.{kind.__qualname__}", parts


def flatten(value: Any) -> tuple[Hashable, tuple[Any, ...]]:
    """Return a hashable description of everything but the numbers, and the numbers in a fixed order."""
    numbers: list[Any] = []

    def walk(v: Any) -> Hashable:
        kind = type(v)
        if kind is float:  # most are, of thousands in a large robot
            numbers.append(v)
            return "number"
        if v is None or isinstance(v, (str, int)):
            return v
        if isinstance(v, tuple):
            return ("tuple", *map(walk, v))
        parts = _parts(kind)  # type: ignore[arg-type]  # types are hashable
        if parts is not None:
            return (parts[0], *[walk(getattr(v, name)) for name in parts[1]])
        numbers.append(v)
        return "number"

    return walk(value), tuple(numbers)


def map_leaves(value: T, function: Callable[[Any], Any]) -> T:
    """Return the same value with every number replaced by the function of it, in the fixed order."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, tuple):
        return tuple(map_leaves(v, function) for v in value)  # type: ignore[return-value]
    parts = _parts(type(value))  # type: ignore[arg-type]
    if parts is None:
        return function(value)  # type: ignore[no-any-return]
    copy = object.__new__(type(value))
    for name in parts[1]:
        object.__setattr__(copy, name, map_leaves(getattr(value, name), function))
    return copy
