"""What the modules for one state and for a batch share: functions of the plan, legal operations, declarations."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.loops import emit_map, emit_repeat
from kinetree.backends.llvm.routines import Emitter, Routines
from kinetree.backends.llvm.scratch import ScratchLayout
from kinetree.backends.llvm.straight_line import SPELLING, fill_function, plan_functions
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph.ops import OPS
from kinetree.lowering.plan import Plan

REGION_OPERATIONS = 1000
"""Most operations in one region. It hardly affects the speed of the code, but LLVM's time grows faster than linearly
in the size of a function."""

OPERATIONS: dict[str, Emitter] = {"repeat": emit_repeat, "map": emit_map}
"""Emitters of the array operations, by the operation's name."""


def legal_operations() -> frozenset[str]:
    """Return the operations in the backend's tables."""
    arrays = [op.name for op in OPS.values() if op.array_op in ARRAY_KERNELS]
    return frozenset(["const", "input", "call", "get", *OPERATIONS, *SPELLING, *arrays])


def module_text(
    plan: Plan, layout: ScratchLayout, routines: Routines, target: Target, entry: str, helpers: Sequence[str] = ()
) -> str:
    """Return the module of a plan with this entry point, functions that help it, and declarations of intrinsics."""
    constants, *regions = plan_functions("", plan, layout)
    constants = fill_function(layout.lanes.dtype) + constants
    return with_head("\n".join([*helpers, constants, *regions, *routines.definitions.values(), entry]), target)


def with_head(text: str, target: Target) -> str:
    """Return the module of these definitions, with the target and the declarations of intrinsics."""
    data_layout = target_machine(target).target_data
    return (
        f'target triple = "{target.triple}"\ntarget datalayout = "{data_layout}"\n\n{text}\n{_declarations(text)}\n'
        f'attributes #0 = {{ nounwind "prefer-vector-width"="{target.vector_bits}" }}\n'
    )


_CALL = re.compile(r"call (\S+|<[^>]*>) (@llvm\.[\w.]+)\((.*)\)")
_ARGUMENT = re.compile(r"(<\d+ x \w+>|\w+) [^ ]")
_SPLAT = re.compile(r"splat \([^)]*\)")


def _declarations(text: str) -> str:
    """Return a declaration of every intrinsic that is called, its type inferred from the first call."""
    found: dict[str, str] = {}
    for result, name, arguments in _CALL.findall(text):
        if name not in found:
            types = _ARGUMENT.findall(_SPLAT.sub("%", arguments))
            found[name] = f"declare {result} {name}({', '.join(types)})"
    return "\n".join(found.values())
