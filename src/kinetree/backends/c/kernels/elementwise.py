"""Elementary functions of arrays in C99: their programs in a loop over numbers, in float64 for every dtype.

Their fused multiply-adds have one rounding also where the processor has no such instruction: they need it.
"""

from __future__ import annotations

from kinetree.backends.c.emitted import Emitted
from kinetree.backends.c.names import ITEM
from kinetree.backends.c.spelling import in_double, number, spelled_helpers
from kinetree.graph import Program
from kinetree.graph.elementary import RARE_ABOVE


def emit_elementwise(name: str, program: Program, rare: Program | None, dtype: str) -> Emitted:
    """Return the definition of ``kt_NAME(inputs, outputs, count)`` for a program of scalar inputs and outputs.

    With a rare program there is one output: where the program's second one is above `RARE_ABOVE` or NaN, it is the rare
    program's result.
    """
    item = ITEM[dtype]
    operands = [f"kt_x{k}" for k in range(len(program.inputs))]
    lines, values = _lines(program)
    parts = []
    if rare is not None:
        others, (other,) = _lines(rare)
        declared = ", ".join(f"double {x}" for x in operands)
        parts = [f"static double kt_{name}_rarely({declared})\n{{\n{_indented(others, 4)}    return {other};\n}}\n\n"]
        y, is_rare = values
        values = [f"{is_rare} <= {RARE_ABOVE!r} ? {y} : kt_{name}_rarely({', '.join(operands)})"]
    results = [f"kt_y{k}" for k in range(len(values))]
    ports = [f"const kt_value *kt_in{k}" for k in range(len(operands))]
    ports += [f"kt_value *kt_out{k}" for k in range(len(values))]
    arrays = [f"const {item} *{x} = (const {item} *)kt_in{k};" for k, x in enumerate(_arrays(operands))]
    arrays += [f"{item} *restrict {y} = ({item} *)kt_out{k};" for k, y in enumerate(results)]
    loads = [f"const double {x} = {a}[kt_i];" for x, a in zip(operands, _arrays(operands), strict=True)]
    cast = "" if dtype == "float64" else "(float)"
    stores = [f"{y}[kt_i] = {cast}({value});" for y, value in zip(results, values, strict=True)]
    parts += [
        f"static void kt_{name}({', '.join(ports)}, size_t kt_count)\n{{\n{_indented(arrays, 4)}",
        f"    for (size_t kt_i = 0; kt_i < kt_count * KT_COUNT; kt_i++) {{\n{_indented(loads + lines + stores, 8)}",
        "    }\n}\n",
    ]
    used = [f"{helper}_double" for p in (program, rare) if p is not None for helper in _helpers(p)]
    return Emitted("".join(parts), helpers=tuple(dict.fromkeys(used)))


def _arrays(operands: list[str]) -> list[str]:
    return [f"{x}s" for x in operands]


def _indented(lines: list[str], indent: int) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def _helpers(program: Program) -> list[str]:
    return [helper for i in program.schedule() for helper in spelled_helpers(program.graph[i].op)]


def _lines(program: Program) -> tuple[list[str], list[str]]:
    """Return statements that compute the program from the inputs kt_x0, kt_x1, …, and its results."""
    lines: list[str] = []
    values: dict[int, str] = {}
    for i in program.schedule():
        op, args, payload = program.graph.nodes[i]
        if op == "const":
            values[i] = number(payload, "float64")
        elif op == "input":
            values[i] = f"kt_x{payload[0]}"
        else:
            values[i] = f"kt{i}"
            lines.append(f"const double kt{i} = {in_double(op).format(*[values[a] for a in args])};")
    return lines, [values[i] for i in program.roots()]
