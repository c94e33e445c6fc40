"""Array operations: interpreter and every kind of kernel agree to the bit, nested ones and those in parts included."""

import numpy as np
import pytest

from helpers.compiler import names_of_operations
from helpers.kernels import assert_same_bits, run_batch, run_single, same_bits
from helpers.verify import InvalidProgramError, verify
from kinetree.backends.llvm import module as llvm_module
from kinetree.backends.llvm.ir import Body, function
from kinetree.backends.llvm.routines import Values
from kinetree.graph import Port, Program, fold
from kinetree.graph.array_operations import ArrayOperation, Map, Repeat, call
from kinetree.graph.graph import digest
from kinetree.graph.listing import listing
from kinetree.graph.ops import interpret
from kinetree.lowering.build import lower
from kinetree.lowering.plan import ArrayCall
from kinetree.passes import optimize
from kinetree.passes.adjoints import adjoint, tangent
from kinetree.passes.reversal import ADJOINTS
from kinetree.tracing.expr import Expr, choice
from kinetree.tracing.tracer import Tracer

X = np.concatenate(
    [np.random.default_rng(0).uniform(-4, 4, (20, 3)), [[np.nan, 1, 1], [1, np.inf, 0], [0, 0, 0], [1, np.nan, 2]]]
)


def nested(outputs, captured, inner):
    """A program of an array operation: a function of two lists of scalars."""
    t = Tracer()
    ports = Port("captured", (captured,)), inner
    (name, shape), function = outputs
    entries = function(t.input(ports[0]), t.input(ports[1]))
    return t.program({name: (shape, entries)})


def powers(most=9):
    """x, y ← x/2 + c₀, y·c₁ + x while y is below 20."""
    carried = Port("carried", (2,))
    return Repeat(
        nested((("go_on", ()), lambda c, x: [choice(x[1] < 20.0, 1.0, 0.0)]), 2, carried),
        nested((("carried", (2,)), lambda c, x: [x[0] * 0.5 + c[0], x[1] * c[1] + x[0]]), 2, carried),
        most,
    )


def counted():
    """The same, as often whatever the values."""
    carried = Port("carried", (2,))
    return Repeat(nested((("go_on", ()), lambda c, x: [1.0]), 2, carried), powers().body, 9)


def many(*constants, carried=18):
    """More carried values than stay in registers: they move one place each time, constants among them."""

    def body(c, x):
        return [x[0] * 0.5 + c[0], x[1] * c[1] + x[0], *constants, *x[1 : carried - 1 - len(constants)]]

    port = Port("carried", (carried,))
    test = nested((("go_on", ()), lambda c, x: [choice(x[1] < 20.0, 1.0, 0.0)]), 2, port)
    return Repeat(test, nested((("carried", (carried,)), body), 2, port), 9)


def columns(count=11):
    """For each column u of three: u₀ c₀ + u₁, u₂ / c₁, 1."""

    def function(c, u):
        return [u[0] * c[0] + u[1], u[2] / c[1], 1.0]

    return Map(nested((("result", (3,)), function), 2, Port("column", (3,))), count)


def functions(count=9):
    """For each column u of three: eᵘ of its entries, which are not side by side, and more."""
    body = nested(
        (("result", (2,)), lambda c, u: [np.exp(u[0]) + np.exp(u[1]), np.exp(u[2]) * c[0]]), 2, Port("column", (3,))
    )
    return Map(body, count)


def loops(captured, inner):
    """A map over columns whose body is a loop of captured values and of two entries of the column."""

    def function(c, u):
        graph = u[0].graph
        given = [*c[: inner.captured], *[*u, *c][: inner.results]]
        return [Expr(graph, i) for i in call(graph, inner, [x.id for x in given])][:2]

    return Map(nested((("result", (2,)), function), captured, Port("column", (2,))), 6)


def twice():
    """A loop whose body is another loop and a map, after which it has a constant and more work."""

    def body(c, x):
        graph = x[0].graph
        inner = call(graph, powers(4), [c[0].id, c[1].id, x[0].id, x[1].id])
        u, v = (Expr(graph, i) for i in inner)
        entries = [(x[k % 2] * float(k)).id for k in range(9)]
        sums = [Expr(graph, i) for i in call(graph, columns(3), [u.id, v.id, *entries])]
        return [sums[0] + sums[4] * u, v - sums[2]]

    carried = Port("carried", (2,))
    test = nested((("go_on", ()), lambda c, x: [choice(x[0] * x[0] < 50.0, 1.0, 0.0)]), 2, carried)
    return Repeat(test, nested((("carried", (2,)), body), 2, carried), 5)


OPERATIONS = {
    "repeat": powers(),
    "repeat without a condition": counted(),
    "repeat in memory": many(),
    "repeat in memory with constants": many(3.0, 0.0),
    "map": columns(),
    "one column": columns(1),
    "a vector": columns(8),
    "a part of a vector": columns(6),
    "three columns": columns(3),
    "functions": functions(),
    "some functions": functions(5),
    "loops side by side": loops(2, powers(4)),
    "much around loops side by side": loops(230, many(carried=230)),
    "in each other": twice(),
}


def program(operation: ArrayOperation) -> Program:
    """The operation on entries of an input, constants and computed values; its results are used in every way."""
    t = Tracer()
    x = t.input(Port("x", (3,)))
    graph = t.graph
    pool = [x[0], x[1], x[0] * x[2] + 1.0, Expr(graph, graph.const(0.75)), x[2]]
    results = [Expr(graph, i) for i in call(graph, operation, [pool[k % len(pool)].id for k in range(operation.arity)])]
    return t.program({"y": ((operation.results,), results), "z": ((2,), [results[0] * x[1] + results[-1], results[0]])})


@pytest.mark.parametrize("name", OPERATIONS)
def test_same_bits_everywhere(name):
    plain = verify(program(OPERATIONS[name]))
    for code in (plain, verify(optimize(plain))):
        assert_same_bits(code, X, lanes=(1, 2, 4, 8, 16))
    assert_same_bits(plain, X.astype(np.float32), (4, 16), "float32")


def test_no_operation_is_left_out():
    assert {operation.name for operation in OPERATIONS.values()} == names_of_operations()


def test_equal_calls_are_one_node_and_others_are_not():
    t = Tracer()
    x = t.input(Port("x", (2,)))
    arguments = [x[0].id, x[1].id, x[0].id, x[1].id]
    graph = t.graph
    assert call(graph, powers(), arguments) == call(graph, powers(), arguments)
    assert call(graph, powers(), arguments) != call(graph, powers(8), arguments)
    assert repr(powers()) == repr(powers())
    assert digest(program(powers())) != digest(program(powers(8)))
    assert "= repeat<" in listing(program(powers()))
    assert program(powers()).op_count()["repeat"] == 1


def test_operations_that_begin_with_the_same_arguments_share_them():
    """What loops, one after another, are given is brought together once, also where one is given more."""
    t = Tracer()
    x, y, z = (entry.id for entry in t.input(Port("x", (3,))))
    first = call(t.graph, powers(), [x, y, z, x])
    second = call(t.graph, columns(1), [x, y, z, x, y])
    third = call(t.graph, powers(8), [y, x, *second[:2]])
    entries = [Expr(t.graph, i) for i in (*first, *second, *third)]
    shared = t.program({"y": ((len(entries),), entries)})
    calls = [step for step in lower(shared, 100).steps if isinstance(step, ArrayCall)]
    assert calls[0].inputs == calls[1].inputs
    assert set(calls[2].inputs).isdisjoint(calls[0].inputs)
    expected = np.stack([interpret(shared, [x])[0] for x in X])
    assert same_bits(run_batch(shared, [X], 4)[0][: len(X)], expected)
    assert same_bits(run_single(shared, X[:1])[0], expected[0])


@pytest.mark.parametrize(
    ("op", "payload", "fault"),
    [
        ("call", powers(), "call takes 4 arguments, not 1"),
        ("get", 0, "not a result"),
        ("call", None, "payload"),
    ],
)
def test_malformed_calls_are_found(op, payload, fault):
    t = Tracer()
    (x,) = t.input(Port("x", ()))
    node = t.graph.node(op, (x.id,), payload)
    with pytest.raises(InvalidProgramError, match=fault):
        verify(Program(t.graph, (Port("x", ()),), (Port("y", ()),), ((node,),)))


def test_faults_inside_an_operation_are_found():
    operation = powers()
    operation.body.graph.node("add", (0,))
    with pytest.raises(InvalidProgramError, match="add takes 2 arguments"):
        verify(program(operation))


class RunningSum(ArrayOperation):
    """The sums of the first 1, 2, … arguments: an operation from outside, written in the backend's language."""

    name = "running_sum"
    programs = ()
    results = arity = 5
    parts = (5,)
    identity = "running sum of five"

    def with_programs(self, change):
        return self

    def evaluate(self, arguments):
        return np.cumsum(arguments).tolist()


def emit_running_sum(routines, name, operation, lanes):
    b, v = Body(), Values(lanes)
    total = v.load(b, "%args", 0)
    v.store(b, total, "%results", 0)
    for k in range(1, operation.arity):
        total = b(f"fadd {lanes.type} {total}, {v.load(b, '%args', k)}")
        v.store(b, total, "%results", k)
    return function(f"void @{name}(ptr noalias %args, ptr noalias %results, ptr noalias %s)", b), 0


def test_an_array_operation_from_outside(monkeypatch):
    plain = verify(program(RunningSum()))
    with pytest.raises(NotImplementedError, match="LLVM backend cannot do running_sum"):
        run_single(plain, [X[0]])
    monkeypatch.setitem(llvm_module.OPERATIONS, "running_sum", emit_running_sum)
    assert "= running_sum<running sum of five>(" in listing(plain)
    for code in (plain, optimize(plain)):
        assert_same_bits(code, X, lanes=(1, 8))


def test_an_array_operation_from_outside_has_the_adjoint_of_the_table(monkeypatch):
    t = Tracer()
    x = t.input(Port("x", (5,)))
    found = call(t.graph, RunningSum(), [y.id for y in x])
    alone = t.program({"y": ((5,), [Expr(t.graph, i) for i in found])})
    with pytest.raises(NotImplementedError, match="'running_sum' cannot be differentiated backwards"):
        adjoint(alone)
    with pytest.raises(NotImplementedError, match="'running_sum' has no derivative"):
        tangent(alone)

    def backwards(graph, operation, arguments, weights, of_program):
        total, sums = graph.const(0.0), []
        for weight in reversed(weights):
            total = fold.add(graph, total, weight)
            sums.append(total)
        return sums[::-1]

    monkeypatch.setitem(ADJOINTS, "running_sum", backwards)
    assert interpret(adjoint(alone), [[*range(5), 1.0, 0.0, 0.0, 2.0, 4.0]])[0].tolist() == [7.0, 6.0, 6.0, 6.0, 4.0]
