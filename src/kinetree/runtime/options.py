"""The keywords that choose between programs: what they may be, and what the program is traced with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kinetree.errors import ArgumentError, unknown_name

Value = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Option:
    """One of a few strings, of which the first is the default.

    Attributes
    ----------
    name : str
        The keyword.
    choices : tuple of str
        The legal strings.
    """

    name: str
    choices: tuple[str, ...]

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return False

    @property
    def default(self) -> Value:
        """The value where nothing is given."""
        return self.choices[0]

    def canonical(self, value: object) -> Value:
        """Return what the program is traced with: the same for all ways to say the same.

        Raises
        ------
        ArgumentError
            If it is no legal value.
        """
        if isinstance(value, str) and value in self.choices:
            return str(value)
        if isinstance(value, str) and len(self.choices) > 4:
            raise ArgumentError(unknown_name(self.name, value, self.choices))
        raise ArgumentError(f"{self.name} is {_short(value)}, it must be {listed(self.choices)}")


@dataclass(frozen=True)
class OneName(Option):
    """One name of many, as of a frame; None if it is not required and not given.

    Attributes
    ----------
    kind : str
        What has these names.
    needed : bool
        Whether it must be given.
    """

    kind: str = "name"
    needed: bool = True

    @property
    def required(self) -> bool:
        """See `Option`."""
        return self.needed

    @property
    def default(self) -> Value:
        """See `Option`."""
        return None

    def canonical(self, value: object) -> Value:
        """See `Option`."""
        if value is None and not self.needed:
            return None
        if not isinstance(value, str):
            raise ArgumentError(f"{self.name} is {_short(value)}, it must be the name of a {self.kind}")
        if value not in self.choices:
            raise ArgumentError(f"{self.name}: {unknown_name(self.kind, value, self.choices)}")
        return str(value)


@dataclass(frozen=True)
class Names(Option):
    """Any number of names, as of joints: in what order, and how often each, makes no difference.

    Attributes
    ----------
    kind : str
        What has these names.
    refused : mapping of str to str
        Names that exist and cannot be given, with the reason.
    """

    kind: str = "name"
    refused: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def default(self) -> Value:
        """See `Option`."""
        return ()

    def canonical(self, value: object) -> Value:
        """See `Option`."""
        if isinstance(value, str):
            raise ArgumentError(f"{self.name} is one string: write {self.name}=[{value!r}], a sequence of names")
        if not isinstance(value, Iterable):
            raise ArgumentError(f"{self.name} is {_short(value)}, it must be a sequence of names of {self.kind}s")
        given = list(value)
        for name in given:
            if not isinstance(name, str):
                raise ArgumentError(f"{self.name} has {_short(name)} in it, which is no name of a {self.kind}")
            if name in self.refused:
                raise ArgumentError(f"{self.name}: {self.refused[name]}")
            if name not in self.choices:
                raise ArgumentError(f"{self.name}: {unknown_name(self.kind, name, self.choices)}")
        return tuple(name for name in self.choices if name in given)


@dataclass(frozen=True)
class Fixed(Option):
    """An option that is no longer one: `Function.bind` chose its value."""

    value: Value = None

    @property
    def default(self) -> Value:
        """See `Option`."""
        return self.value

    def canonical(self, value: object) -> Value:
        """See `Option`."""
        raise ArgumentError(f"{self.name} is fixed to {self.value!r} by bind")


def listed(names: tuple[str, ...], most: int = 4) -> str:
    """Return the names for a message, not too many."""
    return " or ".join(repr(c) for c in names[:most]) + (" or …" if len(names) > most else "")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
