"""Passes: each takes a program and returns a better one that computes the same values, up to rounding."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.graph import Program
from kinetree.passes.constants import check_constants
from kinetree.passes.contract import contract
from kinetree.passes.rewrite import rewrite, with_nested

__all__ = ["PASSES", "check_constants", "optimize"]

PASSES: tuple[Callable[[Program], Program], ...] = (rewrite, contract)


def optimize(program: Program) -> Program:
    """Return the program after all passes: rewritten, fused and scheduled.

    The programs of array operations go through them as well. Results change in rounding only. The passes are
    deterministic and take linear time.

    Examples
    --------
    >>> from kinetree.graph import Port
    >>> from kinetree.tracing.tracer import Tracer
    >>> t = Tracer()
    >>> x, y, z = t.input(Port("x", (3,)))
    >>> optimize(t.program({"r": ((), [x * y + z * z])})).op_count()
    {'mul': 1, 'fma': 1}
    """
    program = with_nested(program, optimize)
    for one_pass in PASSES:
        program = one_pass(program)
    return program
