"""Loops that a compiled function keeps as loops: until a condition holds, and over independent columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from kinetree.scalars.functions import Scalar, select_less

State = TypeVar("State")


def repeat(
    body: Callable[[State], State],
    state: State,
    *,
    until: Callable[[State], Any],
    most: int,
    like: Scalar,
    captured: dict[int, int] | None = None,
) -> State:
    """Return the state after ``state = body(state)`` has been repeated until a condition holds.

    The state is a list, dict or named tuple of scalars and of lists of them, and `like` a scalar that the functions
    use. Where scalars record, each function is recorded once; of many states each one stops by itself. Loops one after
    another that use much of the same around them are given one dictionary `captured`, empty at first, so that compiled
    code brings these values together once.

    Examples
    --------
    >>> repeat(lambda x: [2.0 * x[0]], [1.0], until=lambda x: x[0] > 100.0, most=50, like=0.0)
    [128.0]
    """
    recorded = getattr(like, "repeat", None)
    if recorded is not None:
        return recorded(body, state, until, most, captured)  # type: ignore[no-any-return]
    for _ in range(most):
        if until(state):
            break
        state = body(state)
    return state


def declared(x: list[Scalar], residual: Callable[[list[Scalar]], list[Scalar]], *, like: Scalar) -> list[Scalar]:
    """Return x, where `residual` of it is zero: derivatives follow from that alone, not from how x was found.

    Examples
    --------
    >>> declared([1.4142136], lambda x: [x[0] * x[0] - 2.0], like=0.0)
    [1.4142136]
    """
    known = getattr(like, "declared", None)
    return x if known is None else known(x, residual)


def recording(*scalars: Scalar) -> Scalar:
    """Return the first of these that is not a plain number, so that the loop that uses it is recorded; 0 if all are."""
    return next((x for x in scalars if not isinstance(x, float | int)), 0.0)


def map_columns(
    function: Callable[[list[Scalar]], list[Scalar]],
    columns: Sequence[Sequence[Scalar]],
    like: Scalar,
    captured: dict[int, int] | None = None,
) -> list[list[Scalar]]:
    """Return the function of each column, where `like` is a scalar that the function uses.

    Where scalars record, it is the body of one loop, several columns side by side: code does not grow with them. Loops
    that use much of the same around them may be given one dictionary `captured` (see `repeat`).
    """
    recorded = getattr(like, "map_columns", None)
    if recorded is not None:
        return recorded(function, columns, captured)  # type: ignore[no-any-return]
    return [function(list(column)) for column in columns]


class Routine:
    """A function of a column of scalars that compiled code has once, however often it is called.

    Values around the function that it uses must be there at its first call, at which it is recorded.
    """

    def __init__(self, function: Callable[[list[Scalar]], list[Scalar]]) -> None:
        self._function = function
        self._recorded: dict[object, object] = {}

    def __call__(self, column: Sequence[Scalar], like: Scalar) -> list[Scalar]:
        """Return the function of a column, where `like` is a scalar that the function uses."""
        called = getattr(like, "call_routine", None)
        if called is not None:
            return called(self._function, column, self._recorded)  # type: ignore[no-any-return]
        return self._function(list(column))


def repeat_while_positive(
    body: Callable[[list[Scalar]], list[Scalar]], x: list[Scalar], rest: Callable[[list[Scalar]], Scalar], most: int
) -> list[Scalar]:
    """Return x after ``x = body(x)`` has been repeated while ``rest(x) > 0``, `most` times at most.

    Of many states each stops by itself, at NaN too. Where scalars record, it is recorded as a loop; symbols of other
    packages, which cannot be compared with zero yet, get all of the iterations.

    Examples
    --------
    >>> repeat_while_positive(lambda x: [x[0] / 2.0], [12.0], lambda x: x[0] - 1.0, 50)
    [0.75]
    """
    recorded = next((x_k.repeat_while_positive for x_k in x if hasattr(x_k, "repeat_while_positive")), None)
    if recorded is not None:
        return recorded(body, x, rest, most)  # type: ignore[no-any-return]
    for _ in range(most):
        number = rest(x)
        going: Any = number > 0.0
        if isinstance(going, bool | np.bool_ | np.ndarray) and not np.any(going):
            break
        x = [select_less(0.0, number, new, old) for new, old in zip(body(x), x, strict=True)]
    return x
