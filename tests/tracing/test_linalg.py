"""Small linear algebra in compiled functions."""

import math

import mpmath as mp
import numpy as np
import pytest

import kinetree as kt
from helpers.programs import compiled, of_arrays
from kinetree.errors import ArgumentError

NAN = math.nan


def spd(n, seed=0):
    G = np.random.default_rng(seed).normal(size=(n, n))
    return G @ G.T + n * np.eye(n)


SOLVERS = pytest.mark.parametrize("solve", [kt.solve, kt.solve_spd])


@SOLVERS
@pytest.mark.parametrize("n", [1, 2, 3, 6])
@pytest.mark.parametrize("columns", [None, 1, 4])
def test_solve(n, columns, solve):
    A = spd(n)
    b = np.random.default_rng(1).normal(size=n if columns is None else (n, columns))
    f = compiled(solve, A.shape, b.shape)
    wanted = np.linalg.solve(A, b)
    assert f(A, b).shape == wanted.shape
    assert np.allclose(f(A, b), wanted, rtol=1e-13, atol=1e-14)
    assert np.array_equal(solve(A, b), wanted)
    if solve is kt.solve_spd:
        assert_reads_the_lower_triangle(f, A, b)
    stack = np.stack([A, 2 * A])
    assert np.allclose(f(stack, b)[1], wanted / 2, rtol=1e-13)


def assert_reads_the_lower_triangle(f, A, b):
    lower = np.tril(A) + np.triu(np.full(A.shape, NAN), 1)
    assert np.array_equal(f(lower, b), f(A, b))


def test_solve_knows_numbers():
    A = spd(3)
    f = compiled(lambda b: kt.solve_spd(A, b), (3,))
    assert "div" not in f.op_count
    assert not any(op.startswith("select") for op in compiled(lambda b: kt.solve(A, b), (3,)).op_count)
    assert np.allclose(f(np.ones(3)), np.linalg.solve(A, np.ones(3)), rtol=1e-13)
    inverse = compiled(lambda A: kt.solve(A, np.eye(3)), (3, 3))
    assert np.allclose(inverse(A), np.linalg.inv(A), rtol=1e-12)


def test_solve_of_batches_of_plain_arrays():
    A, b = np.stack([spd(3), spd(3, 1)]), np.ones((2, 3))
    assert np.allclose((A @ kt.solve(A, b)[..., None])[..., 0], b)
    assert np.allclose(A @ kt.solve(A, np.stack([np.eye(3)] * 2)), np.eye(3))


@pytest.mark.parametrize(("A", "b"), [((2, 3), (2,)), ((2, 2), (3,)), ((2, 2), ()), ((2,), (2,)), ((2, 2), (3, 2))])
@SOLVERS
def test_solve_refuses_shapes(A, b, solve):
    with pytest.raises(ArgumentError, match="solve"):
        solve(np.ones(A), np.ones(b))
    with pytest.raises(ArgumentError, match="solve"):
        of_arrays(solve, A, b)


def regular(rng, n):
    """Return matrices that need pivots: random ones, permutations, indefinite, graded, with zeros on the diagonal."""
    G = rng.normal(size=(n, n))
    yield G
    yield np.eye(n)[rng.permutation(n)] * rng.uniform(1, 2, n)
    yield G - np.diag(np.diag(G)) + 1e-30 * np.eye(n) if n > 2 else G
    yield G + G.T - 2 * n * np.diag(rng.choice([0.0, 1.0], n))
    yield G * 10.0 ** rng.integers(-8, 8, (n, 1))
    yield np.tril(G)[::-1]
    yield G * 2.0**-1030


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_solve_is_right_for_every_regular_matrix(n):
    rng = np.random.default_rng(n)
    f = compiled(kt.solve, (n, n), (n,))
    with mp.workdps(60):
        for _ in range(8):
            for A in regular(rng, n):
                b = A @ rng.normal(size=n)
                x = f(A, b)
                right = mp.lu_solve(mp.matrix(A.tolist()), mp.matrix(b.tolist()))
                error = max(abs(mp.mpf(float(x[k])) - right[k]) for k in range(n))
                digits_lost = np.linalg.cond(A / np.abs(A).max(1, keepdims=True))
                assert error <= 20 * n * digits_lost * 2.0**-53 * max(abs(y) for y in right)


def test_solve_has_the_same_bits_in_all_lanes():
    rng = np.random.default_rng(0)
    A, b = np.stack([A for _ in range(5) for A in regular(rng, 4)]), rng.normal(size=4)
    wanted = np.array([compiled(kt.solve, (4, 4), (4,))(a, b) for a in A])
    for lanes in (1, 2, 8):
        assert np.array_equal(compiled(kt.solve, (4, 4), (4,), lanes=lanes)(A, b), wanted, equal_nan=True)


def test_float32():
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(3, 3)).astype(np.float32), rng.normal(size=3).astype(np.float32)
    A[0, 0] = 0.0
    x = compiled(kt.solve, (3, 3), (3,))(A, b)
    assert x.dtype == np.float32
    assert np.allclose(A @ x, b, atol=1e-5)
    eig = compiled(lambda A: np.vstack([*kt.eigh3(A)]), (3, 3))
    for scale in (1.0, 1e-40, 1e37):
        S = (scale * (A + A.T)).astype(np.float32)
        assert np.allclose(eig(S)[0] / scale, np.linalg.eigvalsh(S.astype(float) / scale), atol=2e-5)
    assert not eig(np.zeros((3, 3), np.float32))[0].any()


def test_a_singular_matrix_gives_no_finite_solution():
    f = compiled(kt.solve, (2, 2), (2,))
    assert not np.isfinite(f(np.array([[1.0, 2.0], [2.0, 4.0]]), np.ones(2))).any()
    constant = compiled(lambda b: kt.solve(np.zeros((2, 2)), b), (2,))
    assert not np.isfinite(constant(np.ones(2))).any()


def test_inverse_determinant_and_norm():
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4):
        A = rng.normal(size=(n, n))
        A[0, 0] = 0.0 if n > 1 else 2.0
        for inverse in (kt.inv, np.linalg.inv):
            assert np.allclose(compiled(inverse, (n, n))(A), np.linalg.inv(A), rtol=1e-11)
        assert np.isclose(compiled(np.linalg.det, (n, n))(A), np.linalg.det(A), rtol=1e-12)
        assert np.allclose(compiled(np.linalg.solve, (n, n), (n, 2))(A, A[:, :1] * [1, 2]), np.eye(n)[:, :1] * [1, 2])
        assert np.array_equal(kt.inv(A), np.linalg.inv(A))
    x = rng.normal(size=(3, 4))
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}, {"ord": 1, "axis": 1}, {"ord": np.inf, "axis": 0}):
        got = compiled(lambda x, options=options: np.linalg.norm(x, **options), (3, 4))(x)
        assert np.allclose(got, np.linalg.norm(x, **options), rtol=1e-15)
    assert np.isclose(compiled(lambda x: np.linalg.norm(x[0]), (3, 4))(x), np.linalg.norm(x[0]), rtol=1e-15)
    with pytest.raises(ArgumentError, match="inv takes a square matrix"):
        of_arrays(kt.inv, (2, 3))


def symmetric(rng):
    """Return symmetric matrices: random, with equal or tiny eigenvalues, diagonal, zero, very large and very small."""
    for scale in (1.0, 1e-290, 1e300, 5e-320):
        G = rng.normal(size=(3, 3))
        Q = np.linalg.qr(G)[0]
        yield (G + G.T) * scale
        yield (Q * [1.0, 1.0, 3.0]) @ Q.T * scale
        yield (Q * [1.0, 1e-9, 1e-14]) @ Q.T * scale
        yield np.diag([3.0, -1.0, 2.0]) * scale
        yield np.outer(Q[0], Q[0]) * scale
    yield np.zeros((3, 3))
    yield np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1]])
    yield np.eye(3)


def test_eigenvalues_of_symmetric_3_by_3_matrices():
    rng = np.random.default_rng(0)
    f = compiled(lambda A: np.vstack([*kt.eigh3(A)]), (3, 3))
    eps = 2.0**-52
    for _ in range(20):
        for A in symmetric(rng):
            A = np.tril(A) + np.tril(A, -1).T
            values, vectors = np.split(f(A), [1])
            size = np.abs(np.linalg.eigvalsh(A)).max()
            assert np.allclose(values[0], np.linalg.eigvalsh(A), rtol=0, atol=8 * eps * size + 1e-323)
            assert np.allclose(vectors.T @ vectors, np.eye(3), atol=16 * eps)
            scaled = A / size if size > 1e-300 else A
            if size > 1e-300:
                assert np.allclose(scaled @ vectors, vectors * (values[0] / size), atol=16 * eps)
    lower = np.array([[2.0, NAN, NAN], [1.0, 3.0, NAN], [0.5, 0.2, 1.0]])
    assert np.isfinite(f(lower)).all()
    values, vectors = kt.eigh3(np.diag([3.0, 1.0, 2.0]))
    assert values.tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(ArgumentError, match="eigh3 takes a symmetric 3×3 matrix"):
        kt.eigh3(np.eye(2))
