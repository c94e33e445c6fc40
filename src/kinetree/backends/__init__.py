"""Backends: each compiles programs for some machine. `base.py` is the contract, `BACKENDS` the registry."""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module

from kinetree.backends.base import Backend
from kinetree.locks import importing

BACKENDS: dict[str, Callable[[], Backend]] = {"llvm": lambda: import_module("kinetree.backends.llvm").LLVM()}
"""By name, how to make a backend; made, and its compiler imported, when it is first asked for."""


@functools.cache
def get_backend(name: str) -> Backend:
    """Return the backend of this name, the same one each time."""
    with importing:
        return BACKENDS[name]()
