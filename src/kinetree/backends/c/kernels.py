"""Kernels over arrays of values in C99, with the bits of the LLVM backend's: the programs of elementary functions.

They are loops over numbers, in float64 for every dtype. Fused multiply-adds have one rounding also where the processor
has no such instruction: the functions need it, but for those in `LOOSE`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kinetree.backends.c.names import ITEM, Emitted
from kinetree.backends.c.spelling import in_double, number, spelled_helpers
from kinetree.graph import Program, elementary
from kinetree.graph.elementary import RARE_ABOVE
from kinetree.graph.graph import Node

LOOSE = ("sincos",)
"""Functions that need products with one rounding in `fnma` alone: without the instruction, C rounds the others twice.

So every robot's sines and cosines take a third of the time that calls of ``fma`` would."""

_LOOSE = """\
#if KT_DOUBLE_FMA
#define kt_loose_fma_double(x, y, z) kt_fma_double(x, y, z)
#define kt_loose_fnma_double(x, y, z) kt_fma_double(-(x), y, z)
#else
#define kt_loose_fma_double(x, y, z) ((x) * (y) + (z))
static double kt_loose_fnma_double(double x, double y, double z) /* of Dekker's exact product */
{
    const double xs = x * 134217729.0, ys = y * 134217729.0;
    const double x_high = xs - (xs - x), x_low = x - x_high, y_high = ys - (ys - y), y_low = y - y_high;
    const double product = x * y;
    return (z - product) - (((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low);
}
#endif

"""


def emit_elementwise(name: str, program: Program, rare: Program | None, dtype: str) -> Emitted:
    """Return ``kt_NAME(inputs, outputs, count)``; where the last result is > `RARE_ABOVE` or NaN, `rare` has them."""
    item, loose = ITEM[dtype], name in LOOSE
    operands = [f"kt_x{k}" for k in range(len(program.inputs))]
    lines, values = _lines(program, loose)
    parts = [_LOOSE] if loose else []
    count = len(values) - (rare is not None)
    lines += [f"double kt_r{k} = {value};" for k, value in enumerate(values[:count])]
    if rare is not None:
        others, results = _lines(rare)
        others += [f"*kt_r{k} = {value};" for k, value in enumerate(results)]
        declared = [*(f"double {x}" for x in operands), *(f"double *kt_r{k}" for k in range(count))]
        parts.append(f"static void kt_{name}_rarely({', '.join(declared)})\n{{\n{_indented(others, 4)}}}\n\n")
        called = ", ".join([*operands, *(f"&kt_r{k}" for k in range(count))])
        lines += [f"if (!({values[-1]} <= {RARE_ABOVE!r}))", f"    kt_{name}_rarely({called});"]
    results = [f"kt_y{k}" for k in range(count)]
    ports = [f"const kt_value *kt_in{k}" for k in range(len(operands))]
    ports += [f"kt_value *kt_out{k}" for k in range(count)]
    arrays = [f"const {item} *{x} = (const {item} *)kt_in{k};" for k, x in enumerate(_arrays(operands))]
    arrays += [f"{item} *restrict {y} = ({item} *)kt_out{k};" for k, y in enumerate(results)]
    loads = [f"const double {x} = {a}[kt_i];" for x, a in zip(operands, _arrays(operands), strict=True)]
    cast = "" if dtype == "float64" else "(float)"
    stores = [f"{y}[kt_i] = {cast}kt_r{k};" for k, y in enumerate(results)]
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


def _lines(program: Program, loose: bool = False) -> tuple[list[str], list[str]]:
    """Return statements that compute the program from the inputs kt_x0, kt_x1, …, and its results."""
    lines: list[str] = []

    def operation(node: Node, given: list[str]) -> str:
        fused = f"kt_loose_{node.op}_double({{0}}, {{1}}, {{2}})" if loose and node.op in ("fma", "fnma") else ""
        lines.append(f"const double kt{len(lines)} = {(fused or in_double(node.op)).format(*given)};")
        return f"kt{len(lines) - 1}"

    results = program.evaluated(lambda x: number(x, "float64"), lambda port, _: f"kt_x{port}", operation)
    return lines, results


def _emit(name: str, dtype: str) -> Emitted:
    return emit_elementwise(name, elementary.program(name), elementary.rare(name), dtype)


ARRAY_KERNELS: dict[str, Callable[[str], Emitted]] = {name: partial(_emit, name) for name in elementary.FUNCTIONS}
"""Emitters of the array operations: from the dtype to the definition of
``static void kt_NAME(const kt_value *input, …, kt_value *output, …, size_t count)``; `emit_elementwise` makes one of
the program of an element."""
