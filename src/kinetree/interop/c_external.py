"""C files that CasADi, and acados through it, call as functions: values and Jacobians, with their sparsity."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kinetree.backends.c.source import generate
from kinetree.graph import Graph, Port, Program
from kinetree.interop.operation import Operation
from kinetree.passes import optimize
from kinetree.passes.adjoints import recorded

Pattern = tuple[int, int, Sequence[int], Sequence[int]]
"""Rows, columns, where each column begins, and the row of each number: compressed columns."""


def external_source(operation: Operation, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """Return the C file of an operation and its Jacobian (see "Using C code" in CasADi's documentation)."""
    dense_in, dense_out = (
        [_dense(*matrix_shape(p)) for p in ports] for ports in (operation.inputs, operation.outputs)
    )
    shapes = [matrix_shape(port) for port in (*operation.inputs, *operation.outputs)]
    blocks = [(math.prod(y), math.prod(x)) for y in shapes[len(inputs) :] for x in shapes[: len(inputs)]]
    value, _ = _by_columns(operation.program, shapes[len(inputs) :], sparse=False)
    slopes, patterns = _by_columns(operation.derivatives(tuple(range(len(inputs)))).program, blocks, sparse=True)
    code = generate(value, f"{name}_value", "float64", beside={f"{name}_slopes": slopes})
    names = [f"jac_{y}_{x}" for y in outputs for x in inputs]
    entries = [
        _entry(name, f"{name}_value", inputs, outputs, dense_in, dense_out, value),
        _entry(f"jac_{name}", f"{name}_slopes", [*inputs, *(f"out_{y}" for y in outputs)], names,
               [*dense_in, *dense_out], patterns, slopes),
    ]
    return f"{code.source}\n/* What CasADi calls. */\n" + "\n".join(entries)


def matrix_shape(port: Port) -> tuple[int, int]:
    """Return the rows and columns of an array in CasADi."""
    return (port.shape[0], math.prod(port.shape[1:])) if port.shape else (1, 1)


def _by_columns(program: Program, shapes: Sequence[tuple[int, int]], sparse: bool) -> tuple[Program, list[Pattern]]:
    """Return a program whose inputs and outputs are the columns of matrices; without zeros, if they are sparse."""
    graph = Graph()

    def entry(port: int, k: int) -> int:
        rows, columns = matrix_shape(program.inputs[port])
        return graph.node("input", (), (port, k % columns * rows + k // columns))

    nodes, zero = iter(recorded(program, graph, entry, exact=True)), graph.const(0.0)
    patterns, results = [], []
    for rows, columns in shapes:
        own = [[next(nodes) for _ in range(columns)] for _ in range(rows)]
        kept = [[i for i in range(rows) if not sparse or own[i][j] != zero] for j in range(columns)]
        starts = [sum(map(len, kept[:j])) for j in range(columns + 1)]
        patterns.append((rows, columns, starts, [i for column in kept for i in column]))
        results.append(tuple(own[i][j] for j, column in enumerate(kept) for i in column))
    inputs = tuple(Port(f"x{k}", (port.size,)) for k, port in enumerate(program.inputs))
    outputs = tuple(Port(f"y{k}", (len(own),)) for k, own in enumerate(results))
    return optimize(Program(graph, inputs, outputs, tuple(results))), patterns


def _dense(rows: int, columns: int) -> Pattern:
    return rows, columns, [rows * j for j in range(columns + 1)], list(range(rows)) * columns


_ENTRY = """\
int {name}(const double **arg, double **res, long long *iw, double *w, int mem)
{{
    static const double zeros[{largest_in}];
    static double unused[{largest_out}];
    (void)iw; (void)w; (void)mem;
    return {function}({given});
}}

long long {name}_n_in(void) {{ return {n_in}; }}
long long {name}_n_out(void) {{ return {n_out}; }}
{inputs}{outputs}
int {name}_work(long long *sz_arg, long long *sz_res, long long *sz_iw, long long *sz_w)
{{
    if (sz_arg) *sz_arg = {n_in};
    if (sz_res) *sz_res = {n_out};
    if (sz_iw) *sz_iw = 0;
    if (sz_w) *sz_w = 0;
    return 0;
}}
"""

_PORTS = """\
const char *{name}_name_{way}(long long i)
{{
    static const char *const names[] = {{{names}}};
    return i >= 0 && i < {n} ? names[i] : 0;
}}

const long long *{name}_sparsity_{way}(long long i)
{{
{patterns}    static const long long *const all[] = {{{table}}};
    return i >= 0 && i < {n} ? all[i] : 0;
}}
"""


def _entry(
    name: str,
    function: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    patterns_in: Sequence[Pattern],
    patterns_out: Sequence[Pattern],
    program: Program,
) -> str:
    """Return the functions by which CasADi knows a function; it passes no pointer for zeros and unused results."""
    given = [f"arg[{k}] ? arg[{k}] : zeros" for k in range(len(program.inputs))]
    given += [f"res[{k}] ? res[{k}] : unused" for k in range(len(program.outputs))]
    return _ENTRY.format(
        name=name,
        function=function,
        given=", ".join(given),
        n_in=len(inputs),
        n_out=len(outputs),
        largest_in=max(port.size for port in program.inputs),
        largest_out=max(1, *(port.size for port in program.outputs)),
        inputs=_ports(name, "in", inputs, patterns_in),
        outputs=_ports(name, "out", outputs, patterns_out),
    )


def _ports(name: str, way: str, names: Sequence[str], patterns: Sequence[Pattern]) -> str:
    lines = ""
    for k, (rows, columns, starts, at) in enumerate(patterns):
        lines += f"    static const long long s{k}[] = {{{', '.join(map(str, (rows, columns, *starts, *at)))}}};\n"
    return _PORTS.format(
        name=name,
        way=way,
        names=", ".join(f'"{n}"' for n in names),
        n=len(names),
        patterns=lines,
        table=", ".join(f"s{k}" for k in range(len(names))),
    )
