"""The keywords that choose between programs: what they may be, and what the program is traced with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from kinetree.errors import ArgumentError, known_elsewhere, unknown_name

Value = str | tuple[str, ...] | None


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
    """

    name: str
    choices: tuple[str, ...]
    kind: str = "name"
    required: bool = False

    @property
    def default(self) -> Value:
        """The value where nothing is given."""
        return self.choices[0]

    def canonical(self, value: object) -> Value:
        """Return what the program is traced with, the same for equivalent values; raise ArgumentError for others."""
        if isinstance(value, str) and value in self.choices:
            return str(value)
        if isinstance(value, str) and len(self.choices) > 4:
            raise ArgumentError(unknown_name(self.name, value, self.choices))
        known = " or ".join(map(repr, self.choices[:4])) + (" or …" if len(self.choices) > 4 else "")
        here = known_elsewhere(str(value).rpartition(".")[2], self.choices)  # of an enumeration too: its member's name
        hint = f"; here it is {self.name}={here!r}" if here else ""
        raise ArgumentError(f"{self.name} is {_short(value)}, it must be {known}{hint}")

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
                raise ArgumentError(f"{self.name} has {_short(name)} in it, which is no name of a {self.kind}")
            if name in self.refused:
                raise ArgumentError(f"{self.name}: {self.refused[name]}")
            self._known(name)
        return tuple(name for name in self.choices if name in given)


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
