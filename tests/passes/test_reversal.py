"""Loops differentiated backwards: random ones against dual numbers, in every backend, with every spacing of records."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.c_backend import CBackend, run_c
from helpers.kernels import run_batch, run_single, same_bits
from helpers.programs import of_arrays
from helpers.verify import verify
from kinetree.graph import Graph, Port, Program
from kinetree.graph.array_operations import Repeat
from kinetree.graph.ops import OPS, interpret
from kinetree.passes import optimize, reversal
from kinetree.passes.adjoints import Derivatives, adjoint, tangent
from kinetree.passes.reversal import of_repeat, recorded
from kinetree.scalars import functions
from kinetree.scalars.dual import Dual, rate_of
from kinetree.tracing.loops import repeat

OPERATIONS = ("add", "sub", "mul", "sin", "cos", "select_lt")
SIZES = 2, 3  # of what is captured and carried


@st.composite
def bodies(draw):
    """The next of three carried values: sines of what random operations make of them and of two captured ones."""
    graph, ports = Graph(), (Port("captured", SIZES[:1]), Port("carried", SIZES[1:]))
    pool = [graph.node("input", (), (k, j)) for k, port in enumerate(ports) for j in range(port.size)]
    pool.append(graph.const(draw(st.sampled_from((0.5, -1.25)))))
    for _ in range(draw(st.integers(2, 9))):
        op = draw(st.sampled_from(OPERATIONS))
        pool.append(graph.node(op, tuple(draw(st.sampled_from(pool)) for _ in range(OPS[op].arity))))
    results = tuple(graph.node("sin", (draw(st.sampled_from(pool[-4:])),)) for _ in range(3))
    return Program(graph, ports, ports[1:], (results,))


@st.composite
def loops(draw):
    """A program of a loop that may stop early, with another one inside."""
    body, most = draw(bodies()), draw(st.integers(1, 23))
    ports = body.inputs
    test = Graph()
    limit, first = test.const(draw(st.sampled_from((2.0, 0.9, 0.5)))), test.node("input", (), (1, 0))
    go_on = (
        test.const(1.0) if limit == 2.0 else test.node("select_lt", (first, limit, test.const(1.0), test.const(0.0)))
    )
    loop = Repeat(Program(test, ports, (Port("go_on", ()),), ((go_on,),)), body, most)
    if draw(st.booleans()):  # two of them, in one
        graph = Graph()
        nodes = [graph.node("input", (), (k, j)) for k, port in enumerate(ports) for j in range(port.size)]
        inner = graph.node("call", tuple(nodes), loop)
        got = tuple(graph.node("get", (inner,), k) for k in range(loop.results))
        ends = tuple(graph.node("mul", (x, nodes[0])) for x in got)
        loop = Repeat(loop.condition, Program(graph, ports, ports[1:], (ends,)), draw(st.integers(1, 5)))
    return loop


def called(loop):
    """The program of this loop alone."""
    graph, ports = Graph(), loop.body.inputs
    nodes = [graph.node("input", (), (k, j)) for k, port in enumerate(ports) for j in range(port.size)]
    made = graph.node("call", tuple(nodes), loop)
    results = tuple(graph.node("get", (made,), k) for k in range(loop.results))
    return Program(graph, ports, (Port("end", (loop.results,)),), (results,))


def on_duals(program, inputs):
    """What a program makes of dual numbers: an interpreter of its own."""

    def operation(node, given):
        kinds = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b}
        known = kinds.get(node.op) or functools.partial(getattr(functions, node.op))
        return known(*given)

    def loop(operation, given):
        captured, x = given[: operation.captured], list(given[operation.captured :])
        for _ in range(operation.most):
            if not on_duals(operation.condition, [captured, x])[0] > 0.0:
                break
            x = on_duals(operation.body, [captured, x])
        return x

    return program.evaluated(float, lambda port, k: inputs[port][k], operation, loop)


def gradient(program):
    """The program of the adjoints of a program's inputs, in one kernel with weights as an input of its own."""
    graph, last = Graph(), len(program.inputs)
    entries = [(p, k) for p, port in enumerate(program.inputs) for k in range(port.size)]
    nodes = {at: graph.node("input", (), at) for at in entries}
    outputs = recorded(program, graph, lambda *at: nodes[at])
    weights = {place: graph.node("input", (), (last, place)) for place in range(len(outputs))}
    row = Derivatives(graph, outputs, {nodes[at]: {at: graph.const(1.0)} for at in entries}).backward(weights)
    results = tuple(row.get(at, graph.const(0.0)) for at in entries)
    inputs = (*program.inputs, Port("weights", (len(outputs),)))
    return verify(Program(graph, inputs, (Port("adjoints", (len(results),)),), (results,)))


STATES = st.lists(st.floats(-1.5, 1.5), min_size=5, max_size=5)


@settings(max_examples=25)
@given(loop=loops(), x=STATES, weights=st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3))
def test_adjoints_of_random_loops_are_those_of_dual_numbers(loop, x, weights):
    program = called(loop)
    (found,) = interpret(gradient(program), [x[:2], x[2:], weights])
    wanted = []
    for k in range(5):
        moving = [Dual(value, 1.0 if j == k else 0.0) for j, value in enumerate(x)]
        wanted.append(
            sum(w * rate_of(y) for w, y in zip(weights, on_duals(program, [moving[:2], moving[2:]]), strict=True))
        )
    assert np.allclose(found, wanted, rtol=1e-10, atol=1e-10 * (1.0 + np.abs(wanted).max()))


@settings(max_examples=12)
@given(loop=loops(), x=STATES, direction=STATES)
def test_rates_and_adjoints_are_dual_to_each_other(loop, x, direction):
    program, weights = called(loop), [1.0, -0.7, 0.4]
    (found,) = interpret(gradient(program), [x[:2], x[2:], weights])
    (both,) = interpret(tangent(program), [[*x[:2], *direction[:2]], [*x[2:], *direction[2:]]])
    assert abs(both[3:] @ weights - found @ direction) <= 1e-11 * (1.0 + np.abs(found).max())


def oscillator(x, p):
    """Some steps of a soft spring, until it has gone far enough."""

    def step(angle, speed, k):
        speed = speed - 0.1 * p[0] * np.tanh(angle) + 0.05 * p[1] / (1.0 + k)
        return angle + 0.1 * speed, speed, k + 1.0

    angle, speed, k = repeat(step, (x[0], x[1], 0.0 * x[0]), until=lambda angle, speed, k: abs(angle) > p[2], most=37)
    return np.stack([angle, speed * k])


RNG = np.random.default_rng(5)
INPUTS = [RNG.uniform(0.2, 1.0, (19, 2)), RNG.uniform(0.5, 1.5, (19, 3)), RNG.normal(size=(19, 2))]


def test_a_state_has_the_same_bits_in_every_backend_and_batch():
    program = optimize(gradient(of_arrays(oscillator, (2,), (3,))))
    alone = np.array([run_single(program, list(row))[0] for row in zip(*INPUTS, strict=True)])
    for lanes in (1, 4, 8):
        assert same_bits(run_batch(program, INPUTS, lanes)[0], alone)
    assert same_bits(run_c(CBackend(), program, INPUTS, 4)[0], alone)
    interpreted = [interpret(program, row)[0] for row in zip(*INPUTS, strict=True)]
    assert same_bits(np.array(interpreted), alone)


@pytest.mark.parametrize("spacing", [1, 2, 5, 36, 37])
def test_the_spacing_of_records_changes_no_bit(spacing, monkeypatch):
    program = of_arrays(oscillator, (2,), (3,))
    usual = run_batch(optimize(gradient(program)), INPUTS, 8)[0]
    monkeypatch.setitem(reversal.ADJOINTS, "repeat", functools.partial(of_repeat, spacing=spacing))
    assert same_bits(run_batch(optimize(gradient(program)), INPUTS, 8)[0], usual)


def test_the_record_of_a_loop_grows_with_the_root_of_its_length():
    def carried(most):
        program = adjoint(of_arrays(lambda x: repeat(lambda y: np.sin(y) * x, x, most=most), (1,)))
        loops = [node.payload for node in program.graph.nodes if node.op == "call"]
        return max(loop.results for loop in loops)

    assert 10 * carried(100) < 1.5 * carried(10_000) < 1.5 * 12 * carried(100)
    assert carried(10_000) < 120
