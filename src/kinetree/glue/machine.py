"""The vocabulary of `kinetree.glue.code`: what a backend compiles, and nothing that Python could run.

An address is an int. Objects and functions of Python and NumPy are externals: their addresses are known when the
compiled code is loaded (`entry.symbols`), so it can be kept on disk.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from kinetree.glue import cpython
from kinetree.glue.cpython import ALIGNED as ALIGNED
from kinetree.glue.cpython import CONTIGUOUS as CONTIGUOUS
from kinetree.glue.cpython import NUMBER_SIZES as NUMBER_SIZES
from kinetree.glue.cpython import TYPE_NUMBER as _NUMBER
from kinetree.glue.cpython import WRITEABLE as WRITEABLE

F = TypeVar("F", bound=Callable[..., Any])


class Instruction:
    """What the backend knows by this name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *operands: float) -> Any:
        """Refuse: the code is for compiling only."""
        raise NotImplementedError(f"{self.name} is compiled, not called")


class External(Instruction):
    """A C function, by the letters of its parameters and result: w(ord), i(nt), d(ouble), v(oid)."""

    def __init__(self, name: str, parameters: str, result: str) -> None:
        super().__init__(name)
        self.parameters, self.result = parameters, result


class Address(int):
    """The address of an external object; the number itself means nothing."""

    name: str

    def __new__(cls, name: str) -> Address:
        """Make the address of the object of this name."""
        made = super().__new__(cls, 0)
        made.name = name
        return made


def inlined(function: F) -> F:
    """Mark a function that becomes part of those that call it."""
    return function


# loads and stores: an int64, an int32, unsigned integers of 1, 2 and 4 bytes; doubles and floats; none need be aligned
word: Callable[[int], int] = Instruction("word")
int32: Callable[[int], int] = Instruction("int32")
bytes1: Callable[[int], int] = Instruction("bytes1")
bytes2: Callable[[int], int] = Instruction("bytes2")
bytes4: Callable[[int], int] = Instruction("bytes4")
real: Callable[[int], float] = Instruction("real")
real32: Callable[[int], float] = Instruction("real32")
set_word: Callable[[int, int], None] = Instruction("set_word")
set_real: Callable[[int, float], None] = Instruction("set_real")
set_real32: Callable[[int, float], None] = Instruction("set_real32")

stack: Callable[[int], int] = Instruction("stack")  # so many bytes, until the function returns
swapped: Callable[[int], int] = Instruction("swapped")  # the eight bytes in reverse
unsigned_shift: Callable[[int, int], int] = Instruction("unsigned_shift")  # to the right
as_real: Callable[[int], float] = Instruction("as_real")  # the bits of a double
as_real32: Callable[[int], float] = Instruction("as_real32")
from_signed: Callable[[int], float] = Instruction("from_signed")
from_unsigned: Callable[[int], float] = Instruction("from_unsigned")
call_single: Callable[[int, int, int], int] = Instruction("call_single")  # code, ins, outs
call_word: Callable[[int, int], int] = Instruction("call_word")  # code, argument
call_batch: Callable[[int, int, int, int, int, int], None] = Instruction("call_batch")  # code, ins, …, scratch

PyObject_Vectorcall: Callable[..., int] = External("PyObject_Vectorcall", "wwww", "w")
PyType_GenericAlloc: Callable[..., int] = External("PyType_GenericAlloc", "ww", "w")
Py_NewRef: Callable[..., int] = External("Py_NewRef", "w", "w")
Py_DecRef: Callable[..., None] = External("Py_DecRef", "w", "v")
PyErr_Occurred: Callable[..., int] = External("PyErr_Occurred", "", "w")
PyErr_Clear: Callable[..., None] = External("PyErr_Clear", "", "v")
PyErr_NoMemory: Callable[..., int] = External("PyErr_NoMemory", "", "w")
PyLong_AsDouble: Callable[..., float] = External("PyLong_AsDouble", "w", "d")
PyLong_AsLongLong: Callable[..., int] = External("PyLong_AsLongLong", "w", "w")
PyUnicode_Compare: Callable[..., int] = External("PyUnicode_Compare", "ww", "i")
PyDict_GetItemWithError: Callable[..., int] = External("PyDict_GetItemWithError", "ww", "w")
PyList_AsTuple: Callable[..., int] = External("PyList_AsTuple", "w", "w")
PyMem_RawMalloc: Callable[..., int] = External("PyMem_RawMalloc", "w", "w")
PyMem_RawFree: Callable[..., None] = External("PyMem_RawFree", "w", "v")
PyEval_SaveThread: Callable[..., int] = External("PyEval_SaveThread", "", "w")
PyEval_RestoreThread: Callable[..., None] = External("PyEval_RestoreThread", "w", "v")
PyThread_get_thread_ident: Callable[..., int] = External(
    "PyThread_get_thread_ident", "", "w" if ctypes.sizeof(ctypes.c_ulong) == 8 else "i"
)
PyArray_NewFromDescr: Callable[..., int] = External(
    "PyArray_NewFromDescr", "wwiwwwiw", "w"
)  # takes the dtype's reference
PyArray_Scalar: Callable[..., int] = External("PyArray_Scalar", "www", "w")

FIRST_NUMBER, LONG_LONG, SINGLE, DOUBLE = 1, 9, _NUMBER["float32"], _NUMBER["float64"]
FOREIGN = ord(">" if sys.byteorder == "little" else "<")  # the only byte order of numbers that must be swapped

SUBSTITUTING = Address("substituting")
RUNNING, STOPPED = Address("running"), Address("stopped")
NONE, NDARRAY = Address("None"), Address("ndarray")
TUPLE, LIST, STR, INT, FLOAT = (Address(kind) for kind in ("tuple", "list", "str", "int", "float"))
SCALAR32, SCALAR64 = Address("scalar_float32"), Address("scalar_float64")
DESCR32, DESCR64 = Address("descr_float32"), Address("descr_float64")

_layout = cpython.find() or cpython.Layout(*[0] * len(cpython.Layout._fields))  # else nothing is compiled
TYPE, LENGTH, ITEMS, LIST_ITEMS = _layout.type, _layout.length, _layout.items, _layout.list_items
VALUE, DATA, ND, DIMS = _layout.value, _layout.data, _layout.nd, _layout.dims
DESCR, FLAGS, BYTEORDER, TYPE_NUMBER = _layout.descr, _layout.flags, _layout.byteorder, _layout.type_number
HASH = LENGTH + 8 if ITEMS > LENGTH + 8 else 0  # where a tuple keeps its hash after its length
