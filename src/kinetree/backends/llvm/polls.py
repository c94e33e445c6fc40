"""The entries that bring their own scratch memory, ``kt_run`` and ``kt_c_entry``, and how long loops are ended early.

``kt_run`` takes arrays of pointers, for the call glue; ``kt_c_entry`` is for callers from C: one pointer for each input
and output. Neither touches a Python object or needs the GIL, but ``kt_run`` of a program with long loops, which has it.

Loops look from time to time whether their thread is to stop, at what is in `kinetree.glue.interrupts`. A thread that a
call from Python put there as running has the GIL: it lets other threads have it for a moment, and runs the handlers of
signals. All others, callers from C among them, touch nothing of Python's. A loop that is to stop ends with any values,
and those after it with their initial ones.
"""

from __future__ import annotations

import ctypes
import os

from kinetree.graph import Program
from kinetree.graph.array_operations import Repeat
from kinetree.graph.ops import OPS

BETWEEN = 1 << 25
"""Operations between two looks, at most, where one iteration has fewer: 10 to 50 ms.

A thread that waits for the GIL asks for it after 5 ms; to give it up more often than that is of no use to it."""

_T = f"i{8 * ctypes.sizeof(ctypes.c_ulong)}"  # a thread's identifier

DEFINITIONS = f"""
@kinetree_running = external global i64
@kinetree_stopped = external global i64
declare {_T} @kinetree_PyThread_get_thread_ident()
declare ptr @kinetree_PyEval_SaveThread()
declare void @kinetree_PyEval_RestoreThread(ptr)
declare i32 @kinetree_PyErr_CheckSignals()

define internal i1 @is_stopped() #0 {{
entry:
  %stopped = load volatile {_T}, ptr @kinetree_stopped, align 8
  %some = icmp ne {_T} %stopped, 0
  br i1 %some, label %compare, label %no
compare:
  %this = call {_T} @kinetree_PyThread_get_thread_ident()
  %equal = icmp eq {_T} %stopped, %this
  ret i1 %equal
no:
  ret i1 false
}}
define internal i1 @poll() #0 {{
entry:
  %stopped = call i1 @is_stopped()
  br i1 %stopped, label %stop, label %look
look:
  %this = call {_T} @kinetree_PyThread_get_thread_ident()
  %running = load volatile {_T}, ptr @kinetree_running, align 8
  %equal = icmp eq {_T} %running, %this
  br i1 %equal, label %handle, label %on
handle:
  store volatile i64 0, ptr @kinetree_running, align 8
  %state = call ptr @kinetree_PyEval_SaveThread()
  call void @kinetree_PyEval_RestoreThread(ptr %state)
  %error = call i32 @kinetree_PyErr_CheckSignals()
  store volatile {_T} %this, ptr @kinetree_running, align 8
  %raised = icmp ne i32 %error, 0
  br i1 %raised, label %raise, label %on
raise:
  store volatile {_T} %this, ptr @kinetree_stopped, align 8
  br label %stop
on:
  ret i1 false
stop:
  ret i1 true
}}
"""
"""``@is_stopped()``, and ``@poll()`` which also handles signals: whether the loops of this thread are to stop."""

RUN = f"""
define i32 @kt_run(ptr %ins, ptr %outs) {{
  %this = call {_T} @kinetree_PyThread_get_thread_ident()
  store volatile {_T} %this, ptr @kinetree_running, align 8
  %status = call i32 @kt_undisturbed(ptr %ins, ptr %outs)
  store volatile i64 0, ptr @kinetree_running, align 8
  %stopped = call i1 @is_stopped()
  br i1 %stopped, label %raised, label %done
raised:
  store volatile i64 0, ptr @kinetree_stopped, align 8
  ret i32 1
done:
  ret i32 %status
}}
"""
"""``kt_run`` for a program with long loops, on top of ``kt_undisturbed``, which is the same without signals."""


def period(loop: Repeat) -> int | None:
    """Return after how many iterations the loop looks, a power of two; None where it is too short for that."""
    iterations = BETWEEN // (_operations(loop.condition) + _operations(loop.body))
    period = 1 << max(iterations.bit_length() - 1, 0)
    return period if loop.most > period else None


def has_long_loop(program: Program) -> bool:
    """Return whether a loop of the program, or one inside it, looks whether it is to stop."""
    nodes = program.graph.nodes
    calls = [nodes[i].payload for i in program.schedule() if nodes[i].op == "call"]
    return any(
        (isinstance(call, Repeat) and period(call) is not None) or any(map(has_long_loop, call.programs))
        for call in calls
    )


def _operations(program: Program) -> int:
    """Return how many operations a program has, with all iterations of its loops; at least one."""
    count = 1
    for node in map(program.graph.nodes.__getitem__, program.schedule()):
        if node.op == "call":
            count += node.payload.times * sum(map(_operations, node.payload.programs))
        else:
            count += OPS[node.op].cost
    return count


STACK_SCRATCH = 32768 if os.name == "posix" else 2048  # bytes; Windows wants the stack probed, JIT code has no probe

# Run kt_single with scratch memory on the stack.
_ON_STACK = """
define i32 @{run}(ptr %ins, ptr %outs) {{
  %scratch = alloca [{scratch} x i8], align 64
  call void @kt_single(ptr %ins, ptr %outs, ptr %scratch)
  ret i32 0
}}
"""

# Run kt_single with scratch memory from the heap; 0, or -1 if out of memory.
_ON_HEAP = """
declare ptr @kinetree_PyMem_RawMalloc(i64)
declare void @kinetree_PyMem_RawFree(ptr)

define i32 @{run}(ptr %ins, ptr %outs) {{
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


def entries_ir(program: Program, scratch: int) -> str:
    """Return LLVM IR that defines the entries and calls ``kt_single``, which needs so many bytes of scratch."""
    inputs, outputs, is_long = program.inputs, program.outputs, has_long_loop(program)
    names = [f"%p{k}" for k in range(len(inputs) + len(outputs))]
    lines = []
    for area, pointers in (("ins", names[: len(inputs)]), ("outs", names[len(inputs) :])):
        lines.append(f"  %{area} = alloca [{len(pointers)} x ptr]")
        for k, p in enumerate(pointers):
            lines.append(f"  %{area}.{k} = getelementptr ptr, ptr %{area}, i64 {k}")
            lines.append(f"  store ptr {p}, ptr %{area}.{k}")
    run = "kt_undisturbed" if is_long else "kt_run"
    lines += [f"  %status = call i32 @{run}(ptr %ins, ptr %outs)", "  ret i32 %status"]
    body, parameters = "\n".join(lines), ", ".join(f"ptr {name}" for name in names)
    code = _ON_STACK if scratch <= STACK_SCRATCH else _ON_HEAP
    text = code.format(run=run, scratch=scratch, more=scratch + 64) + (RUN if is_long else "")
    return text + f"\ndefine i32 @kt_c_entry({parameters}) {{\n{body}\n}}\n"
