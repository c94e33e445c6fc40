"""What every program must be, whoever made it: checked after tracing and after every pass, by the tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import NoReturn

from kinetree.graph.graph import Graph, Node, Port, Program
from kinetree.graph.ops import OPS


class InvalidProgramError(RuntimeError):
    """A program that breaks a rule of the graph: a fault of what made it, not of the user."""


def verify(program: Program, legal: Collection[str] | None = None) -> Program:
    """Return the program as it is, if it is well formed.

    Of all nodes: the operation is known, it has as many arguments as its arity says, they were made before it, and no
    other node is equal to it. The payload of a constant is a float (NaN and inf included: folding may make them), of
    which zero has no sign; that of an input is an entry of a port; other nodes have none. Of the program: ports have
    different names, each output has a node for every entry, and the order, where there is one, has every live node
    once, after its arguments.

    Parameters
    ----------
    program : Program
    legal : collection of str, optional
        The operations that live nodes may have; all of `OPS` if not given.

    Raises
    ------
    InvalidProgramError
        The message names the node.

    Examples
    --------
    >>> graph = Graph()
    >>> x = graph.node("input", (), (0, 0))
    >>> verify(Program(graph, (Port("x", ()),), (Port("y", ()),), ((graph.node("add", (x,)),),)))
    Traceback (most recent call last):
    kinetree.graph.verify.InvalidProgramError: node 1, add(0): add takes 2 arguments, not 1
    """
    graph = program.graph
    made: dict[Hashable, int] = {}
    for i, node in enumerate(graph.nodes):
        _verify_node(graph, i, program.inputs)
        first = made.setdefault(_key(node), i)
        if first != i:
            _fail(graph, i, f"it is equal to node {first}")
    _verify_ports(program)
    _verify_order(program)
    for i in program.schedule():
        if legal is not None and graph[i].op not in legal:
            _fail(graph, i, f"{graph[i].op} is not among the legal operations: {', '.join(sorted(legal))}")
    return program


def _fail(graph: Graph, i: int, what: str) -> NoReturn:
    op, args, payload = graph[i]
    shown = ", ".join(map(str, args)) if payload is None else repr(payload)
    raise InvalidProgramError(f"node {i}, {op}({shown}): {what}")


def _key(node: Node) -> Hashable:
    """Return what two equal nodes have in common; a NaN is equal to a NaN here."""
    return node._replace(payload=node.payload.hex()) if isinstance(node.payload, float) else node


def _verify_node(graph: Graph, i: int, inputs: Sequence[Port]) -> None:
    op, args, payload = graph[i]
    if op not in OPS:
        _fail(graph, i, "there is no such operation")
    if len(args) != OPS[op].arity:
        _fail(graph, i, f"{op} takes {OPS[op].arity} arguments, not {len(args)}")
    if not all(0 <= a < i for a in args):
        _fail(graph, i, "an argument is not made before it")
    if op == "const":
        if type(payload) is not float or (payload == 0.0 and math.copysign(1.0, payload) < 0.0):
            _fail(graph, i, "the payload of a constant is a float, of which zero has no sign")
    elif op == "input":
        if not (isinstance(payload, tuple) and len(payload) == 2 and all(type(k) is int for k in payload)):
            _fail(graph, i, "the payload of an input is the index of a port and that of an entry")
        port, entry = payload
        if not (0 <= port < len(inputs) and 0 <= entry < inputs[port].size):
            _fail(graph, i, "no input port has this entry")
    elif payload is not None:
        _fail(graph, i, f"{op} has no payload")


def _verify_ports(program: Program) -> None:
    for ports in (program.inputs, program.outputs):
        names = [port.name for port in ports]
        if len(set(names)) < len(names):
            raise InvalidProgramError(f"two ports have one name: {', '.join(names)}")
    if len(program.results) != len(program.outputs):
        raise InvalidProgramError(f"there are {len(program.outputs)} outputs, and results of {len(program.results)}")
    for port, entries in zip(program.outputs, program.results, strict=True):
        if len(entries) != port.size:
            raise InvalidProgramError(f"output {port.name!r} of shape {port.shape} has {len(entries)} entries")
        for i in entries:
            if not 0 <= i < len(program.graph):
                raise InvalidProgramError(f"node {i}, an entry of output {port.name!r}, does not exist")


def _verify_order(program: Program) -> None:
    graph, order = program.graph, program.schedule()
    live = set(graph.live(program.roots()))
    done: set[int] = set()
    for i in order:
        if not 0 <= i < len(graph):
            raise InvalidProgramError(f"node {i}, which is in the order, does not exist")
        if i not in live:
            _fail(graph, i, "it is in the order, but no output depends on it")
        if i in done:
            _fail(graph, i, "it is in the order twice")
        if not all(a in done for a in graph[i].args):
            _fail(graph, i, "it comes before an argument in the order")
        done.add(i)
    for i in sorted(live - done):
        _fail(graph, i, "it is live, but not in the order")
