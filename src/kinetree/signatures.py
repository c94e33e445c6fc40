"""Calls of plain functions with wrong arguments: errors that say what to write, as compiled functions have them."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from kinetree.errors import CallError, here_called, unknown_name

F = TypeVar("F", bound=Callable[..., Any])

VALUES: dict[str, tuple[str, ...]] = {}
"""The fields of each class of choices, see `kinetree.options`."""


def friendly_call_errors(function: F, name: str = "") -> F:
    """Return the function, or the class, whose wrong calls raise `CallError`: it says what to write, by this name.

    Examples
    --------
    >>> @friendly_call_errors
    ... def wait(duration, *, until=None): ...
    >>> wait(t_end=1.0)
    Traceback (most recent call last):
    kinetree.errors.CallError: wait has no argument 't_end'; here it is 'duration'
    >>> wait(1.0, 2.0)
    Traceback (most recent call last):
    kinetree.errors.CallError: wait takes one argument without a name: write wait(duration, until=…)
    """
    if isinstance(function, type):
        if "__init__" in vars(function):
            setattr(function, "__init__", _with_friendly_errors(vars(function)["__init__"], None))  # noqa: B010
        else:  # a named tuple
            setattr(function, "__new__", staticmethod(_with_friendly_errors(function.__new__, function.__name__)))  # noqa: B010
        return function
    return cast(F, _with_friendly_errors(function, name or function.__name__))


def _with_friendly_errors(function: Callable[..., Any], name: str | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # of the function's own code
                raise
            raise wrong_call(name or type(args[0]).__name__, inspect.signature(function), args, kwargs, error) from None

    return call


def wrong_call(
    name: str, signature: inspect.Signature, args: Sequence[object], kwargs: Mapping[str, object], error: TypeError
) -> CallError:
    """Return the error of a call that does not fit the signature, for which Python raised `error`."""
    known = [p.name for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
    by_name = [p.name for p in signature.parameters.values() if p.kind == p.KEYWORD_ONLY]
    own = known[:1] in (["self"], ["_cls"], ["robot"], ["mech"])  # of a method
    count = len(known) - len(by_name)
    unknown = next((key for key in kwargs if key not in known), None)
    for p in signature.parameters.values() if unknown is not None else ():
        for kind in (
            kind for kind, of in VALUES.items() if unknown in of and re.search(rf"\b{kind}\b", f"{p.annotation}")
        ):
            value = f"kinetree.{kind}({unknown}=…)"
            value = f"[{value}]" if f"Sequence[{kind}" in f"{p.annotation}" else value
            others = "".join(f", or {here}{'=…' * ('=' not in here)}" for here in here_called(str(unknown), known))
            return CallError(f"{name} has no argument {unknown!r}: write {p.name}={value}{others}")
    if name == "load_mechanism" and unknown == "stabilization":  # it was one
        return CallError(f"{name} has no argument 'stabilization'; the mechanism has: mech.with_stabilization(omega)")
    if unknown is not None:
        return CallError(f"{name} has {unknown_name('argument', unknown, known[own:])}")
    if count < len(args) <= len(known):
        needed = [p.name for p in signature.parameters.values() if p.name in by_name and p.default is p.empty]
        named = list(dict.fromkeys([*needed, *by_name]))[: max(len(args) - count, len(needed))]
        write = ", ".join([*known[own:count], *(f"{key}=…" for key in named)])
        few = {0: "no argument", 1: "one argument"}.get(count - own, f"{count - own} arguments")
        return CallError(f"{name} takes {few} without a name: write {name}({write})")
    wrong = re.sub(r"^[\w.]+\(\)", f"{name}()", str(error))
    return CallError(f"{wrong}; its arguments are {', '.join(known[own:])}")
