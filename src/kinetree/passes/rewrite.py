"""The one engine for `rules.RULES`: a program with the patterns found replaced."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from kinetree.graph import Graph, Program
from kinetree.graph.fold import FOLD
from kinetree.graph.ops import OPS
from kinetree.passes.rules import RULES, Pattern, Rule
from kinetree.passes.uses import count_uses

Binding = Mapping[str, int]


def rewrite(program: Program, rules: Sequence[Rule] = RULES) -> Program:
    """Return the program in which each node that matches a rule is what the rule says, the first rule that fits.

    Nodes are taken once, arguments first, so that what one rule made another may match, and it ends.

    Examples
    --------
    >>> from kinetree.graph import Port
    >>> from kinetree.tracing.tracer import Tracer
    >>> t = Tracer()
    >>> x, y, z = t.input(Port("x", (3,)))
    >>> rewrite(t.program({"r": ((), [x * y + z * x])})).op_count()
    {'add': 1, 'mul': 1}
    """
    by_root: dict[str, list[Rule]] = {}
    for rule in rules:
        by_root.setdefault(str(rule.pattern[0]), []).append(rule)
    old, uses = program.graph.nodes, count_uses(program)
    graph, new = Graph(), dict[int, int]()
    single: set[int] = set()  # nodes of the new graph that stand for old ones with a single use
    for i in program.schedule():
        op, args, payload = old[i]
        args = tuple([new[a] for a in args])
        made = _made(graph, op, args, payload)
        ops = [graph.nodes[a].op for a in args] if op in by_root else []
        for rule in by_root.get(op, ()):
            if not _may_match(rule, ops):
                continue
            binding = next(_matches(graph, single, made, rule.pattern, {}, root=True), None)
            if binding is not None:
                made = _build(graph, rule.replacement, binding)
                break
        new[i] = made
        if uses[i] == 1:
            single.add(made)
    results = tuple(tuple(new[i] for i in entries) for entries in program.results)
    return Program(graph, program.inputs, program.outputs, results)


def _may_match(rule: Rule, ops: Sequence[str]) -> bool:
    """Return whether the arguments' operations are those that the pattern asks for: a quick look before matching."""
    return all(isinstance(part, str) or part[0] in ops for part in rule.pattern[1:])


def _made(graph: Graph, op: str, args: tuple[int, ...], payload: Hashable) -> int:
    fold = FOLD.get(op)
    return graph.node(op, args, payload) if fold is None else fold(graph, *args)


def _matches(
    graph: Graph, single: set[int], i: int, pattern: Pattern, binding: Binding, root: bool = False
) -> Iterator[Binding]:
    """Yield what the variables stand for in every way in which this node is an instance of the pattern."""
    if isinstance(pattern, str):
        if binding.get(pattern, i) == i:
            yield {**binding, pattern: i}
        return
    op, *parts = pattern
    node = graph.nodes[i]
    if node.op != op or not (root or i in single):
        return
    orders = [node.args, node.args[::-1]] if OPS[node.op].commutative else [node.args]
    for args in orders:
        yield from _match_all(graph, single, args, parts, binding)


def _match_all(
    graph: Graph, single: set[int], args: Sequence[int], parts: Sequence[Pattern], binding: Binding
) -> Iterator[Binding]:
    if not parts:
        yield binding
        return
    for found in _matches(graph, single, args[0], parts[0], binding):
        yield from _match_all(graph, single, args[1:], parts[1:], found)


def _build(graph: Graph, pattern: Pattern, binding: Binding) -> int:
    """Return the node of a replacement."""
    if isinstance(pattern, str):
        return binding[pattern]
    op, *parts = pattern
    return _made(graph, str(op), tuple([_build(graph, part, binding) for part in parts]), None)
