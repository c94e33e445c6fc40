"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(Generic[T]):  # noqa: N801  (named as its model in functools)
    """An attribute computed once for each object, and kept in the object's ``__dict__``.

    As `functools.cached_property` is since Python 3.12. The one of Python 3.11 holds a lock, the same for all objects,
    while it computes: a child process forked at that moment waits for it for ever.
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Self | T:
        if instance is None:
            return self
        # two threads may both compute it: the first one's value is everybody's
        return instance.__dict__.setdefault(self._name, self._compute(instance))  # type: ignore[no-any-return]
