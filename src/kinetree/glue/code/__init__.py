"""The call glue: what runs when a compiled function is called. Backends compile these modules; Python never runs them.

They are written in a small part of Python: functions of int and float, local variables, ``if``, ``while``,
``for … in range(…)``; and the vocabulary of `machine`. An address is an int.

All forms of one state are taken: arguments by position and by name; arrays of floats and integers in any layout and
byte order; lists and tuples of Python's numbers; numbers. So are batches with one leading axis, up to a length that
the variant sets. The values are those of `runtime.arguments`: float32 where all arguments are, else float64.

Types are compared exactly, so that no code of a user's runs here: nothing changes between a check and its use.
References are counted through ``Py_NewRef`` and ``Py_DecRef`` only, as immortal objects need it. Free-threaded Python
has not been tried: a list that another thread changes during a call may be read half changed there.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from importlib import import_module

MODULES = ("arguments", "keywords", "results", "call")


def sources() -> list[tuple[str, Mapping[str, object]]] | None:
    """Return the text and the names of each module; None where there is no text, as in a frozen program."""
    found: list[tuple[str, Mapping[str, object]]] = []
    for name in MODULES:
        spec = importlib.util.find_spec(f"{__name__}.{name}")
        source = getattr(spec and spec.loader, "get_source", lambda _: None)(f"{__name__}.{name}")
        if source is None:
            return None
        found.append((source, vars(import_module(f"{__name__}.{name}"))))
    return found
