"""A program to object code: `compile_single` for one state, `compile_batch` for many in lanes."""

from __future__ import annotations

from collections.abc import Callable

import llvmlite.binding as llvm

from kinetree import locks
from kinetree.backends.base import ObjectCode, Steps
from kinetree.backends.llvm.module import batch_ir, single_ir
from kinetree.backends.llvm.pieces import pieces
from kinetree.backends.llvm.scan import scan_ir
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph import Program


def compile_single(
    program: Program, *, dtype: str = "float64", target: Target, entries: Callable[[int], str] = lambda scratch: ""
) -> ObjectCode:
    """Return code for one state, with the entry ``kt_single`` (see `Backend`).

    Inputs, outputs and arithmetic have the dtype; angles are reduced in float64. `entries` returns LLVM IR to append to
    the module, with more entries, given the bytes of scratch that ``@kt_single`` needs. NotImplementedError is raised
    for an operation that this backend does not know.

    Examples
    --------
    >>> from kinetree.graph import Port
    >>> from kinetree.tracing.tracer import Tracer
    >>> t = Tracer()
    >>> (x,) = t.input(Port("x", ()))
    >>> code = compile_single(t.program({"y": ((), [2.0 * x])}), target=Target.host())
    >>> code.symbols, code.scratch
    (('kt_single',), 0)
    """
    ir, scratch = single_ir(program, dtype, target)
    return object_code(ir + entries(scratch), scratch, target)


def compile_batch(program: Program, *, dtype: str = "float64", target: Target, lanes: int) -> ObjectCode:
    """Return code for n states, with the entry ``kt_batch`` (see `Backend`).

    States are evaluated `lanes` at a time: 1, 2, 4, 8 or 16. The bits are those of `compile_single`.
    """
    ir, scratch = batch_ir(program, dtype, target, lanes)
    return object_code(ir, scratch, target)


def compile_scan(program: Program, steps: Steps, *, dtype: str = "float64", target: Target, lanes: int) -> ObjectCode:
    """Return code for many steps of n states, with the entry ``kt_scan`` (see `Backend`).

    The bits are those of `compile_single` called once a step.
    """
    ir, scratch = scan_ir(program, steps, dtype, target, lanes)
    return object_code(ir, scratch, target)


def object_code(ir: str, scratch: int, target: Target, *, optimize: bool = False) -> ObjectCode:
    """Return the object code of a module, compiled in pieces.

    No optimiser runs on the IR of programs, only the code generator: nothing is left to optimise, and measured it takes
    twice the time of the code generator and gains nothing.
    """
    objects: list[bytes] = []
    symbols: list[str] = []
    externals: dict[str, None] = {}  # in the order of their first use
    for piece in pieces(ir):
        locks.let_loads_pass()
        module = llvm.parse_assembly(piece, llvm.create_context())
        if optimize:
            _optimize(module, target)
        visible = [x for x in (*module.functions, *module.global_variables) if x.visibility == llvm.Visibility.default]
        symbols += [f.name for f in visible if not f.is_declaration and f.linkage == llvm.Linkage.external]
        externals |= {x.name: None for x in visible if x.is_declaration and not x.name.startswith("llvm.")}
        data = target_machine(target).emit_object(module)
        # without an instruction for it, llvm.fma becomes a call of the C library's
        externals |= {name: None for name in ("fma", "fmaf") if f"\0{name}\0".encode() in data}
        objects.append(data)
    return ObjectCode(tuple(objects), scratch, tuple(symbols), tuple(externals))


def _optimize(module: llvm.ModuleRef, target: Target) -> None:
    """Make registers of variables, and what is marked part of its callers: a tenth of the time of LLVM's -O2."""
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_sroa_pass()
    passes.add_instruction_combine_pass()
    passes.add_simplify_cfg_pass()
    passes.run(module, llvm.create_pass_builder(target_machine(target), llvm.create_pipeline_tuning_options()))
