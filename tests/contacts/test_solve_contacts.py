"""`solve_contacts` and `contact_solver`: compiled for a size, batched, and what they say of what makes no sense."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.contacts import random_problem, solved
from helpers.kernels import same_bits
from helpers.sampling import SEED
from helpers.told import told
from kinetree.errors import ArgumentError

Array = np.ndarray[Any, Any]
SIZE = {"contacts": 2, "limits": 1, "bounded": 1}
N = 21


@pytest.fixture(scope="module")
def problems() -> tuple[Array, ...]:
    """Return G, g, μ and b of problems of rank 5 with 8 rows."""
    return tuple(np.array(x) for x in zip(*(random_problem(k, rank=5, **SIZE) for k in range(N)), strict=True))


def test_the_same_as_on_plain_numbers(problems: tuple[Array, ...]) -> None:
    found = kt.solve_contacts(*problems[:3], bounds=problems[3], solver=kt.ContactSolver(tolerance=1e-9))
    for k, (G, g, mu, b) in enumerate(zip(*problems, strict=True)):
        sigma = solved(G, g, mu, b, tolerance=1e-9).sigma
        np.testing.assert_allclose(found.sigma[k], sigma, atol=1e-7 * np.abs(g).max())


def test_the_same_bits_in_every_batch(problems: tuple[Array, ...]) -> None:
    G, g, mu, b = problems
    solve = kt.contact_solver(**SIZE)
    start = np.random.default_rng(0).normal(size=g.shape)
    tolerance = np.where(np.arange(N) % 3, 1e-9, 1e-300)  # one in three goes on to ADMM, and to the end
    most = np.full(N, 180)

    def at(k: Any) -> Any:
        solver = kt.ContactSolver(tolerance=tolerance[k], max_iterations=most[k])
        return solve(G[k], g[k], mu[k], b[k], start=start[k], solver=solver)

    batch = at(slice(None))
    assert batch.iterations.min() < 20.0 < 180.0 == batch.iterations.max()
    for k in range(0, N, 4):
        assert all(same_bits(x[k], y) for x, y in zip(batch, at(k), strict=True))
    assert all(same_bits(x[3:14], y) for x, y in zip(batch, at(slice(3, 14)), strict=True))


def test_loops_over_many_rows_do_the_same() -> None:
    """Beyond 24 rows products are loops, and the code of sweeps is there once; one state here needs ADMM and more."""
    size = {"contacts": 8, "limits": 2, "bounded": 1}
    G, g, mu, b = (np.array(x) for x in zip(*(random_problem(k, rank=20, **size) for k in range(3)), strict=True))
    tolerance = np.array([1e-8, 1e-8, 0.0])
    solver = kt.ContactSolver(tolerance=tolerance, max_iterations=360)
    found = kt.solve_contacts(G, g, mu, bounds=b, solver=solver)
    np.testing.assert_allclose(found.sigma, np.einsum("kij,kj->ki", G, found.force) + g, atol=1e-11 * np.abs(g).max())
    assert found.iterations[:2].max() < 360.0 == found.iterations[2]
    for k in range(2):
        plain = solved(G[k], g[k], mu[k], b[k], tolerance=1e-8)
        np.testing.assert_allclose(found.sigma[k], plain.sigma, atol=1e-6 * np.abs(g[k]).max())
    one = kt.solve_contacts(G[2], g[2], mu[2], bounds=b[2], solver=replace(solver, tolerance=np.zeros(())))
    assert all(same_bits(x[2], y) for x, y in zip(found, one, strict=True))


def test_nan_in_one_state_stays_there(problems: tuple[Array, ...]) -> None:
    G, g, mu, b = (x.copy() for x in problems)
    solve = kt.contact_solver(**SIZE)
    right = solve(G, g, mu, b)
    G[2, 3, 3] = g[5, 1] = mu[9, 0] = b[11, 0] = np.nan
    wrong, touched = solve(G, g, mu, b), [2, 5, 9, 11]
    others = np.delete(np.arange(N), touched)
    assert all(same_bits(x[others], y[others]) for x, y in zip(right, wrong, strict=True))
    assert np.isnan(wrong.complementarity[touched]).all()
    assert (wrong.iterations[touched] < 20.0).all()


def test_float32(problems: tuple[Array, ...]) -> None:
    G, g, mu, b = (x.astype(np.float32) for x in problems)
    found = kt.contact_solver(**SIZE)(G, g, mu, b, solver=kt.ContactSolver(tolerance=np.array(1e-4, np.float32)))
    assert found.force.dtype == np.float32
    arrived = found.dual <= 2e-4 * np.abs(g).max(axis=1)
    assert arrived.mean() > 0.9


def test_axes_broadcast_and_it_pickles(problems: tuple[Array, ...]) -> None:
    G, g, mu, b = problems
    solve = pickle.loads(pickle.dumps(kt.contact_solver(**SIZE)))
    assert solve(G[0], g[:6].reshape(2, 3, 8), mu[0], b[0]).force.shape == (2, 3, 8)
    one = kt.solve_contacts(G[0], g[0], mu[0], bounds=b[0])
    assert one.force.shape == (8,)
    assert np.ndim(one.iterations) == 0


def stands() -> Any:
    return kt.Mechanism(kt.load("panda"), [kt.Contact("panda_hand")]).contact_dynamics


def test_a_solver_is_bound_as_it_is_given_in_calls(problems: tuple[Array, ...]) -> None:
    G, g, mu, _ = (x[0] for x in problems)
    solve = kt.contact_solver(2, limits=1, bounded=1)
    for method in (kt.GaussSeidel(), kt.ADMM()):
        bound = pickle.loads(pickle.dumps(solve.bind(solver=method)))
        expected = solve(G, g, mu, [1.0], solver=method)
        assert all(map(np.array_equal, bound(G, g, mu, [1.0]), expected))
    assert "contacts=None" in repr(stands().bind(contacts=kt.ContactInputs(solver=kt.ADMM())))


G, g, mu = np.eye(8), np.zeros(8), np.full(2, 0.5)
solve: Any = kt.solve_contacts
test_what_makes_no_sense = told(
    ArgumentError,
    (lambda: solve(G, g[:7], mu, bounds=[1.0, 1.0]), r"2 friction coeff.* 8 rows or more; g has 7"),
    (lambda: solve(G[:7], g, mu), "G"),
    (lambda: solve(G, g, 0.7), "a number was given"),
    (lambda: kt.contact_solver(1)(G, g, mu, tolerance=1.0), r"write solver=kinetree.ContactSolver\(tol"),
    (lambda: kt.contact_solver(1).bind(solver="admm"), r"solver is 'admm': write kinetree.GaussSeidel\(…\)"),
    (lambda: kt.contact_solver(1).bind(solver=kt.ADMM(tolerance=1e-9)), "give tolerance with each call"),
    (lambda: stands().bind(solver="admm"), r"no option 'solver'; write contacts=kinetree.ContactInputs\(sol"),
    (lambda: stands().bind(contacts=kt.ContactInputs(active=[1])), "bind fixes options; give active with each"),
    (lambda: kt.contact_solver(0), "all are 0"),
    (lambda: kt.contact_solver(1, limits=-1), "limits is -1"),
)


@pytest.mark.parametrize(("contacts", "rank"), [(2, 5), (4, 6), (6, 12)])
@pytest.mark.parametrize("solver", [kt.ContactSolver, kt.GaussSeidel, kt.ADMM])
def test_what_ends_before_the_last_iteration_is_solved(
    contacts: int, rank: int, solver: type[kt.ContactSolver]
) -> None:
    """By the residuals that are returned: contacts that move each other, friction of up to 2."""
    rng = np.random.default_rng([SEED, contacts])
    G, g, _, b = (np.array(x) for x in zip(*(random_problem(k, contacts, 0, 1, rank) for k in range(100)), strict=True))
    mu, scale = rng.uniform(0.0, 2.0, (100, contacts)), np.abs(g).max(axis=1)
    solve = kt.contact_solver(contacts=contacts, limits=0, bounded=1)
    for tolerance in (1e-6, 1e-9):
        found = solve(G, g, mu, b, solver=solver(tolerance=tolerance, max_iterations=500))
        ended = found.iterations < 500.0
        assert ended.mean() > 0.5
        least = tolerance * scale * (1.0 + 1e-6)
        assert (found.dual <= least)[ended].all()
        assert (found.complementarity <= least * np.abs(found.force).max(axis=1))[ended].all()
        assert found.primal.max() < 1e-12 * np.abs(found.force).max()
