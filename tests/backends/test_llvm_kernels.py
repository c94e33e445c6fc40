"""Compiled code against the interpreter, bit for bit."""

import itertools

import numpy as np
import pytest

from helpers.kernels import run_batch, run_single, same_bits, small_regions
from helpers.programs import COMPUTED, random_program, traced
from helpers.sampling import cover
from kinetree.backends.llvm import Target
from kinetree.backends.llvm.compile import compile_single
from kinetree.backends.llvm.module import MAX_TILED_BYTES
from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import interpret

LANES = (1, 2, 4, 8, 16)


def states(program, n, seed=0, dtype="float64"):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (n, *port.shape)).astype(dtype) for port in program.inputs]


@pytest.mark.parametrize("seed", range(12))
def test_one_state_has_the_bits_of_the_interpreter(seed):
    program = random_program(seed)
    inputs = [x[0] for x in states(program, 1, seed)]
    for got, expected in zip(run_single(program, inputs), interpret(program, inputs), strict=True):
        assert same_bits(got, expected)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_bits_do_not_depend_on_lanes_or_regions(seed, dtype):
    program = random_program(seed, operations=COMPUTED)
    n = 19
    inputs = states(program, n, seed, dtype)
    expected = [run_single(program, [x[i] for x in inputs], dtype) for i in range(n)]
    expected = [np.array([row[k] for row in expected]) for k in range(len(program.outputs))]
    for lanes in LANES:
        for code in (program, small_regions(program, lanes, dtype)):
            for got, want in zip(run_batch(code, inputs, lanes, dtype), expected, strict=True):
                assert same_bits(got, want)
    single = small_regions(program, None, dtype)
    for got, want in zip(run_single(single, [x[4] for x in inputs], dtype), expected, strict=True):
        assert same_bits(got, want[4])


@pytest.mark.parametrize("lanes", [1, 4, 8])
def test_stride_zero_repeats_one_state(lanes):
    program = random_program(5, operations=COMPUTED)
    inputs = states(program, 11)
    repeated = [np.broadcast_to(x[:1], x.shape) if k in (0, 4) else x for k, x in enumerate(inputs)]
    expected = run_batch(program, repeated, lanes)
    given = [x[:1] if k in (0, 4) else x for k, x in enumerate(inputs)]
    for got, want in zip(run_batch(program, given, lanes, n=11, broadcast=(0, 4)), expected, strict=True):
        assert same_bits(got, want)


@pytest.mark.parametrize(
    ("dtype", "lanes", "size"), cover(itertools.product(("float64", "float32"), LANES, (500, 1027, 2049)))
)
def test_long_rows_are_deferred(size, lanes, dtype):
    assert size * np.dtype(dtype).itemsize > MAX_TILED_BYTES or size == 500

    def entries(x):  # entries of several places, an input, constants
        made = [a * b for a in x for b in x]
        return [(made[i % 97], x[i % 11], float(i % 5), made[-i % 89])[i % 7 % 4] for i in range(size)]

    program = traced(entries, 13)
    x = np.arange(13.0 * 11).reshape(11, 13) / 8
    expected = np.array([entries(list(row)) for row in x], dtype)
    assert same_bits(run_batch(program, [x], lanes, dtype)[0], expected)
    assert same_bits(run_batch(small_regions(program, lanes, dtype), [x], lanes, dtype)[0], expected)


@pytest.mark.parametrize("lanes", [2, 8])
def test_nan_and_huge_angles_stay_in_their_state(lanes):
    program = traced(lambda x, y: [x[0].sin() * y[0], x[1].cos() + y[1]], 2, 2)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-3, 3, (2, 17, 2))
    clean = run_batch(program, [x, y], lanes)[0]
    x[3], x[9], y[12] = np.nan, 1e22, np.inf
    dirty = run_batch(program, [x, y], lanes)[0]
    others = [i for i in range(17) if i not in (3, 9, 12)]
    assert same_bits(dirty[others], clean[others])
    assert np.isnan(dirty[3]).all()
    np.testing.assert_allclose(dirty[9], [np.sin(1e22) * y[9, 0], np.cos(1e22) + y[9, 1]], rtol=1e-15)


def test_angles_of_angles_are_further_array_calls():
    def nested(x):
        a = x[0].sin() + x[1]
        b = (a.cos() * x[2]).sin()
        return [b, x[0].sin().cos(), x[1].sin(), a]

    program = traced(nested, 3)
    x = np.array([0.3, -1.1, 2.2])
    a = np.sin(x[0]) + x[1]
    expected = [np.sin(np.cos(a) * x[2]), np.cos(np.sin(x[0])), np.sin(x[1]), a]
    for code in (program, small_regions(program, None, size=1)):
        np.testing.assert_allclose(run_single(code, [x])[0], expected, rtol=1e-15)
    for code in (program, small_regions(program, 4, size=1)):
        np.testing.assert_allclose(run_batch(code, [x[None]], 4)[0][0], expected, rtol=1e-15)


def test_outputs_that_need_no_code():
    program = traced(lambda x: ([1.0, 2.0, 0.0], [x[1], x[1], x[0]], []), 2, outputs=3)
    for got in (run_single(program, [[4.0, 5.0]]), [y[2] for y in run_batch(program, [[[4.0, 5.0]] * 3], 8)]):
        assert [y.tolist() for y in got] == [[1, 2, 0], [5, 5, 4], []]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_runs_of_constants(dtype):
    def function(x):
        return ([0.0] * 20 + [x[0], 1.0, 2.0] + [0.1] * 9, [0.1] * 8 + [-3.0] * 30)

    expected = [function([7.0])[k] for k in range(2)]
    program = traced(function, 1, outputs=2)
    assert [y.tolist() for y in run_single(program, [[7.0]], dtype)] == [np.array(e, dtype).tolist() for e in expected]
    for lanes in (1, 8):
        got = run_batch(program, [[[7.0]] * 3], lanes, dtype)
        assert [y[2].tolist() for y in got] == [np.array(e, dtype).tolist() for e in expected]


def test_inputs_need_only_their_natural_alignment():
    program = traced(lambda x: [e.sin() + e for e in x], 9)
    raw = np.zeros(9 * 8 + 16, dtype=np.uint8)
    for shift in (0, 8):
        x = raw[shift : shift + 72].view(np.float64)
        x[:] = np.linspace(0, 1, 9)
        np.testing.assert_allclose(run_single(program, [x])[0], np.sin(x) + x, rtol=1e-15)


def test_an_operation_that_is_not_in_the_table_is_refused():
    graph = Graph()
    node = graph.node("teleport", (graph.node("input", (), (0, 0)),))
    program = Program(graph, (Port("x", ()),), (Port("y", ()),), ((node,),))
    with pytest.raises(NotImplementedError, match="teleport"):
        compile_single(program, target=Target.host())
