"""`lower`: builds the plan of a program."""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.array_calls import group_by_depth, place_call
from kinetree.lowering.outputs import place_deferred, place_entries, with_tiles
from kinetree.lowering.plan import Cell, Plan
from kinetree.lowering.regions import ancestors, append_regions, assign_slots


def lower(program: Program, region_size: int, *, widths: Sequence[int] | None = None, in_place: float = 2.0) -> Plan:
    """Return a plan whose regions have at most `region_size` operations, or one tile more.

    A column of a tile counts as `COLUMN_OPERATIONS`. `widths` are those of each output's tiles, of which 0 defers the
    output; without them, output entries are cells. An array call may read an input in place if that makes it at most
    `in_place` times longer.
    """
    plan = Plan(program)
    order = program.schedule()
    nodes = program.graph.nodes
    for kind, ports in (("in", program.inputs), ("out", program.outputs)):
        plan.areas.update({(kind, k): port.size for k, port in enumerate(ports)})
    for i in order:
        if nodes[i].op == "input":
            port, entry = nodes[i].payload
            plan.location[i] = Cell(("in", port), entry)
    if widths is None:
        place_entries(plan)
    pending = set(order)
    for group in group_by_depth(program):
        call = place_call(plan, group, in_place)
        if call.inputs[0].area[0] == "args":
            needed = ancestors(program, {a for i in group for a in nodes[i].args if plan.copies.get(a)}, pending)
            append_regions(plan, [i for i in order if i in needed], region_size)
            pending -= needed
        plan.steps.append(call)
    if widths is not None:
        place_deferred(plan, [k for k, width in enumerate(widths) if not width])
    last = [i for i in order if i in pending and (OPS[nodes[i].op].straight_line or plan.copies.get(i))]
    append_regions(plan, last if widths is None else with_tiles(program, last, widths), region_size)
    assign_slots(plan)
    return plan
