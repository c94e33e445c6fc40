"""Compiled code as CPython calls it: the symbols that it needs, and the built-in functions made of it.

The code itself is `kinetree.glue.code`, compiled by a backend: ``kt_call``, a C function of the type
``METH_FASTCALL | METH_KEYWORDS``.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from kinetree.glue import cpython, descriptor, interrupts
from kinetree.tracing.context import substituting_flag

_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_DESCR = {name: np.dtype(name) for name in ("float32", "float64")}
_PYTHON = (
    *("PyObject_Vectorcall", "PyType_GenericAlloc", "Py_NewRef", "Py_DecRef", "PyErr_Occurred", "PyErr_Clear"),
    *("PyErr_NoMemory", "PyLong_AsDouble", "PyLong_AsLongLong", "PyUnicode_Compare", "PyDict_GetItemWithError"),
    *("PyList_AsTuple", "PyMem_RawMalloc", "PyMem_RawFree", "PyEval_SaveThread", "PyEval_RestoreThread"),
    *("PyThread_get_thread_ident", "PyErr_CheckSignals"),
)


@functools.cache
def symbols() -> dict[str, int]:
    """Return the addresses in this process of what compiled code may need from outside, by symbol."""
    known = {f"kinetree_{name}": _address(name) for name in _PYTHON}
    known["kinetree_substituting"] = ctypes.addressof(substituting_flag)
    known["kinetree_running"] = ctypes.addressof(interrupts.running)
    known["kinetree_stopped"] = ctypes.addressof(interrupts.stopped)
    if cpython.find() is None:
        return known
    return known | {
        "kinetree_None": id(None),
        **{f"kinetree_{kind.__name__}": id(kind) for kind in (np.ndarray, tuple, list, str, float, int)},
        **{f"kinetree_scalar_{kind.__name__}": id(kind) for kind in (np.float32, np.float64)},
        "kinetree_PyArray_NewFromDescr": cpython.numpy_api().array_new,
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


def builtin(
    name: str, address: int, record: descriptor.Array, general: Callable[..., Any], owner: object
) -> Callable[..., Any]:
    """Return the built-in function of this name whose code is ``kt_call`` at this address, for the function described.

    It calls `general` with arguments that it does not take itself. `owner` keeps in memory what the record points to
    (see `gc_opaque`): the function holds it in the place of its ``__module__``.
    """
    definition = _MethodDef(name.encode(), address, _FASTCALL_KEYWORDS, None)
    _definitions.append(definition)
    prototype = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    new = prototype(("PyCFunction_NewEx", ctypes.pythonapi))
    made: Callable[..., Any] = new(ctypes.addressof(definition), (record, general), owner)
    return made


def gc_opaque(owner: object) -> object:
    """Hide `owner` from the cyclic GC, which could free the code while another finalizer in the cycle still calls it.

    A NumPy array takes no part in garbage collection, so the owner lives until the last function that holds the array
    is gone.
    """
    holder = np.empty((), dtype=object)
    holder[()] = owner
    return holder
