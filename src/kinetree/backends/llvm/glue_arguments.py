"""Templates of the call glue that each argument or result fills: LLVM IR, put together by `glue`."""

from __future__ import annotations

INPUT = """
input.{k}:
  %arg.{k}.p = getelementptr ptr, ptr %args, i64 {k}
  %arg.{k} = load ptr, ptr %arg.{k}.p
  %in.{k} = call ptr @kt_plain(ptr %arg.{k}, i32 {flags}, i32 {nd}, ptr @kt_dims.in.{k})
  %ins.{k} = getelementptr ptr, ptr %ins, i64 {k}
  store ptr %in.{k}, ptr %ins.{k}
  %in.{k}.ok = icmp ne ptr %in.{k}, null
  br i1 %in.{k}.ok, label %{then}, label %general
"""

# A number: a float or a NumPy scalar is read where it is.
NUMBER = """
input.{k}:
  %arg.{k}.p = getelementptr ptr, ptr %args, i64 {k}
  %arg.{k} = load ptr, ptr %arg.{k}.p
  %ins.{k} = getelementptr ptr, ptr %ins, i64 {k}
  %type.{k}.p = getelementptr i8, ptr %arg.{k}, i64 {type}
  %type.{k} = load ptr, ptr %type.{k}.p
  %is.scalar.{k} = icmp eq ptr %type.{k}, @kinetree_scalar_{dtype}
  br i1 %is.scalar.{k}, label %value.{k}, label %other.{k}
other.{k}:
{other}
value.{k}:
  %value.{k}.p = getelementptr i8, ptr %arg.{k}, i64 {value}
  br label %number.{k}
array.{k}:
  %array.{k}.data = call ptr @kt_plain(ptr %arg.{k}, i32 {flags}, i32 0, ptr @kt_dims.in.{k})
  br label %number.{k}
number.{k}:
  %in.{k} = phi ptr [ %value.{k}.p, %value.{k} ], [ %array.{k}.data, %array.{k} ]{from_int}
  store ptr %in.{k}, ptr %ins.{k}
  %in.{k}.ok = icmp ne ptr %in.{k}, null
  br i1 %in.{k}.ok, label %{then}, label %general
"""

# An int of Python's is converted, where the arguments are float64.
INT = """  %is.float.{k} = icmp eq ptr %type.{k}, @kinetree_float
  br i1 %is.float.{k}, label %value.{k}, label %no.float.{k}
no.float.{k}:
  %is.int.{k} = icmp eq ptr %type.{k}, @kinetree_int
  br i1 %is.int.{k}, label %int.{k}, label %array.{k}
int.{k}:
  %double.{k} = call double @kinetree_PyLong_AsDouble(ptr %arg.{k})
  store double %double.{k}, ptr %number.slot.{k}
  %suspect.{k} = fcmp oeq double %double.{k}, -1.0
  br i1 %suspect.{k}, label %too.large.{k}, label %number.{k}
too.large.{k}:
  call void @kinetree_PyErr_Clear()
  br label %general"""

GIVEN_TUPLE = """
given:
  %out.type.p = getelementptr i8, ptr %out, i64 {type}
  %out.type = load ptr, ptr %out.type.p
  %is.tuple = icmp eq ptr %out.type, @kinetree_tuple
  br i1 %is.tuple, label %given.length, label %general
given.length:
  %out.length.p = getelementptr i8, ptr %out, i64 {length}
  %out.length = load i64, ptr %out.length.p
  %length.ok = icmp eq i64 %out.length, {m}
  br i1 %length.ok, label %given.0, label %general
"""

GIVEN_OUTPUT = """
given.{k}:
{item}
  %given.{k}.data = call ptr @kt_plain(ptr %given.{k}.object, i32 {flags}, i32 {nd}, ptr @kt_dims.out.{k})
  store ptr %given.{k}.data, ptr %outs.{k}
  %given.{k}.ok = icmp ne ptr %given.{k}.data, null
  br i1 %given.{k}.ok, label %apart.{k}.0, label %general
"""

APART = """
apart.{k}.{j}:
  %apart.{k}.{j}.ok = call i1 @kt_apart(ptr %given.{k}.data, i64 {size}, ptr {other}, i64 {other_size})
  br i1 %apart.{k}.{j}.ok, label %{then}, label %general
"""

MAKE_ARRAY = """
  %made.{k} = call ptr @kinetree_PyArray_New(ptr @kinetree_ndarray, i32 {nd}, ptr @kt_dims.out.{k}, i32 {number},
    ptr null, ptr null, i32 0, i32 0, ptr null)
  store ptr %made.{k}, ptr %results.{k}
  %made.{k}.ok = icmp ne ptr %made.{k}, null
  br i1 %made.{k}.ok, label %made.{k}.data, label %failed
made.{k}.data:
  %made.{k}.p = getelementptr i8, ptr %made.{k}, i64 {data}
  %made.{k}.data.p = load ptr, ptr %made.{k}.p
  store ptr %made.{k}.data.p, ptr %outs.{k}
"""

FINISH_SCALAR = """
finish.{k}:
  %kept.{k} = load ptr, ptr %results.{k}
  %is.kept.{k} = icmp ne ptr %kept.{k}, null
  br i1 %is.kept.{k}, label %finish.{next}, label %scalar.{k}
scalar.{k}:
  %scalar.{k}.made = call ptr @kinetree_PyArray_Scalar(ptr %slot.{k}, ptr @kinetree_descr_{dtype}, ptr null)
  store ptr %scalar.{k}.made, ptr %results.{k}
  %scalar.{k}.ok = icmp ne ptr %scalar.{k}.made, null
  br i1 %scalar.{k}.ok, label %finish.{next}, label %failed
"""

FINISH_TUPLE = """
finish.{m}:
  %table = load ptr, ptr @kt_table
  %type = load ptr, ptr %table
  %tuple = call ptr @kinetree_PyType_GenericAlloc(ptr %type, i64 {m})
  %tuple.ok = icmp ne ptr %tuple, null
  br i1 %tuple.ok, label %fill, label %failed
fill:
{hash}
  %items = getelementptr i8, ptr %tuple, i64 {items}
{stores}
  ret ptr %tuple
"""
