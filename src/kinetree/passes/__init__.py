"""Passes: each takes a program and returns a better one that computes the same values, up to rounding."""

from __future__ import annotations

import functools
from collections.abc import Callable

from kinetree.graph import Graph, Program
from kinetree.graph.array_operations import Declared
from kinetree.passes.constants import check_constants
from kinetree.passes.contract import contract
from kinetree.passes.rewrite import rewrite, with_nested

__all__ = ["PASSES", "check_constants", "optimize"]

PASSES: tuple[Callable[[Program], Program], ...] = (rewrite, contract)


def optimize(program: Program, *, declared: bool = False) -> Program:
    """Return the program after all passes: rewritten, fused and scheduled, its array operations' programs too.

    Results change in rounding only. The passes are deterministic and take linear time. How values are differentiated
    (`Declared`) is left out in the end, unless it is wanted.
    """
    program = with_nested(program, functools.partial(optimize, declared=declared))
    for one_pass in PASSES:
        program = one_pass(program)
    return program if declared else _without_declarations(program)


def _without_declarations(program: Program) -> Program:
    """Return the program with declared values as they are."""
    nodes, order = program.graph.nodes, program.schedule()
    if not any(isinstance(nodes[i].payload, Declared) for i in order):
        return program
    graph, new = Graph(), dict[int, int]()
    for i in order:
        op, args, payload = nodes[i]
        if op == "get" and isinstance(declared := nodes[args[0]].payload, Declared):
            new[i] = new[nodes[args[0]].args[declared.followed + payload]]
        elif not isinstance(payload, Declared):
            new[i] = graph.node(op, tuple([new[a] for a in args]), payload)
    live = set(graph.live(new[i] for i in program.roots()))
    return program.of(graph, new, tuple(i for i in range(len(graph)) if i in live))
