"""What array calls run: array kernels and array operations, each defined once in a module."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping

from kinetree.backends.llvm.ir import Body, Lanes, function
from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.scratch import NestedLayout, ScratchLayout
from kinetree.backends.llvm.straight_line import Access, plan_functions
from kinetree.backends.llvm.target import Target
from kinetree.graph import Program
from kinetree.graph.array_operations import ArrayOperation
from kinetree.lowering.build import lower
from kinetree.lowering.plan import Area, Cell, Plan, Region

Emitter = Callable[["Routines", str, ArrayOperation, Lanes], tuple[str, int]]
"""From a name, an operation and its lanes to the definition of ``void @NAME(ptr …, ptr %results, ptr %s)``, which takes
a pointer to each part of the arguments, and the bytes of scratch that it needs. The arguments of a part and the results
are values of these lanes, one after another."""


class Routines:
    """The functions that array calls of a module run.

    Attributes
    ----------
    definitions : dict of str to str
        By name, the LLVM IR of a function.
    """

    def __init__(
        self,
        emitters: Mapping[str, Emitter],
        dtype: str,
        target: Target,
        region_operations: int,
        width: int | None = None,
    ) -> None:
        self.target = target
        self._width = width or target.lanes("float64")  # of the vectors of array kernels
        self.definitions: dict[str, str] = {}
        self._emitters, self._dtype, self._region_operations = emitters, dtype, region_operations
        self._operations: dict[tuple[ArrayOperation, int], tuple[str, int]] = {}

    def frame(self, plan: Plan, lanes: Lanes) -> int:
        """Define what the plan calls, and return the most bytes of scratch that one of its array operations needs."""
        most = 0
        for step in plan.steps:
            if isinstance(step, Region):
                continue
            if isinstance(step.kernel, ArrayOperation):
                most = max(most, self._operation(step.kernel, lanes)[1])
            elif step.kernel not in self.definitions:
                self.definitions[step.kernel] = ARRAY_KERNELS[step.kernel](self._dtype, self._width)
        return most

    def _operation(self, operation: ArrayOperation, lanes: Lanes) -> tuple[str, int]:
        """Return the name of the function of this operation, and the bytes of scratch that it needs."""
        key = operation, lanes.count
        if key not in self._operations:
            name = f"{operation.name}{len(self._operations)}"
            self._operations[key] = name, 0  # an operation inside gets another name
            self.definitions[name], size = self._emitters[operation.name](self, name, operation, lanes)
            self._operations[key] = name, size
        return self._operations[key]

    def plan(self, program: Program, strides: Mapping[Area, int] | None = None) -> Plan:
        """Return the plan of a program of an array operation; array kernels read no port with strides in place."""
        return lower(program, self._region_operations, in_place=0.0 if strides else 2.0)

    def nested(
        self, name: str, program: Program, lanes: Lanes, strides: Mapping[Area, int] | None = None
    ) -> NestedLayout:
        """Define ``@NAME`` and ``@NAMEconstants`` for a program of an array operation, and return their layout.

        Both take pointers to the ports and to scratch; the constants must be stored once in the same memory.
        """
        plan = self.plan(program, strides)
        layout = NestedLayout(plan, lanes, self.frame(plan, lanes), strides or {})
        b = Body()
        self.call_steps(b, name, plan, layout)
        steps = function(f"void @{name}({layout.parameters})", b)
        self.definitions[name] = "\n".join([*plan_functions(name, plan, layout), steps])
        return layout

    def call_steps(self, b: Body, prefix: str, plan: Plan, layout: ScratchLayout) -> None:
        """Call regions, array kernels and array operations in order."""
        access = Access(b, layout)
        regions, tables = itertools.count(), (f"{prefix}moves{n}" for n in itertools.count())
        for step in plan.steps:
            if isinstance(step, Region):
                b.line(f"call void @{prefix}region{next(regions)}({layout.arguments})")
                continue
            self._move(b, tables, step.moves, layout)
            pointers = "".join(f"ptr {access.pointer(cell)}, " for cell in step.inputs + step.outputs)
            if isinstance(step.kernel, ArrayOperation):
                name, _ = self._operation(step.kernel, layout.lanes)
                b.line(f"call void @{name}({pointers}ptr {layout.frame(b)})")
            else:
                b.line(f"call void @{step.kernel}({pointers}i64 {step.count * layout.lanes.count})")
        self._move(b, tables, [(plan.location[i], cell) for i, cell in plan.moves], layout)

    def _move(self, b: Body, tables: Iterator[str], moves: Iterable[tuple[Cell, Cell]], layout: ScratchLayout) -> None:
        """Copy cells to others, in loops over tables of their offsets in bytes."""
        by_areas: dict[tuple[Area, Area], list[int]] = {}
        for pair in moves:
            by_areas.setdefault((pair[0].area, pair[1].area), []).extend(layout.address(cell)[1] for cell in pair)
        kind = layout.lanes.type
        for areas, offsets in by_areas.items():
            name, entries = next(tables), ", ".join(f"i32 {offset}" for offset in offsets)
            self.definitions[name] = f"@{name} = internal constant [{len(offsets)} x i32] [{entries}]\n"
            bases = [layout.base(b, layout.address(Cell(area, 0))[0]) for area in areas]
            with b.times(len(offsets) // 2) as k:
                places = []
                for half, base in enumerate(bases):
                    entry = b(f"getelementptr [2 x i32], ptr @{name}, i64 {k}, i64 {half}")
                    offset = b(f"zext i32 {b(f'load i32, ptr {entry}, align 4')} to i64")
                    places.append(b(f"getelementptr i8, ptr {base}, i64 {offset}"))
                pairs = zip(places, areas, strict=True)
                source, place = (f"ptr {pointer}, align {layout.alignment(area)}" for pointer, area in pairs)
                b.line(f"store {kind} {b(f'load {kind}, {source}')}, {place}")
