"""The LLVM IR of the call glue and of the entry for C, appended to the module of ``kt_single``.

``kt_call(self, args, nargs, kwnames)`` has the C signature of a ``METH_FASTCALL | METH_KEYWORDS`` function. It takes a
call where every argument is exactly a `numpy.ndarray` of the right shape and dtype, in native byte order, C-contiguous
and aligned; where the keywords name this variant's options with values that are known by address (the table that
``kt_set_table`` sets); and where ``out``, if given, is likewise, writeable, and apart from the inputs. It makes the
results, runs ``kt_single`` and returns. Everything else, and every call while a trace substitutes numbers
(`tracing.context`), goes to its ``self``, a Python callable: the next variant's glue or the general path.

It counts references through ``Py_NewRef`` and ``Py_DecRef`` only, so immortal objects and free-threaded Python are
right; it reads arrays and tuples, and fills tuples, at the offsets of `glue.cpython.Layout`, verified at import. The
addresses of Python's and NumPy's functions are external symbols, so that object code from the disk cache works in any
process.

``kt_c_entry`` is for callers from C: one pointer for each input and output, no Python object and no GIL.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from kinetree.backends.llvm import glue_arguments as arguments
from kinetree.backends.llvm import glue_templates as text
from kinetree.glue.cpython import ALIGNED, CONTIGUOUS, TYPE_NUMBER, WRITEABLE, Layout
from kinetree.graph import Port

STACK_SCRATCH = 32768 if os.name == "posix" else 2048  # bytes; Windows wants the stack probed, JIT code has no probe


def c_entry_ir(inputs: Sequence[Port], outputs: Sequence[Port], scratch: int) -> str:
    """Return LLVM IR that defines ``kt_c_entry`` and calls ``kt_single``, which needs so many bytes of scratch."""
    names = [f"%p{k}" for k in range(len(inputs) + len(outputs))]
    lines = []
    for area, pointers in (("ins", names[: len(inputs)]), ("outs", names[len(inputs) :])):
        lines.append(f"  %{area} = alloca [{len(pointers)} x ptr]")
        for k, p in enumerate(pointers):
            lines.append(f"  %{area}.{k} = getelementptr ptr, ptr %{area}, i64 {k}")
            lines.append(f"  store ptr {p}, ptr %{area}.{k}")
    lines += ["  %status = call i32 @kt_run(ptr %ins, ptr %outs)", "  ret i32 %status"]
    body, parameters = "\n".join(lines), ", ".join(f"ptr {name}" for name in names)
    run = text.RUN_ON_STACK if scratch <= STACK_SCRATCH else text.RUN_ON_HEAP
    return run.format(scratch=scratch, more=scratch + 64) + f"\ndefine i32 @kt_c_entry({parameters}) {{\n{body}\n}}\n"


def call_ir(inputs: Sequence[Port], outputs: Sequence[Port], dtype: str, layout: Layout) -> str:
    """Return LLVM IR that defines ``kt_call`` and ``kt_set_table``; it needs that of `c_entry_ir`.

    Several results are returned as a tuple of the type that is in the table, one without axes as a NumPy scalar. The
    dtype is that of all arguments and results; the layout says where to read arrays and tuples.
    """
    n, m = len(inputs), len(outputs)
    labels = [*(f"input.{k}" for k in range(n)), "output"]
    checks = (_input(k, port, labels[k + 1], dtype, layout) for k, port in enumerate(inputs))
    call = text.CALL.format(
        n=n,
        m=m,
        first=labels[0],
        slots="\n".join([*_slots(outputs), *(f"  %number.slot.{k} = alloca double" for k in range(n))]),
        inputs="".join(checks),
        given=_given(inputs, outputs, np.dtype(dtype).itemsize, layout),
        make=_make(outputs, TYPE_NUMBER[dtype], layout),
        finish=_finish(outputs, dtype, layout),
        drop="\n".join(
            f"  %drop.{k} = load ptr, ptr %results.{k}\n  call void @kinetree_Py_DecRef(ptr %drop.{k})"
            for k in range(m)
        ),
    )
    dims = [_dims(f"{kind}.{k}", p) for kind, ports in (("in", inputs), ("out", outputs)) for k, p in enumerate(ports)]
    known = {**layout._asdict(), "dtype": TYPE_NUMBER[dtype]}
    objects = ("ndarray", "tuple", "out", f"descr_{dtype}", f"scalar_{dtype}", "float", "int")
    parts = [
        text.DECLARATIONS.format(objects="\n".join(f"@kinetree_{name} = external global i8" for name in objects)),
        *dims,
        text.PLAIN.format(**known),
        text.KEYWORDS.format(**known),
        call,
    ]
    return "\n".join(parts)


def _input(k: int, port: Port, then: str, dtype: str, layout: Layout) -> str:
    """Return the code that checks an argument and finds its data."""
    flags = CONTIGUOUS | ALIGNED
    if port.shape:
        return arguments.INPUT.format(k=k, flags=flags, nd=len(port.shape), then=then)
    double = dtype == "float64"
    return arguments.NUMBER.format(
        k=k,
        flags=flags,
        then=then,
        dtype=dtype,
        other=arguments.INT.format(k=k) if double else f"  br label %array.{k}",
        from_int=f", [ %number.slot.{k}, %int.{k} ]" if double else "",
        **{name: getattr(layout, name) for name in ("type", "value")},
    )


def _slots(outputs: Sequence[Port]) -> list[str]:
    """Return what every output has: the pointer for the kernel, the object, and for a scalar its memory."""
    lines = []
    for k, port in enumerate(outputs):
        lines.append(f"  %outs.{k} = getelementptr ptr, ptr %outs, i64 {k}")
        lines.append(f"  %results.{k} = getelementptr ptr, ptr %results, i64 {k}")
        if not port.shape:
            lines.append(f"  %slot.{k} = alloca double")
    return lines


def _given(inputs: Sequence[Port], outputs: Sequence[Port], item: int, layout: Layout) -> str:
    """Return the code that takes the arrays given as out, where each is plain and apart from all others."""
    m = len(outputs)
    known = layout._asdict()
    parts = ["given:\n  br label %given.0\n" if m == 1 else arguments.GIVEN_TUPLE.format(m=m, **known)]
    taken = [(f"%in.{k}", item * port.size) for k, port in enumerate(inputs)]
    for k, port in enumerate(outputs):
        place = f"  %given.{k}.p = getelementptr i8, ptr %out, i64 {layout.items + 8 * k}"
        load = f"  %given.{k}.object = load ptr, ptr {'%out.p' if m == 1 else f'%given.{k}.p'}"
        parts.append(
            arguments.GIVEN_OUTPUT.format(
                k=k,
                item=load if m == 1 else f"{place}\n{load}",
                flags=CONTIGUOUS | ALIGNED | WRITEABLE,
                nd=len(port.shape),
            )
        )
        after = f"given.{k + 1}" if k + 1 < m else "keep"
        for j, (other, other_size) in enumerate(taken):
            then = f"apart.{k}.{j + 1}" if j + 1 < len(taken) else after
            size = item * port.size
            parts.append(arguments.APART.format(k=k, j=j, size=size, other=other, other_size=other_size, then=then))
        if not taken:
            parts.append(f"apart.{k}.0:\n  br label %{after}\n")
        taken.append((f"%given.{k}.data", item * port.size))
    kept = (
        f"  %keep.{k} = call ptr @kinetree_Py_NewRef(ptr %given.{k}.object)\n  store ptr %keep.{k}, ptr %results.{k}"
        for k in range(m)
    )
    return "".join([*parts, "keep:\n", "\n".join(kept), "\n  br label %run\n"])


def _make(outputs: Sequence[Port], number: int, layout: Layout) -> str:
    """Return the code that makes arrays for the results, and puts scalars on the stack for now."""
    parts = [f"  store ptr null, ptr %results.{k}\n" for k in range(len(outputs))]
    for k, port in enumerate(outputs):
        if port.shape:
            parts.append(arguments.MAKE_ARRAY.format(k=k, nd=len(port.shape), number=number, data=layout.data))
        else:
            parts.append(f"  store ptr %slot.{k}, ptr %outs.{k}\n")
    return "".join([*parts, "  br label %run\n"])


def _finish(outputs: Sequence[Port], dtype: str, layout: Layout) -> str:
    """Return the code that makes objects of the scalars, and the tuple."""
    m = len(outputs)
    parts = [
        f"finish.{k}:\n  br label %finish.{k + 1}\n"
        if port.shape
        else arguments.FINISH_SCALAR.format(k=k, next=k + 1, dtype=dtype)
        for k, port in enumerate(outputs)
    ]
    if m == 1:
        parts.append("finish.1:\n  %one = load ptr, ptr %results.0\n  ret ptr %one\n")
        return "".join(parts)
    stores = (
        f"  %item.{k} = load ptr, ptr %results.{k}\n  %item.{k}.p = getelementptr ptr, ptr %items, i64 {k}\n"
        f"  store ptr %item.{k}, ptr %item.{k}.p"
        for k in range(m)
    )
    cached = layout.items > layout.length + 8  # a tuple keeps its hash after its length: not known yet
    hash_ = f"  %hash = getelementptr i8, ptr %tuple, i64 {layout.length + 8}\n  store i64 -1, ptr %hash"
    fill = arguments.FINISH_TUPLE.format(
        m=m, items=layout.items, stores="\n".join(stores), hash=hash_ if cached else ""
    )
    return "".join([*parts, fill])


def _dims(name: str, port: Port) -> str:
    values = ", ".join(f"i64 {n}" for n in port.shape)
    return f"@kt_dims.{name} = internal constant [{len(port.shape)} x i64] [{values}]"
