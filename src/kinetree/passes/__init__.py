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
    """Return the program after all passes: rewritten, fused and scheduled, its array operations' programs too.

    Results change in rounding only. The passes are deterministic and take linear time.
    """
    program = with_nested(program, optimize)
    for one_pass in PASSES:
        program = one_pass(program)
    return program
