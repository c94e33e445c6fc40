"""Errors as tables: what is called, and the text of its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


def told(error: Any, *rows: tuple[Any, ...], of: Callable[[Any], Any] = lambda call: call()) -> Any:
    """Return a test that each row, (call, text), raises an error with this text, a regular expression.

    `of` makes a call of what stands in its place; a row (call, error, text) has an error of its own kind.
    """

    @pytest.mark.parametrize("row", rows, ids=[row[-1] for row in rows])
    def test(row: tuple[Any, ...]) -> None:
        with pytest.raises(row[1] if len(row) > 2 else error, match=row[-1]):
            of(row[0])

    return test
