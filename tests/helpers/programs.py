"""Random programs: graphs of every operation over a few inputs."""

import random

import numpy as np

from kinetree.graph import Graph, Port, Program
from kinetree.graph.array_operations import ArrayOperation
from kinetree.graph.graph import digest
from kinetree.graph.ops import OPS
from kinetree.runtime import Function, FunctionSpec
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.tracer import Tracer

COMPUTED = tuple(name for name, op in OPS.items() if op.straight_line or op.array_op)  # one value of scalars
EXACT = tuple(name for name in COMPUTED if OPS[name].exact and OPS[name].straight_line)  # the bits of the interpreter
ELEMENTARY = tuple(
    name for name in COMPUTED if OPS[name].exact and OPS[name].array_op
)  # its bits too, as array kernels
SHAPES = ((3,), (2, 2), (), (1,), (9,))


def random_program(seed, size=60, operations=EXACT, outputs=((4,), (2, 3)), shapes=SHAPES):
    """A program of `size` random operations, most of them live, with some constant and some repeated output entries.

    The graph is made without folding, so that what is asked for is there.
    """
    rng = random.Random(seed)
    graph = Graph()
    ports = tuple(Port(f"x{k}", shape) for k, shape in enumerate(shapes))
    pool = [graph.node("input", (), (k, j)) for k, port in enumerate(ports) for j in range(port.size)]
    pool += [graph.const(c) for c in (0.5, -1.25, 3.0)]
    first = len(pool)
    for _ in range(size):
        op = rng.choice(operations)
        args = tuple(rng.choice(pool[-25:] if rng.random() < 0.7 else pool) for _ in range(OPS[op].arity))
        pool.append(graph.node(op, args))
    results = []
    for k, shape in enumerate(outputs):
        entries = [rng.choice(pool[first:]) for _ in range(Port("", shape).size)]
        entries[0] = pool[-1 - k]
        if len(entries) > 2:
            entries[1] = graph.const(7.5)
            entries[2] = pool[rng.randrange(first)]  # an input or a constant
        results.append(tuple(entries))
    named = tuple(Port(f"y{k}", shape) for k, shape in enumerate(outputs))
    return Program(graph, ports, named, tuple(results))


def traced(function, *shapes, outputs=None):
    """The program of a function of flat lists of scalars; it returns one list, or as many as there are `outputs`."""
    tracer = Tracer()
    arguments = [tracer.input(Port(f"x{k}", (n,))) for k, n in enumerate(shapes)]
    result = function(*arguments)
    lists = [result] if outputs is None else result
    return tracer.program({f"y{k}": ((len(entries),), list(entries)) for k, entries in enumerate(lists)})


def alone(op):
    """The program of one operation on inputs, made without folding."""
    graph, arity = Graph(), OPS[op].arity
    ports = tuple(Port(f"x{k}", ()) for k in range(arity))
    node = graph.node(op, tuple(graph.node("input", (), (k, 0)) for k in range(arity)))
    return Program(graph, ports, (Port("y", ()),), ((node,),))


def of_arrays(function, *shapes):
    """The program of a function of traced arrays x0, x1, … of these shapes."""
    t = Tracer()
    ports = [Port(f"x{k}", shape) for k, shape in enumerate(shapes)]
    result = np.asarray(function(*(traced_array(t.input(p), p.shape) for p in ports)), dtype=object)
    return t.program({"r": (result.shape, result.ravel().tolist())})


def compiled(function, *shapes, lanes=None):
    """The same, compiled."""
    p = of_arrays(function, *shapes)
    spec = FunctionSpec("f", "", p.inputs, p.outputs, lambda given, options: (), lambda: digest(p), program=p)
    return Function(spec, lanes)


def operations(program):
    """Return the operations of a program and of all the programs in it, by what they are: equal ones count once."""
    found = {digest(program): sum(program.op_count().values())}
    for i in program.schedule():
        if isinstance(program.graph[i].payload, ArrayOperation):
            for part in program.graph[i].payload.programs:
                found |= operations(part)
    return found


def code_size(function):
    """Return how many operations the code of a function has, a loop's once."""
    return sum(operations(function._kernels.program(function._default)).values())
