"""Regions of bounded size, cut from straight-line code, and slots for values that live across regions."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import Cell, Plan, Region, Tile

COLUMN_OPERATIONS = 4
"""Approximate number of instructions per column of a tile: shuffles and stores."""


STORES = 125
"""Most values used at a distance that a region stores on average: the code generator's time grows with their square."""


def append_regions(plan: Plan, items: Sequence[int | Tile], size: int) -> None:
    """Append regions of about equal work, none above `size` by more than its first item.

    They are shorter where so many values must be stored for a later region that a region would have more than `STORES`.
    """
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
