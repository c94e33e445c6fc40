"""Array calls: which nodes are evaluated together, and where the operands and results are."""

from __future__ import annotations

import itertools

from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import ArrayCall, Cell, Plan


def group_by_depth(program: Program) -> list[list[int]]:
    """Return the nodes that array calls evaluate: together what has one kernel and depth, by depth.

    The depth is the number of such nodes on the longest path to one; a `call` is a group of its own.
    """
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
    """Return the call of the operation of a node, whose arguments are brought side by side, part by part.

    Those that are in memory, often very many, are moved; the others are stored where computed.
    """
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
    """Return the first of the cells for these arguments, and how many of them an earlier call has there already.

    Calls share cells where the arguments of one are the first ones of another: loops that use the same values.
    """
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

    Arguments that are close together in one input are read in place: evaluating the entries of the input between them
    costs less than copying the arguments.
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
