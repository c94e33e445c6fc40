"""Rewriting rules as data: patterns and replacements that are equal in real arithmetic.

A pattern is the name of a variable, or an operation with patterns for its arguments; a repeated variable must match the
same node. The arguments of commutative operations are matched in either order. The inner nodes of a match must have no
other use, so that they become dead.

A replacement must not be finite where the pattern is not: ``(a/b) b = a`` and ``sqrt(a) sqrt(a) = a`` are not allowed.
"""

from __future__ import annotations

from typing import NamedTuple

Pattern = str | tuple["str | Pattern", ...]


class Rule(NamedTuple):
    """A pattern and its replacement, in the same variables."""

    pattern: tuple[Pattern, ...]
    replacement: Pattern


RULES: tuple[Rule, ...] = (
    Rule(("add", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("add", "b", "c"))),  # ab + ac = a(b + c)
    Rule(("sub", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("sub", "b", "c"))),  # ab - ac = a(b - c)
    Rule(("add", ("div", "a", "c"), ("div", "b", "c")), ("div", ("add", "a", "b"), "c")),  # a/c + b/c = (a + b)/c
    Rule(("sub", ("div", "a", "c"), ("div", "b", "c")), ("div", ("sub", "a", "b"), "c")),  # a/c - b/c = (a - b)/c
)
