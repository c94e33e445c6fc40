"""The functions of a plan: its regions, and one that stores its constants."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from kinetree.backends.llvm.ir import Body, Lanes, function, hex_literal
from kinetree.backends.llvm.prefetch import lines_ahead
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.straight_line import Access, emit_region
from kinetree.lowering.plan import Area, Cell, Plan, Region

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
    for first, value, count in _runs(plan.constants):
        if count > _LONG_RUN and layout.is_dense(first.area):
            fill = f"{scalar.type} {scalar.constant(value)}, i64 {count * layout.lanes.count}"
            b.line(f"call void @fill(ptr {access.pointer(first)}, {fill})")
        else:
            for n in range(count):
                access.store(layout.lanes.constant(value), first._replace(offset=first.offset + n))
    return function(f"void @{name}({layout.parameters})", b)


def _runs(constants: list[tuple[Cell, float]]) -> Iterator[tuple[Cell, float, int]]:
    """Yield the first cell, the value and the length of every run of equal neighbours."""

    def run(item: tuple[int, tuple[Cell, float]]) -> tuple[Area, int, str]:
        n, (cell, value) = item
        return cell.area, cell.offset - n, hex_literal(value)

    for _, items in itertools.groupby(enumerate(constants), run):
        (_, (first, value)), *others = items
        yield first, value, 1 + len(others)


def fill_function(dtype: str) -> str:
    """Return the definition of ``void @fill(ptr p, T x, i64 n)``, which stores x n times."""
    scalar = Lanes(dtype, 1)
    b = Body()
    with b.loop(1, "%n"):
        p = b(f"getelementptr {scalar.type}, ptr %p, i64 %i")
        b.line(f"store {scalar.type} %x, ptr {p}, align {scalar.bytes}")
    return function(f"void @fill(ptr %p, {scalar.type} %x, i64 %n)", b)
