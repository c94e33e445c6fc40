"""Straight-line code: one region of a plan as one LLVM function."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.lanes import Lanes
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.transpose import Transpose, row_pointers
from kinetree.graph.graph import Node
from kinetree.graph.ieee import POW2_SHIFT
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
        "lshr {I} {t}, [i 52]",
        "and {I} {t}, [i 2047]",
        f"or {{I}} {{t}}, [i {0x433 << 52}]",
        "bitcast {I} {t} to {V}",
        f"fsub {{V}} {{t}}, [{2.0**52 + 1023!r}]",
    ),
    "significand": (
        "bitcast {V} {0} to {I}",
        f"and {{I}} {{t}}, [i {(1 << 52) - 1}]",
        f"or {{I}} {{t}}, [i {1023 << 52}]",
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

PREFETCH_ROW_BYTES = 3072
"""Prefetch the next block's part of a row if rows are at least this long: long results leave the cache."""

CACHE_LINE = 64


def emit_region(name: str, plan: Plan, region: Region, layout: ScratchLayout) -> str:
    """Return the function `name` that computes the values of this region and stores those used outside."""
    nodes = plan.program.graph.nodes
    lanes = layout.lanes
    spelling = spelled(lanes.dtype, lanes.count)
    b = Body()
    access = Access(b, layout)
    values: dict[int, tuple[str, int]] = {}  # the register of a node, and the time of its last use

    def value(i: int, now: int) -> str:
        name, last = values.get(i, ("", now - RELOAD_DISTANCE))
        if nodes[i].op == "const":
            name = lanes.constant(nodes[i].payload)
        elif now - last >= RELOAD_DISTANCE and i in plan.location:
            name = access.load(plan.location[i])
        values[i] = name, now
        return name

    for now, i in enumerate(region.items):
        if isinstance(i, Tile):
            access.store_tile(i, [value(j, now) for j in i.nodes], [nodes[j] for j in i.nodes])
            continue
        lines = spelling.get(nodes[i].op)
        if lines is not None:
            values[i] = append(b, lines, [value(a, now) for a in nodes[i].args]), now
        for cell in plan.copies.get(i, ()):
            access.store(value(i, now), cell)
    return function(f"void @{name}({layout.parameters})", b)


class Access:
    """Loads and stores of cells in the body of a function with the layout's parameters."""

    def __init__(self, body: Body, layout: ScratchLayout) -> None:
        self._body = body
        self._layout = layout
        self._bases: dict[Area | None, str] = {}
        self._rows: dict[Area, list[str]] = {}
        self._blocks: dict[Area, str] = {}

    def pointer(self, cell: Cell) -> str:
        """Return a pointer to the cell."""
        port, offset = self._layout.address(cell)
        if port not in self._bases:
            self._bases[port] = self._layout.base(self._body, port)
        return self._body(f"getelementptr i8, ptr {self._bases[port]}, i64 {offset}")

    def load(self, cell: Cell) -> str:
        """Load the value of the cell."""
        lanes = self._layout.lanes
        return self._body(f"load {lanes.type}, ptr {self.pointer(cell)}, align {lanes.alignment}")

    def store(self, value: str, cell: Cell) -> None:
        """Store a value to the cell."""
        lanes = self._layout.lanes
        self._body.line(f"store {lanes.type} {value}, ptr {self.pointer(cell)}, align {lanes.alignment}")

    def store_tile(self, tile: Tile, values: list[str], nodes: Sequence[Node]) -> None:
        """Transpose a tile of these values, which belong to these nodes, and store it to the rows."""
        b, layout, area = self._body, self._layout, ("out", tile.port)
        if area not in self._rows:
            self._rows[area] = row_pointers(b, layout.lanes, b(f"getelementptr i8, ptr %s, i64 {layout.rows[area]}"))
            self._blocks[area] = self._next_block(area)
        transpose = Transpose(b, layout.lanes, len(values))
        if all(node.op == "const" for node in nodes):
            rows = transpose.constant_rows([node.payload for node in nodes])
        else:
            rows = transpose.to_rows(values)
        offset = tile.first * layout.lanes.item
        for value, row in zip(rows, self._rows[area], strict=True):
            place = b(f"getelementptr i8, ptr {row}, i64 {offset}")
            b.line(f"store {transpose.row} {value}, ptr {place}, align {layout.lanes.item}")
            if self._blocks[area] and offset % CACHE_LINE == 0:
                place = b(f"getelementptr i8, ptr {place}, i64 {self._blocks[area]}")
                b.line(f"call void @llvm.prefetch.p0(ptr {place}, i32 1, i32 3, i32 1)")

    def _next_block(self, area: Area) -> str:
        """Return the bytes from a row to the same row of the next block; empty where rows are short."""
        b, rows = self._body, self._rows[area]
        if self._layout.row_bytes[area] < PREFETCH_ROW_BYTES or len(rows) == 1:
            return ""
        first, second = (b(f"ptrtoint ptr {row} to i64") for row in rows[:2])
        return b(f"mul i64 {b(f'sub i64 {second}, {first}')}, {len(rows)}")
