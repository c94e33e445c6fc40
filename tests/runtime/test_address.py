from __future__ import annotations

import ctypes
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
from synthetic import at_once, declare, reference, states

import kinetree as kt
from kinetree import locks
from kinetree.backends.llvm import compile
from kinetree.backends.llvm.module import single_ir
from kinetree.glue import cpython as layout
from kinetree.runtime import Function

X, Y, Z = states()
P = ctypes.c_void_p


def c_function(f):
    inputs, outputs = f.spec.required, f.spec.outputs
    call = ctypes.CFUNCTYPE(ctypes.c_int, *[P] * (len(inputs) + len(outputs)))(f.address)
    return lambda *arrays: call(*(a.ctypes.data for a in arrays))


def test_the_address_is_a_c_function():
    f = Function(declare())
    out = np.empty(5)
    assert c_function(f)(X, Y, Z, out) == 0
    assert np.array_equal(out, reference(X, Y, Z))
    assert np.array_equal(f(X, Y, Z), out)
    assert f.address == f.address
    assert f.c_signature == "int mix(const double x[5], const double y[5], const double z[5], double r[5]);"


def test_several_results_and_other_options():
    robot = kt.load("panda")
    q, v, a = robot.random_state(seed=0)
    f = robot.hybrid_dynamics.bind(prescribed=["panda_joint1"])
    assert f.c_signature.endswith("const double tau[7], double a_out[7], double tau_out[7]);")
    got = np.empty(7), np.empty(7)
    assert c_function(f)(q, v, a, a, *got) == 0
    assert all(np.array_equal(x, y) for x, y in zip(got, f(q, v, a, a), strict=True))
    energy = np.empty(())
    c_function(robot.kinetic_energy)(q, v, energy)
    assert energy == robot.kinetic_energy(q, v)


def test_it_needs_no_lock_and_no_glue(monkeypatch):
    monkeypatch.setattr(layout, "find", lambda: None)
    f = Function(declare(identity=b"raw"))
    call = c_function(f)
    assert locks.compiling.acquire(blocking=False)
    locks.compiling.release()
    outs = [np.empty(5) for _ in range(4)]
    at_once(*(lambda out=out: [call(X, Y, Z, out) for _ in range(200)] for out in outs))
    assert all(np.array_equal(out, reference(X, Y, Z)) for out in outs)


def test_scratch_is_found_and_its_lack_is_told(monkeypatch):
    for size, status in ((1 << 20, 0), (1 << 62, -1)):
        monkeypatch.setattr(compile, "single_ir", lambda *args, size=size: (single_ir(*args)[0], size))
        f = Function(declare(identity=b"scratch %d" % size))
        call, out = c_function(f), np.zeros(5)
        assert call(X, Y, Z, out) == status
        assert np.array_equal(out, reference(X, Y, Z) if status == 0 else np.zeros(5))


C_CALLER = """
{prototype}
typedef int (*function)(const double *, const double *, const double *, double *);
double norm(function f, const double *q, const double *v, const double *a) {{
    double tau[7], sum = 0;
    if (f(q, v, a, tau) != 0) return -1;
    for (int i = 0; i < 7; i++) sum += tau[i] * tau[i];
    return sum;
}}
"""


@pytest.mark.skipif(shutil.which("gcc") is None or sys.platform == "win32", reason="no C compiler")
def test_a_caller_in_c(tmp_path):
    robot = kt.load("panda")
    q, v, a = robot.random_state(seed=0)
    f = robot.inverse_dynamics
    (tmp_path / "caller.c").write_text(C_CALLER.format(prototype=f.c_signature))
    library = tmp_path / "caller.so"
    flags = ["-O1", "-Wall", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["gcc", *flags, "-o", library, tmp_path / "caller.c"], check=True)
    norm = ctypes.CDLL(str(library)).norm
    norm.restype, norm.argtypes = ctypes.c_double, [P] * 4
    got = norm(f.address, q.ctypes.data, v.ctypes.data, a.ctypes.data)
    assert np.isclose(got, np.sum(f(q, v, a) ** 2), rtol=1e-14)


def test_a_compiled_composition_has_one_too():
    robot = kt.load("panda")
    f = robot.compile(lambda q, gain: robot.gravity_forces(q) * gain, shapes={"gain": ()}, name="held")
    q, out = robot.neutral() + 0.1, np.empty(7)
    assert c_function(f)(q, np.array(2.0), out) == 0
    assert np.array_equal(out, f(q, 2.0))
    with pytest.raises((TypeError, AttributeError, pickle.PicklingError)):
        pickle.dumps(f)  # a lambda
