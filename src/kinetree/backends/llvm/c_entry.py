"""The LLVM IR of the entries that bring their own scratch memory, appended to the module of ``kt_single``.

``kt_run`` takes arrays of pointers, for the call glue. ``kt_c_entry`` is for callers from C: one pointer for each input
and output. Neither touches a Python object or needs the GIL, but ``kt_run`` of a program with long loops, which has it
(see `polls`).
"""

from __future__ import annotations

import os

from kinetree.backends.llvm import polls
from kinetree.graph import Program

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
    inputs, outputs, is_long = program.inputs, program.outputs, polls.has_long_loop(program)
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
    text = code.format(run=run, scratch=scratch, more=scratch + 64) + (polls.RUN if is_long else "")
    return text + f"\ndefine i32 @kt_c_entry({parameters}) {{\n{body}\n}}\n"
