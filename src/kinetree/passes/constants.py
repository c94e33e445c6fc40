"""A check of the constants: those that a type cannot hold must not decide anything.

What is below the smallest number of a type is rounded to zero, as any result of its arithmetic would be. Where that
is added to other things or multiplies them, as the noise in a robot's numbers does, it is a rounding and no more.
Not where it guards: ``1 / sqrt(x² + 1e-300)`` has no guard left in float32, and ``x < 1e-300`` is another question.
"""

from __future__ import annotations

import math
from typing import cast

import numpy as np

from kinetree.errors import ArgumentError
from kinetree.graph import Program
from kinetree.graph.ops import OPS


def check_constants(program: Program, dtype: str, name: str) -> None:
    """Raise where this type has no number for a constant, and that would change more than a rounding.

    That is so if a finite constant is infinite in this type, or if one that is not zero is zero in it and is divided
    by, is under a root or is compared: by itself, added to something or multiplied by something.
    """
    if dtype == "float64":  # what all constants are
        return
    lost: dict[int, tuple[float, bool]] = {}  # by node: the constant rounded to zero in it, and if multiplied
    for i in program.schedule():
        op, args, payload = program.graph[i]
        for nested in payload.programs if op == "call" else ():
            check_constants(nested, dtype, name)
        if op == "const":
            constant = cast(float, payload)
            rounded = _rounded(constant, dtype)
            if math.isinf(rounded) and math.isfinite(constant):
                raise _refusal(name, constant, rounded, dtype)
            if rounded == 0.0 != constant:
                lost[i] = constant, False
            continue
        for role, a in zip(OPS[op].roles, args, strict=False) if lost else ():
            if a in lost and role != " ":
                constant, multiplied = lost[a]
                if role == "!":
                    raise _refusal(name, constant, 0.0, dtype)
                if role != "+" or not multiplied:
                    lost[i] = constant, multiplied or role == "*"


def _rounded(value: float, dtype: str) -> float:
    with np.errstate(over="ignore", under="ignore"):
        return float(np.dtype(dtype).type(value))


def _refusal(name: str, constant: float, rounded: float, dtype: str) -> ArgumentError:
    return ArgumentError(f"{name}: the constant {constant!r} is {rounded} in {dtype}; call it with float64 arrays")
