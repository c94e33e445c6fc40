"""Kernels for other processors, linked by zig and run by QEMU, have the bits of this machine's.

QEMU's user mode (Debian's ``qemu-user``) is not a Python package: where it is not installed, nothing can run this code.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys

import llvmlite.binding as llvm
import numpy as np
import pytest

import kinetree as kt
from kinetree.backends.llvm import Target
from kinetree.backends.llvm.compile import compile_batch

N = 40
TARGETS = {
    "aarch64": Target("aarch64-unknown-linux-gnu", "generic", "+neon", 128),
    "riscv64": Target("riscv64-unknown-linux-gnu", "generic-rv64", "+m,+a,+f,+d,+c", 128),
}
SYSTEM_CALL = {
    "aarch64": ("x8", "x0", "x1", "x2", "svc #0"),
    "riscv64": ("a7", "a0", "a1", "a2", "ecall"),
}  # registers of the number and of three arguments, the instruction
READ, WRITE, EXIT = 63, 64, 93
FLAGS = ("-O1", "-static", "-nostdlib", "-ffreestanding", "-fno-sanitize=all", "-fno-stack-protector", "-Wl,-e,_start")

PROGRAM = """
typedef long long word;
static word call(word number, word a, word b, word c)
{{
    register word n __asm__("{}") = number, x __asm__("{}") = a, y __asm__("{}") = b, z __asm__("{}") = c;
    __asm__ volatile("{}" : "+r"(x) : "r"(n), "r"(y), "r"(z) : "memory");
    return x;
}}
void *memcpy(void *to, const void *from, unsigned long n)
{{
    volatile char *x = to;
    for (const char *y = from; n--;) *x++ = *y++;
    return to;
}}
void *memset(void *to, int c, unsigned long n)
{{
    for (volatile char *x = to; n--;) *x++ = c;
    return to;
}}
static void all(word number, word file, char *p, word n)
{{
    for (word k; n > 0 && (k = call(number, file, (word)p, n)) > 0; n -= k) p += k;
}}
"""
MAIN = """
void kt_batch(void *, void *, void *, word, void *);
static {number} in[{read}], out[{write}];
static _Alignas(64) char scratch[{scratch}];
void _start(void)
{{
    all({READ}, 0, (char *)in, sizeof in);
    void *ins[] = {{{ins}}}, *outs[] = {{out}};
    word strides[] = {{{strides}}};
    kt_batch(ins, outs, strides, {n}, scratch);
    all({WRITE}, 1, (char *)out, sizeof out);
    call({EXIT}, 0, 0, 0);
}}
"""


def emulator(processor):
    found = shutil.which(f"qemu-{processor}-static") or shutil.which(f"qemu-{processor}")
    if found is None:
        pytest.skip(f"qemu-{processor} of qemu-user is not installed: code for this processor cannot be run here")
    return found


def source(processor, sizes, rows, scratch, number):
    """Return a program without a C library: it reads the arguments, runs the kernel, and writes the results."""
    starts = [N * sum(sizes[:k]) for k in range(len(sizes))]
    main = MAIN.format(
        **{"number": number, "read": N * sum(sizes), "write": N * rows, "scratch": max(scratch, 64), "n": N},
        **{"READ": READ, "WRITE": WRITE, "EXIT": EXIT},
        ins=", ".join(f"in + {start}" for start in starts),
        strides=", ".join(f"{size} * sizeof({number})" for size in (*sizes, rows)),
    )
    return PROGRAM.format(*SYSTEM_CALL[processor]) + main


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("robot", "name"), [("panda", "inverse_dynamics"), ("go2", "forward_dynamics")])
@pytest.mark.parametrize("processor", TARGETS)
def test_the_bits_are_those_of_this_machine(processor, robot, name, dtype, tmp_path):
    qemu, target = emulator(processor), TARGETS[processor]
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    function = getattr(kt.load(robot), name)
    program = function._kernels.program(function._default)
    code = compile_batch(program, dtype=dtype, target=target, lanes=target.lanes(dtype))
    rng = np.random.default_rng(5)
    inputs = [rng.normal(size=(N, *port.shape)).astype(dtype) for port in program.inputs]
    inputs[0][:, 0] *= np.where(np.arange(N) < 4, 1e9, 1.0)  # the reduction of large angles too
    sizes, rows = [port.size for port in program.inputs], program.outputs[0].size
    number = "double" if dtype == "float64" else "float"
    (tmp_path / "main.c").write_text(source(processor, sizes, rows, code.scratch, number))
    objects = [tmp_path / f"{k}.o" for k in range(len(code.objects))]
    for path, raw in zip(objects, code.objects, strict=True):
        path.write_bytes(raw)
    command = [sys.executable, "-m", "ziglang", "cc", "-target", f"{processor}-freestanding-none", *FLAGS]
    subprocess.run([*command, "-o", tmp_path / "run", tmp_path / "main.c", *objects], check=True, capture_output=True)
    ran = subprocess.run(
        [qemu, tmp_path / "run"], input=b"".join(x.tobytes() for x in inputs), capture_output=True, check=True
    )
    assert ran.stdout == np.asarray(function(*inputs)).tobytes(), (
        f"the bits of {processor} and {platform.machine()} differ"
    )
