"""Derivatives that a user declares: of what a solver returns, of a function of one's own, and none at all."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple, TypeVar

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Graph, Port, Program
from kinetree.graph.array_operations import Declared, call, followed
from kinetree.tracing import context
from kinetree.tracing.expr import Expr
from kinetree.tracing.linearity import is_linear
from kinetree.tracing.loops import built, entries_of, innermost, record_nested, shown, structure
from kinetree.tracing.numpy_dispatch import plain

F = TypeVar("F", bound=Callable[..., Any])


def implicit(solver: F, residual: Callable[..., Any], *, tolerance: float = math.inf) -> F:
    """Return a solver whose derivatives are those of the equation that it solves: the implicit function theorem.

    Where ``residual(x, *args)`` is F, zero at the solver's result x, its rate is ``dx = −F_x⁻¹ F_θ dθ``: one linear
    system, however many iterations the solver takes, and its transpose for gradients. The rates of the iterations
    themselves, which are taken of loops without this, lag behind the values.

    Compiled functions may call it, in loops too. Called with numbers it is the solver itself. The linear system is
    solved by straight-line code: up to some 15 unknowns. A configuration with quaternions has more entries than its
    residual: solve for a velocity from a reference.

    Parameters
    ----------
    solver : callable
        Returns a number, an array, or a tuple, list or dict of these.
    residual : callable
        ``residual(x, *args)``, from what the solver returns and its arguments to as many numbers as x has. It may use
        values of the function around it, which derivatives follow too.
    tolerance : float
        In the units of the residual, absolute, and above its rounding in the dtype of the call. Where an entry of the
        residual is larger at x, as the solver has not converged, the derivatives are NaN. If not given they are those
        of F at x in any case, which is wrong by about as much as x is.

    Returns
    -------
    callable
        With the solver's arguments and result.

    Raises
    ------
    ArgumentError
        When it is compiled, if the residual has another number of entries than x, or the solver uses traced values
        that neither its arguments nor the residual are.

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> def anomaly(M, e):  # Kepler's equation, in a few rough iterations
    ...     return kt.repeat(lambda E: M + e * np.sin(E), M, until=lambda E: abs(E - e * np.sin(E) - M) < 1e-7, most=99)
    >>> solved = kt.implicit(anomaly, lambda E, M, e: E - e * np.sin(E) - M)
    >>> kepler = kt.compile(kt.load("ur5"), solved, shapes={"M": (), "e": ()})
    >>> E, dE_dM = kepler.derivatives(1.0, 0.3, wrt="M", value=True)
    >>> bool(abs(dE_dM - 1 / (1 - 0.3 * np.cos(E))) < 1e-15)
    True
    """
    if not callable(solver) or not callable(residual):
        raise ArgumentError(f"implicit takes a solver and its residual, two functions, not {solver!r}, {residual!r}")
    if not tolerance > 0.0:
        raise ArgumentError(f"implicit: tolerance is the largest residual of a solution, above 0, not {tolerance!r}")

    @functools.wraps(solver)
    def solved(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = _by_position(solver, args, kwargs)  # a residual has names of its own
        with context.with_declared_derivatives():
            x = solver(*args, **kwargs)
        given, values = _Leaves.of((args, kwargs)), _Leaves.of(x)
        if not given.traced and not values.traced:
            return x
        m, n = len(given.traced), len(values.entries)

        def zero(own: Sequence[Expr]) -> list[Any]:
            arguments, keywords = given.filled(own[:m])
            found = list(entries_of(residual(values.filled(own[m:], every=True), *arguments, **keywords)))
            if len(found) != n:
                raise ArgumentError(f"implicit: the residual has {len(found)} entries, and what is solved for {n}")
            return found

        return _declare("residual", given, values, zero, m + n, n, tolerance=float(tolerance), closed=solver)

    return solved  # type: ignore[return-value]


def custom_derivative(
    function: Callable[..., Any] | None = None,
    *,
    jvp: Callable[..., Any] | None = None,
    vjp: Callable[..., Any] | None = None,
    jacobian: Callable[..., Any] | None = None,
) -> Any:
    """Return a function with derivatives of your own: the first ones, of which all others are made.

    One of `jvp`, `vjp` and `jacobian` is enough: gradients from rates and rates from gradients, second derivatives,
    batches and C follow from it. It must be linear in the rates or weights. Without `function` a decorator is
    returned. Called with numbers it is the function itself.

    Parameters
    ----------
    function : callable
        Of numbers and arrays.
    jvp : callable, optional
        ``jvp(*args, *rates)``: the rate of the result.
    vjp : callable, optional
        ``vjp(*args, weights)``: the derivatives of the weighted sum of the result by each argument, a tuple; of one
        argument not in a tuple.
    jacobian : callable, optional
        ``jacobian(*args)``: by each argument an array of shape ``(*result, *argument)``, likewise.

    Returns
    -------
    callable

    Raises
    ------
    ArgumentError
        If not one of them is given; when it is compiled, if what it returns has another shape or is not linear, or if
        the function uses traced values that are not among its arguments.

    Examples
    --------
    >>> import kinetree as kt
    >>> import numpy as np
    >>> @kt.custom_derivative(jvp=lambda x, dx: dx)  # as if it were not rounded
    ... def counts(x):
    ...     return np.rint(1000.0 * x) / 1000.0
    >>> encoder = kt.compile(kt.load("ur5"), counts, shapes={"x": ()})
    >>> x, dx = encoder.derivatives(0.12345, value=True)
    >>> float(x), float(dx)
    (0.123, 1.0)
    """
    rules = {"jvp": jvp, "vjp": vjp, "jacobian": jacobian}
    chosen = [name for name, rule in rules.items() if rule is not None]
    if len(chosen) != 1 or not callable(rules[chosen[0]]):
        raise ArgumentError(
            f"custom_derivative takes one function as jvp, vjp or jacobian; given are {chosen or 'none'}"
        )
    if function is None:
        return functools.partial(custom_derivative, **rules)
    if not callable(function):
        raise ArgumentError(f"custom_derivative takes a function, not {function!r}")
    [kind], value, rule = chosen, function, rules[chosen[0]]
    assert rule is not None

    @functools.wraps(value)
    def with_derivative(*positional: Any, **keywords: Any) -> Any:
        args, named = _by_position(value, positional, keywords)
        if named:
            raise ArgumentError(f"custom_derivative: {next(iter(named))!r} can be given by name only: rules take *args")
        with context.with_declared_derivatives():
            y = value(*args)
        given, values = _Leaves.of(args), _Leaves.of(y)
        if not given.traced and not values.traced:
            return y
        m, n = len(given.traced), len(values.entries)

        def rates(own: Sequence[Expr]) -> list[Any]:
            arguments, moving = given.filled(own[:m]), given.filled(own[m + n :], rest=0.0)
            if kind == "jvp":
                return _like(values.structure, rule(*arguments, *moving), kind)
            blocks = _each(rule(*arguments), args, kind)
            shape, total = np.shape(plain(y)), np.zeros(n)
            for argument, rate, block in zip(args, moving, blocks, strict=True):
                if _Leaves.of(argument).traced:
                    _like((None, shape + np.shape(plain(argument))), block, kind)
                    total = total + np.reshape(block, (n, -1)) @ np.ravel(plain(rate))
            return total.tolist()

        def adjoints(own: Sequence[Expr]) -> list[Any]:
            weights = values.filled(own[m + n :], every=True)
            bars = _each(rule(*given.filled(own[:m]), weights), args, kind)
            found: list[Any] = []
            for argument, bar in zip(args, bars, strict=True):
                leaves = _Leaves.of(argument)
                entries = _like(leaves.structure, bar, kind) if leaves.traced else []
                found += [entries[k] for k in leaves.traced]
            return found

        if kind == "vjp":
            return _declare("vjp", given, values, adjoints, m + n + n, m, closed=value)
        return _declare("jvp", given, values, rates, m + n + m, n, closed=value)

    return with_derivative


def stop_gradient(x: Any) -> Any:
    """Return x as it is, with derivatives that are zero: what is computed of it counts as a constant.

    Parameters
    ----------
    x : number, array, or tuple, list or dict of these

    Returns
    -------
    like `x`

    Examples
    --------
    >>> import kinetree as kt
    >>> square = kt.compile(kt.load("ur5"), lambda x: x * kt.stop_gradient(x), shapes={"x": ()}, name="square")
    >>> float(square(3.0)), float(square.derivatives(3.0))
    (9.0, 3.0)
    """
    values = _Leaves.of(x)
    if not values.traced:
        return x
    graph = _graph(values)
    return _results(graph, Declared(0, len(values.entries)), [], values)


def declared(like: Expr, x: list[Any], residual: Callable[[list[Any]], list[Any]]) -> list[Any]:
    """Return x, whose derivatives are those of a residual that is zero (see `kinetree.scalars.loops`)."""
    n = len(x)
    return _declare("residual", _Leaves.of(like), _Leaves.of(x), lambda own: residual(list(own[1:])), n + 1, n)  # type: ignore[no-any-return]


def _by_position(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments that a call gives, by position where they may be."""
    if not kwargs:
        return args, kwargs
    bound = inspect.signature(function).bind(*args, **kwargs)
    return bound.args, bound.kwargs


class _Leaves(NamedTuple):
    """The scalars of a structure, and the places of those that are traced."""

    structure: Any
    entries: list[Any]
    traced: list[int]

    @classmethod
    def of(cls, x: Any) -> _Leaves:
        entries = list(entries_of(x))
        return cls(structure(x), entries, [k for k, entry in enumerate(entries) if isinstance(entry, Expr)])

    def filled(self, own: Sequence[Any], *, every: bool = False, rest: float | None = None) -> Any:
        """Return the structure with other scalars in place of those that are traced, or of all.

        The other ones are as they are; numbers become `rest`, if that is given.
        """
        if every:
            return built(self.structure, iter(own))
        known = [rest if rest is not None and isinstance(x, Real) else x for x in self.entries]
        for k, x in zip(self.traced, own, strict=True):
            known[k] = x
        return built(self.structure, iter(known))


def _graph(*parts: _Leaves) -> Graph:
    graph = innermost([entry for leaves in parts for entry in leaves.entries])
    assert graph is not None
    return graph


def _declare(
    kind: str,
    given: _Leaves,
    values: _Leaves,
    rule: Callable[[Sequence[Expr]], list[Any]],
    inputs: int,
    outputs: int,
    *,
    tolerance: float = math.inf,
    closed: Callable[..., Any] | None = None,
) -> Any:
    """Return the values, whose derivatives follow what is given by a rule of that, the values and further numbers.

    `closed` is a function that must not use other traced values than its rule follows, and a rule that is not a
    residual none but those given.
    """
    graph, captured = _graph(given, values), dict[int, int]()
    inner, found = record_nested(Expr, graph, captured, lambda own: rule(list(itertools.islice(own, inputs))))
    zero = Expr(graph, graph.const(0.0))
    nodes = [zero.node(given.entries[k]) for k in given.traced]
    foreign = captured if kind != "residual" else ()
    known = [*nodes, *captured]
    if closed is not None and (foreign or _uses_others(graph, [zero.node(x) for x in values.entries], known)):
        name, caller = (
            getattr(closed, "__name__", "the function"),
            "implicit" if kind == "residual" else "custom_derivative",
        )
        raise ArgumentError(
            f"{caller}: {name} or its {kind} uses traced values from around it, by which it has no derivative: pass "
            "them as arguments, or through kt.stop_gradient if they count as constants"
        )
    if kind != "residual":
        rates = range(len(nodes) + len(values.entries), inputs)
        if not is_linear(inner, found, lambda port, k: port == 1 and k in rates):
            raise ArgumentError(f"custom_derivative: {kind} is not linear in the rates or weights, its last arguments")
    ports = Port("captured", (len(captured),)), Port("own", (inputs,))
    program = Program(inner, ports, (Port(kind, (outputs,)),), (tuple(found),))
    declared = Declared(len(captured) + len(nodes), len(values.entries), kind, program, tolerance)
    return _results(graph, declared, [*captured, *nodes], values)


def _results(graph: Graph, declared: Declared, nodes: Sequence[int], values: _Leaves) -> Any:
    """Return the values as results of a declaration."""
    zero = Expr(graph, graph.const(0.0))
    kind = type(values.entries[values.traced[0]]) if values.traced else Expr
    found = call(graph, declared, [*nodes, *(kind.node(zero, x) for x in values.entries)])
    return built(values.structure, (kind(graph, i) for i in found))


def _uses_others(graph: Graph, values: Sequence[int], given: Sequence[int]) -> bool:
    """Return whether values depend on inputs in another way than through what is given."""
    stack, seen = list(values), set(given)
    while stack:
        if (i := stack.pop()) not in seen:
            seen.add(i)
            if graph.nodes[i].op == "input":
                return True
            stack.extend(followed(graph.nodes[i]))
    return False


def _each(found: Any, args: Sequence[Any], kind: str) -> Sequence[Any]:
    """Return what a rule returned for each argument; of one argument it need not be a tuple."""
    parts = found if isinstance(found, tuple) else (found,)
    if len(parts) != len(args):
        raise ArgumentError(f"custom_derivative: {kind} must return a tuple of {len(args)}, one for each argument")
    return parts


def _like(wanted: Any, found: Any, kind: str) -> list[Any]:
    """Return the scalars of what a rule returned, which must have this structure."""
    if structure(found) != wanted:
        raise ArgumentError(
            f"custom_derivative: {kind} must return {shown(wanted)}; it returned {shown(structure(found))}"
        )
    return list(entries_of(found))
