"""Plans, carried out by hand."""

import numpy as np
import pytest

from helpers.kernels import same_bits
from helpers.programs import EXACT, random_program, traced
from kinetree.backends.llvm.plan import Cell, Piece, Stage, make_plan
from kinetree.expr import OPS, interpret


def carry_out(plan, inputs):
    """Do what the plan says with a dictionary for memory: a cell that is read must have been written."""
    program = plan.program
    memory = {Cell(("in", k), j): x for k, array in enumerate(inputs) for j, x in enumerate(np.ravel(array).tolist())}
    memory.update(dict(plan.constants))
    for step in plan.steps:
        if isinstance(step, Stage):
            for n in range(step.count):
                angle = memory[step.first._replace(offset=step.first.offset + n)]
                for kind in ("sin", "cos"):
                    memory[Cell((kind, step.number), n)] = OPS[kind].evaluate(angle)
            continue
        values = {}

        def value(i, values=values):
            node = program.graph[i]
            if i not in values:
                values[i] = node.payload if node.op == "const" else memory[plan.home[i]]
            return values[i]

        for i in step.nodes:
            op, args, _ = program.graph[i]
            if op not in ("const", "input") and not OPS[op].staged:
                values[i] = OPS[op].evaluate(*[value(a) for a in args])
            for cell in plan.stores.get(i, ()):
                memory[cell] = value(i)
            for tile in plan.tiles.get(i, ()):
                memory.update({Cell(("out", tile.port), tile.first + c): value(j) for c, j in enumerate(tile.nodes)})
    for k, cells in plan.gathered.items():
        memory.update({Cell(("out", k), j): memory[cell] for j, cell in enumerate(cells)})
    assert all(0 <= cell.offset < plan.areas[cell.area] for cell in memory)
    return [
        np.array([memory[Cell(("out", k), j)] for j in range(port.size)]).reshape(port.shape)
        for k, port in enumerate(program.outputs)
    ]


WAYS = {
    "cells": None,
    "gathered": lambda size: 0,
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
    plan = make_plan(program, size, columns=WAYS[way])
    assert all(len(step.nodes) <= size for step in plan.steps if isinstance(step, Piece))
    for got, expected in zip(carry_out(plan, inputs), interpret(program, inputs), strict=True):
        assert same_bits(got, expected)


def test_angles_in_one_input_are_read_in_place():
    plan = make_plan(traced(lambda x: [x[2].sin(), x[5].cos() * x[4].sin()], 7), 100)
    stage, _ = plan.steps
    assert stage == Stage(0, Cell(("in", 0), 2), 4)


def test_other_angles_are_gathered():
    plan = make_plan(traced(lambda x, y: [x[0].sin(), y[0].cos(), (2 * x[1]).sin()], 2, 1), 100)
    piece, stage, _ = plan.steps
    assert stage == Stage(0, Cell(("args", 0), 0), 3)
    assert isinstance(piece, Piece)


def test_each_depth_is_one_stage():
    plan = make_plan(traced(lambda x: [x[0].sin().cos().sin(), x[1].sin(), x[1].cos()], 2), 100)
    assert [step.count for step in plan.steps if isinstance(step, Stage)] == [2, 1, 1]


def test_without_pieces_in_between_there_are_no_slots():
    program = random_program(0, size=80, operations=("add", "mul"))
    assert make_plan(program, 1000).areas["slots", 0] == 0
    assert make_plan(program, 10).areas["slots", 0] > 0


def test_equal_entries_of_a_gathered_output_have_one_cell():
    def entries(x):
        y = x[0] * x[1]
        return [y, x[0], 0.0, y, y, 0.0, x[1] + y]

    plan = make_plan(traced(entries, 2), 100, columns=lambda size: 0)
    assert plan.areas["kept", 0] == 3  # y, 0 and the sum
    assert plan.gathered[0][1] == Cell(("in", 0), 0)
    assert plan.constants == [(plan.gathered[0][2], 0.0)]


def test_a_tile_is_written_when_its_last_value_is_made():
    def entries(x):
        y = x[0] * x[1]
        return [y + x[0], y, 1.0, 2.0, x[0], x[1] * 3.0]

    program = traced(entries, 2)
    plan = make_plan(program, 100, columns=lambda size: 2)
    ops = {program.graph[i].op: [tile.first for tile in tiles] for i, tiles in plan.tiles.items()}
    assert sum(len(tiles) for tiles in plan.tiles.values()) == 3
    assert ops["add"] == [0, 2]
