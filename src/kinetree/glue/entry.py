"""Compiled code as CPython calls it: the symbols that it needs, the built-in function made of it, and its table.

The code itself is made by a backend: ``kt_call``, a C function of the type ``METH_FASTCALL | METH_KEYWORDS``.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.glue import cpython
from kinetree.tracing.context import substituting_flag

_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_OUT = sys.intern("out")  # the names in calls are interned: one pointer to compare
_DESCR = {name: np.dtype(name) for name in ("float32", "float64")}
_PYTHON = (
    *("PyObject_Vectorcall", "PyType_GenericAlloc", "Py_NewRef", "Py_DecRef", "PyErr_Clear", "PyErr_NoMemory"),
    *("PyLong_AsDouble", "PyMem_RawMalloc", "PyMem_RawFree"),
)


@functools.cache
def symbols() -> dict[str, int]:
    """Return the addresses in this process of what compiled code may need from outside, by symbol."""
    known = {f"kinetree_{name}": _address(name) for name in _PYTHON}
    known["kinetree_substituting"] = ctypes.addressof(substituting_flag)
    if cpython.find() is None:
        return known
    return known | {
        "kinetree_out": id(_OUT),
        **{f"kinetree_{kind.__name__}": id(kind) for kind in (np.ndarray, tuple, float, int)},
        **{f"kinetree_scalar_{kind.__name__}": id(kind) for kind in (np.float32, np.float64)},
        "kinetree_PyArray_New": cpython.numpy_api().array_new,
        "kinetree_PyArray_Scalar": cpython.numpy_api().array_scalar,
        **{f"kinetree_descr_{name}": id(descr) for name, descr in _DESCR.items()},
    }


def _address(name: str) -> int:
    return ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


# Some versions of CPython read the definition of a built-in function after the last object that it refers to is gone,
# so the definitions (32 bytes and the name) live as long as the process.
_definitions: list[_MethodDef] = []


def builtin(name: str, address: int, general: Callable[..., Any], owner: object) -> Callable[..., Any]:
    """Return the built-in function of this name whose code is ``kt_call`` at this address.

    It calls `general` with arguments that it does not take itself. `owner` keeps the code in memory (see `gc_opaque`):
    the function holds it in the place of its ``__module__``.
    """
    definition = _MethodDef(name.encode(), address, _FASTCALL_KEYWORDS, None)
    _definitions.append(definition)
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    new = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = new(ctypes.addressof(definition), general, owner)
    return made


def gc_opaque(owner: object) -> object:
    """Hide `owner` from the cyclic GC, which could free the code while another finalizer in the cycle still calls it.

    A NumPy array takes no part in garbage collection, so the owner lives until the last function that holds the array
    is gone.
    """
    holder = np.empty((), dtype=object)
    holder[()] = owner
    return holder


class CallTable:
    """What a variant's glue reads: the type of several results, and the option values that it compares by address.

    An option value is recognised by the address of the interned string; Python interns literals that look like names.
    Equivalent objects (a tuple of names, a computed string) are added when a call with them takes the general path, and
    kept alive: up to `MOST`, so that a caller who makes new ones on every call costs no memory.

    `result` is a type that never goes away (`results.result_type`). `options` are those that a call may name, with
    their values here; `needed` those that it must name.
    """

    MOST = 8

    def __init__(self, result: type | None, options: Sequence[tuple[str, object]], needed: frozenset[str]) -> None:
        self._result, self._needed = result, needed
        self._entries = [(sys.intern(n), sys.intern(value) if type(value) is str else value) for n, value in options]
        self._tables: list[object] = []  # a thread may still be reading an old one
        self._learned = 0
        self._lock = threading.Lock()
        self._set: Callable[[object], None] | None = None

    def install(self, address: int) -> None:
        """Set the table of the glue whose ``kt_set_table`` is at this address."""
        self._set = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)
        self._update()

    def learn(self, given: Mapping[str, object]) -> None:
        """Let the glue know these keywords' values by their addresses too; they mean this variant."""
        names = {name for name, _ in self._entries}
        with self._lock:
            known = {(name, id(value)) for name, value in self._entries}
            new = [
                (sys.intern(name), value)
                for name, value in given.items()
                if name in names and type(value) in (str, tuple) and (name, id(value)) not in known
            ]
            if new and self._learned < self.MOST:
                self._learned += 1
                self._entries += new
                self._update()

    def _update(self) -> None:
        entries = [(id(name), id(value), int(name in self._needed)) for name, value in self._entries]
        head = id(self._result), len(entries), len(self._needed)
        table = (ctypes.c_int64 * (3 + 3 * len(entries)))(*head, *sum(entries, ()))
        self._tables.append(table)
        if self._set is not None:
            self._set(table)
