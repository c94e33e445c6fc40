"""A backend from outside the package: the interpreter behind the contract, called like any compiled code."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from helpers.compiler import names_of_operations
from helpers.trees import page, random_states, random_tree
from kinetree.algorithms import ALGORITHMS, rnea
from kinetree.backends import BACKENDS, get_backend
from kinetree.backends.base import Backend, ObjectCode, check_legal
from kinetree.functions.of_robot import robot_spec
from kinetree.graph import Program
from kinetree.graph.graph import digest
from kinetree.graph.ops import OPS, interpret
from kinetree.runtime import Function

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
