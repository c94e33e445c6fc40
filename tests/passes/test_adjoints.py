"""Derivatives of programs, forward and back, against the rates of `tangent`, which are tested against differences."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.programs import COMPUTED, of_arrays, random_program
from helpers.verify import verify
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS, interpret
from kinetree.passes.adjoints import Derivatives, adjoint, tangent
from kinetree.passes.reversal import recorded
from kinetree.scalars.loops import map_columns

DIFFERENTIATED = tuple(name for name in COMPUTED if OPS[name].straight_line and OPS[name].partials is not None)


def jacobian(program, direction):
    """The Jacobian of all outputs by all inputs, as a program."""
    graph = Graph()

    def entry(port, k):
        return graph.node("input", (), (port, k))

    outputs = recorded(program, graph, entry)
    columns = [(p, k) for p, port in enumerate(program.inputs) for k in range(port.size)]
    derivatives = Derivatives(graph, outputs, {entry(*c): {c: graph.const(1.0)} for c in columns})
    one, zero = graph.const(1.0), graph.const(0.0)
    if direction == "forward":
        rows = derivatives.forward()
    elif direction == "back":
        rows = [derivatives.backward({place: one}) for place in range(len(outputs))]
    else:
        rows = derivatives.jacobian()
    entries = tuple(row.get(c, zero) for row in rows for c in columns)
    return verify(Program(graph, program.inputs, (Port("J", (len(outputs), len(columns))),), (entries,)))


def by_tangents(program, x):
    """The Jacobian column by column, each by the rates along one input entry."""
    sizes = [port.size for port in program.inputs]
    both, columns = tangent(program), []
    for e in np.eye(sum(sizes)):
        parts = np.split(e, np.cumsum(sizes)[:-1])
        found = interpret(both, [np.concatenate([np.ravel(a), b]) for a, b in zip(x, parts, strict=True)])
        columns.append(np.concatenate([y[len(y) // 2 :] for y in found]))
    return np.array(columns).T


@pytest.mark.parametrize("direction", ["forward", "back", "cheaper"])
@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed, direction):
    program = random_program(seed, size=40, operations=DIFFERENTIATED)
    rng = np.random.default_rng(seed)
    x = [rng.uniform(0.5, 1.5, port.shape) for port in program.inputs]
    (found,), wanted = interpret(jacobian(program, direction), x), by_tangents(program, x)
    good = np.isfinite(found) & np.isfinite(wanted) & (abs(wanted) < 1e100)
    assert good.mean() > 0.5
    scale = np.abs(np.where(good, wanted, 0.0)).max(axis=1, keepdims=True) + 1.0
    assert (np.abs(found - wanted) <= 1e-12 * scale)[good].all()


def mapped(x, c):
    """A map over columns, which captures values around it."""
    columns = [[x[0] * k, x[1] + k, x[2]] for k in (1.0, 2.0, 3.0)]
    found = map_columns(lambda column: [column[0] * c[0] + column[2], column[1] * column[1] / c[1]], columns, x[0])
    return np.array([entry for column in found for entry in column], dtype=object)


@pytest.mark.parametrize("direction", ["forward", "back"])
def test_maps(direction):
    program = of_arrays(mapped, (3,), (2,))
    assert program.op_count()["map"] == 1
    x = [np.array([0.3, -1.2, 0.7]), np.array([2.0, 1.5])]
    found = jacobian(program, direction)
    assert "map" in found.op_count()
    assert np.abs(interpret(found, x)[0] - by_tangents(program, x)).max() < 1e-14


def test_an_adjoint_program_takes_weights_after_its_last_input():
    program = of_arrays(lambda a, b: np.array([a[0] * b[0], a[1] + b[0] * b[0]]), (2,), (1,))
    (found,) = interpret(adjoint(program), [[2.0, 5.0], [3.0, 10.0, 100.0]])
    assert found.tolist() == [30.0, 100.0, 620.0]


def test_equal_programs_have_equal_derivatives():
    program = random_program(3, size=60, operations=DIFFERENTIATED)
    assert jacobian(program, "cheaper").graph.nodes == jacobian(program, "cheaper").graph.nodes
