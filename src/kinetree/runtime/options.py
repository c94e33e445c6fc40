"""The keywords that choose between programs: what they may be, and what the program is traced with."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin

import numpy as np

from kinetree.errors import ArgumentError, here_called, listed, unknown_name

Value = Hashable


@dataclass(frozen=True)
class Option:
    """One of a few strings, of which the first is the default.

    Attributes
    ----------
    name : str
        The keyword.
    choices : tuple of str
        The legal strings; of the subclasses, the names that there are.
    kind : str
        What has these names, for the messages of the subclasses.
    required : bool
        Whether there is no default.
    hint : str
        What to say besides of a value that is none of these.
    """

    name: str
    choices: tuple[str, ...]
    kind: str = "name"
    required: bool = False
    hint: str = ""

    @property
    def default(self) -> Value:
        """The value where nothing is given."""
        return self.choices[0]

    @property
    def expected(self) -> str:
        """What a value is, for messages."""
        return f"one of {listed(self.choices) or 'none'}"

    def canonical(self, value: object) -> Value:
        """Return the value to trace the program with, the same for equivalent ones; `ArgumentError` for others."""
        if isinstance(value, str) and value in self.choices:
            return str(value)
        if isinstance(value, str) and len(self.choices) > 4:
            raise ArgumentError(unknown_name(self.name, value, self.choices) + self.hint)
        known = " or ".join(map(repr, self.choices[:4])) + (" or …" if len(self.choices) > 4 else "")
        here = here_called(str(value).rpartition(".")[2], self.choices)  # of an enumeration too: its member's name
        hint = f"; here it is {self.name}={here[0]!r}" if here else ""
        raise ArgumentError(f"{self.name} is {_short(value)}, it must be {known}{hint}{self.hint}")

    def _known(self, name: str) -> str:
        if name not in self.choices:
            raise ArgumentError(f"{self.name}: {unknown_name(self.kind, name, self.choices)}")
        return str(name)


@dataclass(frozen=True)
class OneName(Option):
    """One name of many, as of a frame; None if it is not required and not given."""

    default: ClassVar[Value] = None

    def canonical(self, value: object) -> Value:
        """Return the name."""
        if value is None and not self.required:
            return None
        if not isinstance(value, str):
            raise ArgumentError(f"{self.name} is {_short(value)}, it must be the name of a {self.kind}")
        return self._known(value)


@dataclass(frozen=True)
class Names(Option):
    """Any number of names, as of joints, without order; `refused` are known names that cannot be given, and why."""

    default: ClassVar[Value] = ()
    refused: Mapping[str, str] = field(default_factory=dict, hash=False)

    def canonical(self, value: object) -> Value:
        """Return the names in the order of `choices`, each once."""
        if isinstance(value, str):
            raise ArgumentError(f"{self.name} is one string: write {self.name}=[{value!r}], a sequence of names")
        if not isinstance(value, Iterable):
            raise ArgumentError(f"{self.name} is {_short(value)}, it must be a sequence of names of {self.kind}s")
        given = list(value)
        for name in given:
            if not isinstance(name, str):
                a = "an" if self.kind[0] in "aeiou" else "a"
                raise ArgumentError(f"{self.name} has {_short(name)} in it, which is not a name of {a} {self.kind}")
            if name in self.refused:
                raise ArgumentError(f"{self.name}: {self.refused[name]}")
            self._known(name)
        return tuple(name for name in self.choices if name in given)


class Exact:
    """A value that equals only one of the same type and sign of zero, in tuples too: 1, True and 1.0 are three."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Value) -> None:
        self.value, self._key = value, _exactly(value)

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Exact) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return repr(self.value)


def _exactly(value: Value) -> Value:
    if isinstance(value, tuple):
        return type(value), *map(_exactly, value)
    return type(value), repr(value) if isinstance(value, float | complex) else value


def plain(value: Value) -> Value:
    """Return the value that a function is traced with for an option's value."""
    return value.value if isinstance(value, Exact) else value


@dataclass(frozen=True)
class Constant(Option):
    """A hashable value that a user's function has while it is traced; but for str, int and None it is `Exact`."""

    annotation: Any = None
    default: Value = None

    @property
    def expected(self) -> str:
        """The type."""
        return " or ".join(text for kind in alternatives(self.annotation) for text in _described(kind))

    def canonical(self, value: object) -> Value:
        """Return the value: a Python number for one of NumPy, a tuple for a list."""
        found = _conforming(value, self.annotation)
        if is_hashable(found):
            return found if type(found) in (str, int, NoneType) else Exact(found)
        if found is value and type(value) is not list:  # nothing is wrong but that
            raise ArgumentError(
                f"{self.name} is {_short(value)}, which cannot be hashed as a constant must be: give a tuple, a frozen "
                "dataclass or the like"
            )
        number = isinstance(value, float | np.ndarray) and self.annotation in (int, NoneType, tuple)
        advice = f"; for a number or array that calls may change, annotate it, {self.name}: float" if number else ""
        raise ArgumentError(f"{self.name} is {_short(value)}, it must be {self.expected}, a constant{advice}")


def is_hashable(value: object) -> bool:
    """Return whether a value can be one of an option; of tuples, whether all in it can."""
    try:
        hash(value)
    except TypeError:
        return False
    return True


def alternatives(annotation: Any) -> tuple[Any, ...]:
    """Return the parts of a union, else the type itself."""
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _described(kind: Any) -> Iterable[str]:
    if get_origin(kind) is Literal:
        return map(repr, get_args(kind))
    if kind is None or kind is NoneType:
        return ["None"]
    if get_origin(kind) is not None:
        return [str(kind)]
    return [f"{'an' if kind.__name__[0] in 'aeiou' else 'a'} {kind.__name__}"]


def _conforming(value: Any, kind: Any) -> object:
    """Return a value of the type of an annotation, True as 1 where both are possible; a list if it is none."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        found = (_conforming(value, part) for part in sorted(parts, key=lambda part: part is bool))
        return next((x for x in found if type(x) is not list), [])
    if origin is Literal:
        return value if any(type(value) is type(x) and value == x for x in parts) else []
    if kind is None or kind is NoneType:
        return value if value is None else []
    if kind is int and isinstance(value, int | np.integer):
        return int(value)
    if kind is bool and isinstance(value, np.bool_):
        return bool(value)
    if origin is tuple and isinstance(value, list | tuple):
        kinds = parts[:1] * len(value) if parts[1:] == (...,) else parts
        entries = tuple(_conforming(x, part) for x, part in zip(value, kinds, strict=False))
        return entries if len(value) == len(kinds) and not any(type(x) is list for x in entries) else []
    return value if isinstance(value, origin or kind) else []


@dataclass(frozen=True)
class Fixed(Option):
    """An option whose value `Function.bind` chose."""

    default: Value = None

    def canonical(self, value: object) -> Value:
        """Refuse any other value."""
        raise ArgumentError(f"{self.name} is fixed to {self.default!r} by bind")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
