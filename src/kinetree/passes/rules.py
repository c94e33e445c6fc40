"""Rewriting rules as data: what a pattern may be replaced by, because both are the same real number.

A pattern is the name of a variable, or an operation with patterns for its arguments; a variable that stands twice
must be the same node twice. Operations are matched in either order of the arguments where they commute. All inner
nodes of a match must be used by it alone, so that they vanish.

A rule must not be finite where the pattern is not: ``(a/b) b = a`` and ``sqrt(a) sqrt(a) = a`` are no rules.
"""

from __future__ import annotations

from typing import NamedTuple

Pattern = str | tuple["str | Pattern", ...]


class Rule(NamedTuple):
    """A pattern, and what takes its place: variables of the pattern in operations."""

    pattern: tuple[Pattern, ...]
    replacement: Pattern


RULES: tuple[Rule, ...] = (
    Rule(("add", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("add", "b", "c"))),  # ab + ac = a(b + c)
    Rule(("sub", ("mul", "a", "b"), ("mul", "a", "c")), ("mul", "a", ("sub", "b", "c"))),  # ab - ac = a(b - c)
    Rule(("add", ("div", "a", "c"), ("div", "b", "c")), ("div", ("add", "a", "b"), "c")),  # a/c + b/c = (a + b)/c
    Rule(("sub", ("div", "a", "c"), ("div", "b", "c")), ("div", ("sub", "a", "b"), "c")),  # a/c - b/c = (a - b)/c
)
