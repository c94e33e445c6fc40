"""C compilers, and a backend behind the contract that compiles what `generate` writes: for the tests of C only.

clang comes with the package ziglang, so it is always there; gcc is used where it is installed.
"""

import ctypes
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np

from kinetree.backends.base import Backend, ObjectCode
from kinetree.backends.c.routines import legal_operations
from kinetree.backends.c.source import generate

CLANG = (sys.executable, "-m", "ziglang", "cc")
COMPILERS = {"clang": CLANG}
if shutil.which("gcc"):
    COMPILERS["gcc"] = ("gcc",)

STRICT = ("-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror")
NATIVE = ("-O1", "-march=native")
"""For the bits of the LLVM backend: its fused multiply-adds are this processor's."""

P = ctypes.c_void_p

WRAPPER = """
#include <stdlib.h>
#include <string.h>
#ifndef KT_LANES
void kt_single(void **in, void **out, void *scratch);
void kt_single(void **in, void **out, void *scratch)
{{
    (void)in, (void)out, (void)scratch;
    {name}({single});
}}
#endif
void kt_batch(char **in, char **out, const int64_t *strides, int64_t n, void *scratch);
void kt_batch(char **in, char **out, const int64_t *strides, int64_t n, void *scratch)
{{
    const size_t sizes[] = {{{sizes}}}, count = {count}, inputs = {inputs};
    char *rows[{count}];
    (void)scratch;
    for (size_t k = 0; k < count; k++) {{
        rows[k] = malloc((size_t)n * sizes[k] + 1);
        for (int64_t i = 0; i < n && k < inputs; i++)
            memcpy(rows[k] + (size_t)i * sizes[k], in[k] + i * strides[k], sizes[k]);
    }}
#ifdef KT_LANES
    {name}_batch({batch});
#else
    for (int64_t i = 0; i < n; i++)
        {name}({states});
#endif
    for (size_t k = 0; k < count; k++) {{
        for (int64_t i = 0; i < n && k >= inputs; i++)
            memcpy(out[k - inputs] + i * strides[k], rows[k] + (size_t)i * sizes[k], sizes[k]);
        free(rows[k]);
    }}
}}
"""
"""The entry points of the contract, around a generated function."""


def compile_c(source, arguments, output, compiler="clang"):
    """Compile a text with these arguments, and return what the compiler says; it must succeed."""
    path = output.with_suffix(".c")
    path.write_text(source, encoding="utf-8")
    command = [*COMPILERS[compiler], *arguments, "-o", str(output), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"
    return done.stderr


def wrapper(name, inputs, outputs, item):
    ports, rows = (*inputs, *outputs), range(len(inputs) + len(outputs))
    single = [f"in[{k}]" for k in range(len(inputs))] + [f"out[{k}]" for k in range(len(outputs))]
    return WRAPPER.format(
        name=name,
        single=", ".join(single),
        sizes=", ".join(str(item * port.size) for port in ports),
        count=len(ports),
        inputs=len(inputs),
        batch=", ".join(["(size_t)n", *(f"(void *)rows[{k}]" for k in rows)]),
        states=", ".join(f"(void *)(rows[{k}] + (size_t)i * sizes[{k}])" for k in rows),
    )


class Library:
    """A shared library in memory."""

    def __init__(self, code):
        with tempfile.NamedTemporaryFile(suffix=".so", delete=False) as file:
            file.write(code)
        self._library = ctypes.CDLL(file.name)
        Path(file.name).unlink()

    def address(self, symbol):
        """Return the address of an entry point, None where there is no such one."""
        entry = getattr(self._library, symbol, None)
        return None if entry is None else ctypes.cast(entry, P).value


class CBackend(Backend):
    """The C of a program, compiled to a shared library, for one thread; `flags` are those of the compiler."""

    name: ClassVar[str] = "c"

    def __init__(self, compiler="clang", flags=NATIVE, region_operations=1000):
        self._compiler, self._flags, self._region_operations = compiler, flags, region_operations

    @property
    def target(self):
        return repr((os.getpid(), self._compiler, self._flags, self._region_operations))

    @property
    def legal(self):
        return legal_operations()

    def lanes(self, dtype):
        return 4

    def compile_single(self, program, dtype):
        return self._compiled(program, dtype, None)

    def compile_batch(self, program, dtype, lanes):
        return self._compiled(program, dtype, None if lanes == 1 else lanes)

    def load(self, code):
        return Library(code.objects[0])

    def _compiled(self, program, dtype, lanes):
        made = generate(program, "f", dtype, lanes=lanes, region_operations=self._region_operations)
        text = made.source + wrapper("f", program.inputs, program.outputs, np.dtype(dtype).itemsize)
        flags = [*self._flags, "-std=c99", "-shared", "-fPIC"]
        with tempfile.TemporaryDirectory() as folder:
            library = Path(folder) / hashlib.sha256(text.encode()).hexdigest()[:8]
            compile_c(text, [*flags, "-lm"], library.with_suffix(".so"), self._compiler)
            code = library.with_suffix(".so").read_bytes()
        return ObjectCode((code,), 0, ("kt_single", "kt_batch"), ())


def run_c(backend, program, inputs, lanes=None, dtype="float64"):
    """Return the outputs for one state, or with lanes for many, which are the first axis of all inputs."""
    arrays = [np.ascontiguousarray(x, dtype=dtype) for x in inputs]
    lead = () if lanes is None else (len(arrays[0]),)
    results = [np.full((*lead, *port.shape), np.nan, dtype) for port in program.outputs]
    pointers = [(P * max(len(x), 1))(*(a.ctypes.data for a in x)) for x in (arrays, results)]
    if lanes is None:
        loaded = backend.load(backend.compile_single(program, dtype))
        ctypes.CFUNCTYPE(None, P, P, P)(loaded.address("kt_single") or 0)(*pointers, None)
        return results
    loaded = backend.load(backend.compile_batch(program, dtype, lanes))
    strides = np.array([x.strides[0] for x in (*arrays, *results)], np.int64)
    batch = ctypes.CFUNCTYPE(None, P, P, P, ctypes.c_int64, P)(loaded.address("kt_batch") or 0)
    batch(*pointers, strides.ctypes.data, lead[0], None)
    return results
