"""The table of operations: one row each, with all that is known of it; and the reference interpreter, which runs it.

To add an operation, add a row here and its spelling to each backend that supports it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kinetree.derivatives import PARTIALS, Formula
from kinetree.errors import ArgumentError
from kinetree.graph import elementary, exact, fold, ieee
from kinetree.graph.graph import EXACT, Graph, Program


@dataclass(frozen=True)
class Op:
    """One operation of the graph.

    Attributes
    ----------
    name : str
        Its name in nodes and in the tables of the backends.
    arity : int
        Number of arguments; leaves (constants and inputs) have none, and that of `call` depends on the operation.
    evaluate : callable
        Its value on floats.
    listing : str
        Format of its text, with ``{0}``, ``{1}``, … for the arguments.
    fold : callable, optional
        Constructor of its nodes that simplifies what it can: ``fold(graph, *args)`` returns a node.
    exact_fold : callable, optional
        Constructor of its exact nodes, which folds what changes no bit; arithmetic has one.
    ufunc : numpy.ufunc, optional
        The ufunc that records this operation when applied to traced values.
    commutative : bool
        Whether the first two arguments may be exchanged.
    exact : bool
        Whether it is correctly rounded: every backend gives the bits of `evaluate` in float64.
    roles : str
        What it does with each argument, as far as it matters whether a constant is zero: ``+`` adds it, ``*``
        multiplies it, ``=`` returns it or something proportional, ``!`` depends on its being zero. See
        `kinetree.passes.constants`.
    array_op : str
        Name of the array kernel that evaluates all nodes of this operation together, ahead of the straight-line code
        that uses them; empty for straight-line operations. Worthwhile for elementary functions, which are long. The
        outputs of a kernel are the operations that name it, in the order of the table.
    cost : int
        About how many machine instructions straight-line code computes it with: regions are cut by their sum. In an
        array kernel they are those of one element.
    """

    name: str
    arity: int
    evaluate: Callable[..., float]
    listing: str
    fold: Callable[..., int] | None = None
    exact_fold: Callable[..., int] | None = None
    ufunc: np.ufunc | None = None
    commutative: bool = False
    exact: bool = True
    roles: str = ""
    array_op: str = ""
    cost: int = 1

    @property
    def partials(self) -> Formula | None:
        """Its partial derivatives, see `kinetree.derivatives`; None where it is not differentiated."""
        return PARTIALS.get(self.name)

    @property
    def straight_line(self) -> bool:
        """Whether straight-line code computes it: it is neither a leaf nor part of an array call."""
        return self.arity > 0 and not self.array_op and self.name != "get"

    def node(self, graph: Graph, args: tuple[int, ...], payload: Any = None) -> int:
        """Return the node of this operation on these arguments, folded if possible; an exact one as it is."""
        if self.fold is not None and payload != EXACT:
            return self.fold(graph, *args)
        if payload is None and args and all(graph.nodes[a].op == "const" for a in args):
            return exact.const(graph, self.evaluate(*(graph.nodes[a].payload for a in args)))
        return graph.node(self.name, args, payload)

    def exact_node(self, graph: Graph, args: tuple[int, ...]) -> int:
        """Return the node whose value has the bits of IEEE arithmetic, whatever is made of it."""
        return self.node(graph, args) if self.exact_fold is None else self.exact_fold(graph, *args)


def _elementary(name: str, ufunc: np.ufunc | None, roles: str, cost: int) -> Op:
    """Return the row of an elementary function: its program is what the interpreter and the array kernels run."""
    operands = ", ".join(f"{{{k}}}" for k in range(len(roles)))
    evaluate = functools.partial(_value, name)
    return Op(name, len(roles), evaluate, f"{name}({operands})", roles=roles, ufunc=ufunc, array_op=name, cost=cost)


def _value(name: str, *operands: float) -> float:
    """Return the value of an elementary function."""
    entries = [[float(x)] for x in operands]
    y, *is_rare = run(elementary.program(name), entries)
    rare = elementary.rare(name)
    return run(rare, entries)[0] if rare is not None and not is_rare[0] <= elementary.RARE_ABOVE else y


def run(program: Program, inputs: Sequence[Sequence[float]]) -> list[float]:
    """Return the entries of all outputs of a program, given those of its inputs: the interpreter."""
    return program.evaluated(
        lambda x: x,
        lambda port, entry: inputs[port][entry],
        lambda node, given: OPS[node.op].evaluate(*given),
        lambda operation, given: operation.evaluate(given),
    )


ANY = -1

OPS: dict[str, Op] = {
    row.name: row
    for row in (
        Op("const", 0, lambda: math.nan, "{payload!r}"),
        Op("input", 0, lambda: math.nan, "{payload}"),
        # an array operation (the payload) on any number of arguments, and one of its results (the payload is its index)
        Op("call", ANY, lambda *_: math.nan, "{payload}({args})"),
        Op("get", 1, lambda _: math.nan, "{0}[{payload}]"),
        Op("add", 2, lambda a, b: a + b, "({0} + {1})", fold.add, exact.add, np.add, commutative=True, roles="++"),
        Op("sub", 2, lambda a, b: a - b, "({0} - {1})", fold.sub, exact.sub, np.subtract, roles="++"),
        Op("mul", 2, lambda a, b: a * b, "({0} * {1})", fold.mul, exact.mul, np.multiply, commutative=True, roles="**"),
        Op("div", 2, ieee.div, "({0} / {1})", fold.div, exact.div, np.true_divide, roles=" !"),
        Op("neg", 1, lambda a: -a, "(-{0})", fold.neg, exact.neg, np.negative, roles="="),
        Op("abs", 1, abs, "abs({0})", fold.absolute, exact.absolute, np.absolute, roles="="),
        # {2} where the comparison holds, else {3}, also where an operand is NaN
        Op("select_lt", 4, ieee.select_lt, "({2} if {0} < {1} else {3})", fold.select_lt, roles="!!==", cost=2),
        Op("select_le", 4, ieee.select_le, "({2} if {0} <= {1} else {3})", fold.select_le, roles="!!==", cost=2),
        Op("sqrt", 1, ieee.sqrt, "sqrt({0})", fold.sqrt, ufunc=np.sqrt, roles="!"),
        Op("sin", 1, ieee.sin, "sin({0})", fold.sin, ufunc=np.sin, exact=False, array_op="sincos", cost=20),
        Op("cos", 1, ieee.cos, "cos({0})", fold.cos, ufunc=np.cos, exact=False, array_op="sincos", cost=20),
        # one rounding; formed by passes.contract, never by the tracer
        Op("fma", 3, ieee.fma, "fma({0}, {1}, {2})", commutative=True, roles="  +"),  # a·b + c
        Op(
            "fms", 3, lambda a, b, c: ieee.fma(a, b, -c), "fms({0}, {1}, {2})", commutative=True, roles="  +"
        ),  # a·b − c
        Op(
            "fnma", 3, lambda a, b, c: ieee.fma(-a, b, c), "fnma({0}, {1}, {2})", commutative=True, roles="  +"
        ),  # c − a·b
        Op("rint", 1, ieee.rint, "rint({0})", ufunc=np.rint),  # to the nearest whole number, the even one of two
        Op("floor", 1, ieee.floor, "floor({0})", ufunc=np.floor, roles="!"),
        Op("ceil", 1, ieee.ceil, "ceil({0})", ufunc=np.ceil, roles="!"),
        Op("trunc", 1, ieee.trunc, "trunc({0})", ufunc=np.trunc),
        Op("copysign", 2, ieee.copysign, "copysign({0}, {1})", ufunc=np.copysign, roles="= ", cost=3),
        # what elementary functions are made of
        Op("pow2", 1, ieee.pow2, "pow2({0})", cost=2),
        Op("exponent", 1, ieee.exponent, "exponent({0})", cost=4),
        Op("significand", 1, ieee.significand, "significand({0})", cost=3),
        _elementary("exp", np.exp, " ", 20),
        _elementary("expm1", np.expm1, "=", 38),
        _elementary("sinh", np.sinh, "=", 42),
        _elementary("cosh", np.cosh, " ", 38),
        _elementary("tanh", np.tanh, "=", 53),
        _elementary("log", np.log, "!", 29),
        _elementary("log1p", np.log1p, "=", 45),
        _elementary("cbrt", np.cbrt, "=", 61),
        _elementary("arcsin", np.arcsin, "=", 43),
        _elementary("arccos", np.arccos, " ", 60),
        _elementary("arctan", np.arctan, "=", 55),
        _elementary("arctan2", np.arctan2, "!!", 69),
        _elementary("hypot", np.hypot, "++", 47),
        _elementary("power", None, "! ", 89),  # np.power calls `**`, which makes products of whole powers
        _elementary("fmod", np.fmod, "=!", 25),
    )
}


def interpret(program: Program, inputs: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> list[NDArray[np.float64]]:
    """Return the outputs of the program for one state; an array for each port, by name or in order, may be flat."""
    arrays = [inputs[port.name] for port in program.inputs] if isinstance(inputs, Mapping) else list(inputs)
    if len(arrays) != len(program.inputs):
        raise ArgumentError(f"the program has {len(program.inputs)} inputs, not {len(arrays)}")
    entries: list[list[float]] = []
    for port, array in zip(program.inputs, arrays, strict=True):
        flat = np.asarray(array, dtype=np.float64).ravel()
        if flat.size != port.size:
            raise ArgumentError(f"input {port.name!r} has {flat.size} entries, not the {port.size} of {port.shape}")
        entries.append(flat.tolist())
    results = iter(run(program, entries))
    return [
        np.array([next(results) for _ in range(port.size)], dtype=np.float64).reshape(port.shape)
        for port in program.outputs
    ]
