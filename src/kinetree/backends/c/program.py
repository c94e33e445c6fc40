"""A program as C: one static function, and one for each of its regions.

The function of a program ``name`` takes a pointer to ``kt_value`` for each port, the inputs first. What lives between
regions and array kernels is in static arrays of its own, so a program may use another one, as an array kernel does.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from kinetree.backends.base import check_legal
from kinetree.backends.c.emitted import Emitted
from kinetree.backends.c.kernels import ARRAY_KERNELS
from kinetree.backends.c.names import parameter_names
from kinetree.backends.c.spelling import SPELLING, literal, spelled_helpers
from kinetree.graph import Program
from kinetree.graph.ops import OPS
from kinetree.lowering.build import lower
from kinetree.lowering.plan import Area, ArrayCall, Cell, Plan, Region, Tile

REGION_OPERATIONS = 1000
"""Most operations in one function: the time of a C compiler grows faster than linearly in the size of a function."""


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", *SPELLING, *arrays])


def emit_program(name: str, program: Program, dtype: str, region_operations: int = REGION_OPERATIONS) -> Emitted:
    """Return ``static void NAME(const kt_value *input, …, kt_value *output, …)`` with all that it needs of its own."""
    check_legal(program, legal_operations(), "C")
    plan = lower(program, region_operations)
    emitter = _Emitter(name, plan, dtype)
    parts, calls = [], [emitter.store(cell, literal(value, dtype)) for cell, value in plan.constants]
    count = itertools.count()
    for step in plan.steps:
        if isinstance(step, ArrayCall):
            calls.append(emitter.call(step))
        else:
            definition, call = emitter.region(f"{name}_region{next(count)}", step)
            parts.append(definition)
            calls.append(call)
    words = _words("\n".join(calls))
    unused = [f"(void){port};" for port in emitter.ports.values() if port not in words]
    lines = "".join(f"    {line}\n" for line in (*unused, *calls))
    main = f"static void {name}({emitter.declared(emitter.ports)})\n{{\n{lines}}}\n"
    kernels = dict.fromkeys(str(step.kernel) for step in plan.steps if isinstance(step, ArrayCall))
    cells = sum(size for (kind, _), size in plan.areas.items() if kind not in ("in", "out"))
    used = dict.fromkeys(name for i in program.schedule() for name in spelled_helpers(program.graph[i].op))
    return Emitted("\n".join([emitter.storage(), *parts, main]), cells, tuple(kernels), tuple(used))


def elementwise(name: str, program: Program, dtype: str) -> Emitted:
    """Return an array kernel that evaluates a program, of one number a port, on each element."""
    one = emit_program(f"kt_{name}_of_one", program, dtype)
    names = parameter_names(program.inputs, program.outputs)
    split = len(program.inputs)
    parameters = [f"const kt_value *{x}" for x in names[:split]] + [f"kt_value *{x}" for x in names[split:]]
    loop = (
        f"static void kt_{name}({', '.join(parameters)}, size_t kt_count)\n{{\n"
        f"    for (size_t kt_i = 0; kt_i < kt_count; kt_i++)\n"
        f"        kt_{name}_of_one({', '.join(f'{x} + kt_i' for x in names)});\n}}\n"
    )
    return replace(one, text=f"{one.text}\n{loop}")


def with_kernels(emitted: Emitted, dtype: str) -> list[Emitted]:
    """Return the array kernels that it needs, each after those that it needs in turn, and itself last."""
    parts: dict[str, Emitted] = {}

    def add(name: str, part: Emitted) -> None:
        for kernel in part.kernels:
            if kernel not in parts:
                add(kernel, ARRAY_KERNELS[kernel](dtype))
        parts[name] = part

    add("", emitted)
    return list(parts.values())


def _words(text: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())


class _Emitter:
    """Spells the steps of one plan."""

    def __init__(self, name: str, plan: Plan, dtype: str) -> None:
        self._name, self._plan, self._dtype = name, plan, dtype
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

    def cell(self, cell: Cell) -> str:
        """Return a cell of memory."""
        return f"{self.ports.get(cell.area) or self._static[cell.area]}[{cell.offset}]"

    def store(self, cell: Cell, value: str) -> str:
        """Return the statement that stores a value."""
        return f"{self.cell(cell)} = {value};"

    def call(self, step: ArrayCall) -> str:
        """Return the call of an array kernel."""
        pointers = ", ".join(f"&{self.cell(cell)}" for cell in step.inputs + step.outputs)
        return f"kt_{step.kernel}({pointers}, {step.count});"

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


def _nodes(items: Sequence[int | Tile]) -> list[int]:
    return [i for i in items if not isinstance(i, Tile)]
