"""Prefetches of the rows that a batch writes: which lines, how far ahead, and that results are as without them."""

import ctypes
import itertools
import re
from collections import Counter

import llvmlite.binding as llvm
import numpy as np
import pytest

from helpers.kernels import HOST, run_batch, run_single, same_bits
from helpers.programs import traced
from helpers.sampling import cover
from kinetree.backends.llvm.compile import object_code
from kinetree.backends.llvm.ir import ITEM_BYTES, Lanes
from kinetree.backends.llvm.module import batch_ir
from kinetree.backends.llvm.rows import CACHE_LINE, DISTANCE, LINES_AHEAD, lines_ahead
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.lowering.build import lower, work
from kinetree.lowering.plan import Tile

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
