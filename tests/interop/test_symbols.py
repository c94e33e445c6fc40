"""Functions as those of CasADi, SymPy and SciPy: values, derivatives of theirs and ours, and errors."""

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import NonlinearConstraint, approx_fprime, minimize

from helpers.frameworks import CALLS, GO2, PANDA, STATE, by_position, check_slopes, entries, law
from kinetree.errors import ArgumentError


def matrix(x):
    """An argument as CasADi has it."""
    return np.reshape(x, (len(x), -1)) if x.shape else x


def columns(results):
    """All entries of CasADi's results, in the order of NumPy."""
    results = results if isinstance(results, tuple) else (results,)
    return np.concatenate([np.array(x).ravel() for x in results])


@pytest.mark.parametrize("call", CALLS)
def test_casadi_expressions(call):
    function, arguments = by_position(call)
    optional = [name for name in ("f_ext",) if len(arguments) > 3]
    f = function.to_casadi("f", optional=optional)
    expected = entries(function(*arguments))
    assert abs(columns(f(*map(matrix, arguments))) - expected).max() < 1e-13 * max(1.0, abs(expected).max())


@pytest.mark.parametrize("call", ["with forces", "forward dynamics", "of a user", "a matrix", "a configuration"])
def test_casadi_calls_our_c_with_its_jacobian(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, arguments = by_position(call)
    optional = [name for name in ("f_ext",) if len(arguments) > 3]
    f = function.to_casadi("external", external=tmp_path / "external.c", optional=optional)
    found = f(*map(matrix, arguments))
    assert np.array_equal(columns(found), entries(function(*arguments)))
    results = found if isinstance(found, tuple) else (found,)
    blocks = f.jacobian()(*map(matrix, arguments), *results)
    blocks = list(blocks) if isinstance(blocks, tuple) else [blocks]
    n, J = len(arguments), []
    for k, x in enumerate(arguments):
        rows = []
        for j, y in enumerate(results):
            block = np.array(blocks[j * n + k])
            rows.append(_row_major(block, np.array(y).shape, matrix(x).shape if x.shape else (1, 1)))
        J.append(np.vstack(rows))
    check_slopes(function, arguments, J)
    assert {p.name for p in tmp_path.iterdir()} == {"external.c"}


def _row_major(block, y, x):
    """A Jacobian of matrices by columns as one of matrices by rows."""
    block = block.reshape(y[1], y[0], x[1], x[0]).transpose(1, 0, 3, 2)
    return block.reshape(y[0] * y[1], x[0] * x[1])


def test_the_external_jacobian_has_our_bits_and_no_zeros(tmp_path):
    state = PANDA.random_state(seed=0)
    f = PANDA.inverse_dynamics.to_casadi(external=tmp_path / "id.c")
    blocks = f.jacobian()(*state, 0)
    for block, own in zip(blocks, PANDA.inverse_dynamics.derivatives(*state), strict=True):
        assert np.array_equal(np.array(block), own)
    assert blocks[0].nnz() == 42  # the first joint turns about the vertical


def test_casadi_differentiates_loops_and_solves(tmp_path):
    f = PANDA.forward_dynamics.to_casadi()
    slope = ca.Function("slope", f.sx_in(), [ca.jacobian(f(*f.sx_in()), f.sx_in(0))])
    state = PANDA.random_state(seed=0)
    own = PANDA.forward_dynamics.derivatives(*state, wrt="q")
    assert abs(np.array(slope(*state)) - own).max() < 1e-12 * abs(own).max()
    g = PANDA.potential_energy.to_casadi("energy", external=tmp_path / "energy.c")
    q = ca.MX.sym("q", 7)
    solver = ca.nlpsol(
        "solver",
        "ipopt",
        {"x": q, "f": g(q)},
        {"ipopt.print_level": 0, "print_time": 0, "ipopt.hessian_approximation": "limited-memory"},
    )
    found = np.array(solver(x0=PANDA.neutral() + 0.1)["x"]).ravel()
    assert abs(PANDA.gravity_forces(found)).max() < 1e-5


@pytest.mark.parametrize("call", ["a matrix", "of a user"])
def test_sympy_has_the_numbers(call):
    function, arguments = by_position(call)
    names = {"gain": 2.0} if call == "of a user" else {}
    found = function.to_sympy()(*[x.tolist() for x in arguments[: 1 if call == "a matrix" else 2]], **names)
    found = found if isinstance(found, tuple) else (found,)
    values = np.concatenate([np.array(sp.Matrix([x]).evalf(), dtype=float).ravel() for x in found])
    expected = entries(function(*arguments))
    assert abs(values - expected).max() < 1e-13 * max(1.0, abs(expected).max())


def test_sympy_derives():
    q = sp.symbols("q:7")
    placement = PANDA.frame_placement.to_sympy()(q, frame="panda_link2")
    assert sp.simplify(placement[0, 0] - sp.cos(q[0]) * sp.cos(q[1])) == 0
    assert PANDA.gravity_forces.to_sympy()(sp.Matrix(q)).shape == (7, 1)
    with pytest.raises(ArgumentError, match="give it one state"):
        PANDA.gravity_forces.to_sympy()(np.zeros((2, 7)))


def test_scipy_minimises_with_first_and_second_derivatives():
    energy = PANDA.potential_energy.to_scipy(PANDA.neutral() + 0.1, wrt="q")
    found = minimize(energy, energy.x, jac=energy.jac, hess=energy.hess, method="trust-exact", options={"gtol": 1e-8})
    assert abs(PANDA.gravity_forces(found.x)).max() < 1e-5
    f = PANDA.inverse_dynamics.to_scipy(*PANDA.random_state(seed=0), wrt=("q", "v"))
    J, operator, weights = f.jac(f.x), f.operator(f.x), np.arange(7.0)
    assert abs(J - approx_fprime(f.x, f, 1e-7)).max() < 1e-4
    assert np.allclose(operator @ np.eye(14), J, atol=1e-13)
    assert np.allclose(operator.H @ np.eye(7), J.T, atol=1e-13)
    turned = PANDA.inverse_dynamics.to_scipy(*PANDA.random_state(seed=0), wrt=("v", "q"))
    assert np.allclose(turned.operator(turned.x) @ np.eye(14), turned.jac(turned.x), atol=1e-13)
    limits = NonlinearConstraint(f, -1.0, 1.0, jac=f.jac, hess=f.hess)
    H = limits.hess(f.x, weights)
    assert abs(H - approx_fprime(f.x, lambda x: f.jac(x).T @ weights, 1e-7)).max() < 1e-4 * abs(H).max()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: PANDA.gravity_forces.to_scipy(np.zeros(7), wrt="p"), "no given argument 'p'"),
        (lambda: PANDA.gravity_forces.to_scipy(np.zeros((2, 7)), wrt="q"), "without leading axes"),
        (lambda: PANDA.gravity_forces.to_scipy(np.zeros(7), wrt="q")(np.zeros(3)), "x has 3 entries, it must have 7"),
        (lambda: PANDA.gravity_forces.to_scipy(np.zeros(7), wrt="q").hess(np.zeros(7)), "a weight for each entry"),
        (lambda: PANDA.gravity_forces.to_scipy(np.zeros(7), wrt=()), "names no argument"),
        (lambda: PANDA.gravity_forces.to_casadi(external="/nowhere/f.c"), "there is no directory"),
        (lambda: PANDA.gravity_forces.to_casadi("double", external="f.c"), "of a function in C"),
        (lambda: PANDA.gravity_forces.to_casadi("1x"), "cannot be the name of a function in CasADi"),
        (lambda: PANDA.gravity_forces.to_casadi(frame="x"), "has no argument 'frame'"),
        (lambda: law.to_sympy()(STATE[0]), "needs v too"),
        (lambda: GO2.gravity_forces.to_sympy()([0.0]), "nq = 19"),
    ],
)
def test_errors(call, text):
    with pytest.raises(ArgumentError) as error:
        call()
    assert text in str(error.value)
