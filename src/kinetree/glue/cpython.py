"""Offsets in the structs of Python and NumPy that the call glue reads, verified against live objects.

The offsets follow `object.__basicsize__` and `tuple.__basicsize__`, so they hold for debug builds too (free-threaded
Python has not been tried). Where one of them does not hold, `find` says so by returning None, and no glue is made:
calls then take the general path, which reads arrays through their Python attributes only.
"""

from __future__ import annotations

import ctypes
import functools
import math
import sys
from typing import Any, NamedTuple

import numpy as np

CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400  # NPY_ARRAY_C_CONTIGUOUS, ...
VECTORCALL = 1 << 11  # Py_TPFLAGS_HAVE_VECTORCALL
TYPE_NUMBER = {"float32": 11, "float64": 12}  # NPY_FLOAT, NPY_DOUBLE
# two bits for each type number: the logarithm of the bytes that it takes; integers are 1 to 10, the signed ones odd
NUMBER_SIZES = sum(int(math.log2(np.dtype(code).itemsize)) << 2 * np.dtype(code).num for code in "bBhHiIlLqQfd")


class Layout(NamedTuple):
    """Offsets in bytes, from the address of an object."""

    type: int  # PyObject.ob_type
    length: int  # PyVarObject.ob_size
    items: int  # PyTupleObject.ob_item
    list_items: int  # PyListObject.ob_item, a pointer
    value: int  # PyFloatObject.ob_fval, and the value of a NumPy scalar
    data: int  # PyArrayObject.data, ...
    nd: int
    dims: int
    descr: int
    flags: int
    byteorder: int  # PyArray_Descr.byteorder, ...
    type_number: int


class NumpyApi(NamedTuple):
    """What the glue takes from NumPy's C API."""

    abi: int  # PyArray_GetNDArrayCVersion()
    array_new: int  # the address of PyArray_NewFromDescr
    array_scalar: int  # the address of PyArray_Scalar


def numpy_api() -> NumpyApi:
    """Return the entries of NumPy's C API capsule that the glue needs."""
    core: Any = getattr(np, "_core", None) or np.core  # NumPy 2, NumPy 1
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = ctypes.cast(pointer(core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    if table[2] != id(np.ndarray):  # &PyArray_Type
        raise RuntimeError("NumPy's C API table is not the one that is known")
    version = ctypes.PYFUNCTYPE(ctypes.c_uint)(table[0] or 0)
    return NumpyApi(version(), table[94] or 0, table[60] or 0)


@functools.cache
def find() -> Layout | None:
    """Return the layout of this Python and NumPy, None where it differs from the expected one."""
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return None
    head = object.__basicsize__
    layout = Layout(
        type=head - 8,
        length=head,
        items=tuple.__basicsize__,
        list_items=head + 8,
        value=head,
        data=head,
        nd=head + 8,
        dims=head + 16,
        descr=head + 40,
        flags=head + 48,
        byteorder=head + 10,
        type_number=head + 12,
    )
    try:
        api = numpy_api()
        return layout if _holds(layout) and _makes_arrays(api) and _makes_tuples(layout) else None
    except (AttributeError, RuntimeError, ValueError):
        return None


def enable_vectorcall(kind: type) -> None:
    """Let a subclass of `functools.partial` be called as quickly as that: in Python 3.11 it takes a flag."""
    flags_at = object.__basicsize__ + 8 + 18 * 8  # PyTypeObject.tp_flags
    if sys.version_info < (3, 12) and find() is not None:
        known = (int, functools.partial, kind)
        if all(_read(ctypes.c_ulong, id(t) + flags_at) == t.__flags__ for t in known):
            ctypes.c_ulong.from_address(id(kind) + flags_at).value |= functools.partial.__flags__ & VECTORCALL


def _read(kind: Any, address: int) -> Any:
    return kind.from_address(address).value


def _holds(layout: Layout) -> bool:
    """Return whether arrays, tuples and numbers of several kinds have the expected fields at these offsets."""
    pair, several = ("first", "second"), ["first", "second"]
    if _read(ctypes.c_ssize_t, id(pair) + layout.length) != 2:
        return False
    if [_read(ctypes.c_void_p, id(pair) + layout.items + 8 * k) for k in (0, 1)] != [id(x) for x in pair]:
        return False
    if _read(ctypes.c_ssize_t, id(several) + layout.length) != 2 or not _has_items(layout, several):
        return False
    scalars = ((0.375, ctypes.c_double), (np.float64(0.375), ctypes.c_double), (np.float32(0.375), ctypes.c_float))
    if any(_read(kind, id(scalar) + layout.value) != 0.375 for scalar, kind in scalars):
        return False
    frozen = np.zeros((2, 3))
    frozen.flags.writeable = False
    samples = (np.zeros((3, 5, 2)), np.zeros(4, np.float32), frozen, np.zeros((4, 6))[:, ::2], np.zeros(3, ">f8"))
    return all(_shows(layout, array) for array in samples)


def _has_items(layout: Layout, several: list[str]) -> bool:
    """Return whether the items of this list are where they are expected to be."""
    if layout.list_items != layout.length + 8 or list.__basicsize__ < layout.list_items + 8:  # not to be followed
        return False
    items = _read(ctypes.c_void_p, id(several) + layout.list_items) or 0
    return [_read(ctypes.c_void_p, items + 8 * k) for k in range(2)] == [id(x) for x in several]


def _shows(layout: Layout, array: np.ndarray[Any, Any]) -> bool:
    at, descr = id(array), id(array.dtype)
    flags = _read(ctypes.c_int, at + layout.flags)
    expected = (
        (array.flags.c_contiguous, CONTIGUOUS),
        (array.flags.aligned, ALIGNED),
        (array.flags.writeable, WRITEABLE),
    )
    byteorder = array.dtype.byteorder
    return (
        _read(ctypes.c_void_p, at + layout.type) == id(np.ndarray)
        and _read(ctypes.c_void_p, at + layout.data) == array.ctypes.data
        and _read(ctypes.c_int, at + layout.nd) == array.ndim
        and _read(ctypes.c_void_p, at + layout.descr) == descr
        and all(bool(flags & bit) is bool(known) for known, bit in expected)
        and _dims(layout, array) == array.shape
        and _read(ctypes.c_int, descr + layout.type_number) == array.dtype.num
        and _read(ctypes.c_char, descr + layout.byteorder) == byteorder.encode()
    )


def _dims(layout: Layout, array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    """Return the dimensions read from memory, empty where the pointer to them cannot be trusted."""
    dims, strides = (_read(ctypes.c_void_p, id(array) + layout.dims + k) or 0 for k in (0, 8))
    if strides != dims + 8 * array.ndim:  # NumPy keeps both in one block; a stray pointer must not be followed
        return ()
    return tuple((ctypes.c_ssize_t * array.ndim).from_address(dims))


def _makes_arrays(api: NumpyApi) -> bool:
    """Return whether PyArray_NewFromDescr and PyArray_Scalar are where they are expected to be."""
    p, i = ctypes.c_void_p, ctypes.c_int
    new = ctypes.PYFUNCTYPE(ctypes.py_object, p, ctypes.py_object, i, p, p, p, i, p)(api.array_new)
    shape = (ctypes.c_ssize_t * 2)(2, 3)
    descr = np.dtype("float64")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(descr))  # a reference that the function takes
    made = new(id(np.ndarray), descr, 2, ctypes.addressof(shape), None, None, 0, None)
    if type(made) is not np.ndarray or made.shape != (2, 3) or made.dtype != np.float64:
        return False
    value = ctypes.c_double(0.375)
    scalar = ctypes.PYFUNCTYPE(ctypes.py_object, p, ctypes.py_object, p)(api.array_scalar)
    read = scalar(ctypes.addressof(value), np.dtype("float64"), None)
    return type(read) is np.float64 and bool(read == 0.375)


class _Pair(tuple[object, ...]):
    __slots__ = ()


def _makes_tuples(layout: Layout) -> bool:
    """Return whether a plain subclass of tuple can be allocated empty, to store its entries then."""
    if (_Pair.__basicsize__, _Pair.__itemsize__) != (tuple.__basicsize__, 8):
        return False
    allocate = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object, ctypes.c_ssize_t)
    made = allocate(("PyType_GenericAlloc", ctypes.pythonapi))(_Pair, 0)
    return type(made) is _Pair and made == () and _read(ctypes.c_ssize_t, id(made) + layout.length) == 0
