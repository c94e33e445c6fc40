"""A program as C: one static function, and one for each of its regions.

The function of a program ``name`` takes a pointer to ``kt_value`` for each port, the inputs first. What lives between
regions and array calls is in static arrays of its own, so a program may use another one, as a loop does.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from kinetree.backends.c.names import Emitted, parameter_names, routine_name
from kinetree.backends.c.spelling import SPELLING, literal, spelled_helpers
from kinetree.graph import Program
from kinetree.graph.array_operations import ArrayOperation
from kinetree.lowering.build import lower
from kinetree.lowering.plan import Area, ArrayCall, Cell, Moves, Plan, Region, Tile, by_areas

REGION_OPERATIONS = 1000
"""Most operations in one function: the time of a C compiler grows faster than linearly in the size of a function."""

_LONG = 8
"""Runs of equal constants, and copies from one array to another: more of them are in a loop."""


def emit_program(
    name: str,
    program: Program,
    dtype: str,
    region_operations: int = REGION_OPERATIONS,
    strides: Mapping[Area, int] | None = None,
) -> Emitted:
    """Return ``static void NAME(const kt_value *input, …, kt_value *output, …)`` with all that it needs of its own.

    `strides` are the steps between the cells of ports whose cells are apart; array kernels read no such port in place.
    """
    plan = lower(program, region_operations, in_place=0.0 if strides else 2.0)
    emitter = _Emitter(name, plan, dtype, strides or {})
    parts, calls = [], emitter.constants()
    count = itertools.count()
    for step in plan.steps:
        if isinstance(step, ArrayCall):
            calls += [*emitter.moves(step.moves), emitter.call(step)]
        else:
            definition, call = emitter.region(f"{name}_region{next(count)}", step)
            parts.append(definition)
            calls.append(call)
    calls += emitter.moves((plan.location[i], cell) for i, cell in plan.moves)
    words = _words("\n".join(calls))
    unused = [f"(void){port};" for port in emitter.ports.values() if port not in words]
    lines = "".join(f"    {line}\n" for call in (*unused, *calls) for line in call.splitlines())
    main = f"static void {name}({emitter.declared(emitter.ports)})\n{{\n{lines}}}\n"
    routines = dict.fromkeys(step.kernel for step in plan.steps if isinstance(step, ArrayCall))
    cells = sum(size for (kind, _), size in plan.areas.items() if kind not in ("in", "out"))
    used = dict.fromkeys(name for i in program.schedule() for name in spelled_helpers(program.graph[i].op))
    return Emitted("\n".join([emitter.storage(), *parts, main]), cells, tuple(routines), tuple(used))


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


class _Emitter:
    """Spells the steps of one plan."""

    def __init__(self, name: str, plan: Plan, dtype: str, strides: Mapping[Area, int]) -> None:
        self._plan, self._dtype, self._strides = plan, dtype, strides
        program = plan.program
        kinds = [("in", k) for k in range(len(program.inputs))] + [("out", k) for k in range(len(program.outputs))]
        names = parameter_names(program.inputs, program.outputs)
        self.ports: dict[Area, str] = dict(zip(kinds, names, strict=True))
        others = (area for area, size in plan.areas.items() if size and area not in self.ports)
        self._static = {area: f"{name}_{area[0]}{area[1]}" for area in others}

    def storage(self) -> str:
        """Return the static arrays."""
        sizes = self._plan.areas
        return "".join(f"static KT_THREAD_LOCAL kt_value {x}[{sizes[area]}];\n" for area, x in self._static.items())

    def declared(self, ports: dict[Area, str]) -> str:
        """Return these ports as parameters."""
        const = {"in": "const kt_value", "out": "kt_value"}
        return ", ".join(f"{const[kind]} *restrict {x}" for (kind, _), x in ports.items()) or "void"

    def index(self, cell: Cell) -> int:
        """Return the index of a cell in its array."""
        return cell.offset * self._strides.get(cell.area, 1)

    def array(self, area: Area) -> str:
        """Return the name of the array of an area."""
        return self.ports.get(area) or self._static[area]

    def cell(self, cell: Cell) -> str:
        """Return a cell of memory."""
        return f"{self.array(cell.area)}[{self.index(cell)}]"

    def store(self, cell: Cell, value: str) -> str:
        """Return the statement that stores a value."""
        return f"{self.cell(cell)} = {value};"

    def constants(self) -> list[str]:
        """Return the statements that store the constants."""
        statements: list[str] = []
        for first, number, count in self._plan.runs():
            value = literal(number, self._dtype)
            if count > _LONG:
                step = self._strides.get(first.area, 1)
                place = f"{self.array(first.area)}[{self.index(first)} + {step} * kt_i]"
                statements.append(f"{_loop(count)}\n    {place} = {value};")
            else:
                statements += [self.store(first._replace(offset=first.offset + n), value) for n in range(count)]
        return statements

    def moves(self, moves: Moves) -> list[str]:
        """Return the statements that copy cells to others, many of them in loops over tables of their indices."""
        statements: list[str] = []
        for areas, cells in by_areas(moves).items():
            source, place = map(self.array, areas)
            pairs = [(self.index(a), self.index(b)) for a, b in cells]
            if len(pairs) <= _LONG:
                statements += [f"{place}[{j}] = {source}[{i}];" for i, j in pairs]
                continue
            rows = [pairs[k : k + _LONG] for k in range(0, len(pairs), _LONG)]
            lines = [f"        {', '.join(f'{{{i}, {j}}}' for i, j in row)}," for row in rows]
            bits = 16 if max(map(max, pairs)) < 1 << 16 else 32
            table = [f"    static const uint{bits}_t kt_pairs[{len(pairs)}][2] = {{", *lines, "    };"]
            copy = f"        {place}[kt_pairs[kt_i][1]] = {source}[kt_pairs[kt_i][0]];"
            statements.append("\n".join(["{", *table, f"    {_loop(len(pairs))}", copy, "}"]))
        return statements

    def call(self, step: ArrayCall) -> str:
        """Return the call of an array kernel or an array operation."""
        arguments = [f"&{self.cell(cell)}" for cell in step.inputs + step.outputs]
        if not isinstance(step.kernel, ArrayOperation):
            arguments.append(str(step.count))
        return f"{routine_name(step.kernel)}({', '.join(arguments)});"

    def region(self, name: str, region: Region) -> tuple[str, str]:
        """Return the function of a region, and its call."""
        nodes = self._plan.program.graph.nodes
        known: dict[int, str] = {}
        lines: list[str] = []

        def value(i: int) -> str:
            if nodes[i].op == "const":
                return literal(nodes[i].payload, self._dtype)
            if i not in known:
                known[i] = f"kt{i}"
                lines.append(f"const kt_value kt{i} = {self.cell(self._plan.location[i])};")
            return known[i]

        for i in _nodes(region.items):
            spelling = SPELLING.get(nodes[i].op)
            if spelling is not None:
                arguments = [value(a) for a in nodes[i].args]
                lines.append(f"const kt_value kt{i} = {spelling.format(*arguments)};")
                known[i] = f"kt{i}"
            lines += [self.store(cell, value(i)) for cell in self._plan.copies.get(i, ())]
        body = "".join(f"    {line}\n" for line in lines)
        words = _words(body)
        ports = {area: port for area, port in self.ports.items() if port in words}
        definition = f"static void {name}({self.declared(ports)})\n{{\n{body}}}\n"
        return definition, f"{name}({', '.join(ports.values())});"


def _loop(count: int) -> str:
    return f"for (size_t kt_i = 0; kt_i < {count}; kt_i++)"


def _nodes(items: Sequence[int | Tile]) -> list[int]:
    return [i for i in items if not isinstance(i, Tile)]
