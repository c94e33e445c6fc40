"""Plans, carried out by hand, and prefetches of the rows that a batch writes."""

import ctypes
import itertools
import re
from collections import Counter

import llvmlite.binding as llvm
import numpy as np
import pytest

from helpers.kernels import HOST, run_batch, run_single, same_bits
from helpers.programs import EXACT, random_program, traced
from helpers.sampling import cover
from kinetree.backends.llvm.compile import object_code
from kinetree.backends.llvm.ir import ITEM_BYTES, Lanes
from kinetree.backends.llvm.module import batch_ir
from kinetree.backends.llvm.rows import CACHE_LINE, DISTANCE, LINES_AHEAD, lines_ahead
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.graph.ops import OPS, interpret
from kinetree.lowering.build import STORES, lower, work
from kinetree.lowering.plan import ArrayCall, Cell, Region, Tile

RESULTS = (Cell(("results", 0), 0), Cell(("results", 1), 0))


def carry_out(plan, inputs):
    """Do what the plan says with a dictionary for memory: a cell that is read must have been written."""
    program = plan.program
    memory = {Cell(("in", k), j): x for k, array in enumerate(inputs) for j, x in enumerate(np.ravel(array).tolist())}
    memory.update(dict(plan.constants))
    for step in plan.steps:
        if isinstance(step, ArrayCall):
            ops = [op for op in OPS.values() if op.array_op == step.kernel]
            for n in range(step.count):
                arguments = [memory[first._replace(offset=first.offset + n)] for first in step.inputs]
                for op, first in zip(ops, step.outputs, strict=True):
                    memory[first._replace(offset=first.offset + n)] = op.evaluate(*arguments)
            continue
        values = {}

        def value(i, values=values):
            node = program.graph[i]
            if i not in values:
                values[i] = node.payload if node.op == "const" else memory[plan.location[i]]
            return values[i]

        for i in step.items:
            if isinstance(i, Tile):
                memory.update({Cell(("out", i.port), i.first + c): value(j) for c, j in enumerate(i.nodes)})
                continue
            op, args, _ = program.graph[i]
            if OPS[op].straight_line:
                values[i] = OPS[op].evaluate(*[value(a) for a in args])
            for cell in plan.copies.get(i, ()):
                memory[cell] = value(i)
    for k, cells in plan.deferred.items():
        memory.update({Cell(("out", k), j): memory[cell] for j, cell in enumerate(cells)})
    assert all(0 <= cell.offset < plan.areas[cell.area] for cell in memory)
    return [
        np.array([memory[Cell(("out", k), j)] for j in range(port.size)]).reshape(port.shape)
        for k, port in enumerate(program.outputs)
    ]


WAYS = {
    "cells": None,
    "deferred": lambda size: 0,
    "tiles": lambda size: 1 << (min(size, 4).bit_length() - 1),
    "both": lambda size: min(size, 2) if size % 2 else 0,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("seed", range(15))
def test_a_plan_gives_what_the_program_gives(seed, size, way):
    program = random_program(seed, size=80, operations=(*EXACT[:3], "fma", "sin", "cos", "neg"))
    rng = np.random.default_rng(seed)
    inputs = [rng.uniform(-1, 1, port.shape) for port in program.inputs]
    widths = WAYS[way] and [WAYS[way](port.size) for port in program.outputs]
    plan = lower(program, size, widths=widths)
    assert all(
        sum(work(i, plan.program) for i in step.items[1:]) <= size for step in plan.steps if isinstance(step, Region)
    )
    assert way != "cells" or all(len(step.items) <= size for step in plan.steps if isinstance(step, Region))
    for got, expected in zip(carry_out(plan, inputs), interpret(program, inputs), strict=True):
        assert same_bits(got, expected)


def test_angles_in_one_input_are_read_in_place():
    plan = lower(traced(lambda x: [x[2].sin(), x[5].cos() * x[4].sin()], 7), 100)
    call, _ = plan.steps
    assert call == ArrayCall("sincos", (Cell(("in", 0), 2),), RESULTS, 4)


@pytest.mark.parametrize(("count", "options"), [(3, {}), (60, {}), (10, {"in_place": 1.5}), (4, {"in_place": 1.0})])
def test_a_call_in_place_is_so_many_times_longer_at_most(count, options):
    longest = int(count * options.get("in_place", 2.0))
    for distance, area in ((longest - 1, "in"), (longest, "args")):
        program = traced(lambda x, last=distance: [x[k].sin() for k in (*range(count - 1), last)], longest + 1)
        (call,) = (step for step in lower(program, 100, **options).steps if isinstance(step, ArrayCall))
        assert (call.inputs[0].area, call.count) == ((area, 0), longest if area == "in" else count)


def test_other_angles_are_copied():
    plan = lower(traced(lambda x, y: [x[0].sin(), y[0].cos(), (2 * x[1]).sin()], 2, 1), 100)
    region, call, _ = plan.steps
    assert call == ArrayCall("sincos", (Cell(("args", 0), 0),), RESULTS, 3)
    assert isinstance(region, Region)


def test_each_depth_is_one_array_call():
    plan = lower(traced(lambda x: [x[0].sin().cos().sin(), x[1].sin(), x[1].cos()], 2), 100)
    assert [step.count for step in plan.steps if isinstance(step, ArrayCall)] == [2, 1, 1]


def test_a_single_region_needs_no_slots():
    program = random_program(0, size=80, operations=("add", "mul"))
    assert lower(program, 1000).areas["slots", 0] == 0
    assert lower(program, 10).areas["slots", 0] > 0


def test_equal_entries_of_a_deferred_output_have_one_cell():
    def entries(x):
        y = x[0] * x[1]
        return [y, x[0], 0.0, y, y, 0.0, x[1] + y]

    plan = lower(traced(entries, 2), 100, widths=[0])
    assert plan.areas["deferred", 0] == 3  # y, 0 and the sum
    assert plan.deferred[0][1] == Cell(("in", 0), 0)
    assert plan.constants == [(plan.deferred[0][2], 0.0)]


def test_a_tile_is_written_when_its_last_value_is_made():
    def entries(x):
        y = x[0] * x[1]
        return [y + x[0], y, 1.0, 2.0, x[0], x[1] * 3.0, x[1], 0.5]

    program = traced(entries, 2)
    (region,) = lower(program, 100, widths=[2]).steps
    shown = [i.first if isinstance(i, Tile) else program.graph[i].op for i in region.items]
    assert shown == [6, "mul", "add", 0, 2, "mul", 4]


def test_tiles_are_cut_like_operations():
    """However many outputs there are that nothing must be computed for."""
    program = traced(lambda x: [x] * 20 + [[0.0] * 50] * 20, 50, outputs=40)
    plan = lower(program, 100, widths=[2] * 40)
    assert all(sum(work(i, plan.program) for i in region.items) <= 108 for region in plan.steps)
    assert sum(len(region.items) for region in plan.steps) == 1000


def test_regions_are_shorter_where_many_values_are_stored():
    """The time of the code generator grows with the square of the stores of a region."""

    def long_lived(x):
        values, total = [x[k % 3] * (k + 1.5) for k in range(4000)], 0.0
        for value in reversed(values):
            total = total * value + 1.0
        return [total]

    plan = lower(traced(long_lived, 3), 1000)
    stores = [sum(i in plan.copies for i in step.items) for step in plan.steps]
    assert sum(stores) > 3000
    assert max(stores) <= 4 * STORES


TILED, DEFERRED = 448, 1408  # entries: whole cache lines; of the longer ones more than are written in tiles


def scattered(n):
    """A program whose n entries are made in another order than theirs."""
    order = sorted(range(n), key=lambda j: j * 37 % 101)

    def function(x):
        made = {j: x[j % 7] * x[j % 5] + float(j) for j in order}
        return [made[j] for j in range(n)]

    return traced(function, 7)


def observed(program, inputs, lanes, dtype):
    """Run a batch that notes what it prefetches; return the result, and the distances in bytes from its beginning."""
    found = []
    note = ctypes.CFUNCTYPE(None, ctypes.c_size_t)(found.append)
    llvm.add_symbol("kinetree_test_prefetch", ctypes.cast(note, ctypes.c_void_p).value)
    ir, scratch = batch_ir(program, dtype, HOST, lanes)
    ir = re.sub(r"@llvm\.prefetch\.p0\((ptr\b[^,)]*)[^)]*\)", r"@kinetree_test_prefetch(\1)", ir)
    (y,) = run_batch((object_code(ir, scratch, HOST), program.outputs), inputs, lanes, dtype)
    return y, [address - y.ctypes.data for address in found]


@pytest.mark.parametrize(
    ("size", "lanes", "dtype"),
    cover(itertools.product((TILED, DEFERRED), (2, 4, 8, 16), ("float64", "float32"))),
)
def test_every_line_of_a_block_is_prefetched_once(size, lanes, dtype):
    program = scattered(size)
    x = np.random.default_rng(size).standard_normal((4 * lanes, 7)).astype(dtype)
    y, found = observed(program, [x], lanes, dtype)
    assert all(same_bits(y[k], run_single(program, [x[k]], dtype)[0]) for k in (0, lanes, 4 * lanes - 1))
    block = lanes * size * ITEM_BYTES[dtype]
    times = Counter(found)
    assert [times[d] for d in range(block, 4 * block, CACHE_LINE)] == [1] * (3 * block // CACHE_LINE)
    assert len(found) == 4 * block // CACHE_LINE
    assert max(times.values()) == 1
    ahead = sum(4 * block <= d < 5 * block for d in found)
    assert sum(0 <= d < block for d in found) == block // CACHE_LINE - ahead
    assert ahead == lanes * LINES_AHEAD if size == DEFERRED else ahead > 0


@pytest.mark.parametrize("region_size", [10_000, 100])
def test_lines_are_prefetched_in_the_order_in_which_they_are_written(region_size):
    """At equal intervals, none later than `DISTANCE` operations before it is written to."""
    plan = lower(scattered(TILED), region_size, widths=[4])
    ahead = lines_ahead(plan.steps, plan.program, ScratchLayout(plan, Lanes("float64", 8), 0, batch=True))
    items = [
        (item, lines.get(k, ()))
        for region, lines in zip(plan.steps, ahead, strict=True)
        for k, item in enumerate(region.items)
    ]
    total = sum(work(item, plan.program) for item, _ in items)
    begun, found, now = {}, [], 0
    for item, lines in items:
        if isinstance(item, Tile):
            begun.setdefault(item.first * 8 // CACHE_LINE * CACHE_LINE, now)
        found += ((line, now) for line in lines)
        now += work(item, plan.program)
    written = list(begun)
    assert written != sorted(written)
    current = sum(not line.next_block for line, _ in found)
    assert 0 < current < len(found)
    first = len(written) - current
    assert [line.offset for line, _ in found] == written[first:] + written[:first]
    assert [line.next_block for line, _ in found] == [False] * current + [True] * first
    largest = max(work(item, plan.program) for item, _ in items)
    assert all(begun[x.offset] + total * x.next_block - time >= DISTANCE for x, time in found)
    intervals = np.diff([time for _, time in found])
    assert max(abs(intervals - total / len(written))) <= largest


@pytest.mark.parametrize(("size", "count"), [(7, 0), (8, 1), (9, 2), (20, 3)])
def test_short_rows_are_prefetched_for_the_next_block(size, count):
    plan = lower(scattered(size), 10_000, widths=[1])
    (ahead,) = lines_ahead(plan.steps, plan.program, ScratchLayout(plan, Lanes("float64", 8), 0, batch=True))
    found = [line for lines in ahead.values() for line in lines]
    assert sorted(line.offset for line in found) == [CACHE_LINE * k for k in range(count)]
    assert all(line.next_block for line in found)
