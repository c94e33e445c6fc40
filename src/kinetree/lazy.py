"""Attributes computed, and methods and names of packages imported, at first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType, MethodType
from typing import Any, Generic, Self, TypeVar, overload

from kinetree.locks import importing

T = TypeVar("T")
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class cached_property(Generic[T]):  # noqa: N801  (named as its model in functools)
    """An attribute computed once per object and stored in the object's ``__dict__``.

    Like `functools.cached_property` since Python 3.12. That of Python 3.11 holds one lock for all objects while it
    computes, and a child process forked at that moment waits for it forever.
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


class lazy_method:  # noqa: N801  (used like a function definition)
    """A function of another module, or a method made of it, imported and perhaps decorated at its first use."""

    def __init__(self, module: str, name: str, decorate: Decorator | None = None) -> None:
        self._module, self._name, self._decorate = module, name, decorate

    @cached_property
    def _function(self) -> Callable[..., Any]:
        with importing:
            function: Callable[..., Any] = getattr(import_module(self._module), self._name)
            return self._decorate(function) if self._decorate else function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, without an object whose method it is."""
        return self._function(*args, **kwargs)

    def __get__(self, instance: object | None, owner: type) -> Callable[..., Any]:
        return self._function if instance is None else MethodType(self._function, instance)


class lazy_methods:  # noqa: N801  (see lazy_method)
    """A module whose functions become lazy methods: ``lock = lazy_methods("kinetree.robot.edit").lock``."""

    def __init__(self, module: str, decorate: Decorator | None = None) -> None:
        self._module, self._decorate = module, decorate

    def __getattr__(self, name: str) -> lazy_method:
        return lazy_method(self._module, name, self._decorate)


def lazy_names(
    package: str, modules: Mapping[str, str], renamed: Mapping[str, str] = MappingProxyType({})
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package whose names are imported from these modules at first use.

    `renamed` has what is called otherwise than it was; `tools/make_signatures.py` makes the stub of the package.
    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in module_of:
            known = f": it is {renamed[name]}" if name in renamed else ""
            raise AttributeError(f"module {package!r} has no attribute {name!r}{known}")
        with importing:
            found = getattr(import_module(f"kinetree.{module_of[name]}"), name)
            return vars(sys.modules[package]).setdefault(name, found)

    return find, lambda: sorted(module_of)
