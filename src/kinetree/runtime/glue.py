"""The call glue: a built-in function, emitted beside the kernel in the same module, that takes plain arrays at C speed.

``kt_call(self, args, nargs, kwnames)`` has the C signature of a ``METH_FASTCALL | METH_KEYWORDS`` function. When every
argument is exactly a `numpy.ndarray` of the right shape and dtype, in native byte order, C-contiguous and aligned, and
the only keyword, if any, is ``out`` (likewise, writeable, and apart from the inputs), it makes the result, calls
``kt_single`` and returns. Everything else it hands to its ``self``, a Python callable: the general path, which
converts, broadcasts or raises. So the glue never has to be clever, only never to be wrong about what it accepts.

It touches no reference count by itself (``Py_NewRef`` and ``PyArray_New`` do), so immortal objects and free-threaded
Python are right; it reads arrays at the offsets of `layout.Layout`, verified at import. The addresses of Python's and
NumPy's functions are not in the code: they are symbols, so that object code from the disk cache works in any process.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kinetree.expr import Port
from kinetree.runtime.layout import ALIGNED, CONTIGUOUS, TYPE_NUMBER, WRITEABLE, Layout, numpy_api

STACK_SCRATCH = 32768 if os.name == "posix" else 2048  # bytes; Windows wants the stack probed, JIT code has no probe
_FASTCALL_KEYWORDS = 0x0080 | 0x0002
_OUT = sys.intern("out")  # the names in calls are interned: one pointer to compare

_DECLARATIONS = """
@kinetree_ndarray = external global i8
@kinetree_out = external global i8
declare ptr @kinetree_PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @kinetree_PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @kinetree_Py_NewRef(ptr)
declare void @kinetree_Py_DecRef(ptr)
declare ptr @kinetree_PyMem_RawMalloc(i64)
declare void @kinetree_PyMem_RawFree(ptr)
declare ptr @kinetree_PyErr_NoMemory()

@kt_scratch_size = internal global i64 0
define void @kt_set_scratch(i64 %size) {
  store i64 %size, ptr @kt_scratch_size
  ret void
}
"""

# The data pointer of an object that is a plain array with these flags and dimensions, else null.
_PLAIN = """
define internal ptr @kt_plain(ptr %object, i32 %wanted, i32 %wanted.nd, ptr %wanted.dims) {{
entry:
  %type.p = getelementptr i8, ptr %object, i64 {type}
  %type = load ptr, ptr %type.p
  %is.array = icmp eq ptr %type, @kinetree_ndarray
  br i1 %is.array, label %array, label %no
array:
  %nd.p = getelementptr i8, ptr %object, i64 {nd}
  %nd = load i32, ptr %nd.p
  %nd.ok = icmp eq i32 %nd, %wanted.nd
  %flags.p = getelementptr i8, ptr %object, i64 {flags}
  %flags = load i32, ptr %flags.p
  %flags.and = and i32 %flags, %wanted
  %flags.ok = icmp eq i32 %flags.and, %wanted
  %descr.p = getelementptr i8, ptr %object, i64 {descr}
  %descr = load ptr, ptr %descr.p
  %number.p = getelementptr i8, ptr %descr, i64 {type_number}
  %number = load i32, ptr %number.p
  %number.ok = icmp eq i32 %number, {dtype}
  %order.p = getelementptr i8, ptr %descr, i64 {byteorder}
  %order = load i8, ptr %order.p
  %order.ok = icmp eq i8 %order, 61
  %ok.1 = and i1 %nd.ok, %flags.ok
  %ok.2 = and i1 %number.ok, %order.ok
  %ok = and i1 %ok.1, %ok.2
  %dims.p = getelementptr i8, ptr %object, i64 {dims}
  %dims = load ptr, ptr %dims.p
  br i1 %ok, label %loop, label %no
loop:
  %k = phi i32 [ 0, %array ], [ %k.next, %dim ]
  %done = icmp eq i32 %k, %nd
  br i1 %done, label %yes, label %dim
dim:
  %have.p = getelementptr i64, ptr %dims, i32 %k
  %have = load i64, ptr %have.p
  %want.p = getelementptr i64, ptr %wanted.dims, i32 %k
  %want = load i64, ptr %want.p
  %same = icmp eq i64 %have, %want
  %k.next = add i32 %k, 1
  br i1 %same, label %loop, label %no
yes:
  %data.p = getelementptr i8, ptr %object, i64 {data}
  %data = load ptr, ptr %data.p
  ret ptr %data
no:
  ret ptr null
}}
"""

_INPUT = """
input.{k}:
  %arg.{k}.p = getelementptr ptr, ptr %args, i64 {k}
  %arg.{k} = load ptr, ptr %arg.{k}.p
  %in.{k} = call ptr @kt_plain(ptr %arg.{k}, i32 {flags}, i32 {nd}, ptr @kt_dims.{k})
  %ins.{k} = getelementptr ptr, ptr %ins, i64 {k}
  store ptr %in.{k}, ptr %ins.{k}
  %arg.{k}.ok = icmp ne ptr %in.{k}, null
  br i1 %arg.{k}.ok, label %{then}, label %general
"""

# out comes before this input ends, and this input before out ends
_OVERLAP = """  %in.{k}.end = getelementptr i8, ptr %in.{k}, i64 {size}
  %before.{k} = icmp ult ptr %out.data, %in.{k}.end
  %after.{k} = icmp ult ptr %in.{k}, %out.end
  %both.{k} = and i1 %before.{k}, %after.{k}
  %overlap.{k} = or i1 %overlap.{last}, %both.{k}
"""

_CALL = """
define ptr @kt_call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
entry:
  %ins = alloca [{n} x ptr]
  %outs = alloca [1 x ptr]
  %stack = alloca [{stack} x i8], align 64
  %count.ok = icmp eq i64 %nargs, {n}
  br i1 %count.ok, label %{first}, label %general
{inputs}
keywords:
  %bare = icmp eq ptr %kwnames, null
  br i1 %bare, label %make, label %named
named:
  %names.p = getelementptr i8, ptr %kwnames, i64 {length}
  %names = load i64, ptr %names.p
  %one.name = icmp eq i64 %names, 1
  br i1 %one.name, label %name, label %general
name:
  %name.p = getelementptr i8, ptr %kwnames, i64 {items}
  %name.0 = load ptr, ptr %name.p
  %name.ok = icmp eq ptr %name.0, @kinetree_out
  br i1 %name.ok, label %given, label %general
given:
  %out.p = getelementptr ptr, ptr %args, i64 {n}
  %out = load ptr, ptr %out.p
  %out.data = call ptr @kt_plain(ptr %out, i32 {out_flags}, i32 {out_nd}, ptr @kt_dims.out)
  %out.ok = icmp ne ptr %out.data, null
  br i1 %out.ok, label %apart, label %general
apart:
  %out.end = getelementptr i8, ptr %out.data, i64 {out_size}
  %overlap.start = icmp eq ptr %out.data, null
{overlaps}
  br i1 %overlap.{last}, label %general, label %keep
keep:
  %kept = call ptr @kinetree_Py_NewRef(ptr %out)
  br label %run
make:
  %made = call ptr @kinetree_PyArray_New(ptr @kinetree_ndarray, i32 {out_nd}, ptr @kt_dims.out, i32 {dtype},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  %made.ok = icmp ne ptr %made, null
  br i1 %made.ok, label %fresh, label %failed
fresh:
  %fresh.p = getelementptr i8, ptr %made, i64 {data}
  %fresh.data = load ptr, ptr %fresh.p
  br label %run
run:
  %result = phi ptr [ %kept, %keep ], [ %made, %fresh ]
  %result.data = phi ptr [ %out.data, %keep ], [ %fresh.data, %fresh ]
  store ptr %result.data, ptr %outs
  %size = load i64, ptr @kt_scratch_size
  %small = icmp ule i64 %size, {stack}
  br i1 %small, label %on.stack, label %on.heap
on.stack:
  call void @kt_single(ptr %ins, ptr %outs, ptr %stack)
  ret ptr %result
on.heap:
  %more = add i64 %size, 64
  %heap = call ptr @kinetree_PyMem_RawMalloc(i64 %more)
  %heap.ok = icmp ne ptr %heap, null
  br i1 %heap.ok, label %align, label %no.memory
align:
  %address = ptrtoint ptr %heap to i64
  %up = add i64 %address, 63
  %down = and i64 %up, -64
  %aligned = inttoptr i64 %down to ptr
  call void @kt_single(ptr %ins, ptr %outs, ptr %aligned)
  call void @kinetree_PyMem_RawFree(ptr %heap)
  ret ptr %result
no.memory:
  call void @kinetree_Py_DecRef(ptr %result)
  %none = call ptr @kinetree_PyErr_NoMemory()
  ret ptr null
failed:
  ret ptr null
general:
  %general.result = call ptr @kinetree_PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %general.result
}}
"""


def emit(inputs: Sequence[Port], output: Port, dtype: str, layout: Layout) -> str:
    """Return LLVM IR that defines ``kt_call`` and ``kt_set_scratch``, and calls ``kt_single``.

    Parameters
    ----------
    inputs : sequence of Port
        The arguments, all required here.
    output : Port
        The one result.
    dtype : str
        ``"float64"`` or ``"float32"``: of all arguments and of the result.
    layout : Layout
        Where to read arrays and tuples.
    """
    item = np.dtype(dtype).itemsize
    n = len(inputs)
    labels = [*(f"input.{k}" for k in range(n)), "keywords"]
    flags = CONTIGUOUS | ALIGNED
    checks = (_INPUT.format(k=k, flags=flags, nd=len(port.shape), then=labels[k + 1]) for k, port in enumerate(inputs))
    lasts = ["start", *(str(k) for k in range(n))]
    overlaps = (_OVERLAP.format(k=k, last=lasts[k], size=item * port.size) for k, port in enumerate(inputs))
    known = {**layout._asdict(), "dtype": TYPE_NUMBER[dtype]}
    call = _CALL.format(
        n=n,
        stack=STACK_SCRATCH,
        first=labels[0],
        inputs="".join(checks),
        overlaps="".join(overlaps),
        last=lasts[-1],
        out_flags=flags | WRITEABLE,
        out_nd=len(output.shape),
        out_size=item * output.size,
        **known,
    )
    dims = [_dims(str(k), port) for k, port in enumerate(inputs)] + [_dims("out", output)]
    return "\n".join([_DECLARATIONS, *dims, _PLAIN.format(**known), call])


def _dims(name: str, port: Port) -> str:
    values = ", ".join(f"i64 {n}" for n in port.shape)
    return f"@kt_dims.{name} = internal constant [{len(port.shape)} x i64] [{values}]"


def symbols() -> dict[str, int]:
    """Return the addresses that the glue needs in this process, by symbol."""
    python = (
        "PyObject_Vectorcall",
        "Py_NewRef",
        "Py_DecRef",
        "PyMem_RawMalloc",
        "PyMem_RawFree",
        "PyErr_NoMemory",
    )
    addresses = {f"kinetree_{name}": _address(name) for name in python}
    return addresses | {
        "kinetree_ndarray": id(np.ndarray),
        "kinetree_out": id(_OUT),
        "kinetree_PyArray_New": numpy_api().array_new,
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


def set_scratch(address: int, size: int) -> None:
    """Tell the glue how many bytes of scratch ``kt_single`` needs: known only after it is compiled."""
    ctypes.CFUNCTYPE(None, ctypes.c_int64)(address)(size)
