"""What array calls run, each defined once in a module: array kernels, and the loops of `graph.array_operations`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

from kinetree.backends.llvm import polls
from kinetree.backends.llvm.ir import Body, Lanes, Values, function, table
from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.scratch import Columns, NestedLayout, ScratchLayout, places
from kinetree.backends.llvm.straight_line import Access, StraightLine, plan_functions
from kinetree.backends.llvm.target import Target
from kinetree.graph import Program
from kinetree.graph.array_operations import ArrayOperation, Map, Repeat
from kinetree.lowering.build import lower
from kinetree.lowering.plan import ArrayCall, Cell, Moves, Plan, Region, by_areas, in_pieces

Emitter = Callable[["Routines", str, ArrayOperation, Lanes], tuple[str, int]]
"""From a name, an operation and its lanes to the definition of ``void @NAME(ptr …, ptr %results, ptr %s)``, which takes
a pointer to each part of the arguments, and the bytes of scratch that it needs. The arguments of a part and the results
are values of these lanes, one after another."""


class Routines:
    """The functions that array calls of a module run: `definitions` has the LLVM IR of each by its name."""

    def __init__(self, dtype: str, target: Target, region_operations: int, width: int | None = None) -> None:
        self.target = target
        self._width = width or target.lanes("float64")  # of the vectors of array kernels
        self.definitions: dict[str, str] = {}
        self._dtype, self._region_operations = dtype, region_operations
        self._operations: dict[tuple[ArrayOperation, int], tuple[str, int]] = {}

    def frame(self, plan: Plan, lanes: Lanes) -> int:
        """Define what the plan calls, and return the most bytes of scratch that one of its array operations needs."""
        most = 0
        for step in plan.steps:
            if isinstance(step, Region):
                continue
            if isinstance(step.kernel, ArrayOperation):
                most = max(most, self._operation(step.kernel, lanes)[1])
            elif step.kernel not in self.definitions:
                self.definitions[step.kernel] = ARRAY_KERNELS[step.kernel](self._dtype, self._width)
        return most

    def _operation(self, operation: ArrayOperation, lanes: Lanes) -> tuple[str, int]:
        """Return the name of the function of this operation, and the bytes of scratch that it needs."""
        key = operation, lanes.count
        if key not in self._operations:
            name = f"{operation.name}{len(self._operations)}"
            self._operations[key] = name, 0  # an operation inside gets another name
            self.definitions[name], size = OPERATIONS[operation.name](self, name, operation, lanes)
            self._operations[key] = name, size
        return self._operations[key]

    def plan(self, program: Program, columns: Columns | None = None) -> Plan:
        """Return the plan of a program of an array operation; array kernels read no ports of columns in place."""
        return lower(program, self._region_operations, in_place=0.0 if columns else 2.0)

    def nested(self, name: str, program: Program, lanes: Lanes, columns: Columns | None = None) -> NestedLayout:
        """Define ``@NAME`` and ``@NAMEconstants`` for a program of an array operation, and return their layout.

        Both take pointers to the ports and to scratch; the constants must be stored once in the same memory.
        """
        plan = self.plan(program, columns)
        layout = NestedLayout(plan, lanes, self.frame(plan, lanes), columns)
        b = Body()
        self.call_steps(b, name, plan, layout)
        steps = function(f"void @{name}({layout.parameters})", b)
        self.definitions[name] = "\n".join([*plan_functions(name, plan, layout), steps])
        return layout

    def call_steps(self, b: Body, prefix: str, plan: Plan, layout: ScratchLayout) -> None:
        """Call regions, array kernels and array operations in order."""
        access = Access(b, layout)
        regions, tables = itertools.count(), (f"{prefix}moves{n}" for n in itertools.count())
        for step in plan.steps:
            if isinstance(step, Region):
                b.line(f"call void @{prefix}region{next(regions)}({layout.arguments})")
                continue
            self._move(b, tables, step.moves, layout)
            pointers = "".join(f"ptr {access.pointer(cell)}, " for cell in step.inputs + step.outputs)
            if isinstance(step.kernel, ArrayOperation):
                name, _ = self._operation(step.kernel, layout.lanes)
                b.line(f"call void @{name}({pointers}ptr {layout.frame(b)})")
            else:
                b.line(f"call void @{step.kernel}({pointers}i64 {step.count * layout.lanes.count})")
        self._move(b, tables, [(plan.location[i], cell) for i, cell in plan.moves], layout)

    def _move(self, b: Body, tables: Iterator[str], moves: Moves, layout: ScratchLayout) -> None:
        """Copy cells to others, in loops over tables of their offsets in bytes; neighbours of one state together."""
        access, lanes = Access(b, layout), layout.lanes
        for (source, place), pairs in by_areas(moves).items():
            size, pieces = in_pieces(pairs, MOST_COPIED if lanes.count == 1 else 1)
            name = next(tables)
            self.definitions[name] = table(f"@{name}", [layout.address(cell)[1] for pair in pieces for cell in pair])
            bases = [layout.base(b, layout.address(Cell(area, 0))[0]) for area in (source, place)]
            with b.times(len(pieces)) as k:
                ends = []
                for half, base in enumerate(bases):
                    entry = b(f"getelementptr [2 x i32], ptr @{name}, i64 {k}, i64 {half}")
                    offset = b(f"zext i32 {b(f'load i32, ptr {entry}, align 4')} to i64")
                    ends.append(b(f"getelementptr i8, ptr {base}, i64 {offset}"))
                if size == 1:
                    access.store_to(ends[1], place, access.load_from(ends[0], source))
                else:
                    kind = f"<{size} x {lanes.scalar}>"
                    value = b(f"load {kind}, ptr {ends[0]}, align {lanes.item}")
                    b.line(f"store {kind} {value}, ptr {ends[1]}, align {lanes.item}")


MOST_COPIED = 8
"""Most neighbouring cells of one state that are copied as one vector."""


_SIGNATURE = "void @{}(ptr noalias %captured, ptr noalias %own, ptr noalias %results, ptr noalias %s)"


MOST_IN_REGISTERS = 16
"""Most carried values that stay in registers, where a loop is short."""


def emit_repeat(routines: Routines, name: str, operation: ArrayOperation, lanes: Lanes) -> tuple[str, int]:
    """Return the function of a `Repeat`, and its scratch: lanes that have stopped stay; with the last the loop ends."""
    assert isinstance(operation, Repeat)
    short = operation.results <= MOST_IN_REGISTERS
    plans = [routines.plan(program) for program in operation.programs] if short else []
    if polls.period(operation) is not None:
        routines.definitions["poll"] = polls.DEFINITIONS
    if plans and all(_nodes(plan) is not None for plan in plans):
        return _in_registers(name, operation, Values(lanes), *plans), 0
    return _in_memory(routines, name, operation, Values(lanes))


def _in_registers(name: str, loop: Repeat, v: Values, test: Plan, body: Plan) -> str:
    """Return a loop whose condition and body are one region each, with the carried values in registers."""
    b = Body()
    b.line("%in0 = getelementptr i8, ptr %captured, i64 0")
    first = [v.load(b, "%own", k) for k in range(loop.results)]
    last = "run" if polls.period(loop) is None else "on"
    _start(b, v, loop, last)
    for k, x in enumerate(first):
        b.line(f"%x{k} = phi {v.lanes.type} [{x}, %start], [%y{k}, %{last}]")
    _branch(b, v, *_results(b, v.lanes, test))
    b.label("run")
    for k, y in enumerate(_results(b, v.lanes, body)):
        b.line(f"%y{k} = select {v.truth} %going, {v.lanes.type} {y}, {v.lanes.type} %x{k}")
    _again(b, loop)
    results = [b(f"phi {v.lanes.type} [%x{k}, %test], [%y{k}, %{last}]") for k in range(loop.results)]
    for k, x in enumerate(results):
        v.store(b, x, "%results", k)
    return function(_SIGNATURE.format(name), b)


def _nodes(plan: Plan) -> Sequence[int] | None:
    """Return the nodes to compute if all are in one region, else None."""
    if not plan.steps:
        return ()
    region, *others = plan.steps
    return None if others or isinstance(region, ArrayCall) else [i for i in region.items if isinstance(i, int)]


def _results(b: Body, lanes: Lanes, plan: Plan) -> list[str]:
    """Compute a program of one region with the carried values %x0, %x1, …, and return its results."""
    layout = NestedLayout(plan, lanes, 0, None)
    carried = {i: f"%x{cell.offset}" for i, cell in plan.location.items() if cell.area == ("in", 1)}
    code = StraightLine(b, Access(b, layout), plan, lanes, carried)
    for code.now, i in enumerate(_nodes(plan) or ()):
        code.compute(i)
    return [code.value(i) for i in plan.program.results[0]]


def _in_memory(routines: Routines, name: str, loop: Repeat, v: Values) -> tuple[str, int]:
    """Return a loop whose carried values are in memory, in `results` at first and in the end.

    Bodies write to another place, and then both change their parts: nothing is copied as long as all lanes go on.
    """
    test = routines.nested(f"{name}condition", loop.condition, v.lanes)
    body = routines.nested(f"{name}body", loop.body, v.lanes)
    offsets, size = places(v.lanes.bytes, loop.results * v.lanes.bytes, test.size, body.size)
    b, last = Body(), "again" if polls.period(loop) is None else "on"
    with b.times(loop.results) as i:
        v.store(b, v.load(b, "%own", i), "%results", i)
    positive, other, test_scratch, body_scratch = (b(f"getelementptr i8, ptr %s, i64 {place}") for place in offsets)
    run_test = f"call void @{name}condition{{}}(ptr %captured, ptr {{}}, ptr {positive}, ptr {test_scratch})"
    run_body = f"call void @{name}body{{}}(ptr %captured, ptr {{}}, ptr {{}}, ptr {body_scratch})"
    b.line(run_test.format("constants", "%results"))
    among_results = any(loop.body.graph[i].op == "const" for i in loop.body.results[0])
    _start(b, v, loop, last)
    b.line(f"%now = phi ptr [%results, %start], [%new, %{last}]")
    b.line(f"%new = phi ptr [{other}, %start], [%now, %{last}]")
    b.line(run_test.format("", "%now"))
    _branch(b, v, v.load(b, positive, 0))
    b.label("run")
    if not among_results:  # else in either place
        b.line(f"br i1 {b('icmp eq i64 %k, 0')}, label %prepare, label %prepared")
        b.label("prepare")
    b.line(run_body.format("constants", "%now", "%new"))
    if not among_results:
        b.line("br label %prepared")
        b.label("prepared")
    b.line(run_body.format("", "%now", "%new"))
    if v.lanes.count > 1:
        b.line(f"br i1 {v.all(b, '%going')}, label %again, label %some")
        b.label("some")
        with b.times(loop.results) as i:
            chosen = f"{v.lanes.type} {v.load(b, '%new', i)}, {v.lanes.type} {v.load(b, '%now', i)}"
            v.store(b, b(f"select {v.truth} %going, {chosen}"), "%new", i)
    b.line("br label %again")
    b.label("again")
    _again(b, loop)
    final = b(f"phi ptr [%now, %test], [%new, %{last}]")
    b.line(f"br i1 {b(f'icmp eq ptr {final}, %results')}, label %done, label %copy")
    b.label("copy")
    with b.times(loop.results) as i:
        v.store(b, v.load(b, final, i), "%results", i)
    b.line("br label %done")
    b.label("done")
    return function(_SIGNATURE.format(name), b), size


def _start(b: Body, v: Values, loop: Repeat, last: str) -> None:
    """Begin with %test; `last` is the block that goes back to it. Where loops are to stop, no lane is live."""
    live = v.true
    b.line("br label %start")
    b.label("start")
    if polls.period(loop) is not None:
        none = "zeroinitializer" if v.lanes.count > 1 else "false"
        live = b(f"select i1 {b('call i1 @is_stopped()')}, {v.truth} {none}, {v.truth} {v.true}")
    b.line("br label %test")
    b.label("test")
    b.line(f"%k = phi i64 [0, %start], [%following, %{last}]")
    b.line(f"%live = phi {v.truth} [{live}, %start], [%going, %{last}]")


def _branch(b: Body, v: Values, number: str) -> None:
    """Go to %run where the number is positive in a lane that is live, else to %end."""
    positive = b(f"fcmp ogt {v.lanes.type} {number}, {v.lanes.constant(0.0)}")
    b.line(f"%going = and {v.truth} %live, {positive}")
    b.line(f"br i1 {v.any(b, '%going')}, label %run, label %end")


def _again(b: Body, loop: Repeat) -> None:
    """Count the iteration and go back to %test, or to %end after the last one; a long loop may stop here."""
    b.line("%following = add i64 %k, 1")
    more, period, block = b(f"icmp ult i64 %following, {loop.most}"), polls.period(loop), b.block
    if period is not None:
        due = b(f"icmp eq i64 {b(f'and i64 %following, {period - 1}')}, 0")
        b.line(f"br i1 {due}, label %poll, label %on")
        b.label("poll")
        going_on = b(f"xor i1 {b('call i1 @poll()')}, true")
        b.line("br label %on")
        b.label("on")
        more = b(f"and i1 {more}, {b(f'phi i1 [true, %{block}], [{going_on}, %poll]')}")
    b.line(f"br i1 {more}, label %test, label %end")
    b.label("end")


def emit_map(routines: Routines, name: str, operation: ArrayOperation, lanes: Lanes) -> tuple[str, int]:
    """Return the function of a `Map`, and its scratch.

    Of many states, the columns follow one another. Of one state, as many as a vector has lanes are computed side by
    side. The last ones may be computed twice; fewer than that are a vector whose other lanes are not active, where the
    processor has masks for that and nothing waits for a lane.
    """
    assert isinstance(operation, Map)
    count, width = operation.count, 1
    if lanes.count == 1:
        masks = routines.target.vector_bits == 512 and all(n.op != "call" for n in operation.body.graph.nodes)
        width = min(routines.target.lanes(lanes.dtype), 1 << ((count - 1) if masks else (count // 2)).bit_length())
    inner = Lanes(lanes.dtype, width) if lanes.count == 1 else lanes
    columns = Columns(count * lanes.bytes, min(count, width) if width > 1 else lanes.count, width > 1)
    layout = routines.nested(f"{name}body", operation.body, inner, columns)
    b = Body()
    with b.times(-(-count // width)) as i:
        first = b(f"call i64 @llvm.umin.i64(i64 {b(f'mul i64 {i}, {width}')}, i64 {max(count - width, 0)})")
        column, result = (Values(lanes).pointer(b, base, first) for base in ("%own", "%results"))
        arguments = f"ptr %captured, ptr {column}, ptr {result}, ptr %s"
        b.line(f"call void @{name}bodyconstants({arguments})")  # some may be results
        b.line(f"call void @{name}body({arguments})")
    return function(_SIGNATURE.format(name), b), layout.size


OPERATIONS: dict[str, Emitter] = {"repeat": emit_repeat, "map": emit_map}
"""Emitters of the array operations, by the operation's name."""
