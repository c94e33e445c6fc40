"""Straight-line code: the functions of a plan, which are its regions, and one that stores its constants."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping, Sequence

from kinetree.backends.llvm.ir import Body, Lanes, Values, function
from kinetree.backends.llvm.rows import Line, Transpose, block_bytes, lines_ahead, prefetch, row_pointers
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.graph.graph import Node
from kinetree.graph.ieee import POW2_SHIFT, SQRT_HALF, TO_SQRT_2
from kinetree.lowering.plan import Area, Cell, Plan, Region, Tile

# The instructions of each straight-line operation: {0}, {1}, {2} are the arguments, {t} the result of the previous
# instruction; {V} is the type, {B} the type of its truth values, {I} that of whole numbers of its size, {S} the suffix
# of intrinsics; [2.0] and [i 52] are constants of the types {V} and {I}. LLVM merges negations into the fused
# instruction.
SPELLING: dict[str, tuple[str, ...]] = {
    "add": ("fadd {V} {0}, {1}",),
    "sub": ("fsub {V} {0}, {1}",),
    "mul": ("fmul {V} {0}, {1}",),
    "div": ("fdiv {V} {0}, {1}",),
    "neg": ("fneg {V} {0}",),
    "abs": ("call {V} @llvm.fabs.{S}({V} {0})",),
    "select_lt": ("fcmp olt {V} {0}, {1}", "select {B} {t}, {V} {2}, {V} {3}"),
    "select_le": ("fcmp ole {V} {0}, {1}", "select {B} {t}, {V} {2}, {V} {3}"),
    "sqrt": ("call {V} @llvm.sqrt.{S}({V} {0})",),
    "fma": ("call {V} @llvm.fma.{S}({V} {0}, {V} {1}, {V} {2})",),
    "fms": ("fneg {V} {2}", "call {V} @llvm.fma.{S}({V} {0}, {V} {1}, {V} {t})"),
    "fnma": ("fneg {V} {0}", "call {V} @llvm.fma.{S}({V} {t}, {V} {1}, {V} {2})"),
    "rint": ("call {V} @llvm.rint.{S}({V} {0})",),
    "floor": ("call {V} @llvm.floor.{S}({V} {0})",),
    "ceil": ("call {V} @llvm.ceil.{S}({V} {0})",),
    "trunc": ("call {V} @llvm.trunc.{S}({V} {0})",),
    "copysign": (
        "fcmp uno {V} {1}, {1}",
        "select {B} {t}, {V} [0.0], {V} {1}",
        "call {V} @llvm.copysign.{S}({V} {0}, {V} {t})",
    ),
    "pow2": (
        f"fadd {{V}} {{0}}, [{POW2_SHIFT!r}]",
        "bitcast {V} {t} to {I}",
        "shl {I} {t}, [i 52]",
        "bitcast {I} {t} to {V}",
    ),
    "exponent": (  # the field as the lowest bits of 2⁵² + field
        "bitcast {V} {0} to {I}",
        f"add {{I}} {{t}}, [i {TO_SQRT_2}]",
        "lshr {I} {t}, [i 52]",
        f"or {{I}} {{t}}, [i {0x433 << 52}]",
        "bitcast {I} {t} to {V}",
        f"fsub {{V}} {{t}}, [{2.0**52 + 1023!r}]",
    ),
    "significand": (
        "bitcast {V} {0} to {I}",
        f"add {{I}} {{t}}, [i {TO_SQRT_2}]",
        f"and {{I}} {{t}}, [i {(1 << 52) - 1}]",
        f"add {{I}} {{t}}, [i {SQRT_HALF}]",
        "bitcast {I} {t} to {V}",
    ),
}

IN_FLOAT64 = ("pow2", "exponent", "significand")
"""Operations of one argument on the bits of float64, which are computed so for float32 too."""


@functools.cache
def spelled(dtype: str, count: int) -> dict[str, tuple[str, ...]]:
    """Return the instructions of the operations for this type; they need the arguments {0}, … and {t} filled in."""
    return {op: _spelled(op, lines, dtype, count) for op, lines in SPELLING.items()}


def _spelled(op: str, lines: tuple[str, ...], dtype: str, count: int) -> tuple[str, ...]:
    if op in IN_FLOAT64 and dtype != "float64":
        narrow, wide = Lanes(dtype, count), Lanes("float64", count)
        inner = [line.replace("{0}", "{t}") for line in _spelled(op, lines, "float64", count)]
        first, last = f"fpext {narrow.type} {{0}} to {wide.type}", f"fptrunc {wide.type} {{t}} to {narrow.type}"
        return (first, *inner, last)
    lanes = Lanes(dtype, count)
    bits = f"i{8 * lanes.item}"
    whole, truth = (f"<{count} x {bits}>", f"<{count} x i1>") if count > 1 else (bits, "i1")

    def constant(match: re.Match[str]) -> str:
        if match[1]:
            return f"splat ({bits} {match[2]})" if count > 1 else match[2]
        return lanes.constant(float(match[2]))

    replaced = (("{V}", lanes.type), ("{B}", truth), ("{I}", whole), ("{S}", lanes.suffix))
    return tuple(re.sub(r"\[(i )?([^]]+)\]", constant, _replaced(line, replaced)) for line in lines)


def _replaced(text: str, pairs: Sequence[tuple[str, str]]) -> str:
    for name, value in pairs:
        text = text.replace(name, value)
    return text


def append(b: Body, lines: Sequence[str], arguments: Sequence[str]) -> str:
    """Append the instructions of an operation on these registers or constants, and return the register of its value."""
    result = ""
    for line in lines:
        result = b(line.format(*arguments, t=result))
    return result


RELOAD_DISTANCE = 50
"""Reload a value that also lives in memory if it was last used this many operations ago. Otherwise LLVM spills it: one
more store, and stores limit the speed of long programs in lanes."""


def emit_region(
    name: str, plan: Plan, region: Region, layout: ScratchLayout, ahead: Mapping[int, Sequence[Line]]
) -> str:
    """Return the function of this region's values; `ahead` are the lines to prefetch after each item, by its index."""
    b = Body()
    access = Access(b, layout)
    code = StraightLine(b, access, plan, layout.lanes)
    for code.now, i in enumerate(region.items):
        if isinstance(i, Tile):
            access.store_tile(i, [code.value(j) for j in i.nodes], [plan.program.graph[j] for j in i.nodes])
        else:
            code.compute(i)
            for cell in plan.copies.get(i, ()):
                access.store(code.value(i), cell)
        for line in ahead.get(code.now, ()):
            access.prefetch(line)
    return function(f"void @{name}({layout.parameters})", b)


class StraightLine:
    """Computes nodes of a plan; `known` are registers of nodes not in memory, `now` is the number of the item."""

    def __init__(
        self, body: Body, access: Access, plan: Plan, lanes: Lanes, known: Mapping[int, str] | None = None
    ) -> None:
        self._body, self._access, self._plan, self._lanes = body, access, plan, lanes
        self._spelling = spelled(lanes.dtype, lanes.count)
        self._values: dict[int, tuple[str, float]] = {  # the register of a node, and the time of its last use
            i: (name, math.inf) for i, name in (known or {}).items()
        }
        self.now = 0

    def compute(self, i: int) -> None:
        """Compute a node, if straight-line code does."""
        op, args, _ = self._plan.program.graph[i]
        lines = self._spelling.get(op)
        if lines is not None:
            self._values[i] = append(self._body, lines, [self.value(a) for a in args]), self.now

    def value(self, i: int) -> str:
        """Return the register of a node, which is loaded if that is better, or its constant."""
        name, last = self._values.get(i, ("", self.now - RELOAD_DISTANCE))
        op, _, payload = self._plan.program.graph[i]
        if op == "const":
            name = self._lanes.constant(payload)
        elif self.now - last >= RELOAD_DISTANCE and i in self._plan.location:
            name = self._access.load(self._plan.location[i])
        self._values[i] = name, max(self.now, last)
        return name


class Access:
    """Loads and stores of cells in the body of a function with the layout's parameters."""

    def __init__(self, body: Body, layout: ScratchLayout) -> None:
        self._body = body
        self._layout = layout
        self._bases: dict[Area | None, str] = {}
        self._rows: dict[int, list[str]] = {}  # of an output
        self._blocks: dict[int, str] = {}  # bytes from its rows to those of the next block

    def pointer(self, cell: Cell) -> str:
        """Return a pointer to the cell."""
        port, offset = self._layout.address(cell)
        if port not in self._bases:
            self._bases[port] = self._layout.base(self._body, port)
        return self._body(f"getelementptr i8, ptr {self._bases[port]}, i64 {offset}")

    def load(self, cell: Cell) -> str:
        """Load the value of the cell."""
        return self.load_from(self.pointer(cell), cell.area)

    def load_from(self, pointer: str, area: Area) -> str:
        """Load a value of this area: from a scalar in every lane, and zero in lanes that are not active."""
        b, lanes, align = self._body, self._layout.lanes, self._layout.alignment(area)
        if self._layout.is_shared(area):
            return Values(lanes).splat(b, b(f"load {lanes.scalar}, ptr {pointer}, align {align}"))
        if active := self._mask(area):
            masked = f"call {lanes.type} @llvm.masked.load.{lanes.suffix}.p0"
            return b(f"{masked}(ptr {pointer}, i32 {align}, {active}, {lanes.type} zeroinitializer)")
        return b(f"load {lanes.type}, ptr {pointer}, align {align}")

    def store(self, value: str, cell: Cell) -> None:
        """Store a value to the cell."""
        self.store_to(self.pointer(cell), cell.area, value)

    def store_to(self, pointer: str, area: Area, value: str) -> None:
        """Store a value to this place of the area, but nothing of lanes that are not active."""
        b, lanes, align = self._body, self._layout.lanes, self._layout.alignment(area)
        if active := self._mask(area):
            masked = f"call void @llvm.masked.store.{lanes.suffix}.p0"
            b.line(f"{masked}({lanes.type} {value}, ptr {pointer}, i32 {align}, {active})")
        else:
            b.line(f"store {lanes.type} {value}, ptr {pointer}, align {align}")

    def _mask(self, area: Area) -> str:
        """Return the mask of the lanes that are active in this area; nothing where all are."""
        count, active = self._layout.lanes.count, self._layout.active(area)
        return f"<{count} x i1> <{', '.join(f'i1 {int(k < active)}' for k in range(count))}>" if active < count else ""

    def store_tile(self, tile: Tile, values: list[str], nodes: Sequence[Node]) -> None:
        """Transpose a tile of these values, which belong to these nodes, and store it to the rows.

        Volatile: the compiler would take up to twice as long looking for other orders of so many stores.
        """
        b, layout = self._body, self._layout
        rows = self._row_pointers(tile.port)
        transpose = Transpose(b, layout.lanes, len(values))
        if all(node.op == "const" for node in nodes):
            parts = transpose.constant_rows([node.payload for node in nodes])
        else:
            parts = transpose.to_rows(values)
        offset = tile.first * layout.lanes.item
        for part, row in zip(parts, rows, strict=True):
            place = b(f"getelementptr i8, ptr {row}, i64 {offset}")
            b.line(f"store volatile {transpose.row} {part}, ptr {place}, align {layout.lanes.item}")

    def prefetch(self, line: Line) -> None:
        """Prefetch this line of all rows."""
        rows = self._row_pointers(line.port)
        distance = f"{line.offset}"
        if line.next_block:
            if line.port not in self._blocks:
                self._blocks[line.port] = block_bytes(self._body, rows)
            distance = self._body(f"add i64 {self._blocks[line.port]}, {distance}")
        prefetch(self._body, rows, distance)

    def _row_pointers(self, port: int) -> list[str]:
        """Return the pointers to the rows of an output."""
        if port not in self._rows:
            table = self._body(f"getelementptr i8, ptr %s, i64 {self._layout.rows['out', port]}")
            self._rows[port] = row_pointers(self._body, self._layout.lanes, table)
        return self._rows[port]


_LONG_RUN = 8  # of equal constants: these are stored by a loop


def plan_functions(prefix: str, plan: Plan, layout: ScratchLayout) -> list[str]:
    """Return the definitions of ``@PREFIXconstants`` and of the regions, ``@PREFIXregion0`` and so on."""
    regions = [step for step in plan.steps if isinstance(step, Region)]
    lines = lines_ahead(regions, plan.program, layout)
    return [
        _constants_function(f"{prefix}constants", plan, layout),
        *(
            emit_region(f"{prefix}region{n}", plan, region, layout, ahead)
            for n, (region, ahead) in enumerate(zip(regions, lines, strict=True))
        ),
    ]


def _constants_function(name: str, plan: Plan, layout: ScratchLayout) -> str:
    """Return the function that stores the plan's constants; long runs of one value by a loop."""
    b = Body()
    access = Access(b, layout)
    scalar = Lanes(layout.lanes.dtype, 1)
    for first, value, count in plan.runs():
        if count > _LONG_RUN and layout.is_dense(first.area):
            fill = f"{scalar.type} {scalar.constant(value)}, i64 {count * layout.lanes.count}"
            b.line(f"call void @fill(ptr {access.pointer(first)}, {fill})")
        else:
            for n in range(count):
                access.store(layout.lanes.constant(value), first._replace(offset=first.offset + n))
    return function(f"void @{name}({layout.parameters})", b)


def fill_function(dtype: str) -> str:
    """Return the definition of ``void @fill(ptr p, T x, i64 n)``, which stores x n times."""
    scalar = Lanes(dtype, 1)
    b = Body()
    with b.loop(1, "%n"):
        p = b(f"getelementptr {scalar.type}, ptr %p, i64 %i")
        b.line(f"store {scalar.type} %x, ptr {p}, align {scalar.bytes}")
    return function(f"void @fill(ptr %p, {scalar.type} %x, i64 %n)", b)
