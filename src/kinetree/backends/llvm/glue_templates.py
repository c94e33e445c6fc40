"""The templates of the call glue: LLVM IR, put together by `glue`."""

from __future__ import annotations

# Run kt_single with scratch memory on the stack.
RUN_ON_STACK = """
define internal i32 @kt_run(ptr %ins, ptr %outs) {{
  %scratch = alloca [{scratch} x i8], align 64
  call void @kt_single(ptr %ins, ptr %outs, ptr %scratch)
  ret i32 0
}}
"""

# Run kt_single with scratch memory from the heap; 0, or -1 if out of memory.
RUN_ON_HEAP = """
declare ptr @kinetree_PyMem_RawMalloc(i64)
declare void @kinetree_PyMem_RawFree(ptr)

define internal i32 @kt_run(ptr %ins, ptr %outs) {{
entry:
  %heap = call ptr @kinetree_PyMem_RawMalloc(i64 {more})
  %heap.ok = icmp ne ptr %heap, null
  br i1 %heap.ok, label %align, label %no.memory
align:
  %address = ptrtoint ptr %heap to i64
  %up = add i64 %address, 63
  %down = and i64 %up, -64
  %aligned = inttoptr i64 %down to ptr
  call void @kt_single(ptr %ins, ptr %outs, ptr %aligned)
  call void @kinetree_PyMem_RawFree(ptr %heap)
  ret i32 0
no.memory:
  ret i32 -1
}}
"""

DECLARATIONS = """
{objects}
declare double @kinetree_PyLong_AsDouble(ptr)
declare void @kinetree_PyErr_Clear()
declare ptr @kinetree_PyArray_New(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @kinetree_PyArray_Scalar(ptr, ptr, ptr)
declare ptr @kinetree_PyType_GenericAlloc(ptr, i64)
declare ptr @kinetree_PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @kinetree_Py_NewRef(ptr)
declare void @kinetree_Py_DecRef(ptr)
declare ptr @kinetree_PyErr_NoMemory()

@kinetree_substituting = external global i32

@kt_table = internal global ptr null
define void @kt_set_table(ptr %table) {{
  store ptr %table, ptr @kt_table
  ret void
}}
"""

# Whether the keywords are those of this variant; %out.p becomes the object given as out, else null.
# The table: the type of several results, how many entries, how many of them must be there, and the entries: name,
# value, 1 if it must be there.
KEYWORDS = """
define internal i1 @kt_keywords(ptr %kwnames, ptr %values, ptr %out.p) {{
entry:
  store ptr null, ptr %out.p
  %table = load ptr, ptr @kt_table
  %count.p = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.p
  %needed.p = getelementptr i64, ptr %table, i64 2
  %needed = load i64, ptr %needed.p
  %bare = icmp eq ptr %kwnames, null
  br i1 %bare, label %none, label %named
none:
  %none.ok = icmp eq i64 %needed, 0
  ret i1 %none.ok
named:
  %n.p = getelementptr i8, ptr %kwnames, i64 {length}
  %n = load i64, ptr %n.p
  br label %loop
loop:
  %i = phi i64 [ 0, %named ], [ %i.next, %next ]
  %found = phi i64 [ 0, %named ], [ %found.next, %next ]
  %done = icmp eq i64 %i, %n
  br i1 %done, label %check, label %keyword
keyword:
  %names = getelementptr i8, ptr %kwnames, i64 {items}
  %name.p = getelementptr ptr, ptr %names, i64 %i
  %name = load ptr, ptr %name.p
  %value.p = getelementptr ptr, ptr %values, i64 %i
  %value = load ptr, ptr %value.p
  %is.out = icmp eq ptr %name, @kinetree_out
  br i1 %is.out, label %out, label %search
out:
  store ptr %value, ptr %out.p
  br label %next
search:
  %k = phi i64 [ 0, %keyword ], [ %k.next, %step ]
  %missing = icmp eq i64 %k, %count
  br i1 %missing, label %no, label %entry.k
entry.k:
  %first = mul i64 %k, 3
  %index = add i64 %first, 3
  %entry.p = getelementptr ptr, ptr %table, i64 %index
  %entry.name = load ptr, ptr %entry.p
  %entry.value.p = getelementptr ptr, ptr %entry.p, i64 1
  %entry.value = load ptr, ptr %entry.value.p
  %same.name = icmp eq ptr %name, %entry.name
  %same.value = icmp eq ptr %value, %entry.value
  %same = and i1 %same.name, %same.value
  br i1 %same, label %hit, label %step
step:
  %k.next = add i64 %k, 1
  br label %search
hit:
  %entry.need.p = getelementptr i64, ptr %entry.p, i64 2
  %entry.need = load i64, ptr %entry.need.p
  %found.more = add i64 %found, %entry.need
  br label %next
next:
  %found.next = phi i64 [ %found, %out ], [ %found.more, %hit ]
  %i.next = add i64 %i, 1
  br label %loop
check:
  %ok = icmp eq i64 %found, %needed
  ret i1 %ok
no:
  ret i1 false
}}

define internal i1 @kt_apart(ptr %a, i64 %a.size, ptr %b, i64 %b.size) {{
  %a.end = getelementptr i8, ptr %a, i64 %a.size
  %b.end = getelementptr i8, ptr %b, i64 %b.size
  %before = icmp ule ptr %a.end, %b
  %after = icmp ule ptr %b.end, %a
  %apart = or i1 %before, %after
  ret i1 %apart
}}
"""

# The data pointer of an object that is a plain array with these flags and dimensions, else null.
PLAIN = """
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

CALL = """
define ptr @kt_call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{
entry:
  %ins = alloca [{n} x ptr]
  %outs = alloca [{m} x ptr]
  %results = alloca [{m} x ptr]
  %out.p = alloca ptr
{slots}
  %count.ok = icmp eq i64 %nargs, {n}
  %substituting = load i32, ptr @kinetree_substituting
  %direct = icmp eq i32 %substituting, 0
  %ours = and i1 %count.ok, %direct
  br i1 %ours, label %keywords, label %general
keywords:
  %values = getelementptr ptr, ptr %args, i64 {n}
  %keywords.ok = call i1 @kt_keywords(ptr %kwnames, ptr %values, ptr %out.p)
  br i1 %keywords.ok, label %{first}, label %general
{inputs}
output:
  %out = load ptr, ptr %out.p
  %bare = icmp eq ptr %out, null
  br i1 %bare, label %make, label %given
{given}
make:
{make}
run:
  %status = call i32 @kt_run(ptr %ins, ptr %outs)
  %status.ok = icmp eq i32 %status, 0
  br i1 %status.ok, label %finish.0, label %no.memory
{finish}
no.memory:
  %none = call ptr @kinetree_PyErr_NoMemory()
  br label %failed
failed:
{drop}
  ret ptr null
general:
  %general.result = call ptr @kinetree_PyObject_Vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %general.result
}}
"""
