"""Calls of plain functions with wrong arguments: told as those of compiled functions are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from kinetree.errors import CallError, unknown_name
from kinetree.locks import importing

F = TypeVar("F", bound=Callable[..., Any])


def told(function: F) -> F:
    """Return the function, or the class, whose wrong calls raise `CallError`: it says what to write.

    Examples
    --------
    >>> @told
    ... def wait(duration, *, until=None): ...
    >>> wait(t_end=1.0)
    Traceback (most recent call last):
    kinetree.errors.CallError: wait has no argument 't_end'; here it is 'duration'
    >>> wait(1.0, 2.0)
    Traceback (most recent call last):
    kinetree.errors.CallError: wait takes one argument without a name: write wait(duration, until=…)
    """
    if isinstance(function, type):
        setattr(function, "__init__", _told(vars(function)["__init__"], function.__name__))  # noqa: B010
        return function
    return cast(F, _told(function, function.__name__))


def _told(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # of the function's own code
                raise
            raise wrong_call(name, inspect.signature(function), args, kwargs, error) from None

    return call


def wrong_call(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object], error: TypeError
) -> CallError:
    """Return the error of a call with these arguments that does not fit the signature, as Python has told it."""
    known = [p.name for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
    by_name = [p.name for p in signature.parameters.values() if p.kind == p.KEYWORD_ONLY]
    own = known[:1] in (["self"], ["robot"], ["mech"])  # of a method
    count = len(known) - len(by_name)
    unknown = next((key for key in kwargs if key not in known), None)
    if unknown is not None:
        return CallError(f"{name} has {unknown_argument(unknown, known[own:])}")
    if count < len(args) <= len(known):
        needed = [p.name for p in signature.parameters.values() if p.name in by_name and p.default is p.empty]
        named = list(dict.fromkeys([*needed, *by_name]))[: max(len(args) - count, len(needed))]
        write = ", ".join([*known[own:count], *(f"{key}=…" for key in named)])
        few = {0: "no argument", 1: "one argument"}.get(count - own, f"{count - own} arguments")
        return CallError(f"{name} takes {few} without a name: write {name}({write})")
    return CallError(f"{error}; its arguments are {', '.join(known[own:])}")


def unknown_argument(name: str, known: Sequence[str]) -> str:
    """Return the message for an argument that does not exist: where it is now a part of another one, how to write it.

    Examples
    --------
    >>> unknown_argument("record_every", ["q", "record"])
    "no argument 'record_every'; write record=kt.Record(every=…)"
    """
    with importing:
        from kinetree.aliases import PARTS

    for here in PARTS.get(name, ()):
        if here.partition("=")[0] in known:
            return f"no argument {name!r}; write {here}"
    return unknown_name("argument", name, known)
