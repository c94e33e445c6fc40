"""A program as one self-contained C99 file, and its header."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from kinetree._version import __version__
from kinetree.backends.base import check_legal
from kinetree.backends.c import templates
from kinetree.backends.c.names import ITEM, parameter_names, parameters, prototype
from kinetree.backends.c.program import REGION_OPERATIONS, emit_program
from kinetree.backends.c.routines import legal_operations, with_routines
from kinetree.backends.c.spelling import helper_definitions
from kinetree.backends.c.templates import filled
from kinetree.errors import ArgumentError
from kinetree.graph import Port, Program

BYTES = {"float64": 8, "float32": 4}


@dataclass(frozen=True)
class CSource:
    """C99 for a function: what `Function.to_c` returns.

    Attributes
    ----------
    name : str
        The function's name in C.
    prototype : str
        Of the function for one state.
    source, header : str
        The texts of ``NAME.c``, which needs nothing but a C compiler and libm, and of ``NAME.h``.
    scratch : int
        Bytes of static memory, for one state.
    """

    name: str
    prototype: str
    source: str
    header: str
    scratch: int

    def __repr__(self) -> str:
        return f"<CSource {self.prototype} {len(self.source.splitlines())} lines>"

    def save(self, path: str | os.PathLike[str] = ".") -> Path:
        """Write the source and the header, and return the path of the source.

        Parameters
        ----------
        path : path-like
            A directory that exists, for ``NAME.c`` and ``NAME.h`` in it; or the path of the source, which ends in
            ``.c``: the header is beside it.

        Raises
        ------
        ArgumentError
            If there is no such directory.
        OSError
            If a file cannot be written.
        """
        place = Path(path)
        folder = place.parent if place.suffix == ".c" else place
        if not folder.is_dir():
            raise ArgumentError(f"there is no folder {str(folder)!r} to save in: make it first")
        source = place if place.suffix == ".c" and not place.is_dir() else place / f"{self.name}.c"
        source.write_text(self.source, encoding="utf-8")
        source.with_suffix(".h").write_text(self.header, encoding="utf-8")
        return source


def generate(
    program: Program,
    name: str,
    dtype: str,
    *,
    about: Sequence[str] = (),
    texts: Mapping[str, str] | None = None,
    lanes: int | None = None,
    main: bool = False,
    beside: Mapping[str, Program] = MappingProxyType({}),
    region_operations: int = REGION_OPERATIONS,
) -> CSource:
    """Return an optimised program as C; `name` as of `c_name`, `about` and `texts` (by names in C) for comments.

    With `lanes` that is the default of ``KT_LANES``; `main` adds a program that reads states and prints results, and
    `beside` has programs, by name, of more functions in the file.
    """
    programs, emitted = {name: program, **beside}, []
    for own, made in programs.items():
        check_legal(made, legal_operations(), "C")
        emitted.append(emit_program(f"{own}_program", made, dtype, region_operations))
    parts = with_routines(emitted, dtype, region_operations)
    body = "\n".join(
        [
            f"#ifndef KT_LANES\n#define KT_LANES {lanes}\n#endif\n" if lanes else "",
            filled(
                templates.PRELUDE,
                FMA=templates.FMA_OF[dtype],
                ITEM=ITEM[dtype],
                BYTES=BYTES[dtype],
                INTEGER=f"int{8 * BYTES[dtype]}_t",
            ),
            helper_definitions((helper for part in parts for helper in part.helpers), dtype),
            *(part.text for part in parts),
            *(_entries(made, own, dtype) for own, made in programs.items()),
            *([_main(program, name, dtype)] if main else []),
        ]
    )
    scratch = sum(part.cells for part in parts) * BYTES[dtype]
    lines = body.count("\n")
    comment = _comment(program, name, dtype, [*about, *_facts(program, scratch, lines)], texts or {})
    declared = prototype(name, program.inputs, program.outputs, dtype)
    header = filled(templates.HEADER, GUARD=f"{name.upper()}_H", PROTOTYPE=declared, BATCH=_batch(program, name, dtype))
    return CSource(name, declared, comment + body.lstrip("\n"), comment + header, scratch)


def _batch(program: Program, name: str, dtype: str) -> str:
    """Return the prototype of the entry for many states."""
    ports = [parameter.partition("[")[0] for parameter in parameters(program.inputs, program.outputs, dtype)]
    pointers = [port if "*" in port else " *".join(port.rsplit(" ", 1)) for port in ports]
    return f"int {name}_batch({', '.join(['size_t kt_n', *pointers])})"


def _entries(program: Program, name: str, dtype: str) -> str:
    """Return the definitions of the function for one state, and of that for many."""
    names = parameter_names(program.inputs, program.outputs)
    ports = (*program.inputs, *program.outputs)
    loads, stores, storage, unused = "", "", "", ""
    for k, (port, x) in enumerate(zip(ports, names, strict=True)):
        storage += f"    static KT_THREAD_LOCAL kt_value kt_{x}[{max(port.size, 1)}];\n"
        if port.size:
            move = filled(templates.LOAD if k < len(program.inputs) else templates.STORE, NAME=x, SIZE=port.size)
            loads, stores = (loads + move, stores) if k < len(program.inputs) else (loads, stores + move)
        else:
            unused += f"    (void){x};\n"
    return filled(
        templates.ENTRY,
        PROTOTYPE=prototype(name, program.inputs, program.outputs, dtype),
        BATCH=_batch(program, name, dtype),
        PROGRAM=f"{name}_program",
        NAMES=", ".join(names),
        LANES=", ".join(f"kt_{x}" for x in names),
        STORAGE=storage + unused,
        LOADS=loads,
        STORES=stores,
    )


def _main(program: Program, name: str, dtype: str) -> str:
    """Return the program that reads states and prints results."""
    names = parameter_names(program.inputs, program.outputs)
    arguments: list[str] = []
    prints = ""
    for area, ports in (("kt_in", program.inputs), ("kt_out", program.outputs)):
        offset = 0
        for port in ports:
            place = f"{area} + {offset}"
            if area == "kt_out":
                prints += f'        kt_print("{names[len(arguments)]}", {place}, {port.size});\n'
            arguments.append(place)
            offset += port.size
    return filled(
        templates.MAIN,
        ITEM=ITEM[dtype],
        SCAN="lf" if dtype == "float64" else "f",
        DIGITS=17 if dtype == "float64" else 9,
        INPUTS=sum(port.size for port in program.inputs),
        OUTPUTS=sum(port.size for port in program.outputs),
        FUNCTION=name,
        ARGUMENTS=", ".join(arguments),
        PRINTS=prints,
    )


def _facts(program: Program, scratch: int, lines: int) -> list[str]:
    """Return the paragraphs of the comment that are the same for all functions, but for their numbers."""
    counts = program.op_count()
    operations = ", ".join(f"{n} {op}" for op, n in counts.items())
    loops = " A loop counts as one." if any(program.graph[i].op == "call" for i in program.schedule()) else ""
    return [
        "It returns 0. Arrays are contiguous and row-major; no output may overlap another array.",
        f"Work: {sum(counts.values())} operations a state ({operations or 'none'}) in {lines} lines.{loops}",
        f"Memory: {scratch} bytes of static scratch for one state, nothing allocated. So calls must not overlap "
        "in time; -DKT_THREAD_LOCAL=_Thread_local (C11; __thread for gcc and clang) gives each thread its own.",
        "Compile it as C99, with -O2 and for the processor at hand (-march=native, -mcpu=...); link with -lm. "
        "With -DKT_LANES=8 (2, 4, 16: as many as fill a vector register) it is a function of many states instead, with "
        "the same bits, through the vector extensions of gcc and clang.",
        "Where the processor has fused multiply-adds, the bits are those of kinetree's own code.",
        templates.OWNERSHIP,
        f"Generated by kinetree {__version__}.",
    ]


def _comment(program: Program, name: str, dtype: str, about: Sequence[str], texts: Mapping[str, str]) -> str:
    """Return the comment at the top: what it is, the prototype, the arguments, and the facts."""
    first, *others = [*about, ""]
    names = parameter_names(program.inputs, program.outputs)
    lines = [
        *_wrapped(f"{name}: {first}"),
        "",
        *_wrapped(prototype(name, program.inputs, program.outputs, dtype), "  "),
    ]
    for heading, ports in (("Inputs", program.inputs), ("Outputs", program.outputs)):
        lines += ["", f"{heading}:"]
        for port in ports:
            x = names.pop(0)
            lines += _wrapped(f"{x}, {_shape(port)}" + (f": {texts[x]}" if texts.get(x) else ""), "  ")
    for paragraph in others:
        lines += ["", *_wrapped(paragraph)] if paragraph else []
    safe = (line.replace("*/", "* /").replace("/*", "/ *").replace("??", "? ?") for line in lines)
    return "/* " + "\n".join(f" * {line}".rstrip() for line in safe).removeprefix(" * ") + "\n */\n"


def _shape(port: Port) -> str:
    """Return a port's shape in words."""
    return " × ".join(map(str, port.shape)) if port.shape else "a number"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, 110, initial_indent=indent, subsequent_indent=f"{indent}  " if indent else "")
