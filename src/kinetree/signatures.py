"""Calls of plain functions with wrong arguments: told as those of compiled functions are."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

from kinetree.errors import CallError, unknown_name

F = TypeVar("F", bound=Callable[..., Any])


def told(function: F) -> F:
    """Return the function, whose wrong calls raise `CallError`: what another library's argument is here, for one.

    Examples
    --------
    >>> @told
    ... def wait(duration): ...
    >>> wait(t_end=1.0)
    Traceback (most recent call last):
    kinetree.errors.CallError: wait has no argument 't_end'; here it is 'duration'
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            trace = error.__traceback__
            if trace is None or trace.tb_next is not None:  # of the function's own code
                raise
            raise wrong_call(function.__name__, inspect.signature(function), kwargs, error) from None

    return cast(F, call)


def wrong_call(name: str, signature: inspect.Signature, given: Mapping[str, object], error: TypeError) -> CallError:
    """Return the error of a call with these keywords that does not fit the signature, as Python has told it."""
    known = [p.name for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD]
    known = known[known[:1] in (["self"], ["robot"]) :]  # of a method
    unknown = next((key for key in given if key not in known), None)
    if unknown is not None:
        return CallError(f"{name} has {unknown_name('argument', unknown, known)}")
    return CallError(f"{error}; its arguments are {', '.join(known)}")
