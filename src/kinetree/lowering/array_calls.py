"""Array calls: which nodes are evaluated together, and where the operands and results are."""

from __future__ import annotations

from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import ArrayCall, Plan


def group_by_depth(program: Program) -> list[list[int]]:
    """Return the nodes of array operations by the number of these on the longest path to each, then by kernel."""
    nodes = program.graph.nodes
    depth: dict[int, int] = {}
    groups: dict[tuple[int, str], list[int]] = {}
    for i in program.schedule():
        kernel = OPS[nodes[i].op].array_op
        depth[i] = max((depth[a] for a in nodes[i].args), default=0)
        if kernel:
            groups.setdefault((depth[i], kernel), []).append(i)
            depth[i] += 1
    return [groups[key] for key in sorted(groups)]


def place_call(plan: Plan, group: list[int], in_place: float) -> ArrayCall:
    """Return the call that evaluates these nodes, with cells for its operands and results.

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
