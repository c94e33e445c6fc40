"""Loops in functions that are compiled: `repeat` until a condition holds, `map_columns` over independent columns.

The body of a loop has a graph of its own, which captures values of those around it.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Graph, Port, Program
from kinetree.graph.array_operations import Map, Repeat, call
from kinetree.tracing import context
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.condition import Condition, choice
from kinetree.tracing.expr import ExactExpr, Expr
from kinetree.tracing.numpy_dispatch import plain

CAPTURED, CARRIED = 0, 1
"""The ports of a loop's body: the captured values, in the order of `NestedGraph.captured`, and its own."""


class NestedGraph(Graph):
    """A graph inside another one. Values of the outer one that are used in it become entries of its first input."""

    __slots__ = ("captured", "outer")

    def __init__(self, outer: Graph, captured: dict[int, int]) -> None:
        super().__init__()
        self.outer = outer
        self.captured = captured  # node of the outer graph: its index among the captured values

    def capture(self, graph: Graph, i: int) -> int:
        """Return the node here of a node of this graph or of one around it; `KeyError` if it is of neither."""
        if graph is self:
            return i
        if self.outer is not graph:
            if not isinstance(self.outer, NestedGraph):
                raise KeyError(i)
            i = self.outer.capture(graph, i)
        node = self.outer.nodes[i]
        if node.op == "const":
            return self.const(node.payload)
        return self.node("input", (), (CAPTURED, self.captured.setdefault(i, len(self.captured))))


@contextlib.contextmanager
def nested(outer: Graph, captured: dict[int, int]) -> Iterator[NestedGraph]:
    """Record in a graph inside this one: what is computed of values of the outer graph belongs to the inner one."""
    outer.inner = NestedGraph(outer, captured)
    try:
        yield outer.inner
    finally:
        outer.inner = None


NO_CONDITION = (
    "repeat: until must return a condition, such as error < 1e-9 (of several: np.all or np.any); "
    "what it returned is: {}"
)

MOST_COUNTED = 2**63 - 1
"""Iterations that compiled code can count; nobody sees the end of as many."""


def repeat(body: Callable[..., Any], init: Any, *, until: Callable[..., Any] | None = None, most: int) -> Any:
    """Return the state after ``x = body(x)`` has been repeated from `init` until a condition holds.

    It is ``for _ in range(most): if until(x): break; x = body(x)``, and without `until` it always repeats `most` times.
    In a function that is being compiled it is a loop of the compiled code. Of many states at once each one stops by
    itself, with the bits that it has alone, and the loop ends when all have. With `until`, a state also stops where a
    carried value is NaN, and with ``most=1`` it is a branch: a body that no state needs is not run. Ctrl-C ends a
    compiled loop within about a tenth of a second.

    Parameters
    ----------
    body : callable
        From the carried values to the next ones, which have the same structure and shapes. It may use other values of
        the function around it, which stay the same.
    init : number, array, or tuple, list or dict of these
        The first carried values. A tuple is passed as several arguments, ``body(*x)``.
    until : callable, optional
        From the carried values to a condition; it is tried before each iteration.
    most : int
        The largest number of iterations; without `until` their number.

    Returns
    -------
    like `init`

    Raises
    ------
    ArgumentError
        If the body returns another structure or other shapes, `until` no condition, or `most` is not a whole number.

    Examples
    --------
    >>> import kinetree as kt
    >>> def square_root(a):  # by Newton's method
    ...     return kt.repeat(lambda x: (x + a / x) / 2, a, until=lambda x: abs(x * x - a) < 1e-12 * a, most=50)
    >>> square_root(9.0)
    3.0
    >>> compiled = kt.compile(kt.load("panda"), square_root, shapes={"a": ()})
    >>> compiled([1.0, 9.0, 100.0])
    array([ 1.,  3., 10.])
    >>> kt.repeat(lambda x: 2.0 * x, 1.0, most=10)
    1024.0
    """
    if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 0:
        raise ArgumentError(f"repeat: most is the largest number of iterations, 0 or more, not {most!r}")
    graph = innermost(list(entries_of(init)))
    if graph is None or not most:
        return _repeat_plain(body, init, structure(init), until, most)
    trace = context.current()
    kind = ExactExpr if trace is not None and trace.exact else Expr
    goes_on = (lambda x: 1.0) if until is None else lambda x: _goes_on(_applied(until, x), entries_of(x))
    return _recorded(kind, graph, body, init, goes_on, int(most))


def repeat_relaxed(
    like: Expr,
    body: Callable[..., Any],
    init: Any,
    until: Callable[..., Any],
    most: int,
    captured: dict[int, int] | None = None,
) -> Any:
    """Return the loop of one of the robot's functions (see `kinetree.scalars.loops`), recorded; NaN do not end it."""
    return _recorded(Expr, like.here().graph, body, init, lambda x: _goes_on(until(x), ()), most, captured)


def repeat_while_positive(
    like: Expr, body: Callable[[list[Any]], list[Any]], x: Sequence[Any], rest: Callable[[list[Any]], Any], most: int
) -> list[Expr]:
    """Return the last x of ``x = body(x)``, recorded as a loop (see `kinetree.scalars.loops`)."""
    return _recorded(Expr, like.here().graph, body, list(x), rest, most)  # type: ignore[no-any-return]


def _recorded(
    kind: type[Expr],
    graph: Graph,
    body: Callable[..., Any],
    init: Any,
    goes_on: Callable[[Any], Any],
    most: int,
    captured: dict[int, int] | None = None,
) -> Any:
    """Return the loop's last state; `captured` are values that it has in any case, and it adds those that it uses."""
    spec, first = structure(init), list(entries_of(init))
    captured = {} if captured is None else captured
    test, go_on = record_nested(kind, graph, captured, lambda x: [goes_on(built(spec, x))])
    steps, following = record_nested(kind, graph, captured, lambda x: _next(_applied(body, built(spec, x)), spec))
    ports = Port("captured", (len(captured),)), Port("carried", (len(first),))
    loop = Repeat(
        Program(test, ports, (Port("go_on", ()),), (tuple(go_on),)),
        Program(steps, ports, ports[1:], (tuple(following),)),
        min(most, MOST_COUNTED),
    )
    zero = kind(graph, graph.const(0.0))
    results = call(graph, loop, [*captured, *(zero.node(entry) for entry in first)])
    return built(spec, (kind(graph, i) for i in results))


def map_columns(
    like: Expr,
    function: Callable[[list[Any]], list[Any]],
    columns: Sequence[Sequence[Any]],
    captured: dict[int, int] | None = None,
) -> list[list[Expr]]:
    """Return the function of each of these columns, recorded as one loop (see `kinetree.scalars.loops`)."""
    graph, captured = like.here().graph, {} if captured is None else captured
    loop = _map(graph, function, len(columns[0]), len(columns), captured)
    return _mapped(graph, loop, captured, columns)


def call_routine(
    like: Expr,
    function: Callable[[list[Any]], list[Any]],
    column: Sequence[Any],
    recorded: dict[Graph, tuple[Map, dict[int, int]]],
) -> list[Expr]:
    """Return the function of a column; `recorded` has it by the graphs in which it was recorded before."""
    graph = like.here().graph
    if graph not in recorded:
        captured: dict[int, int] = {}
        recorded[graph] = _map(graph, function, len(column), 1, captured), captured
    loop, captured = recorded[graph]
    return _mapped(graph, loop, captured, [column])[0]


def _map(graph: Graph, function: Callable[[list[Any]], list[Any]], n: int, count: int, captured: dict[int, int]) -> Map:
    """Return the map of a function over columns of n entries; what it captures is added to `captured`."""
    body, results = record_nested(Expr, graph, captured, lambda entries: function(list(itertools.islice(entries, n))))
    ports = Port("captured", (len(captured),)), Port("column", (n,))
    return Map(Program(body, ports, (Port("result", (len(results),)),), (tuple(results),)), count)


def _mapped(graph: Graph, loop: Map, captured: Mapping[int, int], columns: Sequence[Sequence[Any]]) -> list[list[Expr]]:
    zero = Expr(graph, graph.const(0.0))
    entries = [zero.node(column[k]) for k in range(len(columns[0])) for column in columns]
    nodes = [Expr(graph, i) for i in call(graph, loop, [*captured, *entries])]
    return [nodes[c :: len(columns)] for c in range(len(columns))]


def _repeat_plain(body: Callable[..., Any], x: Any, spec: Any, until: Callable[..., Any] | None, most: int) -> Any:
    """Repeat on numbers and arrays of numbers, one state."""
    for _ in range(most):
        if until is not None:
            arrived = _applied(until, x)
            if np.ndim(arrived) or not isinstance(arrived, bool | np.bool_):
                raise ArgumentError(NO_CONDITION.format(shown(structure(arrived))))
            if arrived or any(entry != entry for entry in entries_of(x)):
                break
        x = _applied(body, x)
        _next(x, spec)
    return x


def _applied(function: Callable[..., Any], x: Any) -> Any:
    return function(*x) if isinstance(x, tuple) and not hasattr(x, "_fields") else function(x)


def _goes_on(arrived: Any, carried: Iterable[Any]) -> Any:
    """Return 1 where the loop goes on, 0 where it has arrived or a carried value is NaN."""
    if not isinstance(arrived, Condition | bool | np.bool_):
        raise ArgumentError(NO_CONDITION.format(shown(structure(arrived))))
    number = choice(arrived, 0.0, 1.0)
    for entry in carried:
        number = choice(entry <= entry, number, 0.0)
    return number


def _next(x: Any, spec: Any) -> list[Any]:
    """Return the entries of what the body returned, which must have the structure of what it was given."""
    if structure(x) != spec:
        raise ArgumentError(
            f"repeat: the body must return what it is given: {shown(spec)}; it returned {shown(structure(x))}"
        )
    return list(entries_of(x))


def innermost(entries: Sequence[Any]) -> Graph | None:
    """Return the graph to record in: that of these values or of the function being traced; None if there is none."""
    graph = next((x.graph for x in entries if isinstance(x, Expr)), None)
    if graph is None and (trace := context.current()) is not None:
        graph = trace.graph
    while graph is not None and graph.inner is not None:
        graph = graph.inner
    return graph


def record_nested(
    kind: type[Expr], outer: Graph, captured: dict[int, int], function: Callable[[Iterator[Any]], list[Any]]
) -> tuple[Graph, list[int]]:
    """Return the graph of a function of the carried values, which it takes one by one, and its results."""
    with nested(outer, captured) as graph:
        entries = (kind(graph, graph.node("input", (), (CARRIED, k))) for k in itertools.count())
        results = function(entries)
        zero = kind(graph, graph.const(0.0))
        return graph, [zero.node(entry) for entry in results]


def structure(x: Any) -> Any:
    """Return how values are nested: types, keys and, of arrays, shapes."""
    if isinstance(x, Mapping):
        return dict, tuple((key, structure(part)) for key, part in x.items())
    if isinstance(x, tuple | list):
        return type(x), tuple(structure(part) for part in x)
    return None, np.shape(x)


def entries_of(x: Any) -> Iterator[Any]:
    """Yield the scalars in the order of the structure."""
    if isinstance(x, Mapping | tuple | list):
        for part in x.values() if isinstance(x, Mapping) else x:
            yield from entries_of(part)
    else:
        yield from np.asarray(plain(x), dtype=object).ravel().tolist()


def built(spec: Any, entries: Iterator[Any]) -> Any:
    """Return values of this structure with these scalars."""
    kind, parts = spec
    if kind is None:
        return traced_array(list(itertools.islice(entries, math.prod(parts))), parts)
    if kind is dict:
        return {key: built(part, entries) for key, part in parts}
    values = [built(part, entries) for part in parts]
    return kind(*values) if hasattr(kind, "_fields") else kind(values)


def shown(spec: Any) -> str:
    """Return a structure as text."""
    kind, parts = spec
    if kind is None:
        return f"array {parts}" if parts else "number"
    if kind is dict:
        return "{" + ", ".join(f"{key!r}: {shown(part)}" for key, part in parts) + "}"
    return f"{kind.__name__}({', '.join(shown(part) for part in parts)})"
