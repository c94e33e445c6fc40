"""What the constructors fold is right, and what is not a program is refused by name."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable

import numpy as np
import pytest

from helpers.compiler import (
    ALGORITHMS,
    LEGAL,
    PASSES,
    InvalidProgramError,
    Use,
    stages,
    trace,
    uses,
    verify,
)  # fmt: skip
from helpers.exact_trees import exact_tree, one_of_each
from helpers.programs import COMPUTED, EXACT, random_program
from helpers.sampling import cover
from kinetree.graph import Graph, Node, Port, Program
from kinetree.graph.listing import listing
from kinetree.graph.ops import OPS, interpret
from kinetree.tracing.expr import Expr
from kinetree.tracing.tracer import Tracer


def leaves():
    graph = Graph()
    return [Expr(graph, graph.node("input", (), (0, k))) for k in range(4)]


def neg(x):
    return -x


def same(a, b):
    return isinstance(a, Expr) and isinstance(b, Expr) and a.id == b.id


def test_what_vanishes():
    x, y, *_ = leaves()
    for value in (x * 0, 0 * x, x - x, 0 / x):
        assert value.constant == 0.0
    for value in (x / x, x * (1 / x), (1 / x) * x, x.sin() ** 2 + x.cos() ** 2, x.cos() ** 2 + x.sin() ** 2):
        assert value.constant == 1.0
    for value in (x + 0, 1 * x, x / 1, neg(neg(x)), (x + y) - y, (y + x) - y, (x - y) + y, y + (x - y), y - (y - x)):
        assert same(value, x)
    for value in (y - (y + x), y - (x + y), (y - x) - y, 0 - x, x * -1):
        assert same(value, -x)
    assert (x.sin() ** 2 + y.cos() ** 2).constant is None
    assert (x.sin() ** 2 + x.sin() ** 2).constant is None


def test_signs_move_outwards():
    x, y, *_ = leaves()
    assert same((-x) * y, -(x * y))
    assert same((-x) / y, -(x / y))
    assert same(x / (-y), -(x / y))
    assert same((-x) / (-y), x / y)
    assert same(x * (-y), -(x * y))
    assert same(x + (-y), x - y)
    assert same(x - (-y), x + y)
    assert same((-x).sin(), -(x.sin()))
    assert same((-x).cos(), x.cos())
    assert same(-(x - y), y - x)
    z = leaves()
    assert same(z[1] - z[0], -(z[0] - z[1]))
    d = x - y
    assert same(y - x, -d)


def test_operand_order_and_constants():
    x, y, *_ = leaves()
    assert same(x * y, y * x)
    assert same(x + y, y + x)
    assert same(2 * (x * 3), x * 6)
    assert same(0.2 * (x * 0.25), x * 0.05)
    assert not same(0.2 * (x * 0.2), x * (0.2 * 0.2))  # 0.2² is rounded
    assert same(2 + (x + 3), x + 5)
    assert same(x / 4, x * 0.25)
    assert not same(x / 3, x * (1 / 3))


@pytest.mark.parametrize("seed", range(30))
def test_folding_changes_only_the_rounding(seed):
    """The same random expression, folded and not, has the same value."""
    rng = random.Random(seed)
    folded, plain = Graph(), Graph()
    pool = [(g.node("input", (), (0, k)), p) for k in range(3) for g, p in [(folded, plain.node("input", (), (0, k)))]]
    pool += [(folded.const(c), plain.const(c)) for c in (0.0, 1.0, -1.0, 2.0, 0.3)]
    arity = {"neg": 1, "sin": 1, "cos": 1}
    for _ in range(60):
        op = rng.choice(["add", "sub", "mul", "neg", "sin", "cos", "add", "sub", "mul", "div"])
        args = [rng.choice(pool[-12:]) for _ in range(arity.get(op, 2))]
        if op == "div":
            args[1] = pool[rng.randrange(3)]
        pool.append((OPS[op].node(folded, tuple(a for a, _ in args)), plain.node(op, tuple(b for _, b in args))))
    port = Port("y", (len(pool),))
    x = [[0.37, -1.13, 0.71]]
    got, expected = (
        interpret(Program(g, (Port("x", (3,)),), (port,), (tuple(p[k] for p in pool),)), x)[0]
        for k, g in enumerate((folded, plain))
    )
    assert np.isfinite(expected).any()
    right = np.isfinite(expected) & (np.abs(expected) < 1e3)
    np.testing.assert_allclose(got[right], expected[right], rtol=1e-10, atol=1e-11)


ARITY = {"neg": 1, "sqrt": 1, "sin": 1, "cos": 1, "abs": 1, "add": 2, "sub": 2, "mul": 2, "div": 2}


@pytest.mark.parametrize("op", [*ARITY, "select_lt", "select_le"])
def test_constants_fold_to_what_the_operation_gives(op):
    values = (0.3, 1.0, 4.0) if op in ARITY else (-1.0, 0.0, 2.0, math.inf, math.nan)
    for constants in itertools.product(values, repeat=ARITY.get(op, 2)):
        graph = Graph()
        args = tuple(graph.const(c) for c in (*constants, *((5.0, 6.0) if op not in ARITY else ())))
        folded = OPS[op].node(graph, args)
        program = Program(graph, (), (Port("y", (2,)),), ((folded, graph.node(op, args)),))
        assert graph[folded].op == "const"
        np.testing.assert_allclose(*interpret(program, [])[0], rtol=1e-15)


def test_a_traced_value_has_no_truth_value_or_number():
    x, y, *_ = leaves()
    for use in (bool, float, int, lambda x: bool(x < y), lambda x: max(x, 0.0), lambda x: x == y or x, math.sin):
        with pytest.raises(TypeError, match="while the function is being traced"):
            use(x)
    with pytest.raises(ValueError, match="different traces"):
        x + leaves()[0]


def test_interpreter_takes_names_or_order_and_checks_sizes():
    tracer = Tracer()
    (x,), y = tracer.input(Port("x", ())), tracer.input(Port("y", (2, 1)))
    program = tracer.program({"z": ((2, 1), [x * y[0], y[1].sqrt()])})
    for inputs in ([2.0, [[3.0], [4.0]]], {"y": [3.0, 4.0], "x": 2.0}):
        assert interpret(program, inputs)[0].tolist() == [[6.0], [2.0]]
    with pytest.raises(ValueError, match="'y' has 3 entries"):
        interpret(program, [1.0, [1.0, 2.0, 3.0]])
    with pytest.raises(ValueError, match="2 inputs, not 1"):
        interpret(program, [1.0])


def test_fused_operations_round_once():
    """a·b of these has twice the digits, and all of them count when c cancels the rest."""
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    graph = Graph()
    nodes = [graph.node("input", (), (0, k)) for k in range(3)]
    results = tuple(graph.node(op, tuple(nodes)) for op in ("fma", "fms", "fnma"))
    program = Program(graph, (Port("x", (3,)),), (Port("y", (3,)),), (results,))
    assert interpret(program, [[a, b, -1.0]])[0].tolist() == [-(2.0**-60), 2.0, -2.0]
    assert interpret(program, [[a, b, 1.0]])[0].tolist() == [2.0, -(2.0**-60), 2.0**-60]


def test_listing_names_inputs_and_outputs():
    tracer = Tracer()
    q = tracer.input(Port("q", (2,)))
    program = tracer.program({"M": ((2, 2), [q[0] * q[1], -q[0], 1.0, q[1]])})
    assert listing(program).splitlines() == [
        "@1 = (q[0] * q[1])",
        "@2 = (-q[0])",
        "M[0, 0] = @1",
        "M[0, 1] = @2",
        "M[1, 0] = 1.0",
        "M[1, 1] = q[1]",
    ]


TREES = {
    "first": exact_tree("first", 1, one_of_each(0), followers=1),
    "last": exact_tree("last", 2, one_of_each(-1), followers=1),
}


def ways(algorithm: str, tree: str) -> list[Use]:
    return uses(ALGORITHMS[algorithm], ("tip", "link1"), TREES[tree].joint_names[0])


CASES = cover((name, tree, way) for name in ALGORITHMS for tree in TREES for way in range(len(ways(name, tree))))


@pytest.mark.parametrize(("algorithm", "tree", "way"), CASES)
def test_traces_and_what_the_passes_make_of_them(algorithm: str, tree: str, way: int) -> None:
    program = trace(TREES[tree], ALGORITHMS[algorithm], ways(algorithm, tree)[way])
    names = [name for name, program in stages(program) if verify(program, LEGAL)]
    assert names == ["trace", *(one_pass.__name__ for one_pass in PASSES)]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("operations", [COMPUTED, EXACT, ("add", "sub", "mul", "neg")], ids=len)
def test_random_programs_and_what_the_passes_make_of_them(seed: int, operations: tuple[str, ...]) -> None:
    for _, program in stages(random_program(seed, size=120, operations=operations)):
        assert verify(program, LEGAL) is program


def sound() -> Program:
    """Return the program of x + y, x·y and 2, with an order of its own."""
    graph = Graph()
    x, y = (graph.node("input", (), (0, k)) for k in range(2))
    two = graph.const(2.0)
    total, product = graph.node("add", (x, y)), graph.node("mul", (x, y))
    graph.node("neg", (product,))  # not live
    outputs = Port("sum", ()), Port("others", (2,))
    return Program(graph, (Port("x", (2,)),), outputs, ((total,), (product, two)), (y, x, product, two, total))


def with_node(i: int, node: Node) -> Callable[[Program], Program]:
    """Return what puts another node into the place of the i-th."""

    def change(program: Program) -> Program:
        program.graph.nodes[i] = node
        return program

    return change


def having(**fields: object) -> Callable[[Program], Program]:
    """Return what replaces fields of a program."""
    return lambda program: Program(**{**vars(program), **fields})  # type: ignore[arg-type]


CORRUPT = {
    "unknown operation": (with_node(3, Node("teleport", (0, 1))), "node 3, teleport(0, 1): there is no such operation"),
    "too few arguments": (with_node(3, Node("add", (0,))), "node 3, add(0): add takes 2 arguments, not 1"),
    "too many arguments": (with_node(5, Node("neg", (0, 1))), "node 5, neg(0, 1): neg takes 1 arguments, not 2"),
    "an argument of its own": (with_node(4, Node("mul", (0, 4))), "node 4, mul(0, 4): an argument is not made before"),
    "a later argument": (with_node(3, Node("add", (0, 4))), "node 3, add(0, 4): an argument is not made before"),
    "a negative argument": (with_node(3, Node("add", (0, -1))), "node 3, add(0, -1): an argument is not made before"),
    "a constant that is not a float": (
        with_node(2, Node("const", (), 2)),
        "node 2, const(2): the payload of a constant",
    ),
    "a constant without a value": (with_node(2, Node("const", ())), "node 2, const(): the payload of a constant"),
    "a signed zero": (with_node(2, Node("const", (), -0.0)), "node 2, const(-0.0): the payload of a constant"),
    "an input of no entry": (with_node(1, Node("input", (), (0, 2))), "node 1, input((0, 2)): no input port has"),
    "an input of no port": (with_node(1, Node("input", (), (1, 0))), "node 1, input((1, 0)): no input port has"),
    "an input by name": (with_node(1, Node("input", (), "x")), "node 1, input('x'): the payload of an input is"),
    "a payload too many": (with_node(3, Node("add", (0, 1), 1.0)), "node 3, add(1.0): add has no payload"),
    "an exact value that is not an arithmetic": (with_node(3, Node("rint", (0,), "exact")), "rint has no payload"),
    "two equal nodes": (with_node(4, Node("add", (0, 1))), "node 4, add(0, 1): it is equal to node 3"),
    "outputs of one name": (having(outputs=(Port("y", ()), Port("y", (2,)))), "two ports have one name: y, y"),
    "a result too few": (having(results=((3,),)), "there are 2 outputs, and results of 1"),
    "an entry too few": (having(results=((3,), (4,))), "output 'others' of shape (2,) has 1 entries"),
    "an entry of no node": (having(results=((3,), (4, 6))), "node 6, an entry of output 'others', does not exist"),
    "an order too short": (having(order=(1, 0, 4, 3)), "node 2, const(2.0): it is live, but not in the order"),
    "an order too long": (having(order=(0, 1, 4, 2, 3, 5)), "node 5, neg(4): it is in the order, but no output"),
    "twice in the order": (having(order=(0, 1, 4, 2, 4, 3)), "node 4, mul(0, 1): it is in the order twice"),
    "no node in the order": (having(order=(0, 1, 4, 2, 9)), "node 9, which is in the order, does not exist"),
    "no topological order": (having(order=(0, 4, 1, 2, 3)), "node 4, mul(0, 1): it comes before an argument"),
}


@pytest.mark.parametrize("kind", CORRUPT)
def test_what_is_no_program_is_refused_by_name(kind: str) -> None:
    verify(sound(), LEGAL)
    corrupt, message = CORRUPT[kind]
    with pytest.raises(InvalidProgramError, match=re.escape(message)):
        verify(corrupt(sound()))


def test_operations_can_be_restricted() -> None:
    """To those that a backend knows; what is not live does not count."""
    verify(sound(), {"const", "input", "add", "mul"})
    with pytest.raises(InvalidProgramError, match=r"node 4, mul\(0, 1\): mul is not among the legal operations: add"):
        verify(sound(), {"const", "input", "add"})


def test_constants_may_be_what_folding_makes_but_once() -> None:
    for value in (math.inf, math.nan):
        program = with_node(2, Node("const", (), value))(sound())
        verify(program)
        program.graph.nodes[5] = Node("const", (), float(str(value)))  # another object
        with pytest.raises(InvalidProgramError, match=r"node 5, const\(\w+\): it is equal to node 2"):
            verify(program)
