"""The call glue in this process: its symbols, its tables, and the built-in function made of it.

What it does is in `glue_ir`.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from kinetree.backends.llvm.glue import STACK_SCRATCH, emit, emit_raw
from kinetree.glue.cpython import numpy_api
from kinetree.runtime.spec import Declaration, Variant

__all__ = ["STACK_SCRATCH", "Options", "builtin", "emit", "emit_raw", "set_result", "set_scratch", "symbols"]

_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_OUT = sys.intern("out")  # the names in calls are interned: one pointer to compare
_DESCR = {name: np.dtype(name) for name in ("float32", "float64")}


def symbols() -> dict[str, int]:
    """Return the addresses that the glue needs in this process, by symbol."""
    python = (
        "PyObject_Vectorcall",
        "PyType_GenericAlloc",
        "Py_NewRef",
        "Py_DecRef",
        "PyErr_Clear",
        "PyErr_NoMemory",
        "PyLong_AsDouble",
    )
    addresses = {f"kinetree_{name}": _address(name) for name in python}
    return addresses | {
        "kinetree_ndarray": id(np.ndarray),
        "kinetree_tuple": id(tuple),
        "kinetree_float": id(float),
        "kinetree_int": id(int),
        "kinetree_scalar_float32": id(np.float32),
        "kinetree_scalar_float64": id(np.float64),
        "kinetree_out": id(_OUT),
        "kinetree_PyArray_New": numpy_api().array_new,
        "kinetree_PyArray_Scalar": numpy_api().array_scalar,
        **{f"kinetree_descr_{name}": id(descr) for name, descr in _DESCR.items()},
    }


def raw_symbols() -> dict[str, int]:
    """Return the addresses that the raw entry needs in this process, by symbol."""
    return {f"kinetree_{name}": _address(name) for name in ("PyMem_RawMalloc", "PyMem_RawFree")}


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
    """Return the built-in function whose code is ``kt_call`` at this address.

    Parameters
    ----------
    name : str
        Its ``__name__``.
    address : int
        Where the code is.
    general : callable
        What it calls with arguments that it does not take itself.
    owner : object
        What keeps the code in memory (see `kernels.hidden`): the function holds it in the place of its ``__module__``.
    """
    definition = _MethodDef(name.encode(), address, _FASTCALL_KEYWORDS, None)
    _definitions.append(definition)
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    new = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = new(ctypes.addressof(definition), general, owner)
    return made


class Options:
    """The table of a variant's options that its glue compares keywords with, by address.

    An option is known by the string that the program was traced with, interned, as Python interns the literals that
    look like names. Other objects that mean the same (a tuple of names, a string put together) are learned when they
    come the general way, and kept alive: up to `MOST` of them, so that a caller who makes new ones on every call
    costs no memory.

    Parameters
    ----------
    declaration, variant
        Whose options.
    """

    MOST = 8

    def __init__(self, declaration: Declaration, variant: Variant) -> None:
        values = dict(variant.options)
        self._needed = {o.name for o in declaration.open_options if o.required or values[o.name] != o.default}
        self._entries: list[tuple[str, object]] = []
        for option in declaration.open_options:
            value = values[option.name]
            self._entries.append((sys.intern(option.name), sys.intern(value) if type(value) is str else value))
        self._tables: list[object] = []  # a thread may still be reading an old one
        self._learned = 0
        self._lock = threading.Lock()
        self._set: Callable[[object], None] | None = None

    def install(self, address: int) -> None:
        """Set the table of the glue whose ``kt_set_options`` is at this address."""
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
        table = (ctypes.c_int64 * (2 + 3 * len(entries)))(len(entries), len(self._needed), *sum(entries, ()))
        self._tables.append(table)
        if self._set is not None:
            self._set(table)


def set_scratch(address: int, size: int) -> None:
    """Tell the glue how many bytes of scratch ``kt_single`` needs: known only after it is compiled."""
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(address)(size)


def set_result(address: int, result: type[tuple[Any, ...]]) -> None:
    """Tell the glue the type of its results: a type of `results.result_type`, which never goes away."""
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(id(result))
