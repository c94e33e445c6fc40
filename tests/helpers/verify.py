"""What every program must be, whoever made it: checked after tracing and after every pass."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence

from kinetree.graph.array_operations import ArrayOperation
from kinetree.graph.graph import EXACT, Node, Port, Program
from kinetree.graph.ops import OPS


class InvalidProgramError(RuntimeError):
    """A program that breaks a rule of the graph: a fault of what made it, not of the user."""


def verify(program: Program, legal: Collection[str] | None = None) -> Program:
    """Return the program as it is, if it is well formed.

    Of all nodes: the operation is known, it has as many arguments as its arity says, they were made before it, and no
    other node is equal to it. The payload of a constant is a float (NaN and inf included: folding may make them), of
    which zero has no sign; that of an input is an entry of a port; that of `call` is an array operation with as many
    arguments, whose programs are well formed too; that of `get` is the index of one of its results; arithmetic may be
    exact; other nodes have none. Of the program: ports have different names, each output has a node for every entry,
    and the order, where there is one, has every live node once, after its arguments; live nodes have `legal`
    operations, all of `OPS` by default.
    The message of the InvalidProgramError names the node.
    """
    for node in program.graph.nodes:
        for nested in node.payload.programs if isinstance(node.payload, ArrayOperation) else ():
            verify(nested, legal)
    for faults in (_node_faults(program), _port_faults(program), _order_faults(program, legal)):
        for fault in faults:
            raise InvalidProgramError(fault)
    return program


def _shown(i: int, node: Node) -> str:
    return f"node {i}, {node.op}({', '.join(map(str, node.args)) if node.payload is None else repr(node.payload)})"


def _node_faults(program: Program) -> Iterator[str]:
    first: dict[Node, int] = {}
    for i, node in enumerate(program.graph.nodes):
        fault = _node_fault(i, node, program.graph.nodes, program.inputs)
        if fault:
            yield f"{_shown(i, node)}: {fault}"
        key = node._replace(payload=node.payload.hex()) if isinstance(node.payload, float) else node  # NaN equals NaN
        if first.setdefault(key, i) != i:
            yield f"{_shown(i, node)}: it is equal to node {first[key]}"


def _node_fault(i: int, node: Node, nodes: Sequence[Node], inputs: Sequence[Port]) -> str:
    op, args, payload = node
    if op not in OPS:
        return "there is no such operation"
    if op == "call" and not isinstance(payload, ArrayOperation):
        return "the payload of a call is an array operation"
    arity = payload.arity if op == "call" else OPS[op].arity
    if len(args) != arity:
        return f"{op} takes {arity} arguments, not {len(args)}"
    if not all(0 <= a < i for a in args):
        return "an argument is not made before it"
    if op == "const":
        good = type(payload) is float and (payload != 0.0 or math.copysign(1.0, payload) > 0.0)
        return "" if good else "the payload of a constant is a float, of which zero has no sign"
    if op == "input":
        if not (isinstance(payload, tuple) and len(payload) == 2 and all(type(k) is int for k in payload)):
            return "the payload of an input is the index of a port and that of an entry"
        port, entry = payload
        good = 0 <= port < len(inputs) and 0 <= entry < inputs[port].size
        return "" if good else "no input port has this entry"
    if op == "get":
        called = nodes[args[0]]
        good = called.op == "call" and type(payload) is int and 0 <= payload < called.payload.results
        return "" if good else "it is not a result of a call"
    may_be_exact = OPS[op].exact_fold is not None
    good = payload is None or op == "call" or (payload == EXACT and may_be_exact)
    return "" if good else f"{op} has no payload"


def _port_faults(program: Program) -> Iterator[str]:
    for ports in (program.inputs, program.outputs):
        names = [port.name for port in ports]
        if len(set(names)) < len(names):
            yield f"two ports have one name: {', '.join(names)}"
    if len(program.results) != len(program.outputs):
        yield f"there are {len(program.outputs)} outputs, and results of {len(program.results)}"
    for port, entries in zip(program.outputs, program.results, strict=True):
        if len(entries) != port.size:
            yield f"output {port.name!r} of shape {port.shape} has {len(entries)} entries"
        for i in entries:
            if not 0 <= i < len(program.graph):
                yield f"node {i}, an entry of output {port.name!r}, does not exist"


def _order_faults(program: Program, legal: Collection[str] | None) -> Iterator[str]:
    nodes, live = program.graph.nodes, set(program.graph.live(program.roots()))
    done: set[int] = set()
    for i in program.schedule():
        if not 0 <= i < len(nodes):
            yield f"node {i}, which is in the order, does not exist"
        if i not in live:
            yield f"{_shown(i, nodes[i])}: it is in the order, but no output depends on it"
        if i in done:
            yield f"{_shown(i, nodes[i])}: it is in the order twice"
        if not done.issuperset(nodes[i].args):
            yield f"{_shown(i, nodes[i])}: it comes before an argument in the order"
        if legal is not None and nodes[i].op not in legal:
            allowed = ", ".join(sorted(legal))
            yield f"{_shown(i, nodes[i])}: {nodes[i].op} is not among the legal operations: {allowed}"
        done.add(i)
    for i in sorted(live - done):
        yield f"{_shown(i, nodes[i])}: it is live, but not in the order"
