"""Passes over the programs of array operations."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.graph import Graph, Program


def with_nested(program: Program, change: Callable[[Program], Program]) -> Program:
    """Return the program with the programs of its array operations changed; itself where it has none."""
    nodes, order = program.graph.nodes, program.schedule()
    if all(nodes[i].op != "call" for i in order):
        return program
    graph, new, changed = Graph(), dict[int, int](), dict[object, object]()
    for i in order:
        op, args, payload = nodes[i]
        if op == "call":
            if payload not in changed:
                changed[payload] = payload.with_programs(change)
            payload = changed[payload]
        new[i] = graph.node(op, tuple([new[a] for a in args]), payload)
    results = tuple(tuple(new[i] for i in entries) for entries in program.results)
    return Program(graph, program.inputs, program.outputs, results)
