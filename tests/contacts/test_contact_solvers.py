"""The solvers of contact problems on numbers: the laws of contact, analytic cases, and what no solver can do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.contacts import law_errors, problem, random_problem, solved, stack
from kinetree.contacts import PUSHES, SOLVERS, FrictionCone, Interval, PressedCone, Problem, SlidingCone, solve
from kinetree.contacts.admm import Iterate, _iteration
from kinetree.scalars.factorization import Factored

Array = np.ndarray[Any, Any]
G_ACC = 9.81

each_solver = pytest.mark.parametrize("solver", SOLVERS)


@each_solver
@pytest.mark.parametrize("rank", [None, 8])
def test_the_laws_of_contact_hold(solver: str, rank: int | None) -> None:
    for seed in range(4):
        G, g, mu, b = random_problem(seed, rank=rank)
        found = solved(G, g, mu, b, solver=solver, tolerance=1e-9)
        force, scale = np.array(found.force), np.abs(g).max()
        outside, into, work = law_errors(G, g, force, mu, b)
        assert outside <= 1e-14 * np.abs(force).max()
        assert into <= 2e-9 * scale
        assert work <= 2e-9 * scale * np.abs(force).max()
        np.testing.assert_allclose(found.sigma, G @ force + g, atol=1e-12 * scale)
        assert found[3:] == pytest.approx((max(outside, 0.0), max(into, 0.0), work), abs=1e-14 * scale)


def test_whether_work_is_too_much_is_found_without_a_root() -> None:
    rng = np.random.default_rng(0)
    found = []
    for mu, *numbers in rng.normal(size=(200, 7)):
        sets = FrictionCone(abs(mu)), SlidingCone(abs(mu), (0.6, 0.8), 1.0)
        for cone in sets:
            force, sigma = cone.project(numbers[:3]), [*numbers[3:5], abs(numbers[5])]
            work, parts = cone.residuals(force, sigma)[2], (0.99999, 1.00001)
            found += [(cone.excess(force, sigma, work * part) > 0.0, part < 1.0) for part in parts if work > 1e-9]
    assert len(found) > 400
    assert all(more == expected for more, expected in found)
    assert not any(cone.excess(force, [math.nan, 0.0, 0.0], 1.0) > 0.0 for cone in sets)


def test_solvers_agree_on_the_motion() -> None:
    """With low friction the motion is unique, also where G is singular and the forces are not."""
    for seed in range(3):
        G, g, mu, b = random_problem(seed, rank=8)
        motions = [solved(G, g, 0.2 * mu, b, solver=s, tolerance=1e-10).sigma for s in SOLVERS]
        for sigma in motions[1:]:
            np.testing.assert_allclose(sigma, motions[0], atol=1e-7 * np.abs(g).max())


@each_solver
def test_a_block_sticks_and_slides_on_a_slope(solver: str) -> None:
    """The block of 2 kg slides from tan θ = μ on, with g (sin θ − μ cos θ)."""
    mu, m = 0.6, 2.0
    for tangent in (mu - 1e-6, mu + 1e-6, 1.3):
        angle = math.atan(tangent)
        g = np.array([G_ACC * math.sin(angle), 0.0, -G_ACC * math.cos(angle)])
        found = solved(np.eye(3) / m, g, [mu], solver=solver, tolerance=1e-12)
        expected = max(0.0, G_ACC * (math.sin(angle) - mu * math.cos(angle)))
        assert found.sigma[0] == pytest.approx(expected, abs=1e-9)
        assert found.sigma[2] == pytest.approx(0.0, abs=1e-9)  # no lifting off, which convex relaxations have
        assert found.force[2] == pytest.approx(m * G_ACC * math.cos(angle), rel=1e-9)


def test_a_block_in_a_wedge() -> None:
    """Two smooth planes at ±45° carry a weight with N = m g / (2 cos 45°) each."""
    n = np.array([[1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]]) / math.sqrt(2.0)
    t = np.array([[1.0, 0.0, -1.0], [1.0, 0.0, 1.0]]) / math.sqrt(2.0)
    J = np.array([t[0], [0.0, 1.0, 0.0], n[0], t[1], [0.0, 1.0, 0.0], n[1]])
    found = solved(J @ J.T, J @ [0.0, 0.0, -G_ACC], [0.0, 0.0], tolerance=1e-10)
    np.testing.assert_allclose(np.array(found.force)[2::3], G_ACC / math.sqrt(2.0), rtol=1e-8)
    np.testing.assert_allclose(np.delete(found.force, [2, 5]), 0.0)


def test_each_box_of_a_stack_carries_those_above() -> None:
    """Of a stack that falls on the ground as a whole; the forces of a face are hyperstatic, their sum is not."""
    masses, v = [1.0, 2.0, 3.0], 0.3
    G, _ = stack(masses)
    g = np.zeros(len(G))
    g[2:12:3] = -v
    found = solved(G, g, [0.5] * 12, tolerance=1e-9)
    sums = np.array(found.force)[2::3].reshape(3, 4).sum(axis=1)
    np.testing.assert_allclose(sums, [v * sum(masses[i:]) for i in range(3)], rtol=1e-6)


def test_light_below_heavy_takes_both_solvers() -> None:
    G, g = stack([1.0, 10.0, 100.0], seed=1)
    friction = [0.5] * 12
    assert solved(G, g, friction, solver="pgs", max_iterations=250.0).iterations == 250.0
    found = solved(G, g, friction)
    assert found.iterations < 1000.0
    assert found.dual <= 1e-6 * np.abs(g).max()


def test_extrapolation_saves_half_of_the_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    G, g = stack([1.0, 1.0, 1.0], seed=5)
    counts = []
    for every in (5.0, math.inf):
        monkeypatch.setattr("kinetree.contacts.problem.EVERY", every)
        counts.append(solved(G, g, [0.5] * 12, solver="pgs").iterations)
    assert counts[0] <= 0.5 * counts[1]


def test_painleves_rod_is_bounded_and_tells() -> None:
    """A rod at 45° slides with high friction: no force solves the problem, and none grows beyond all bounds."""
    inertia, lever, mu = 1.0 / 30.0, math.sqrt(0.5), 1.8
    J = np.array([[1.0, 0.0, lever], [0.0, 0.0, 0.0], [0.0, 1.0, -lever]])  # (x, z, angle) of the rod's centre
    G = J @ np.diag([1.0, 1.0, 1.0 / inertia]) @ J.T
    assert G[2, 2] + mu * G[2, 0] < 0.0  # pressed to the ground by its own friction
    for solver in SOLVERS:
        found = solved(G, np.array([-0.5, 0.0, -1e-3]), [mu], solver=solver)
        assert np.isfinite(found.force).all()
        assert np.abs(found.force).max() < 10.0
        assert found.primal <= 1e-12


@each_solver
def test_compliance_gives_way(solver: str) -> None:
    found = solved(np.diag([2.0, 3.0]), np.array([-1.0, 5.0]), R=[0.5, 0.0], solver=solver, tolerance=1e-12)
    np.testing.assert_allclose(found.force, [0.4, 0.0], atol=1e-11)
    np.testing.assert_allclose(found.sigma, [0.0, 5.0], atol=1e-11)


def test_joint_friction_holds_up_to_its_bound() -> None:
    found = solved(np.eye(2) * 2.0, np.array([1.0, -5.0]), bounds=[0.6, 0.6], tolerance=1e-12)
    np.testing.assert_allclose(found.force, [-0.5, 0.6], atol=1e-12)
    np.testing.assert_allclose(found.sigma, [0.0, -3.8], atol=1e-12)


@each_solver
@pytest.mark.parametrize("seed", range(3))
def test_friction_and_stops_along_one_row_are_those_along_three(solver: str, seed: int) -> None:
    """A contact and five joints: between stops, at them, one without friction, one without an upper stop."""
    G, g, _, _ = random_problem(seed, contacts=1, limits=5, bounded=0)
    below, above, b = [0.3, 5.0, 0.1, 0.0, 0.2], [0.2, 0.1, None, 0.1, 5.0], [0.3, 0.1, 0.6, 0.0, 9.0]
    sets = [FrictionCone(0.5), *map(Interval, b, below, above)]
    found = solve(Problem(G.tolist(), g.tolist(), sets), solver, tolerance=1e-10)
    joints = np.eye(8)[3:]
    A = np.concatenate([np.eye(8)[:3], joints, np.delete(-joints, 2, axis=0), joints])
    near = np.concatenate([np.zeros(3), below, [x for x in above if x is not None], np.zeros(5)])
    apart = solved(A @ G @ A.T, A @ g + near, [0.5], b, tolerance=1e-10)
    np.testing.assert_allclose(found.sigma, G @ (A.T @ np.array(apart.force)) + g, atol=1e-7)
    assert found.iterations < 500.0
    assert found.dual < 1e-9
    assert found.complementarity < 1e-8
    off = solve(Problem(G.tolist(), g.tolist(), sets), solver, start=[x + 0.1 for x in found.force], max_iterations=0.0)
    assert off.complementarity > 1e-3


@each_solver
def test_a_warm_start_is_at_the_end_at_once(solver: str) -> None:
    G, g, mu, b = random_problem(2)
    first = solved(G, g, mu, b, solver=solver, tolerance=1e-10)
    again = solved(G, g, mu, b, solver=solver, tolerance=1e-8, start=first.force)
    assert again.iterations <= 2.0 < first.iterations
    away = solved(G, g, mu, b, solver=solver, start=[-100.0] * len(g))  # outside of all sets
    assert away.dual <= 1e-6 * np.abs(g).max()


@each_solver
def test_hostile_numbers(solver: str) -> None:
    G, g, mu, b = random_problem(7)
    smooth = np.array(solved(G, g, 0.0 * mu, b, solver=solver).force)
    assert not smooth[[0, 1, 3, 4, 6, 7]].any()
    stuck = solved(np.eye(3), np.array([3.0, 4.0, -1e-3]), [1e6], solver=solver, tolerance=1e-12)
    if solver == "admm":  # the cone is a half-space but for a millionth: it does not arrive, and says so
        assert stuck.iterations == 1000.0
        assert stuck.dual > 1e-6
    else:
        np.testing.assert_allclose(stuck.force, [-3.0, -4.0, 1e-3], atol=1e-8)
    assert not any(solved(G, 0.0 * g, mu, b, solver=solver).force)
    for wrong in (-0.1, math.nan):
        found = solved(G, g, [wrong, *mu[1:]], b, solver=solver, max_iterations=50.0)
        assert math.isnan(found.primal)
        assert math.isnan(solved(G, g, mu, [wrong, *b[1:]], solver=solver, max_iterations=50.0).force[11])
    none = solved(G, g, mu, b, solver=solver, max_iterations=0.0)
    assert none.iterations == 0.0
    assert none.dual == pytest.approx(max(-np.r_[g[2:9:3], g[9:11]].min(), 0.0))


@pytest.mark.parametrize("seed", range(3))
def test_light_joints_beside_heavy_contacts_take_no_more_iterations(seed: int) -> None:
    """Limits and friction of joints that are 900 times as light, or of rows in other units."""
    G, g, mu, b = random_problem(seed)
    s = np.where(np.arange(len(g)) < 3 * len(mu), 1.0, 30.0)
    right = solved(G, g, mu, b, solver="admm")
    light = solved(G * s * s[:, None], g * s, mu, b / 30.0, solver="admm")
    assert light.iterations <= right.iterations + 5.0
    assert np.allclose(light.force * s, right.force, rtol=0, atol=1e-4)


@each_solver
def test_rows_that_nothing_moves_and_rows_twice(solver: str) -> None:
    G, g, mu, _ = random_problem(4, limits=0, bounded=0)
    once = solved(G, g, mu, solver=solver, tolerance=1e-10)
    twice = solved(np.tile(G, (2, 2)), np.tile(g, 2), np.tile(mu, 2), solver=solver, tolerance=1e-10)
    np.testing.assert_allclose(np.add(*np.split(np.array(twice.force), 2)), once.force, rtol=1e-5, atol=1e-7)
    wide, more = np.zeros((12, 12)), np.r_[g, 0.0, 0.0, -1.0]
    wide[:9, :9] = G
    dead = solved(wide, more, [*mu, 0.5], solver=solver, tolerance=1e-10)
    np.testing.assert_allclose(dead.force, [*once.force, 0.0, 0.0, 0.0], rtol=1e-5, atol=1e-7)
    assert dead.dual == 1.0  # nothing holds it
    lost = solved(np.zeros((3, 3)), np.array([1.0, 0.0, -1.0]), [0.5], solver=solver)
    assert (lost.force, lost.dual) == ([0.0, 0.0, 0.0], 1.0)


def test_scaling_changes_nothing() -> None:
    """Problems in grams and in tonnes, at any speed, take the same iterations."""
    G, g, mu, _ = random_problem(3, limits=0, bounded=0)
    usual = solved(G, g, mu)
    for mass, speed in ((2.0**-20, 2.0**30), (2.0**20, 2.0**-30)):
        found = solved(G / mass, g * speed, mu)
        assert found.iterations == usual.iterations
        assert found.force == [x * mass * speed for x in usual.force]


@pytest.mark.parametrize(
    "each",
    [
        FrictionCone(0.6),
        PressedCone(0.6, least=2.0),
        SlidingCone(0.6, (0.6, 0.8), 1.0),
        SlidingCone(0.6),
        PUSHES,
        Interval(0.7),
    ],
)
def test_projections_are_projections(each: Any) -> None:
    """The projection p of x is in the set, and no point κ of it is in front: (x − p)·(κ − p) ≤ 0."""
    rng = np.random.default_rng(0)
    points = [rng.normal(size=each.size, scale=3.0) for _ in range(40)]
    images = [np.array(each.project(x.tolist())) for x in points]
    for x, p in zip(points, images, strict=True):
        np.testing.assert_allclose(each.project(p.tolist()), p, atol=1e-14)
        assert max((x - p) @ (other - p) for other in images) <= 1e-13


@each_solver
@pytest.mark.parametrize("stops", [(math.nan, 1.0), (1.0, math.nan), (math.nan, None), (-1.0, 1.0)])
def test_a_stop_that_makes_no_sense_is_nan(solver: str, stops: tuple[float, float | None]) -> None:
    found = solve(Problem([[1.0]], [-3.0], [Interval(1.0, *stops)]), solver)
    assert np.isnan([*found.force, *found.sigma]).all()


@pytest.mark.parametrize(
    ("force", "sigma", "into", "work"),
    [
        (0.3, 0.0, 0.0, 0.0),  # sticks
        (1.0, -0.2, 0.0, 0.0),  # slides down, braked upwards
        (-1.0, 0.4, 0.0, 0.0),
        (1.0, 0.4, 0.0, 0.8),  # driven by its friction
        (3.0, -0.25, 0.0, 0.0),  # at its lower stop
        (-3.0, 0.5, 0.0, 0.0),  # at its upper stop
        (3.0, 0.5, 0.0, 1.0 + 2.0 * 0.75),  # held where it does not touch
        (-3.0, -0.25, 0.0, 0.5 + 2.0 * 0.75),
        (1.0, -0.75, 0.5, 0.0),  # half a metre a second too fast
        (-1.0, 0.75, 0.25, 0.0),
    ],
)
def test_residuals_of_friction_between_stops(force: float, sigma: float, into: float, work: float) -> None:
    """Its friction is 1, and it may go at 0.25 to the lower and at 0.5 to the upper stop."""
    assert Interval(1.0, 0.25, 0.5).residuals([force], [sigma]) == pytest.approx((0.0, into, work), abs=1e-15)


def test_without_a_stop_force_beyond_friction_is_outside() -> None:
    for below, above, force in ((None, 0.5, 3.0), (0.25, None, -3.0)):
        assert Interval(1.0, below, above).residuals([force], [0.0]) == (2.0, 0.0, 0.0)


def test_an_iteration_knows_the_motion_of_its_forces_without_a_product() -> None:
    """σ of x is ``G x + g``, however far from the solution."""
    G, g, mu, bounds = random_problem(0)
    given = problem(G, g, mu, bounds)
    rng = np.random.default_rng(1)
    x, z = rng.normal(size=(2, len(g))).tolist()
    rho, eta = 0.7, 0.3
    factors = Factored((G + (rho + eta) * np.eye(len(g))).tolist(), 4)
    s, sigma, apart = _iteration(given, factors, Iterate(x, x, z, 0.0, 0.0, rho, 0.0, 1.0), rho, eta)
    np.testing.assert_allclose(sigma, G @ s.x + g, atol=1e-12)
    np.testing.assert_allclose(apart, np.subtract(s.x, s.force), atol=0)
