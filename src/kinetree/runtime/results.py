"""The results of functions with several outputs: named tuples."""

from __future__ import annotations

from collections import namedtuple
from keyword import iskeyword
from typing import Any

_types: dict[tuple[str, tuple[str, ...]], type[tuple[Any, ...]]] = {}


def result_type(function: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    """Return the named tuple of a function's outputs; the same type for the same names, in all threads.

    Its instances can be pickled. It adds nothing to the memory layout of a tuple, and it lives as long as the process;
    the call glue relies on both.

    Examples
    --------
    >>> result_type("hybrid_dynamics", ("a", "tau"))(a=1.0, tau=2.0)
    HybridDynamics(a=1.0, tau=2.0)
    """
    return _types.get((function, names)) or _types.setdefault((function, names), _made(function, names))


def _made(function: str, names: tuple[str, ...]) -> type[tuple[Any, ...]]:
    title = "".join(part[:1].upper() + part[1:] for part in function.split("_"))
    title = title if is_field(title) else "Result"  # a lambda has no name to make a type's of
    base: Any = namedtuple(title, names)  # type: ignore[misc]
    members = {
        "__slots__": (),
        "__module__": __name__,
        "__doc__": f"The results of {function}: {', '.join(names)}.",
        "__reduce__": lambda self: (rebuilt, (function, names, tuple(self))),
    }
    return type(title, (base,), members)


def rebuilt(function: str, names: tuple[str, ...], values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the results from a pickle."""
    made: Any = result_type(function, names)
    return made(*values)  # type: ignore[no-any-return]


def is_field(name: str) -> bool:
    """Return whether a named tuple can have a field of this name."""
    return name.isidentifier() and not iskeyword(name) and not name.startswith("_")
