"""Matrices of derivatives as their non-zeros: where these are, in every form of a call, and for solvers."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.sparse import csc_matrix

import kinetree as kt
from helpers.kernels import same_bits
from helpers.sampling import few
from helpers.told import told
from kinetree.errors import ArgumentError

DOG = kt.load("go2")
STATES = DOG.random_state(seed=0, size=5)


@DOG.compile
def leg(q, v, gain: float = 2.0):
    tau = DOG.gravity_forces(q) - gain * v
    return {"tau": tau[6:9], "power": tau[6:9] @ v[6:9]}


CASES = {
    "inverse dynamics": (DOG.inverse_dynamics, STATES, {"wrt": ("q", "v", "a")}),
    "forward dynamics": (DOG.forward_dynamics, STATES, {"wrt": ("tau", "q")}),
    "a frame": (DOG.frame_placement, STATES[:1], {"frame": DOG.frame_names[-1]}),
    "the step of a configuration": (DOG.integrate, STATES[:2], {}),
    "a user's": (leg, STATES[:2], {"wrt": ("q", "v")}),
}


@pytest.mark.parametrize("name", few(CASES, 3))
def test_non_zeros_in_columns_are_the_whole_matrix(name):
    function, arguments, options = CASES[name]
    whole = function.derivatives(*arguments, **options)
    sparse = function.derivatives(*arguments, **options, form="nonzeros")
    wrt = options.get("wrt", ())
    patterns = function.sparsity(wrt, **{k: x for k, x in options.items() if k != "wrt"})
    several = isinstance(whole, tuple)
    assert not several or sparse._fields == patterns._fields == whole._fields
    for dense, nonzeros, there in zip(*((x if several else (x,)) for x in (whole, sparse, patterns)), strict=True):
        flat = dense.reshape(5, *there.shape)
        assert nonzeros.shape == (5, there.nnz)
        assert same_bits(there.dense(nonzeros), flat + 0.0)
        assert np.array_equal(csc_matrix((nonzeros[0], there.indices, there.indptr), there.shape).toarray(), flat[0])
        assert np.array_equal(np.argwhere(there.mask.T)[:, ::-1], np.transpose([there.indices, there.columns]))
        mostly = (flat != 0.0).any(axis=0)
        assert not (mostly & ~there.mask).any()


def test_a_leg_moves_no_other_one():
    there = DOG.inverse_dynamics.sparsity(wrt="q").mask
    assert not there[6:9, 9:].any()
    assert there[6:9, 6:9].any(axis=1).all()


def test_values_come_first_with_the_same_pattern():
    f, (q, v, a) = DOG.inverse_dynamics, STATES
    tau, by_q = f.derivatives(q, v, a, wrt="q", value=True, form="nonzeros")
    assert same_bits(tau, f(q, v, a))
    alone = f.derivatives(q, v, a, wrt="q", form="nonzeros")
    assert by_q.shape == alone.shape
    assert np.abs(by_q - alone).max() < 1e-12 * np.abs(alone).max()


@pytest.mark.parametrize("wrt", [("q", "v"), ("a", "q")])
def test_hessians_as_lower_triangles(wrt):
    f, weights = DOG.inverse_dynamics, np.arange(18.0)
    there = f.sparsity(wrt, of="hessian")
    lower = there.dense(f.hessian(*STATES, weights, wrt=wrt, form="nonzeros"))
    assert (there.indices >= there.columns).all()
    whole = f.hessian(*STATES, weights, wrt=wrt)
    assert same_bits(lower, np.tril(whole) + 0.0)
    assert np.array_equal(whole, np.swapaxes(whole, 1, 2))


def test_second_derivatives_of_each_result():
    robot = kt.load("ur5")
    q, v, a = robot.random_state(seed=1)
    once = robot.inverse_dynamics.derivatives.bind(wrt=("q", "v"), form="nonzeros")
    twice, there = once.derivatives(q, v, a, wrt=("q", "v"), form="nonzeros"), once.sparsity(("q", "v"))
    first, second = robot.inverse_dynamics.sparsity(("q", "v")), []
    for x in ("q", "v"):
        blocks = []
        for y in ("q", "v"):
            name = f"ddtau_d{x}_d{y}"
            rows = getattr(there, name).dense(getattr(twice, name))  # (non-zeros of the first, 6)
            blocks.append(getattr(first, f"dtau_d{x}").dense(rows.T))  # (6, result, x)
        second.append(np.concatenate(blocks))
    tensor = np.concatenate(second, axis=2)  # (y, result, x)
    weights = np.arange(1.0, 7.0)
    hessian = robot.inverse_dynamics.hessian(q, v, a, weights, wrt=("q", "v"))
    assert np.abs(np.einsum("yrx,r->xy", tensor, weights) - hessian).max() < 1e-11 * np.abs(hessian).max()


def test_c_says_where_they_are():
    there = DOG.inverse_dynamics.sparsity(wrt="v")
    code = DOG.inverse_dynamics.derivatives.to_c("jacobian", wrt="v", form="nonzeros")
    assert f"double dtau_dv[{there.nnz}]" in code.header
    for part in ("indptr", "indices"):
        (found,) = re.findall(rf"jacobian_dtau_dv_{part}\[\d+\] = {{([^}}]*)}}", code.header)
        assert [int(x) for x in found.split(",")] == getattr(there, part).tolist()


def test_optional_inputs_and_nothing_at_all():
    there = DOG.inverse_dynamics.sparsity(wrt="f_ext")
    assert there.shape == (18, 6 * DOG.model.nb)
    still = kt.compile(DOG, lambda q, v: np.sin(v[0]) + 0.0 * q[0], name="still")
    with pytest.warns(kt.DerivativeWarning, match="'q'"):
        there = still.sparsity("q")
    assert there.nnz == 0
    assert still.derivatives(STATES[0], STATES[1], wrt="q", form="nonzeros").shape == (5, 0)


test_wrong_calls_say_what_to_do = told(
    ArgumentError,
    (lambda: DOG.inverse_dynamics.sparsity(of="vjp"), "of is 'vjp', it must be 'derivatives' or 'hessian'"),
    (lambda: DOG.inverse_dynamics.sparsity("x"), "wrt: no input 'x'"),
    (lambda: DOG.inverse_dynamics.sparsity(wrt=3), "wrt"),
    (lambda: DOG.inverse_dynamics.derivatives(*STATES, form="csc"), "form is 'csc', it must be 'dense' or 'nonzeros'"),
)
