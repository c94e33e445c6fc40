"""Calling compiled kernels on NumPy arrays, as the runtime does."""

import ctypes
from functools import lru_cache

import llvmlite.binding as llvm
import numpy as np

from kinetree.backends.llvm import Target, load
from kinetree.backends.llvm.compile import compile_batch, compile_single, object_code
from kinetree.backends.llvm.module import batch_ir, single_ir
from kinetree.backends.llvm.target import target_machine
from kinetree.graph.ops import interpret

HOST = Target.host()
_POINTER = ctypes.c_void_p
_GUARD = 64


class Scratch:
    """Scratch as the kernel asks for it, full of NaN, with guards that must stay as they were."""

    def __init__(self, size):
        self._raw = np.full(size + 4 * _GUARD, 0xFF, dtype=np.uint8)
        start = -self._raw.ctypes.data % 64 + _GUARD
        self._around = (slice(0, start), slice(start + size, None))
        self.address = self._raw.ctypes.data + start

    def check(self):
        assert all((self._raw[s] == 0xFF).all() for s in self._around), "written outside the scratch"


def _pointers(arrays):
    return (_POINTER * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])


@lru_cache(maxsize=32)
def _compiled(program, dtype, lanes=None):
    """The code for one state, or with lanes for many."""
    if lanes is None:
        return compile_single(program, dtype=dtype, target=HOST)
    return compile_batch(program, dtype=dtype, target=HOST, lanes=lanes)


_loaded = lru_cache(maxsize=32)(load)


def run_single(code_or_program, inputs, dtype="float64"):
    """Outputs of kt_single for one state."""
    if isinstance(code_or_program, tuple):
        code, ports = code_or_program
    else:
        code, ports = _compiled(code_or_program, dtype), code_or_program.outputs
    loaded = _loaded(code)
    inputs = [np.ascontiguousarray(x, dtype=dtype) for x in inputs]
    outputs = [np.full(port.shape, np.nan, dtype=dtype) for port in ports]
    scratch = Scratch(loaded.scratch)
    kernel = ctypes.CFUNCTYPE(None, *[_POINTER] * 3)(loaded.address("kt_single"))
    kernel(_pointers(inputs), _pointers(outputs), scratch.address)
    scratch.check()
    return outputs


def run_batch(code_or_program, inputs, lanes, dtype="float64", n=None, broadcast=()):
    """Outputs of kt_batch; `inputs` have a leading axis of states, but for those in `broadcast`."""
    if isinstance(code_or_program, tuple):
        code, ports = code_or_program
    else:
        code, ports = _compiled(code_or_program, dtype, lanes), code_or_program.outputs
    loaded = _loaded(code)
    inputs = [np.ascontiguousarray(x, dtype=dtype) for x in inputs]
    if n is None:
        n = next(len(x) for k, x in enumerate(inputs) if k not in broadcast)
    outputs = [np.full((n + 1, *port.shape), np.nan, dtype=dtype) for port in ports]
    strides = [0 if k in broadcast else x.strides[0] for k, x in enumerate(inputs)]
    strides = np.array([*strides, *[y.strides[0] for y in outputs]], dtype=np.int64)
    scratch = Scratch(loaded.scratch)
    kernel = ctypes.CFUNCTYPE(None, *[_POINTER] * 3, ctypes.c_int64, _POINTER)(loaded.address("kt_batch"))
    kernel(_pointers(inputs), _pointers(outputs), strides.ctypes.data, n, scratch.address)
    scratch.check()
    assert all(np.isnan(y[n:]).all() for y in outputs), "written after the last state"
    return [y[:n] for y in outputs]


def small_regions(program, lanes, dtype="float64", size=7):
    """Code (for `run_single` or `run_batch`) with at most `size` operations in a region; lanes=None for one state."""
    if lanes is None:
        ir, scratch = single_ir(program, dtype, HOST, size)
    else:
        ir, scratch = batch_ir(program, dtype, HOST, lanes, size)
    return object_code(ir, scratch, HOST), program.outputs


def assert_same_bits(program, x, lanes=(1, 4, 8), dtype="float64"):
    """Assert that the interpreter and all kinds of kernels of a program of one input agree, those of small regions too.

    The interpreter knows float64 only; for float32 the kernel for one state is what the others are compared with.
    """
    if dtype == "float64":
        states = [interpret(program, [row]) for row in x]
    else:
        states = [run_single(program, [row], dtype) for row in x]
    expected = [np.array(outputs) for outputs in zip(*states, strict=True)]
    for code in (program, small_regions(program, None, dtype, size=1)):
        got = zip(*(run_single(code, [row], dtype) for row in x), strict=True)
        assert all(same_bits(np.array(a), b) for a, b in zip(got, expected, strict=True))
    for width in lanes:
        for code in (program, small_regions(program, width, dtype, size=1)):
            got = run_batch(code, [x], width, dtype)
            assert all(same_bits(a, b) for a, b in zip(got, expected, strict=True)), width
    return expected


@lru_cache(maxsize=32)
def assembly(ir):
    """The assembly of a module."""
    module = llvm.parse_assembly(ir, llvm.create_context())
    module.verify()
    return target_machine(HOST).emit_assembly(module)


def same_bits(a, b):
    """Whether two arrays are equal bit for bit, any NaN being equal to any other."""
    assert a.shape == b.shape
    assert a.dtype == b.dtype
    unsigned = np.uint64 if a.dtype == np.float64 else np.uint32
    return bool(np.all((a.view(unsigned) == b.view(unsigned)) | (np.isnan(a) & np.isnan(b))))
