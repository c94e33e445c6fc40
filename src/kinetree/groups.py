"""Arguments that are values: one argument, whose fields a compiled function takes as optional inputs and options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kinetree.errors import ArgumentError, listed
from kinetree.lazy import cached_property
from kinetree.locks import importing
from kinetree.signatures import VALUES


@dataclass(frozen=True)
class Group:
    """What a function takes of such a value.

    Attributes
    ----------
    name, kind : str
        Of the argument, and of the value's class in `kinetree`.
    fields : tuple of str
        Those that the function takes.
    inputs, late : tuple of str
        The optional inputs that they are: in the place of the argument, and after all others.
    options : tuple of str
        The options that they are.
    split : callable
        ``split(value) -> dict``: what is given, by the names of inputs and options.
    gather : callable
        ``gather(dict) -> value``: the value from inputs and options by name.
    renamed : mapping of str to str
        What to write in the value, by the names of arguments that are called otherwise there.
    """

    name: str
    kind: str
    fields: tuple[str, ...]
    inputs: tuple[str, ...]
    late: tuple[str, ...]
    options: tuple[str, ...]
    split: Callable[[Any], Mapping[str, Any]]
    gather: Callable[[Mapping[str, Any]], Any]
    renamed: Mapping[str, str]

    @cached_property
    def inner(self) -> dict[str, str]:
        """The names by which a call has inputs and options once the value is split: no user can write them."""
        return {member: f"{self.name}.{member}" for member in (*self.inputs, *self.late, *self.options)}

    def given(self, function: str, value: object) -> dict[str, Any]:
        """Return a value's fields by the inner names; `ArgumentError` where the function does not take it."""
        try:
            return {self.inner[member]: x for member, x in self.split(value).items()}
        except ArgumentError as error:
            raise ArgumentError(f"{function}: {error}") from None
        except KeyError:
            refused = [name for name in self.split(value) if name not in self.inner and hasattr(value, name)]
            raise ArgumentError(
                f"{function} takes no {listed(refused)} in {self.name}: of kinetree.{self.kind} it takes "
                f"{listed(self.fields)}"
            ) from None

    def hint(self, name: str) -> str:
        """Return the advice for an argument that is a field of the value; empty for any other."""
        with importing:
            from kinetree.aliases import KEYWORDS

        for here in (self.renamed.get(own, f"{own}=…") for own in (name, *KEYWORDS.get(name, ()))):
            field = here.partition("=")[0]
            if field in self.fields:
                return f"write {self.name}=kinetree.{self.kind}({here})"
            if field in VALUES[self.kind]:
                return f"of kinetree.{self.kind}, as {self.name}, it takes {listed(self.fields)}"
        return ""

    def gathered(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return arguments and options of a page, with the value in the place of its parts."""
        own = {member: given[member] for member in self.inner if member in given}
        return {self.name: self.gather(own), **{name: x for name, x in given.items() if name not in own}}
