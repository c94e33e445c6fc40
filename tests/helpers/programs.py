"""Random programs: graphs of every operation over a few inputs."""

import random

from kinetree.graph import Graph, Port, Program
from kinetree.graph.ops import OPS
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
