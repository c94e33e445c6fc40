"""What is not a program is refused by name; what the tracer and every pass make is one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

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
