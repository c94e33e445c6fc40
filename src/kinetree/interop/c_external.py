"""C files that CasADi, and acados through it, call as functions: values and Jacobians, with their sparsity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kinetree.backends.c.source import generate
from kinetree.graph import Graph, Port, Program
from kinetree.interop.operation import Operation, matrix_shape
from kinetree.passes import optimize
from kinetree.passes.reversal import recorded

Shape = tuple[int, int]
Pattern = tuple[int, int, Sequence[int], Sequence[int]]
"""Rows, columns, where each column begins, and the row of each number: compressed columns."""


def external_source(operation: Operation, name: str, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """Return the C file of an operation and its Jacobian (see "Using C code" in CasADi's documentation)."""
    known = dict(zip(inputs, (matrix_shape(port) for port in operation.inputs), strict=True))
    results = dict(zip(outputs, (matrix_shape(port) for port in operation.outputs), strict=True))
    given = {x: _dense(*shape) for x, shape in known.items()}
    program, _ = _by_columns(operation.program, [(shape, (1, 1)) for shape in results.values()], sparse=False)
    dense = {y: _dense(*shape) for y, shape in results.items()}
    entries, beside = [_entry(name, f"{name}_value", given, dense, program)], {}
    if operation.spec.spaces is not None:
        jacobian = operation.derivatives(tuple(range(len(inputs)))).program
        blocks = {f"jac_{y}_{x}": (results[y], known[x]) for y in outputs for x in inputs}
        slopes, patterns = _by_columns(jacobian, list(blocks.values()), sparse=True)
        given |= {f"out_{y}": pattern for y, pattern in dense.items()}
        entries.append(_entry(f"jac_{name}", f"{name}_slopes", given, dict(zip(blocks, patterns, strict=True)), slopes))
        beside[f"{name}_slopes"] = slopes
    code = generate(program, f"{name}_value", "float64", beside=beside)
    return f"{code.source}\n/* What CasADi calls. */\n" + "\n".join(entries)


def _by_columns(program: Program, blocks: Sequence[tuple[Shape, Shape]], sparse: bool) -> tuple[Program, list[Pattern]]:
    """Return a program whose arrays are the columns of matrices, the inputs too.

    Its results are blocks with a row for each entry of one matrix, and a column for each of another; without zeros if
    they are sparse.
    """
    graph = Graph()

    def entry(port: int, k: int) -> int:
        return graph.node("input", (), (port, _columns(matrix_shape(program.inputs[port])).index(k)))

    nodes, zero = iter(recorded(program, graph, entry, exact=True)), graph.const(0.0)
    patterns: list[Pattern] = []
    results = []
    for y, x in blocks:
        rows, columns = _columns(y), _columns(x)
        own = [[next(nodes) for _ in columns] for _ in rows]
        kept = [[i for i, row in enumerate(rows) if not sparse or own[row][k] != zero] for k in columns]
        starts = [sum(map(len, kept[:j])) for j in range(len(columns) + 1)]
        patterns.append((len(rows), len(columns), starts, [i for column in kept for i in column]))
        results.append(tuple(own[rows[i]][k] for k, column in zip(columns, kept, strict=True) for i in column))
    inputs = tuple(Port(f"x{k}", (port.size,)) for k, port in enumerate(program.inputs))
    outputs = tuple(Port(f"y{k}", (len(own),)) for k, own in enumerate(results))
    return optimize(Program(graph, inputs, outputs, tuple(results))), patterns


def _columns(shape: Shape) -> list[int]:
    """Return the indices of a matrix's entries by rows, in their order by columns."""
    return [i * shape[1] + j for j in range(shape[1]) for i in range(shape[0])]


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
"""

_TABLE = """\
{kind}{name}(long long i)
{{
    static {kind}const all[] = {{{entries}}};
    return i >= 0 && i < {n} ? all[i] : 0;
}}
"""


def _entry(
    name: str, function: str, inputs: Mapping[str, Pattern], outputs: Mapping[str, Pattern], program: Program
) -> str:
    """Return the functions by which CasADi knows a function; it passes no pointer for zeros and unused results."""
    given = [f"arg[{k}] ? arg[{k}] : zeros" for k in range(len(program.inputs))]
    given += [f"res[{k}] ? res[{k}] : unused" for k in range(len(program.outputs))]
    text = _ENTRY.format(
        name=name,
        function=function,
        given=", ".join(given),
        n_in=len(inputs),
        n_out=len(outputs),
        largest_in=max(port.size for port in program.inputs),
        largest_out=max(1, *(port.size for port in program.outputs)),
    )
    for way, ports in (("in", inputs), ("out", outputs)):
        for k, (rows, columns, starts, at) in enumerate(ports.values()):
            numbers = ", ".join(map(str, (rows, columns, *starts, *at)))
            text += f"static const long long {name}_{way}{k}[] = {{{numbers}}};\n"
        names, patterns = (f'"{port}"' for port in ports), (f"{name}_{way}{k}" for k in range(len(ports)))
        for table, kind, entries in (("name", "const char *", names), ("sparsity", "const long long *", patterns)):
            text += _TABLE.format(kind=kind, name=f"{name}_{table}_{way}", entries=", ".join(entries), n=len(ports))
    return text
