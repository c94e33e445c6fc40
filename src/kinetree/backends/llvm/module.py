"""What the modules for one state and for a batch share: regions, array calls, constants, declarations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence

from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.lanes import Lanes, hex_literal
from kinetree.backends.llvm.prefetch import lines_ahead
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.straight_line import SPELLING, Access, emit_region
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import Area, ArrayCall, Cell, Plan, Region

REGION_OPERATIONS = 1000
"""Most operations in one region. It hardly affects the speed of the code, but LLVM's time grows faster than linearly
in the size of a function."""

_LONG_RUN = 8  # of equal constants: these are stored by a loop


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", *SPELLING, *arrays])


def _step_functions(plan: Plan, layout: ScratchLayout, target: Target) -> list[str]:
    """Return the definitions of all regions, and of the array kernels that are called."""
    regions = [step for step in plan.steps if isinstance(step, Region)]
    ahead = lines_ahead(regions, layout)
    definitions = [emit_region(f"region{n}", plan, region, layout, ahead[n]) for n, region in enumerate(regions)]
    kernels = dict.fromkeys(step.kernel for step in plan.steps if isinstance(step, ArrayCall))
    return definitions + [ARRAY_KERNELS[name](layout.lanes.dtype, target.lanes("float64")) for name in kernels]


def call_steps(b: Body, plan: Plan, layout: ScratchLayout) -> None:
    """Call regions and array kernels in order."""
    access = Access(b, layout)
    regions = itertools.count()
    for step in plan.steps:
        if isinstance(step, ArrayCall):
            pointers = "".join(f"ptr {access.pointer(cell)}, " for cell in step.inputs + step.outputs)
            b.line(f"call void @{step.kernel}({pointers}i64 {step.count * layout.lanes.count})")
        else:
            b.line(f"call void @region{next(regions)}({layout.arguments})")


def _constants_function(plan: Plan, layout: ScratchLayout) -> str:
    """Return @constants, which stores the plan's constants; long runs of one value by a loop."""
    b = Body()
    access = Access(b, layout)
    scalar = Lanes(layout.lanes.dtype, 1)
    for first, value, count in _runs(plan.constants):
        if count > _LONG_RUN:
            fill = f"{scalar.type} {scalar.constant(value)}, i64 {count * layout.lanes.count}"
            b.line(f"call void @fill(ptr {access.pointer(first)}, {fill})")
        else:
            for n in range(count):
                access.store(layout.lanes.constant(value), first._replace(offset=first.offset + n))
    return _fill(scalar) + function(f"void @constants({layout.parameters})", b)


def _runs(constants: list[tuple[Cell, float]]) -> Iterator[tuple[Cell, float, int]]:
    """Yield the first cell, the value and the length of every run of equal neighbours."""

    def run(item: tuple[int, tuple[Cell, float]]) -> tuple[Area, int, str]:
        n, (cell, value) = item
        return cell.area, cell.offset - n, hex_literal(value)

    for _, items in itertools.groupby(enumerate(constants), run):
        (_, (first, value)), *others = items
        yield first, value, 1 + len(others)


def _fill(scalar: Lanes) -> str:
    b = Body()
    with b.loop(1, "%n"):
        p = b(f"getelementptr {scalar.type}, ptr %p, i64 %i")
        b.line(f"store {scalar.type} %x, ptr {p}, align {scalar.bytes}")
    return function(f"void @fill(ptr %p, {scalar.type} %x, i64 %n)", b)


def module_text(plan: Plan, layout: ScratchLayout, target: Target, entry: str, helpers: Sequence[str] = ()) -> str:
    """Return the module of a plan with this entry point, functions that help it, and declarations of intrinsics."""
    text = "\n".join([*helpers, _constants_function(plan, layout), *_step_functions(plan, layout, target), entry])
    data_layout = target_machine(target).target_data
    return (
        f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n\n{text}\n{_declarations(text)}\n'
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{target.vector_bits}" }}\n'
    )


_CALL = re.compile(r"call (\S+|<[^>]*>) (@llvm\.[\w.]+)\((.*)\)")
_ARGUMENT = re.compile(r"(<\d+ x \w+>|\w+) [^ ]")
_SPLAT = re.compile(r"splat \([^)]*\)")


def _declarations(text: str) -> str:
    """Return a declaration of every intrinsic that is called, its type inferred from the first call."""
    found: dict[str, str] = {}
    for result, name, arguments in _CALL.findall(text):
        if name not in found:
            types = _ARGUMENT.findall(_SPLAT.sub("%", arguments))
            found[name] = f"declare {result} {name}({', '.join(types)})"
    return "\n".join(found.values())
