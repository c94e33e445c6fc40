"""The module for many steps of many states: a loop over time inside a loop over blocks of W states.

What is carried from step to step stays in lanes; only the inputs of each step are read, and only what is recorded is
written. As in `batch`, the last block of states may overlap the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.backends.base import Steps, Stops, check_legal
from kinetree.backends.llvm.ir import Body, Lanes, Values, function
from kinetree.backends.llvm.module import REGION_OPERATIONS, legal_operations, with_head
from kinetree.backends.llvm.routines import Routines
from kinetree.backends.llvm.rows import Input, Output, row_functions
from kinetree.backends.llvm.scratch import places
from kinetree.backends.llvm.straight_line import fill_function
from kinetree.backends.llvm.target import Target
from kinetree.graph import Program

_SIGNATURE = "void @kt_scan(ptr %in, ptr %out, ptr %strides, ptr %steps, i64 %n, i64 %count, i64 %every, ptr %s)"
_POINTER = 8


def scan_ir(
    program: Program, steps: Steps, dtype: str, target: Target, count: int, region_operations: int = REGION_OPERATIONS
) -> tuple[str, int]:
    """Return the IR with `kt_scan` (see `Backend`), and the scratch."""
    check_legal(program, legal_operations(), "LLVM")
    lanes = Lanes(dtype, count)
    routines = Routines(dtype, target, region_operations)
    layout = routines.nested("step", program, lanes)
    ports, n_inputs, n_carried = (*program.inputs, *program.outputs), len(program.inputs), len(steps.carried)
    following = {j: k for k, j in steps.carried}
    kept = [k for k, _ in steps.carried] + [following.get(j, n_inputs + j) for j in steps.recorded]  # cells to write
    tables = [_POINTER * (count + 1)] * (n_inputs + len(kept))
    offsets, size = places(*(port.size * lanes.bytes for port in ports), *tables, layout.size)
    rows = iter(offsets[len(ports) :])
    reads = {
        k: Input(lanes, next(rows), k, 0, port.size, offsets[k]) for k, port in enumerate(program.inputs) if port.size
    }
    writes = {
        n: Output(lanes, next(rows), n, n_inputs + n, [offsets[k] + i * lanes.bytes for i in range(ports[k].size)])
        for n, k in enumerate(kept)
        if ports[k].size
    }
    b, v = Body(), Values(lanes)
    cells = [b(f"getelementptr i8, ptr %s, i64 {offset}") for offset in (*offsets[: len(ports)], offsets[-1])]
    inputs, outputs = cells[:n_inputs], cells[n_inputs:-1]
    for port in (*reads.values(), *writes.values()):
        port.measure(b)
    arguments = ", ".join(f"ptr {cell}" for cell in cells)
    b.line(f"call void @stepconstants({arguments})")
    last = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")

    def ahead(number: str, k: int) -> str:
        """Return the bytes to the step, or record, of this number."""
        place = b(f"getelementptr i64, ptr %steps, i64 {k}")
        return b(f"mul i64 {number}, {b(f'load i64, ptr {place}, align 8')}")

    with b.times(b(f"udiv i64 {b(f'add i64 %n, {count - 1}')}, {count}")) as block:
        first = b(f"call i64 @llvm.umin.i64(i64 {b(f'mul i64 {block}, {count}')}, i64 {last})")
        for read in reads.values():
            read.point(b, first)
            read.move(b)
        with b.times("%count") as step:
            for k, read in reads.items():
                if k not in dict(steps.carried):
                    far = ahead(step, k)
                    with b.when(b(f"icmp ne i64 {far}, 0")):
                        read.point(b, first, far)
                        read.move(b)
            b.line(f"call void @step({arguments})")
            _carry(b, v, program, steps, inputs, outputs)
            done = b(f"add i64 {step}, 1")
            with b.when(b(f"icmp eq i64 {b(f'urem i64 {done}, %every')}, 0")):
                record = b(f"udiv i64 {step}, %every")
                for n, write in writes.items():
                    if n >= n_carried:
                        write.point(b, first, ahead(record, n_inputs + n - n_carried))
                        write.copy(b)
        for n, write in writes.items():
            if n < n_carried:
                write.point(b, first)
                write.copy(b)
    entry = function(_SIGNATURE, b, internal=False)
    helpers = row_functions(lanes, [*reads.values()], [*writes.values()])
    text = [fill_function(dtype), *helpers, *routines.definitions.values(), entry]
    return with_head("\n".join(text), target), size


def _carry(b: Body, v: Values, program: Program, steps: Steps, inputs: Sequence[str], outputs: Sequence[str]) -> None:
    """Put the outputs that are carried in the place of inputs, but not where a state has stopped."""
    copies = [(program.inputs[k].size, outputs[j], inputs[k]) for k, j in steps.carried]
    if steps.stops is None:
        _copy(b, v, copies)
        return
    k, kind = steps.stops.reason, v.truth
    before = v.load(b, inputs[k], 0)
    going = b(f"fcmp oeq {v.lanes.type} {before}, {v.lanes.constant(0.0)}")
    live = b(f"and {kind} {going}, {_are_finite(b, v, program, steps.stops, outputs)}")
    stopped = v.any(b, b(f"xor {kind} {live}, {v.true}"))
    with b.when(b(f"xor i1 {stopped}, true")):
        _copy(b, v, copies)
    with b.when(stopped):
        trouble = v.load(b, outputs[steps.stops.trouble], 0)
        reason = b(f"select {kind} {going}, {v.lanes.type} {trouble}, {v.lanes.type} {before}")
        _copy(b, v, copies, live)
        reason = b(f"select {kind} {live}, {v.lanes.type} {v.load(b, inputs[k], 0)}, {v.lanes.type} {reason}")
        v.store(b, reason, inputs[k], 0)


def _copy(b: Body, v: Values, copies: Sequence[tuple[int, str, str]], live: str | None = None) -> None:
    """Copy so many values from one place to another, where `live` holds if it is given."""
    for size, source, place in copies:
        if size:
            with b.times(size) as i:
                value = v.load(b, source, i)
                if live is not None:
                    kept = v.load(b, place, i)
                    value = b(f"select {v.truth} {live}, {v.lanes.type} {value}, {v.lanes.type} {kept}")
                v.store(b, value, place, i)


def _are_finite(b: Body, v: Values, program: Program, stops: Stops, outputs: Sequence[str]) -> str:
    """Return whether all checked outputs are finite: their sum is, whose parts are computed side by side."""
    zero = v.lanes.constant(0.0)
    sums = [zero] * _SUMS
    entries = [(outputs[j], i) for j in stops.checked for i in range(program.outputs[j].size)]
    for n, (cells, i) in enumerate(entries):
        sums[n % _SUMS] = b(f"fadd {v.lanes.type} {sums[n % _SUMS]}, {v.load(b, cells, i)}")
    total = sums[0]
    for part in sums[1:]:
        total = b(f"fadd {v.lanes.type} {total}, {part}")
    return b(f"fcmp oeq {v.lanes.type} {b(f'fsub {v.lanes.type} {total}, {total}')}, {zero}")


_SUMS = 4
