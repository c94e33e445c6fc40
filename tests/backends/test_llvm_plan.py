"""Plans, carried out by hand."""

import numpy as np
import pytest

from helpers.kernels import same_bits
from helpers.programs import EXACT, random_program, traced
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
