"""Object code: what is in it, that it can be stored, and that it is bounded and freed."""

import ctypes
import gc
import pickle
import re
import subprocess
import sys
import weakref
from dataclasses import replace

import llvmlite.binding as llvm
import numpy as np
import pytest

from helpers.kernels import HOST, assembly, run_single, same_bits
from helpers.programs import random_program, traced
from kinetree.backends.base import ObjectCode
from kinetree.backends.llvm import Target, load
from kinetree.backends.llvm.compile import compile_batch, compile_single, pieces
from kinetree.backends.llvm.module import batch_ir, single_ir
from kinetree.graph.ops import interpret

X86 = HOST.triple.startswith("x86_64")


def wide_sum(n):
    """Products of all inputs, all of them alive until the end: the worst case for registers."""

    def function(x):
        products = [x[i] * x[(i * 7 + 3) % len(x)] + x[i - 1] for i in range(n)]
        total = x[0]
        for p in products[::-1]:
            total = total * x[1] - p
        return [total, *products[::5]]

    return traced(function, n)


def chain(n):
    def function(x):
        y = x[0]
        for i in range(n):
            y = y * x[i % 3] + x[1]
        return [y, y.sin()]

    return traced(function, 3)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_modules_are_valid(dtype):
    program = random_program(1, operations=("fma", "mul", "sin", "cos", "sqrt", "div", "fnma", "fms", "neg"))
    for ir, _ in (single_ir(program, dtype, HOST), *(batch_ir(program, dtype, HOST, w) for w in (1, 2, 4, 8, 16))):
        llvm.parse_assembly(ir, llvm.create_context()).verify()


def test_entry_points_and_externals():
    program = chain(4)
    extra = """
    @somewhere = external global i8
    declare void @outside(ptr)
    define void @twice(ptr %i, ptr %o, ptr %s) {
      call void @kt_single(ptr %i, ptr %o, ptr %s)
      call void @outside(ptr @somewhere)
      ret void
    }
    """
    code = compile_single(program, target=HOST, entries=lambda scratch: extra)
    assert code.symbols == ("kt_single", "twice")
    assert set(code.externals) - {"fma"} == {"outside", "somewhere"}
    with pytest.raises(LookupError, match="not known"):
        load(code)
    assert compile_batch(program, target=HOST, lanes=4).symbols == ("kt_batch",)


def test_external_symbols_are_reached():
    called = []
    callback = ctypes.CFUNCTYPE(None)(lambda: called.append(1))
    llvm.add_symbol("kinetree_test_outside", ctypes.cast(callback, ctypes.c_void_p).value)
    extra = """
    declare void @kinetree_test_outside()
    define void @entry() {
      call void @kinetree_test_outside()
      ret void
    }
    """
    loaded = load(compile_single(chain(2), target=HOST, entries=lambda scratch: extra))
    ctypes.CFUNCTYPE(None)(loaded.address("entry"))()
    assert called == [1]


def test_code_works_in_another_process():
    program = chain(5)
    x = np.array([0.3, 0.4, 0.5])
    code = compile_single(program, target=HOST)
    script = """
import ctypes, pickle, sys
import numpy as np
from kinetree.backends.llvm import load
loaded = load(pickle.load(sys.stdin.buffer))
x, y, scratch = np.array([0.3, 0.4, 0.5]), np.zeros(2), np.zeros(loaded.scratch + 64, np.uint8)
pointers = [(ctypes.c_void_p * 1)(a.ctypes.data) for a in (x, y)]
aligned = scratch.ctypes.data + -scratch.ctypes.data % 64
ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(loaded.address("kt_single"))(*pointers, aligned)
print(y[0].hex(), y[1].hex())
"""
    done = subprocess.run([sys.executable, "-c", script], input=pickle.dumps(code), capture_output=True, check=True)
    assert done.stdout.split() == [y.hex().encode() for y in run_single(program, [x])[0].tolist()]


def test_the_same_program_gives_the_same_object_code():
    assert compile_single(chain(9), target=HOST) == compile_single(chain(9), target=HOST)
    assert isinstance(pickle.loads(pickle.dumps(compile_batch(chain(9), target=HOST, lanes=2))), ObjectCode)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_code_is_freed_with_its_object():
    code = compile_single(chain(5), target=HOST)

    def mappings():
        with open("/proc/self/maps") as maps:
            return sum(1 for _ in maps)

    load(code)
    gc.collect()
    before = mappings()
    kept = [load(code) for _ in range(30)]
    assert mappings() >= before + 30
    gone = weakref.ref(kept[0])
    kept.clear()
    gc.collect()
    assert gone() is None
    assert mappings() <= before + 3


def late(x, n):
    """Values that are used long after they are made, but in the same region."""
    total = x[0]
    for start in range(0, n, 200):
        made = [x[i % 12] * x[i % 11] + x[i % 7] * float(i + 1) for i in range(start, start + 200)]
        for value in reversed(made):
            total = total * x[0] + value
    return [total]


@pytest.mark.skipif(not X86, reason="reads x86 assembly")
@pytest.mark.parametrize("lanes", [None, 1, 8, 16])
def test_stack_frames_are_bounded(lanes):
    program = traced(lambda x: late(x, 3000), 12)
    ir, _ = single_ir(program, "float64", HOST) if lanes is None else batch_ir(program, "float64", HOST, lanes)
    frames = [int(n) for n in re.findall(r"subq\s+\$(\d+), %rsp", assembly(ir))]
    assert frames, "this program must spill, or the test shows nothing"
    assert max(frames) <= 64 * 1024 + 512


@pytest.mark.skipif(HOST.vector_bits != 512, reason="needs AVX-512")
def test_wide_registers_are_used():
    text = assembly(batch_ir(chain(20), "float64", HOST, 8)[0])
    region = text[text.index("region0:") :]
    region = region[: region.index("retq")]
    assert re.search(r"vfmadd\S+\s.*%zmm|vmulpd\s.*%zmm", region)
    assert "%ymm" not in region


def test_code_grows_in_proportion():
    def lines(n, lanes):
        ir, _ = batch_ir(wide_sum(n), "float64", HOST, lanes)
        return ir.count("\n")

    for lanes in (1, 8):
        base = lines(2, lanes)
        assert lines(4000, lanes) - base < 2.2 * (lines(2000, lanes) - base)


def test_slots_are_used_again():
    """A long chain needs no more scratch than a short one."""
    sizes = {batch_ir(chain(n), "float64", HOST, 8, 10)[1] for n in (100, 1000)}
    assert len(sizes) == 1


@pytest.mark.skipif(not X86, reason="x86 targets")
@pytest.mark.parametrize(("cpu", "bits"), [("x86-64", 128), ("x86-64-v3", 256)])
def test_smaller_machines_give_the_same_bits(cpu, bits):
    """Without an instruction for it fma is the C library's, which is exact too."""
    target = Target(HOST.triple, cpu, "", bits)
    program = random_program(4, operations=("add", "sub", "mul", "fma", "fms", "fnma", "sin", "cos", "neg"))
    x = [np.random.default_rng(0).uniform(-1, 1, port.shape) for port in program.inputs]
    code = compile_single(program, target=target)
    assert ("fma" in code.externals) == (cpu == "x86-64")
    for dtype in ("float64", "float32"):
        code = compile_single(program, target=target, dtype=dtype)
        got = run_single((code, program.outputs), x, dtype)
        assert all(same_bits(a, b) for a, b in zip(got, run_single(program, x, dtype), strict=True))


def test_float32_rounds_every_operation():
    program = traced(lambda x: [x[0] * x[1] + 0.1, x[0] / 3.0], 2)
    x = np.array([1.1, 2.3], dtype=np.float32)
    expected = [x[0] * x[1] + np.float32(0.1), x[0] / np.float32(3.0)]
    assert run_single(program, [x], "float32")[0].tolist() == expected
    assert replace(HOST, vector_bits=256).lanes("float32") == 8
    assert interpret(program, [x])[0].dtype == np.float64


def test_code_for_arm_calls_nothing():
    """It is only made here, not run: no runtime library may be needed for wide integers or for fma."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = Target("aarch64-unknown-linux-gnu", "generic", "", 128)
    code = compile_batch(chain(9), target=target, lanes=4)
    assert code.externals == ()
    (data,) = code.objects
    names = set(re.findall(rb"\0([A-Za-z_]\w*)(?=\0)", data[data.rindex(b"\0kt_batch\0") - 400 :]))
    assert b"kt_batch" in names
    assert not {n for n in names if n.startswith(b"__") or n in (b"memcpy", b"fma")}


@pytest.mark.parametrize("size", [1, 60, 200])
def test_pieces_are_as_few_as_their_size_allows(size):
    functions = [f"define internal void @f{k}() #0 {{\n  ret void ; {'x' * (7 * k % 40)}\n}}\n" for k in range(12)]
    _, *rest = pieces("".join(functions) + "attributes #0 = { nounwind }\n", size)
    held = [[functions[int(k)] for k in re.findall(r"define hidden void @f(\d+)", piece)] for piece in rest]
    assert [text for group in held for text in group] == functions
    lengths = [sum(len(text) - len("\n}\n") for text in group) for group in held]
    assert all(length <= size or len(group) == 1 for length, group in zip(lengths, held, strict=True))
    following = [len(group[0]) - len("\n}\n") for group in held[1:]]
    assert all(length + more > size for length, more in zip(lengths, following, strict=False))
