"""The handler through which XLA calls a kernel of many states; compiled as the call glue is, Python never runs it.

It reads the call frame of XLA's foreign function interface (``xla/ffi/api/c_api.h``), version 0.3, whose structures
begin with their size and their extensions. What it knows of the kernel is in a table of 64-bit words.
"""

from __future__ import annotations

from kinetree.glue.machine import (
    Address,
    PyMem_RawFree,
    PyMem_RawMalloc,
    bytes4,
    call_batch,
    call_word,
    set_word,
    stack,
    word,
)

TABLE = Address("xla_table")
KERNEL, SCRATCH, INPUTS, OUTPUTS, RANK, VERSION, ERROR, SIZES = 0, 8, 16, 24, 32, 40, 48, 80
"""Where the table has the kernel's address and its bytes of scratch, the numbers of its arrays, the axes of a state of
the first one, the version, the arguments of XLA's function that makes an error, and the bytes of a state of each."""

EXECUTE = 3  # the stage of a call; there are others, in which nothing has to be done


def kt_xla(frame: int) -> int:
    """Run the kernel, or say for which version of the interface this is; return 0, or an error of XLA's."""
    extension = word(frame + 8)
    if extension:
        metadata = word(extension + 24)
        set_word(metadata + 24, word(TABLE + VERSION))
        set_word(metadata + 32, 0)
        return 0
    if bytes4(frame + 32) != EXECUTE:
        return 0
    inputs = word(TABLE + INPUTS)
    outputs = word(TABLE + OUTPUTS)
    ins = stack(8 * inputs)
    outs = stack(8 * outputs)
    set_pointers(ins, word(frame + 72), inputs)
    set_pointers(outs, word(frame + 112), outputs)
    states = state_count(word(word(frame + 72)))
    if states == 0:
        return 0
    memory = PyMem_RawMalloc(word(TABLE + SCRATCH) + 64)
    if memory == 0:
        return call_word(word(word(frame + 16) + 48), TABLE + ERROR)
    call_batch(word(TABLE + KERNEL), ins, outs, TABLE + SIZES, states, (memory + 63) & -64)
    PyMem_RawFree(memory)
    return 0


def set_pointers(table: int, buffers: int, n: int) -> None:
    """Fill a table with the addresses of the numbers in buffers."""
    for k in range(n):
        set_word(table + 8 * k, word(word(buffers + 8 * k) + 24))


def state_count(buffer: int) -> int:
    """Return the number of states of which a buffer is made."""
    states = 1
    for k in range(word(buffer + 32) - word(TABLE + RANK)):
        states = states * word(word(buffer + 40) + 8 * k)
    return states
