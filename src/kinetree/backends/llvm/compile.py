"""A program to object code, in pieces, so that no call of the code generator takes long: Ctrl-C comes between them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import llvmlite.binding as llvm

from kinetree import locks
from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm.module import batch_ir, single_ir
from kinetree.backends.llvm.target import Target, target_machine
from kinetree.graph import Program

PIECE_CHARACTERS = 300_000
"""Most characters of IR in one piece, or one function more: some 3,500 operations.

The code generator takes 0.1 s for ordinary code, 0.6 s for the slowest known, where every operation stores."""

_END = "\n}\n"
_MOVABLE = re.compile(r"define internal (?P<signature>[^\n]*(?P<name>@[\w.]+)\([^\n]*\) #0) \{")
_NAMED = re.compile(r"^(?:declare [^\n@]*)?(?P<name>@[\w.]+)[^\n]*\n", re.MULTILINE)
_USED = re.compile(r"@[\w.]+")


def pieces(ir: str, size: int = PIECE_CHARACTERS) -> Iterator[str]:
    r"""Yield modules that are together the module in `ir`; the first has its entry points and variables.

    The internal functions with the common attributes are dealt out in their order: they are hidden symbols then.
    Constants are repeated where they are used.

    Examples
    --------
    >>> ir = "define internal void @f() #0 {\n  ret void\n}\ndefine void @g() #0 {\n  call void @f()\n}\n"
    >>> first, second = pieces(ir + "attributes #0 = { nounwind }\n", size=1)
    >>> print(second)
    attributes #0 = { nounwind }
    define hidden void @f() #0 {
      ret void
    }
    <BLANKLINE>
    """
    if len(ir) <= size:
        yield ir
        return
    *functions, end = ir.split(_END)
    first: list[str] = []
    groups: list[dict[str, str]] = [{}]  # definitions by name
    others, known, length = "", dict[str, str](), 0
    for text in functions:
        start = 0 if text.startswith("define ") else text.index("\ndefine ") + 1
        others += text[:start]
        movable = _MOVABLE.match(text, start)
        if movable is None:
            first += text[start:], _END
            continue
        name, signature = movable["name"], movable["signature"]
        known[name] = f"declare hidden {signature}\n"
        if length and length + len(text) > size:
            groups.append({})
            length = 0
        groups[-1][name] = f"define hidden {signature}{text[movable.end('signature') :]}{_END}"
        length += len(text)
    others += end
    lines = {match["name"]: match[0] for match in _NAMED.finditer(others)}
    variables = {name: line for name, line in lines.items() if " = internal global " in line}
    common, known = _NAMED.sub("", others), known | lines
    for group in ({"": "".join(first), **variables}, *groups):
        body = "".join(group.values())
        missing = (known.keys() & _USED.findall(body)) - group.keys()
        yield common + "".join(known[name] for name in sorted(missing)) + body


def compile_single(
    program: Program, *, dtype: str = "float64", target: Target, entries: Callable[[int], str] = lambda scratch: ""
) -> ObjectCode:
    """Return code for one state, with the entry ``kt_single`` (see `Backend`).

    `entries` returns LLVM IR to append to the module, with more entries, given the scratch that ``@kt_single`` needs.
    """
    ir, scratch = single_ir(program, dtype, target)
    return object_code(ir + entries(scratch), scratch, target)


def compile_batch(program: Program, *, dtype: str = "float64", target: Target, lanes: int) -> ObjectCode:
    """Return code for n states, `lanes` of them at a time, with the entry ``kt_batch`` (see `Backend`)."""
    return object_code(*batch_ir(program, dtype, target, lanes), target)


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
