"""`lower` builds the plan of a program: array calls, regions of bounded size between them, outputs and slots.

With one state, output entries are cells. With states side by side in lanes, an output leaves its region in tiles of
neighbouring entries, which are transposed in registers. Long rows would be hundreds of tiles: such outputs are
deferred, that is, staged in cells (equal entries share one) and copied last.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence

from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import ArrayCall, Cell, Plan, Region, Tile


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


def group_by_depth(program: Program) -> list[list[int]]:
    """Return the nodes that array calls evaluate, together those of one kernel and depth: how many such come before."""
    nodes = program.graph.nodes
    depth: dict[int, int] = {}
    groups: dict[tuple[int, str, int], list[int]] = {}
    for i in program.schedule():
        op, args, _ = nodes[i]
        depth[i] = max((depth[a] for a in args), default=0)
        if OPS[op].array_op or op == "call":
            groups.setdefault((depth[i], OPS[op].array_op, i if op == "call" else 0), []).append(i)
            depth[i] += 1
    return [groups[key] for key in sorted(groups)]


def place_call(plan: Plan, group: list[int], in_place: float) -> ArrayCall:
    """Return the call that evaluates these nodes, with cells for its operands and results."""
    nodes = plan.program.graph.nodes
    if nodes[group[0]].op == "call":
        return _place_operation(plan, group[0])
    return _place_kernel(plan, group, in_place)


def _place_operation(plan: Plan, i: int) -> ArrayCall:
    """Return the call of an operation: arguments are stored where computed, those in memory moved to one place."""
    nodes = plan.program.graph.nodes
    _, args, operation = nodes[i]
    moved, moves, rest = plan.moved(args), list[tuple[Cell, Cell]](), iter(args)
    inputs = []
    for size in operation.parts:
        part = tuple(itertools.islice(rest, size))
        first, there = _side_by_side(plan, part)
        inputs.append(first)
        for n, a in enumerate(part[there:], there):
            cell = first._replace(offset=n)
            if nodes[a].op in moved:
                moves.append((plan.location[a], cell))
            else:
                plan.copy(a, cell)
    outputs = plan.new_area("results", operation.results)
    for k in range(operation.results):
        result = plan.program.graph.find("get", (i,), k)
        if result is not None:
            plan.location[result] = outputs._replace(offset=k)
    return ArrayCall(operation, tuple(inputs), (outputs,), 1, moves)


def _side_by_side(plan: Plan, values: tuple[int, ...]) -> tuple[Cell, int]:
    """Return the first cell for these arguments, and how many an earlier call has there: loops share what they use."""
    for area, known in plan.shared.items():
        both = min(len(known), len(values))
        if both and known[:both] == values[:both]:
            plan.shared[area] = max(known, values, key=len)
            plan.areas[area] = len(plan.shared[area])
            return Cell(area, 0), both
    first = plan.new_area("args", max(1, len(values)))
    plan.shared[first.area] = values
    return first, 0


def _place_kernel(plan: Plan, group: list[int], in_place: float) -> ArrayCall:
    """Return the call of the kernel of these nodes.

    Arguments close together in one input are read in place: evaluating what is between them costs less than copying.
    """
    nodes = plan.program.graph.nodes
    kernel = OPS[nodes[group[0]].op].array_op
    arguments = sorted({nodes[i].args for i in group})
    cells = [plan.location.get(args[0]) for args in arguments]
    offsets = [cell.offset for cell in cells if cell is not None]
    (area, *others) = {cell and cell.area for cell in cells}
    one_input = area is not None and area[0] == "in" and not others and len(arguments[0]) == 1
    if one_input and max(offsets) - min(offsets) < in_place * len(offsets):
        first = plan.location[arguments[0][0]]._replace(offset=min(offsets))
        inputs, count = tuple([first]), max(offsets) - first.offset + 1
        position = {args: offset - first.offset for args, offset in zip(arguments, offsets, strict=True)}
    else:
        count = len(arguments)
        inputs = tuple([plan.new_area("args", count) for _ in arguments[0]])
        position = {args: n for n, args in enumerate(arguments)}
        for args, n in position.items():
            for a, operand in zip(args, inputs, strict=True):
                plan.copy(a, operand._replace(offset=n))
    outputs = {op.name: plan.new_area("results", count) for op in OPS.values() if op.array_op == kernel}
    for i in group:
        plan.location[i] = outputs[nodes[i].op]._replace(offset=position[nodes[i].args])
    return ArrayCall(kernel, inputs, tuple(outputs.values()), count)


def place_entries(plan: Plan) -> None:
    """Make the entries of all outputs cells. Those that are in memory, often very many, are moved there last."""
    for k, entries in enumerate(plan.program.results):
        moved = plan.moved(entries)
        for j, i in enumerate(entries):
            cell = Cell(("out", k), j)
            if plan.program.graph[i].op in moved:
                plan.moves.append((i, cell))
            else:
                plan.copy(i, cell)


def place_deferred(plan: Plan, ports: Iterable[int]) -> None:
    """Give each value of these outputs one cell, if it is not in memory yet; regions load it from there, too."""
    nodes = plan.program.graph.nodes
    for k in ports:
        cells: dict[int, Cell] = {}
        size = 0
        for i in dict.fromkeys(plan.program.results[k]):
            if i in plan.location:
                cells[i] = plan.location[i]
                continue
            cells[i] = Cell(("deferred", k), size)
            size += 1
            if nodes[i].op != "const":
                plan.location[i] = cells[i]
            plan.copy(i, cells[i])
        if size:
            plan.areas["deferred", k] = size
        plan.deferred[k] = [cells[i] for i in plan.program.results[k]]


def with_tiles(program: Program, computed: Sequence[int], widths: Sequence[int]) -> list[int | Tile]:
    """Return these nodes with the tiles of the outputs between them, each after the last of its values."""
    rank = {i: n for n, i in enumerate(computed, start=1)}
    ready: list[list[Tile]] = [[] for _ in range(len(computed) + 1)]
    for k, (entries, width) in enumerate(zip(program.results, widths, strict=True)):
        last = 0
        for start in range(0, len(entries) if width else 0, width or 1):
            first = min(start, len(entries) - width)
            tile = Tile(k, first, tuple(entries[first : first + width]))
            if any(program.graph.nodes[i].op != "const" for i in tile.nodes):
                last = max(rank.get(i, 0) for i in tile.nodes)
            ready[last].append(tile)
    items: list[int | Tile] = [*ready[0]]
    for i, tiles in zip(computed, ready[1:], strict=True):
        items += [i, *tiles]
    return items


COLUMN_OPERATIONS = 4
"""Approximate number of instructions per column of a tile: shuffles and stores."""


STORES = 125
"""Most values used at a distance that a region stores on average: the code generator's time grows with their square."""


def append_regions(plan: Plan, items: Sequence[int | Tile], size: int) -> None:
    """Append regions of about equal work, at most `size` and one item; shorter where they store more than `STORES`."""
    if not items:
        return
    total = list(itertools.accumulate(work(item, plan.program) for item in items))
    count = max(-(-total[-1] // size), -(-_stored(plan, items, size) // STORES))
    ends = [bisect.bisect_right(total, r * total[-1] // count) for r in range(count + 1)]
    plan.steps += [Region(items[a:b]) for a, b in itertools.pairwise(ends) if a < b]


def _stored(plan: Plan, items: Sequence[int | Tile], size: int) -> int:
    """Return how many values are certainly used in a later region, because it is so far away."""
    nodes = plan.program.graph.nodes
    if len(items) <= size:
        return 0
    last: dict[int, int] = {}
    for n, item in enumerate(items):
        last.update(dict.fromkeys(item.nodes if isinstance(item, Tile) else nodes[item].args, n))
    return sum(last.get(item, n) - n > size for n, item in enumerate(items) if not isinstance(item, Tile))


def work(item: int | Tile, program: Program) -> int:
    """Return about how many instructions an item is: those of its operation, or a load if that is computed before."""
    if isinstance(item, Tile):
        return COLUMN_OPERATIONS * len(item.nodes)
    op = OPS[program.graph[item].op]
    return op.cost if op.straight_line else 1


def ancestors(program: Program, roots: set[int], pending: set[int]) -> set[int]:
    """Return the pending nodes that regions must compute for these roots, and the pending roots themselves."""
    nodes = program.graph.nodes
    seen: set[int] = set()
    stack = list(roots)
    while stack:
        i = stack.pop()
        computed = OPS[nodes[i].op].straight_line
        if i in pending and i not in seen and (computed or i in roots):
            seen.add(i)
            if computed:
                stack.extend(nodes[i].args)
    return seen


def assign_slots(plan: Plan) -> None:
    """Give a slot to every value that a later region uses; after the last of these the slot is free again."""
    nodes = plan.program.graph.nodes
    regions = [step for step in plan.steps if isinstance(step, Region)]
    last: dict[int, int] = {}  # the last region that uses a node
    for r, region in enumerate(regions):
        for item in region.items:
            last.update(dict.fromkeys(item.nodes if isinstance(item, Tile) else nodes[item].args, r))
    free: list[int] = []
    ending: dict[int, list[int]] = {}
    count = 0
    for r, region in enumerate(regions):
        for i in region.items:
            if not isinstance(i, Tile) and i not in plan.location and last.get(i, r) > r and nodes[i].op != "const":
                if free:
                    slot = free.pop()
                else:
                    slot, count = count, count + 1
                plan.location[i] = Cell(("slots", 0), slot)
                plan.copy(i, plan.location[i])
                ending.setdefault(last[i], []).append(slot)
        free.extend(reversed(ending.get(r, ())))
    plan.areas["slots", 0] = count
