"""Choices as values: frozen dataclasses whose fields say once what Python checks, the shell reads and the docs tell."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import MISSING, dataclass, field, fields
from numbers import Integral
from typing import Any, NamedTuple, TypeVar, dataclass_transform

from kinetree.errors import ArgumentError
from kinetree.locks import importing
from kinetree.signatures import VALUES, friendly_call_errors

T = TypeVar("T")
Check = Callable[[str, Any], Any]
"""Takes a name and a value, and returns the value to keep; `ArgumentError` where it cannot be."""


class Option(NamedTuple):
    """What a field says: help, the check of its value, and for the shell a reader, what to call it, and its choices.

    An option that may be `repeated` gives a dict of the pairs that its reader returns.
    """

    name: str
    help: str
    check: Check | None
    read: Callable[[str], Any] | None
    metavar: str | None
    choices: tuple[str, ...]
    repeated: bool


def option(
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | None = None,
    kw_only: bool = True,
    help: str,
    check: Check | None = None,
    read: Callable[[str], Any] | None = None,
    metavar: str | None = None,
    name: str = "",
    choices: tuple[str, ...] = (),
) -> Any:
    """Return a field of a `value`; its option is called as it is, unless a name is given.

    Without a default it must be given; type checkers read that where the field is made. A factory's may be repeated.
    """
    check = one_of(*choices) if choices else check or (flag if isinstance(default, bool) else None)
    about = {"option": Option(name, help, check, read, metavar, choices, default_factory is not None)}
    if default_factory is not None:
        return field(default_factory=default_factory, kw_only=kw_only, metadata=about)
    return field(default=default, kw_only=kw_only, metadata=about)


def options(kind: Any) -> Iterator[tuple[str, Option]]:
    """Yield the names of a value's fields with what they say."""
    for each in fields(kind):
        said: Option = each.metadata["option"]
        yield each.name, said._replace(name=said.name or each.name.replace("_", "-"))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
def value(kind: type[T]) -> type[T]:
    """Return a class as a frozen dataclass whose fields are options: checked, documented, and known to `told`.

    Examples
    --------
    >>> @value
    ... class Pause:
    ...     length: float = option(default=1.0, help="for how long (s)", check=positive)
    >>> Pause(length=-1.0)
    Traceback (most recent call last):
    kinetree.errors.ArgumentError: length is -1.0, it must be a positive number
    """
    together: Callable[[Any], None] | None = vars(kind).get("__post_init__")

    def checked(self: Any) -> None:
        own: Any = type(self)
        for name, check in _checks(own):
            given = getattr(self, name)
            if given is not None or getattr(own, name, ...) is not None:
                object.__setattr__(self, name, check(name, given))
        if together is not None:
            together(self)

    setattr(kind, "__post_init__", checked)  # noqa: B010
    for name, method in (("__repr__", _shown), ("__eq__", _equal), ("__hash__", lambda self: hash(_key(self)))):
        setattr(kind, name, method)
    made = friendly_call_errors(dataclass(frozen=True, kw_only=True, repr=False, eq=False)(kind))
    summary, mark, rest = (made.__doc__ or "").partition("\n\n    Examples")
    every: Any = fields(made)  # type: ignore[arg-type]
    told_of = "".join(map(_documented, every))
    made.__doc__ = f"{summary.rstrip()}\n\n    Parameters\n    ----------\n{told_of}{mark and mark[1:]}{rest}"
    VALUES[made.__name__] = tuple(x.name for x in every)
    return made


def given(name: str, chosen: Any, kind: type[T]) -> T:
    """Return an argument that is a value, as it is by default where it is None; `ArgumentError` if it is none."""
    if chosen is None:
        return kind()
    if not isinstance(chosen, kind):
        raise ArgumentError(f"{name} is {chosen!r}: write {name}=kinetree.{kind.__name__}(…)")
    return chosen


@functools.cache
def _checks(kind: Hashable) -> tuple[tuple[str, Check], ...]:
    """Return the fields of a value that are checked, with their checks."""
    return tuple((name, said.check) for name, said in options(kind) if said.check is not None)


def _shown(self: Any) -> str:
    """Return a value as it is written, without the fields that are as they are by default."""
    needed = {x.name: getattr(self, x.name) for x in fields(self) if x.default is MISSING is x.default_factory}
    usual = vars(type(self)(**needed))
    other = (
        f"{k}={x!r}"
        for k, x in vars(self).items()
        if k in needed or type(x) is not type(usual[k]) or _plain(x) != _plain(usual[k])
    )
    return f"{type(self).__name__}({', '.join(other)})"


def _equal(self: Any, other: object) -> Any:
    return _key(self) == _key(other) if type(self) is type(other) else NotImplemented


def _key(self: Any) -> tuple[Any, ...]:
    """Return the key by which values are compared."""
    return type(self), *map(_plain, vars(self).values())


def _plain(x: Any) -> Any:
    """Return a field as it is compared: tuples for arrays and lists, a set of pairs for a mapping."""
    if isinstance(x, Mapping):
        return frozenset((key, _plain(own)) for key, own in x.items())
    x = x.tolist() if hasattr(x, "tolist") else x
    return tuple(map(_plain, x)) if isinstance(x, list | tuple) else x


def _documented(each: Any) -> str:
    """Return the lines of a docstring for a field."""
    kind = each.type.replace(" | None", "").replace(" | ", " or ").replace("ArrayLike", "array-like")
    text = textwrap.fill(each.metadata["option"].help, 112, initial_indent=" " * 8, subsequent_indent=" " * 8)
    kind += "" if each.default is MISSING is each.default_factory else ", optional"
    return f"    {each.name} : {kind}\n{text[:8]}{text[8].upper()}{text[9:]}.\n"


def one_of(*choices: str) -> Check:
    """Return the check that a value is one of these."""

    def check(name: str, given: Any) -> Any:
        if not isinstance(given, str) or given not in choices:
            raise ArgumentError(f"{name} is {given!r}, it must be {' or '.join(map(repr, choices))}")
        return given

    return check


def only(fits: Callable[[Any], bool], wanted: str) -> Check:
    """Return the check that a value is of a kind."""

    def check(name: str, given: Any) -> Any:
        if not fits(given):
            raise ArgumentError(f"{name} takes {wanted}, not {given!r}")
        return given

    return check


text = only(lambda x: isinstance(x, str), "a text")
"""The check that a value is a text."""


def names_of(name: str, given: Any) -> tuple[str, ...]:
    """Check that these are names: a list of them, or what else can be gone through; one text is none."""
    if isinstance(given, str):
        raise ArgumentError(f"{name} takes a list of names: [{given!r}]")
    try:
        found = tuple(given)
    except TypeError:
        found = (None,)
    if not all(isinstance(x, str) for x in found):
        raise ArgumentError(f"{name} takes a list of names, not {given!r:.80}")
    return found


def flag(name: str, given: Any) -> bool:
    """Check that this is True or False."""
    if not isinstance(given, bool):
        raise ArgumentError(f"{name} is {given!r}, it must be True or False")
    return given


def count(name: str, given: Any) -> int:
    """Check that this is an integer of at least 1."""
    if isinstance(given, bool) or not isinstance(given, Integral) or given < 1:
        raise ArgumentError(f"{name} is {given!r}, it must be an integer ≥ 1")
    return int(given)


def positive(name: str, given: Any) -> float:
    """Check that this is a positive number; a float is checked without NumPy, as defaults are while modules load."""
    if type(given) is float and 0.0 < given < math.inf:
        return given
    with importing:
        from kinetree import validation

    return validation.positive(name, given)


def positive_numbers(name: str, given: Any) -> float | tuple[float, ...]:
    """Check that this is a positive number, or several; arrays are kept as tuples."""
    return _numbers(name, given, lambda x: x > 0.0, f"{name} is {given!r}: it must be positive")


def nonzero_numbers(name: str, given: Any) -> float | tuple[float, ...]:
    """Check that this is a number that is not zero, or several."""
    return _numbers(name, given, lambda x: x != 0.0, f"{name} must be finite, and not zero")


def _numbers(name: str, given: Any, fits: Callable[[Any], Any], message: str) -> float | tuple[float, ...]:
    with importing:
        import numpy as np

        from kinetree.validation import real_array

    numbers = real_array(name, given)
    if numbers.ndim > 1:
        raise ArgumentError(f"{name} has shape {numbers.shape}: a number, or one for each joint is needed")
    if not (np.isfinite(numbers) & fits(numbers)).all():
        raise ArgumentError(message)
    return tuple(numbers.tolist()) if numbers.ndim else float(numbers)


def read_box(text: str) -> tuple[str, list[list[float]]]:
    """Return a frame, or a link, with the least and the greatest corner of its box."""
    name, _, rest = text.rpartition("=")
    try:
        ends = [float(x) for x in rest.split(",")]
    except ValueError:
        ends = []
    if not name or len(ends) != 6 or not all(map(math.isfinite, ends)):
        raise ArgumentError(f"{text!r} is not NAME=X0,X1,Y0,Y1,Z0,Z1")
    return name, [ends[::2], ends[1::2]]


def read_numbers(text: str) -> float | list[float]:
    """Return the numbers that commas separate; the number itself if there is one."""
    found = [float(part) for part in text.split(",")]
    return found[0] if len(found) == 1 else found
