"""Loops that a compiled function keeps as loops: over columns that do not depend on each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.scalars.functions import Scalar


def map_columns(
    function: Callable[[list[Scalar]], list[Scalar]], columns: Sequence[Sequence[Scalar]], like: Scalar
) -> list[list[Scalar]]:
    """Return the function of each column, where `like` is a scalar that the function uses.

    Where scalars record, the function is recorded once, as the body of a loop: of one state several columns are
    computed side by side. Compiled code and the time of compiling it then do not grow with the number of columns.

    Examples
    --------
    >>> map_columns(lambda x: [x[0] + x[1]], [[1.0, 2.0], [3.0, 4.0]], 0.0)
    [[3.0], [7.0]]
    """
    recorded = getattr(like, "map_columns", None)
    if recorded is not None:
        return recorded(function, columns)  # type: ignore[no-any-return]
    return [function(list(column)) for column in columns]
