"""The module for many steps of many states: a loop over time inside a loop over blocks of W states.

What is carried from step to step stays in lanes; only the inputs of each step are read, and only what is recorded is
written. As in `batch`, the last block of states may overlap the one before.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.backends.base import Steps, Stops, check_legal
from kinetree.backends.llvm.ir import Body, Lanes, Values, function, table
from kinetree.backends.llvm.module import REGION_OPERATIONS, legal_operations, with_head
from kinetree.backends.llvm.routines import Routines
from kinetree.backends.llvm.rows import gather_rows, rows_to_lanes, tile_columns
from kinetree.backends.llvm.scratch import places
from kinetree.backends.llvm.straight_line import fill_function
from kinetree.backends.llvm.target import Target
from kinetree.graph import Port, Program

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
    ports = (*program.inputs, *program.outputs)
    offsets, size = places(layout.size, _POINTER * (count + 1), *(port.size * lanes.bytes for port in ports))
    b = Body()
    scratch, rows, *cells = (b(f"getelementptr i8, ptr %s, i64 {offset}") for offset in offsets)
    inputs, outputs = cells[: len(program.inputs)], cells[len(program.inputs) :]
    arguments = ", ".join(f"ptr {cell}" for cell in (*cells, scratch))
    b.line(f"call void @stepconstants({arguments})")
    last = b(f"call i64 @llvm.usub.sat.i64(i64 %n, i64 {count})")
    n_inputs = len(program.inputs)
    moves, v = _Moves(b, lanes, rows, n_inputs), Values(lanes)
    fed, following = {k for k, _ in steps.carried}, {j: inputs[k] for k, j in steps.carried}
    with b.times(b(f"udiv i64 {b(f'add i64 %n, {count - 1}')}, {count}")) as block:
        first = b(f"call i64 @llvm.umin.i64(i64 {b(f'mul i64 {block}, {count}')}, i64 {last})")
        for k, port in enumerate(program.inputs):
            moves.read(k, port, inputs[k], first, "0")
        with b.times("%count") as step:
            for k, port in enumerate(program.inputs):
                if k not in fed:
                    ahead = b(f"mul i64 {step}, {moves.entry('%steps', k)}")
                    with b.when(b(f"icmp ne i64 {ahead}, 0")):
                        moves.read(k, port, inputs[k], first, ahead)
            b.line(f"call void @step({arguments})")
            _carry(b, v, program, steps, inputs, outputs)
            done = b(f"add i64 {step}, 1")
            with b.when(b(f"icmp eq i64 {b(f'urem i64 {done}, %every')}, 0")):
                record = b(f"udiv i64 {step}, %every")
                for n, k in enumerate(steps.recorded):
                    ahead = b(f"mul i64 {record}, {moves.entry('%steps', n_inputs + n)}")
                    kept = following.get(k, outputs[k])
                    moves.write(len(steps.carried) + n, program.outputs[k], kept, first, ahead)
        for n, (k, _) in enumerate(steps.carried):
            moves.write(n, program.inputs[k], inputs[k], first, "0")
    entry = function(_SIGNATURE, b, internal=False)
    text = [fill_function(dtype), *moves.functions(ports), *routines.definitions.values(), entry]
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


class _Moves:
    """Transposes between the caller's rows and cells, in the body of kt_scan; `rows` is room for a table of rows."""

    def __init__(self, b: Body, lanes: Lanes, rows: str, inputs: int) -> None:
        self._b, self._lanes, self._rows, self._inputs = b, lanes, rows, inputs

    def entry(self, table: str, k: int) -> str:
        """Return an entry of a table of distances."""
        return self._b(f"load i64, ptr {self._b(f'getelementptr i64, ptr {table}, i64 {k}')}, align 8")

    def read(self, k: int, port: Port, cells: str, first: str, ahead: str) -> None:
        """Bring the rows of an input into lanes: those of the block that begins with state `first`."""
        if port.size:
            self._point("in", k, k, first, ahead)
            name = f"@rows_to_lanes_{tile_columns(port.size, self._lanes.count)}"
            self._b.line(f"call void {name}(ptr {self._rows}, ptr {cells}, i64 {port.size})")

    def write(self, k: int, port: Port, cells: str, first: str, ahead: str) -> None:
        """Write cells to the rows of an output."""
        if port.size:
            self._point("out", k, self._inputs + k, first, ahead)
            name = f"@gather_rows_{tile_columns(port.size, self._lanes.count)}"
            self._b.line(f"call void {name}(ptr {self._rows}, ptr @in_order, ptr {cells}, i64 {port.size})")

    def _point(self, kind: str, k: int, index: int, first: str, ahead: str) -> None:
        base = self._b(f"load ptr, ptr {self._b(f'getelementptr ptr, ptr %{kind}, i64 {k}')}, align 8")
        start = self._b(f"getelementptr i8, ptr {base}, i64 {ahead}")
        stride = self.entry("%strides", index)
        self._b.line(f"call void @point(ptr {self._rows}, ptr {start}, i64 {stride}, i64 {first}, i64 %n)")

    def functions(self, ports: tuple[Port, ...]) -> list[str]:
        """Return the definitions that the moves of these ports need."""
        b = Body()
        last = b("sub i64 %n, 1")
        for r in range(self._lanes.count):
            state = b(f"call i64 @llvm.umin.i64(i64 {b(f'add i64 %first, {r}')}, i64 {last})")
            place = b(f"getelementptr i64, ptr %rows, i64 {r}")
            b.line(f"store i64 {b(f'mul i64 {state}, %stride')}, ptr {place}, align 8")
        b.line(f"store ptr %start, ptr {b(f'getelementptr ptr, ptr %rows, i64 {self._lanes.count}')}, align 8")
        point = function("void @point(ptr %rows, ptr %start, i64 %stride, i64 %first, i64 %n)", b)
        most = max(port.size for port in ports)
        in_order = table("@in_order", range(0, most * self._lanes.bytes, self._lanes.bytes))
        columns = sorted({tile_columns(port.size, self._lanes.count) for port in ports if port.size})
        transposes = [transpose(self._lanes, c) for c in columns for transpose in (rows_to_lanes, gather_rows)]
        return [in_order, point, *transposes]
