"""Functions with some of their options fixed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

from kinetree.errors import ArgumentError, unknown_name
from kinetree.runtime.function import Function
from kinetree.runtime.options import Fixed
from kinetree.runtime.spec import Declaration


class Bound(Function):
    """A function with some options fixed: what `Function.bind` returns."""

    def __init__(
        self, declaration: Declaration, lanes: int | None, whole: Function, options: Mapping[str, object]
    ) -> None:
        super().__init__(declaration, lanes)
        self._whole, self._options = whole, options

    def __new__(
        cls, declaration: Declaration, lanes: int | None, whole: Function, options: Mapping[str, object]
    ) -> Self:
        """Make the instance with a class of its own."""
        return super().__new__(cls, declaration, lanes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make this function again: from the whole one and the options."""
        return _bind, (self._whole, dict(self._options))


def _bind(whole: Function, options: Mapping[str, object]) -> Function:
    return whole.bind(**options)


def fixed(declaration: Declaration, options: Mapping[str, object]) -> Declaration:
    """Return the declaration with these options fixed."""
    names = [option.name for option in declaration.open_options]
    for name in options:
        if name not in names:
            raise ArgumentError(f"{declaration.name} has {unknown_name('option', name, names)}")
    try:
        values = {o.name: o.canonical(options[o.name]) for o in declaration.open_options if o.name in options}
    except ArgumentError as error:
        raise ArgumentError(f"{declaration.name}: {error}") from None
    kept = tuple(Fixed(o.name, (), values[o.name]) if o.name in values else o for o in declaration.options)
    return replace(declaration, options=kept)
