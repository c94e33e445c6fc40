"""From outside the package: a backend, the interpreter behind the contract, and operations, a row of the table each."""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from helpers.c_backend import CBackend, run_c
from helpers.compiler import names_of_operations
from helpers.kernels import assert_same_bits, run_single, same_bits
from helpers.programs import traced
from helpers.trees import page, random_states, random_tree
from kinetree.algorithms import ALGORITHMS, rnea
from kinetree.backends import BACKENDS, get_backend
from kinetree.backends.base import Backend, ObjectCode, check_legal
from kinetree.backends.c import kernels as c_kernels
from kinetree.backends.c import spelling as c_spelling
from kinetree.backends.c.kernels import emit_elementwise
from kinetree.backends.llvm.ir import Lanes
from kinetree.backends.llvm.kernels import ARRAY_KERNELS
from kinetree.backends.llvm.straight_line import SPELLING, spelled
from kinetree.derivatives import PARTIALS
from kinetree.errors import ArgumentError
from kinetree.functions.of_robot import robot_spec
from kinetree.graph import Program
from kinetree.graph.graph import digest
from kinetree.graph.listing import listing
from kinetree.graph.ops import OPS, Op, interpret
from kinetree.lowering.build import work
from kinetree.passes import optimize
from kinetree.passes.constants import check_constants
from kinetree.runtime import Function
from kinetree.scalars.dual import Dual
from kinetree.scalars.functions import apply
from kinetree.tracing.arrays import traced_array
from kinetree.tracing.expr import Expr

P = ctypes.c_void_p


def arrays(ports: Any, pointers: int, dtype: str, offsets: list[int]) -> list[np.ndarray]:
    """Return views of one state of each port."""
    addresses = (P * len(offsets)).from_address(pointers)
    places = [(address or 0) + offset for address, offset in zip(addresses, offsets, strict=True)]
    kind = ctypes.c_double if dtype == "float64" else ctypes.c_float
    return [np.ctypeslib.as_array((kind * p.size).from_address(place)) for p, place in zip(ports, places, strict=True)]


class Interpreted:
    """Callbacks that interpret a program, at addresses as compiled code has them."""

    def __init__(self, program: Program, dtype: str) -> None:
        m, n = len(program.inputs), len(program.outputs)

        def single(ins: int, outs: int, scratch: int | None) -> None:
            state(ins, outs, [0] * m, [0] * n)

        def batch(ins: int, outs: int, strides: int, count: int, scratch: int | None) -> None:
            steps = list((ctypes.c_int64 * (m + n)).from_address(strides))
            for k in range(count):
                state(ins, outs, [k * s for s in steps[:m]], [k * s for s in steps[m:]])

        def state(ins: int, outs: int, at: list[int], to: list[int]) -> None:
            results = interpret(program, arrays(program.inputs, ins, dtype, at))
            for place, result in zip(arrays(program.outputs, outs, dtype, to), results, strict=True):
                place[:] = result.ravel()

        self._entries = {
            "kt_single": ctypes.CFUNCTYPE(None, P, P, P)(single),
            "kt_batch": ctypes.CFUNCTYPE(None, P, P, P, ctypes.c_int64, P)(batch),
        }

    def address(self, symbol: str) -> int | None:
        entry = self._entries.get(symbol)
        return None if entry is None else ctypes.cast(entry, P).value


class Interpreter(Backend):
    name: ClassVar[str] = "interpreter"
    programs: ClassVar[dict[bytes, tuple[Program, str]]] = {}
    legal = frozenset(OPS)
    target = f"process {os.getpid()}"

    def lanes(self, dtype: str) -> int:
        return 1

    def compile_single(self, program: Program, dtype: str) -> ObjectCode:
        check_legal(program, self.legal, self.name)
        key = digest(program) + dtype.encode()
        self.programs[key] = program, dtype
        return ObjectCode((key,), 0, ("kt_single", "kt_batch"), ())

    def compile_batch(self, program: Program, dtype: str, lanes: int) -> ObjectCode:
        return self.compile_single(program, dtype)

    def load(self, code: ObjectCode) -> Interpreted:
        return Interpreted(*self.programs[code.objects[0]])


@pytest.fixture
def interpreter(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setitem(BACKENDS, "interpreter", Interpreter)
    yield "interpreter"
    get_backend.cache_clear()


def test_a_backend_from_outside(interpreter: str) -> None:
    model = random_tree(seed=1, n=4)
    q, v, a = random_states(model, seed=2, size=5)
    f = Function(robot_spec(model, ALGORITHMS["inverse_dynamics"]), backend=interpreter)
    wanted = page(rnea, model, q, v, a)
    compiled = Function(robot_spec(model, ALGORITHMS["inverse_dynamics"]))
    rounding = 200 * np.finfo(float).eps * np.abs(wanted).max()  # the page is evaluated without any pass
    assert np.allclose(f(q, v, a), wanted, rtol=0, atol=rounding)
    assert np.allclose(f(q[0], v[0], a[0]), wanted[0], rtol=0, atol=rounding)
    assert f.op_count == compiled.op_count
    out = np.empty_like(wanted)
    assert f(q, v, a, out=out) is out
    assert np.array_equal(out, f(q, v, a))
    singles = [x.astype(np.float32) for x in (q, v, a)]
    assert f(*singles).dtype == np.float32
    with pytest.raises(NotImplementedError, match="'interpreter' makes no functions for callers from C"):
        f.address  # noqa: B018


def test_an_operation_that_a_backend_does_not_have(interpreter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Interpreter, "legal", frozenset(OPS) - {"sin"})
    f = Function(robot_spec(random_tree(seed=1, n=2), ALGORITHMS["gravity_forces"]), backend=interpreter)
    with pytest.raises(NotImplementedError, match="the interpreter backend cannot do sin"):
        f.warmup()


def test_llvm_is_a_backend() -> None:
    llvm = get_backend("llvm")
    assert llvm is get_backend("llvm")
    assert llvm.name == "llvm"
    assert llvm.legal == {*OPS, *names_of_operations()}
    assert llvm.lanes("float32") == 2 * llvm.lanes("float64")


def agree(program, x):
    """Check every kind of kernel against the interpreter, to the bit."""
    (expected,) = assert_same_bits(program, x)
    assert same_bits(np.array([run_single(optimize(program), [row])[0] for row in x]), expected)
    for lanes in (1, 4, 8):
        assert same_bits(run_c(CBackend(), program, [x], lanes)[0], expected)
    assert same_bits(run_c(CBackend(region_operations=1), optimize(program), [x[0]])[0], expected[0])


def test_a_row_and_a_spelling_are_an_operation(monkeypatch):
    """From the row: a function of NumPy records it, constants fold, it has derivatives, what it does with zero."""
    with pytest.raises(TypeError, match=r"np\.fabs cannot be traced"):
        traced(lambda x: [np.fabs(x[0])], 1)
    row = Op("fabs", 1, math.fabs, "fabs({0})", ufunc=np.fabs, roles="!", cost=5)
    monkeypatch.setitem(OPS, "fabs", row)
    monkeypatch.setitem(SPELLING, "fabs", ("call {V} @llvm.fabs.{S}({V} {0})",))
    monkeypatch.setitem(c_spelling.SPELLING, "fabs", "kt_fabs({0})")
    monkeypatch.setitem(PARTIALS, "fabs", lambda f, y, x: (f.copysign(1.0, x),))
    spelled.cache_clear()

    def function(x):
        sizes = np.fabs(traced_array([x[0] * 3.0, -x[1], x[1] + 0.25, -2.75], (2, 2)))
        return [*sizes.ravel(), x[0].apply_function("fabs", x[0]), np.fabs(x[0]).sin(), np.fabs(x[0] * 0.0 - 1.5)]

    program = traced(function, 2)
    assert "= fabs(@1)" in listing(program)
    assert [program.graph[i].payload for i in program.results[0] if program.graph[i].op == "const"] == [2.75, 1.5]
    exact = traced(lambda x: function(x)[:5], 2)  # the interpreter's sine is that of the C library
    assert sum(work(i, exact) for i in exact.schedule() if exact.graph[i].op == "fabs") == 4 * 5
    agree(exact, np.random.default_rng(0).uniform(-9, 9, (19, 2)))
    np.testing.assert_allclose(run_single(program, [[-0.3, 0.4]])[0][4:], [0.3, np.sin(0.3), 1.5])
    with pytest.raises(ArgumentError, match="1e-300 is 0"):
        check_constants(traced(lambda x: [np.fabs(x[0] * 1e-300)], 1), "float32", "f")
    assert row.partials(np, 2.0, -2.0) == (-1.0,)
    assert apply("fabs", Dual(-2.0, 3.0)).rate == -3.0
    monkeypatch.undo()
    spelled.cache_clear()


def emit_middle(dtype, width):
    """IR of the mean of two arrays and of half their distance, one element at a time."""
    t, half = Lanes(dtype, 1).scalar, Lanes(dtype, 1).constant(0.5)
    return f"""define internal void @middle(ptr %x, ptr %y, ptr %mean, ptr %radius, i64 %count) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%next, %loop]
  %px = getelementptr {t}, ptr %x, i64 %i
  %py = getelementptr {t}, ptr %y, i64 %i
  %a = load {t}, ptr %px
  %b = load {t}, ptr %py
  %sum = fadd {t} %a, %b
  %difference = fsub {t} %a, %b
  %m = fmul {t} %sum, {half}
  %r = fmul {t} %difference, {half}
  %pm = getelementptr {t}, ptr %mean, i64 %i
  %pr = getelementptr {t}, ptr %radius, i64 %i
  store {t} %m, ptr %pm
  store {t} %r, ptr %pr
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}}
"""


def emit_middle_in_c(dtype):
    """The same in C, made of the program of one element."""
    program = traced(lambda x, y: [[0.5 * x[0] + 0.5 * y[0]], [0.5 * x[0] - 0.5 * y[0]]], 1, 1, outputs=2)
    return emit_elementwise("middle", optimize(program), None, dtype)  # a half is exact, and so is fusing it


def test_an_array_kernel_of_two_operands_is_an_operation(monkeypatch):
    mean = Op("mean", 2, lambda a, b: (a + b) * 0.5, "mean({0}, {1})", array_op="middle")
    radius = Op("radius", 2, lambda a, b: (a - b) * 0.5, "radius({0}, {1})", array_op="middle")
    for op in (mean, radius):
        monkeypatch.setitem(OPS, op.name, op)
    monkeypatch.setitem(ARRAY_KERNELS, "middle", emit_middle)
    monkeypatch.setitem(c_kernels.ARRAY_KERNELS, "middle", emit_middle_in_c)

    def record(op, *operands):
        return operands[0].record(op, *operands)

    def function(x):
        first = record(mean, x[0], x[1])
        assert isinstance(first, Expr)
        return [first, record(radius, x[0] * x[1], x[2]), record(mean, first * x[2], x[0]), record(radius, x[0], 2.0)]

    agree(traced(function, 3), np.random.default_rng(0).uniform(-9, 9, (19, 3)))
    program = traced(lambda x: [record(mean, x[0].sin(), x[1]).cos(), x[1].cos()], 2)
    x = np.array([0.3, 0.4])
    expected = [np.cos((np.sin(0.3) + 0.4) / 2), np.cos(0.4)]
    np.testing.assert_allclose(run_single(program, [x])[0], expected, rtol=1e-15)


def test_a_condition_is_not_an_operand():
    with pytest.raises(TypeError, match="sin takes traced numbers, not Condition"):
        traced(lambda x: [np.sin(x[0] < x[1])], 2)
