"""How often the values of a program are used."""

from __future__ import annotations

from collections import Counter

from kinetree.graph import Program


def count_uses(program: Program) -> Counter[int]:
    """Return how many times each live node is an argument or an output entry."""
    nodes = program.graph.nodes
    uses = Counter(program.roots())
    for i in program.schedule():
        uses.update(nodes[i].args)
    return uses
