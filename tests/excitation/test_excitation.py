"""Excitation: within all limits at all times, better than chance, and as telling as it says."""

from __future__ import annotations

import pickle
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import chebyshev

import kinetree as kt
from helpers.small_arm import bare_arm
from helpers.trees import Array, random_inertia
from kinetree.excitation import Excitation, planning
from kinetree.excitation.problem import CRITERIA, Problem
from kinetree.excitation.search import still
from kinetree.excitation.series import RAMP_NODES
from kinetree.joints import FreeFlyer, Revolute, Spherical
from kinetree.model import JointLimits, ModelBuilder
from kinetree.signatures import VALUES

TERMS = ["damping", "friction"]
SHORT: dict[str, Any] = {"period": 4.0, "harmonics": 3, "iterations": 40, "noise": [0.5, 0.2, 1.0], "rate": 100.0}


def excite(robot: kt.Robot, terms: Any = TERMS, **options: Any) -> Excitation:
    """Return the plan for choices of the series and of the limits beside the others."""
    for name, kind in (("series", kt.Series), ("limits", kt.MotionLimits)):
        options[name] = kind(**{key: options.pop(key) for key in [*options] if key in VALUES[kind.__name__]})
    return robot.excite(terms, **options)


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    """Return an arm of three joints that has to fight its weight."""
    robot = (
        bare_arm().with_joint_physics(damping=[0.5, 1.0, 0.2], friction=[2.0, 1.0, 0.5]).with_friction(smoothing=0.05)
    )
    held = np.abs(robot.inverse_dynamics(np.zeros(3), np.zeros(3), np.zeros(3)))
    return robot.with_limits(lower=-1.5, upper=2.0, velocity=[3.0, 2.0, 1.0], effort=1.5 * held + 20.0)


@pytest.fixture(scope="module")
def box(arm: kt.Robot) -> dict[str, Any]:
    """Return a box around where the last body is in the middle of the ranges, open along y."""
    frame = arm.frame_names[-1]
    place = arm.frame_placement(np.full(3, 0.25), frame=frame)[:3, 3]
    return {frame: place + np.array([[-0.3, -np.inf, -0.4], [0.4, np.inf, 0.3]])}


@pytest.fixture(scope="module")
def plan(arm: kt.Robot, box: dict[str, Any]) -> Excitation:
    return excite(arm, TERMS, boxes=box, acceleration=6.0, **SHORT)


def problem_of(monkeypatch: pytest.MonkeyPatch, robot: kt.Robot, **options: Any) -> tuple[Problem, Array]:
    """Return the problem that is to be solved, and where the search begins."""
    seen: list[Any] = []
    search = planning.search
    monkeypatch.setattr(planning, "search", lambda *given: [seen.append(given[:2]), search(*given)][1])
    excite(robot, TERMS, **{**SHORT, "iterations": 0, **options})
    found: tuple[Problem, Array] = seen[0]
    return found


def test_it_begins_in_the_middle_where_all_limits_hold_there(monkeypatch: pytest.MonkeyPatch, arm: kt.Robot) -> None:
    """Else at the best of some places at random."""
    problem, _ = problem_of(monkeypatch, arm)
    X = still(problem, None, np.random.default_rng(0))
    assert np.array_equal(X[:, 0], problem.limits.middle)
    assert np.array_equal(X[:, 1], problem.limits.middle)
    assert not X[:, 2:].any()
    middle = np.abs(arm.gravity_forces(problem.limits.middle))
    weaker = arm.with_limits(effort=np.where(middle == middle.max(), 0.9, 2.0) * middle + 1e-3)
    weak, _ = problem_of(monkeypatch, weaker)
    assert not np.array_equal(still(weak, None, np.random.default_rng(0))[:, 0], weak.limits.middle)


def test_a_series_begins_and_ends_at_rest_and_its_rates_are_right() -> None:
    series = kt.Series(period=3.0, harmonics=4, periods=2, ramp=0.7)
    t = np.linspace(0.0, series.duration, 200001)
    q, v, a = series.basis(t)
    h = t[1]
    np.testing.assert_allclose(np.gradient(q, h, axis=0)[1:-1], v[1:-1], atol=1e-4)
    np.testing.assert_allclose(np.gradient(v, h, axis=0)[1:-1], a[1:-1], atol=0.02)
    assert np.abs(np.diff(a, axis=0)).max() < 0.02 * np.abs(a).max()
    for x in (v, a):
        np.testing.assert_allclose(x[[0, -1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(q[[0, -1]], np.eye(2, series.size)[[0, 0]], atol=1e-12)
    inner = (t > 0.7) & (t < 3.7)
    np.testing.assert_allclose(q[inner], series.basis(t[inner] + 3.0)[0], atol=1e-9)


def test_between_the_nodes_nothing_is_larger_than_they_allow() -> None:
    series = kt.Series(period=2.0, ramp=0.5)
    nodes, X = series.nodes(), np.random.default_rng(0).normal(size=(300, series.size))
    t = np.linspace(0.0, series.duration, 6001)
    m = RAMP_NODES
    np.testing.assert_allclose(chebyshev.chebval(4.0 * nodes.t[:m] - 1.0, np.eye(m + 1)[m]), 0.0, atol=1e-12)
    np.testing.assert_array_equal(nodes.t[-m:], series.duration - nodes.t[:m])
    assert len(np.unique(nodes.t)) == len(nodes.t)
    for at_nodes, dense in zip(series.basis(nodes.t), series.basis(t), strict=True):
        allowed = (np.abs(at_nodes @ X.T) / nodes.bound).max(axis=0)
        assert (np.abs(dense @ X.T).max(axis=0) <= allowed).all()


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria_have_the_gradients_they_say(name: str) -> None:
    rng = np.random.default_rng(0)
    A, D = rng.normal(size=(20, 6)) * np.geomspace(0.1, 3.0, 6), rng.normal(size=(6, 6))
    M, D = A.T @ A, D + D.T
    _, gradient = CRITERIA[name](M)
    slope = (CRITERIA[name](M + 1e-6 * D)[0] - CRITERIA[name](M - 1e-6 * D)[0]) / 2e-6
    assert slope == pytest.approx((gradient * D).sum(), rel=1e-6)
    assert CRITERIA[name](np.zeros((3, 3)))[0] == np.inf
    if name == "condition":
        assert CRITERIA[name](M)[0] == pytest.approx(np.log(np.linalg.cond(A)), abs=np.log(6) / 12)


@pytest.mark.parametrize("distance", [False, True])
def test_a_motion_stays_where_it_is_free(distance: bool) -> None:
    """A post stands where the best motion would go: a function says which configurations are free of it."""
    whole = kt.load("ur5")
    moving = list(whole.joint_names[:3])

    def clearance(q: Array) -> Array:
        assert q.shape[1] == whole.nq
        return np.linalg.norm(whole.frame_placement(q, frame="wrist_1_link")[:, :3, 3] - [0.5, 0.0, 0.4], axis=1) - 0.25

    def free(q: Array) -> Array:
        return clearance(q) if distance else clearance(q) > 0.0

    choices: dict[str, Any] = {"joints": moving, "period": 5.0, "noise": 0.5, "iterations": 15}
    blind, careful = (excite(whole, ["friction"], free=x, **choices) for x in (None, free))
    t = np.linspace(0.0, blind.series.duration, 2001)
    assert clearance(blind(t).q).min() < 0.0 < clearance(careful(t).q).min()
    assert (
        np.log(careful.std).mean()
        < np.log(excite(whole, ["friction"], free=free, **choices | {"iterations": 0}).std).mean()
    )
    with pytest.raises(kt.ArgumentError, match="it is not free"):
        excite(whole, ["friction"], free=lambda q: np.zeros(len(q), bool), **choices)
    with pytest.raises(kt.ArgumentError, match="a bool or a distance for each is needed"):
        excite(whole, ["friction"], free=lambda q: True, **choices)
    assert "**Nothing is known of collisions**" in (kt.Robot.excite.__doc__ or "")
    if distance:  # from here a search that knows collisions as walls alone ends after three iterations, at -0.4
        for known in (free, lambda q: np.where(clearance(q) > 0.3, np.inf, clearance(q))):
            far = excite(whole, ["friction"], free=known, **choices | {"seed": 3, "iterations": 40})
            assert far.iterations == 40
            assert np.log(far.std).mean() < np.log(blind.std).mean() + 0.3


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_gradients_of_the_search(
    monkeypatch: pytest.MonkeyPatch, arm: kt.Robot, box: dict[str, Any], criterion: str
) -> None:
    problem, X = problem_of(monkeypatch, arm, boxes=box, acceleration=6.0, criterion=criterion)
    D = 1e-2 * np.random.default_rng(1).normal(size=X.shape)
    up, down = problem.point(X + 1e-4 * D), problem.point(X - 1e-4 * D)
    for k, gradient in enumerate(problem.gradients(X)):
        assert (up[k] - down[k]) / 2e-4 == pytest.approx((gradient * D).sum(), rel=1e-7)


def test_the_curvature_of_the_search_is_that_of_the_barrier(monkeypatch: pytest.MonkeyPatch, arm: kt.Robot) -> None:
    """Of positions, speeds and accelerations, joint by joint: the forces have none of it."""
    free = arm.with_limits(effort=np.inf)
    problem, X = problem_of(monkeypatch, free, acceleration=6.0, noise=1.0)
    found = problem.curvature(X)
    for k, block in enumerate(found):
        D = np.zeros_like(X)
        D[k] = 1e-5 * np.random.default_rng(k).normal(size=X.shape[1])
        change = problem.gradients(X + D)[1] - problem.gradients(X - D)[1]
        np.testing.assert_allclose(change[k], 2.0 * block @ D[k], rtol=1e-5, atol=1e-7 * np.abs(change[k]).max())


def test_all_limits_hold_at_all_times(arm: kt.Robot, plan: Excitation, box: dict[str, Any]) -> None:
    t = np.linspace(-0.1, plan.series.duration + 0.1, 20001)
    q, v, a = plan(t)
    middle, half = np.full(3, 0.25), 0.9 * 1.75
    used = [np.abs(q - middle) / half, np.abs(v) / (0.9 * arm.velocity_limits), np.abs(a) / 6.0]
    used.append(np.abs(arm.inverse_dynamics(q, v, a)) / (0.9 * arm.effort_limits))
    assert all(u.max() <= 1.0 for u in used)
    assert max(u.max() for u in used) > 0.95
    frame, (low, high) = next(iter(box.items()))
    places = arm.frame_placement(q, frame=frame)[:, :3, 3]
    assert ((places >= low) & (places <= high)).all()
    assert not v[[0, -1]].any()
    np.testing.assert_array_equal(q[0], q[-1])


def test_what_breaks_a_limit_of_forces_or_boxes_is_made_smaller(
    monkeypatch: pytest.MonkeyPatch, arm: kt.Robot, box: dict[str, Any]
) -> None:
    problem, X = problem_of(monkeypatch, arm, boxes=box)
    inside = np.zeros_like(X)
    inside[:, :2] = 0.25
    t = np.linspace(0.0, problem.series.duration, 5000)
    wild = inside + 4.0 * (X - inside)
    assert problem.holds(inside, t)
    assert not problem.holds(wild, t)
    kept = planning._within(problem, inside, wild)
    assert problem.holds(kept, t)
    assert np.abs(kept - inside).max() > 0.02
    np.testing.assert_array_equal(planning._within(problem, inside, kept), kept)


def test_the_search_finds_what_tells_more(arm: kt.Robot, plan: Excitation, box: dict[str, Any]) -> None:
    chance = excite(arm, TERMS, boxes=box, acceleration=6.0, **{**SHORT, "iterations": 0})
    assert plan.std.prod() ** (1 / len(plan.std)) < 0.75 * chance.std.prod() ** (1 / len(plan.std))
    rounder = excite(arm, TERMS, boxes=box, acceleration=6.0, criterion="condition", **{**SHORT, "iterations": 150})
    assert rounder.condition < 0.75 * min(chance.condition, plan.condition)


def test_the_uncertainty_is_what_simulated_records_have(arm: kt.Robot, plan: Excitation) -> None:
    motion, truth = plan.recorded, plan.base.of()
    rng, errors = np.random.default_rng(2), []
    for _ in range(80):
        tau = motion.tau + plan.noise * rng.normal(size=motion.tau.shape)
        fit = arm.identify((motion.q, motion.v, motion.a, tau), plan.base, bodies=None, check=False)
        errors.append(fit.values - truth)
    spread = np.sqrt(np.mean(np.square(errors), axis=0))
    assert np.mean(spread / plan.std) == pytest.approx(1.0, abs=0.1)
    np.testing.assert_allclose(spread, plan.std, rtol=0.35)  # four standard deviations of 80 of them
    assert fit.std == pytest.approx(plan.std, rel=0.15)


def test_a_result_is_continued_from_memory_and_from_a_file(
    arm: kt.Robot, plan: Excitation, box: dict[str, Any], tmp_path: Path
) -> None:
    plan.save(tmp_path / "motion.csv")
    saved = kt.Trajectory.load(tmp_path / "motion.csv", arm)
    np.testing.assert_array_equal(saved.tau, plan.trajectory.tau)
    options = {"boxes": box, "acceleration": 6.0, **SHORT}
    seen: list[float] = []
    more = excite(arm, TERMS, initial=plan, progress=lambda done, total, value: seen.append(value), **options)
    again = excite(arm, TERMS, initial=saved, **options)
    volumes = [np.log(x.std).sum() for x in (plan, more, again)]
    assert volumes[1] < volumes[0] + 1e-3
    assert volumes[2] == pytest.approx(volumes[1], abs=0.05)
    assert seen == sorted(seen, reverse=True)
    with pytest.raises(kt.errors.ArgumentError, match="not a motion of this period"):
        excite(arm, TERMS, initial=plan, **{**options, "period": 5.0})


def test_ctrl_c_keeps_the_best(arm: kt.Robot) -> None:
    def stop(done: int, total: int, value: float) -> None:
        if done == 5:
            raise KeyboardInterrupt

    plan = excite(arm, TERMS, progress=stop, **SHORT)
    assert (plan.interrupted, plan.converged, plan.iterations) == (True, False, 5)
    assert np.isfinite(plan.std).all()


def test_it_starts_where_it_is_told_and_moves_only_some_joints(arm: kt.Robot) -> None:
    start = [0.2, 1.0, -0.3]
    held = list(arm.joint_names[1:])
    plan = excite(
        arm, ["friction"], start=start, joints=arm.joint_names[:1], **{**SHORT, "noise": 0.5, "iterations": 5}
    )
    motion = plan.trajectory
    np.testing.assert_allclose(motion.q[[0, -1]], [start, start], atol=1e-12)
    assert np.ptp(motion.q, axis=0).astype(bool).tolist() == [True, False, False]
    assert plan.base.robot.joint_names == arm.lock(held).joint_names
    assert str(plan).count("\n") == 1 + plan.base.dimension
    assert plan.std.shape == (plan.base.dimension,)


def test_base_parameters_of_a_plan_are_those_of_the_robot_and_taken_again(arm: kt.Robot, plan: Excitation) -> None:
    assert plan.held == ()
    np.testing.assert_allclose(plan.std_of(arm.base_parameters(TERMS)), plan.std)
    again = excite(arm, plan.base, **{**SHORT, "iterations": 0})
    assert again.base is plan.base
    with pytest.raises(kt.errors.ArgumentError, match="another robot's"):
        excite(arm, plan.base, joints=arm.joint_names[:1], **{**SHORT, "noise": 1.0})


def test_four_periods_halve_the_uncertainty_and_what_is_not_told_has_none(arm: kt.Robot) -> None:
    one, four = (excite(arm, TERMS, **{**SHORT, "periods": n, "iterations": 0}) for n in (1, 4))
    assert four.trajectory.duration == pytest.approx(4 * 4.0 + 2 * 0.8)
    np.testing.assert_allclose(four.std, one.std / 2.0, rtol=1e-6)
    plan = excite(arm, TERMS, **{**SHORT, "harmonics": 1, "rate": 0.6, "iterations": 0})
    assert len(plan.recorded) < 4
    assert plan.std.shape == (plan.base.dimension,)
    assert np.isinf(plan.std).sum() > 5


@pytest.fixture(scope="module")
def floating() -> kt.Robot:
    """Return a floating body with a leg of two links."""
    builder, rng = ModelBuilder("hopper"), np.random.default_rng(0)
    builder.add_link("base")
    for parent, link, joint in (
        ("base", "trunk", FreeFlyer()),
        ("trunk", "thigh", Revolute((1, 0, 0))),
        ("thigh", "shank", Revolute((0, 1, 0))),
    ):
        builder.add_link(link, random_inertia(rng))
        builder.add_joint(
            f"to_{link}", parent=parent, child=link, joint=joint, limits=JointLimits(-1.0, 1.0, 2.0, 99.0)
        )
    return kt.Robot(builder.build())


@pytest.fixture(scope="module")
def hung_up(floating: kt.Robot) -> Excitation:
    return excite(floating, [], noise=1.0, period=3.0, harmonics=2, iterations=3)


def test_a_floating_base_is_held(floating: kt.Robot, hung_up: Excitation) -> None:
    robot, plan = floating, hung_up
    moving = [body.joint_name for body in robot.model.leading if len(body.v_index) == 1]
    assert plan.base.robot.joint_names == tuple(moving)
    motion = plan.trajectory
    np.testing.assert_allclose(motion.tau, robot.inverse_dynamics(motion.q, motion.v, motion.a))
    still = np.delete(motion.v, plan.v_index, axis=1)
    assert still.shape[1] == 6
    assert not still.any()
    assert motion.v[:, plan.v_index].any(axis=0).all()


def test_what_is_told_of_the_whole_robot(floating: kt.Robot, hung_up: Excitation) -> None:
    base, moving = floating.base_parameters(), hung_up.v_index
    std, motion = hung_up.std_of(base), hung_up.recorded
    assert hung_up.held == ("to_trunk",)
    assert "to_trunk held" in str(hung_up)
    Y = base.regressor(motion.q, motion.v, motion.a)[:, moving].reshape(-1, base.dimension)
    space = np.linalg.svd(Y)[2][: np.linalg.matrix_rank(Y)]
    told = np.linalg.norm(space, axis=0) > 1.0 - 1e-9  # the unit vector of the parameter is in the space of the rows
    assert 0 < told.sum() < base.dimension
    np.testing.assert_array_equal(np.isfinite(std), told)
    np.testing.assert_allclose(std[told], np.linalg.norm(np.linalg.pinv(Y)[told], axis=1), rtol=1e-6)
    with pytest.raises(kt.errors.ArgumentError, match="these base parameters are not of"):
        hung_up.std_of(hung_up.base)


def test_why_joints_are_held() -> None:
    builder, rng = ModelBuilder("many"), np.random.default_rng(0)
    builder.add_link("base")
    for link, joint in (("a", FreeFlyer()), ("b", Spherical()), ("c", Revolute((0, 1, 0)))):
        builder.add_link(link, random_inertia(rng))
        builder.add_joint(f"to_{link}", parent="base", child=link, joint=joint)
    builder.add_link("d", random_inertia(rng))
    builder.add_joint("to_d", parent="a", child="d", joint=Revolute((0, 1, 0)), mimic=("to_c", 2, 0))
    robot = kt.Robot(builder.build())
    for name, message in (
        ("to_a", "'to_a' is a floating base: no joint drives it"),
        ("to_b", "'to_b' has 3 degrees of freedom, and no limits"),
        ("to_d", "'to_d' follows 'to_c' and moves with it"),
        ("to_e", "no joint 'to_e'"),
    ):
        with pytest.raises(kt.errors.ArgumentError, match=message):
            excite(robot, [], joints=[name])


@pytest.mark.parametrize(
    ("lower", "upper", "held"),
    [(0.5, 0.9, 0.7), (0.5, np.inf, 0.5), (-np.inf, -1.0, -1.0), (-1.0, 3.0, 0.0), (0.0, 2.0, 0.0), (-2.0, 0.0, 0.0)],
)
def test_joints_are_held_within_their_limits(floating: kt.Robot, lower: float, upper: float, held: float) -> None:
    bent = floating.with_limits(lower={"to_thigh": lower}, upper={"to_thigh": upper})
    np.testing.assert_allclose(planning._middle(bent), [*floating.neutral()[:-2], held, 0.0])


def test_followers_move_with_their_leader() -> None:
    builder, rng = ModelBuilder("gripper"), np.random.default_rng(0)
    for link in ("base", "a", "b"):
        builder.add_link(link, random_inertia(rng))
    limits = JointLimits(-1.0, 1.0, 20.0, 2.0)
    builder.add_joint("lead", parent="base", child="a", joint=Revolute((0, 1, 0)), limits=limits)
    builder.add_joint(
        "follow", parent="base", child="b", joint=Revolute((1, 0, 0)), limits=limits, mimic=("lead", -2, 0.1)
    )
    plan = excite(kt.Robot(builder.build()), [], harmonics=2, iterations=5)
    q, v, _ = plan(np.linspace(0.0, 14.0, 1001))
    assert (np.abs(-2.0 * q + 0.1) < 0.95).all()
    assert (np.abs(2.0 * v) < 0.9 * 20.0).all()
    assert np.isfinite(plan.std).all()


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({"upper": {"B": np.inf}}, {}, r"B: there is no range of positions; give one, .*lower=\{'B': -3.0\}"),
        ({"velocity": {"C": np.inf}}, {}, r"C: there is no limit of speed; give one, .*velocity=\{'C': 1.5\}"),
        (
            {"effort": {"A": np.inf}},
            {"noise": None},
            r"A: nothing says how noisy the force is; give noise=\{'A': 0.5\}",
        ),
        ({"lower": {"A": 2.0}}, {}, "A cannot move"),
        ({}, {"start": [0.0, 3.0, 0.0]}, "start is not within the limits: B is at 3, -1.325 to 1.825 are used"),
        ({"effort": 1e-3}, {"start": [0.0, 0.0, 0.0]}, "needs .* to hold it, 0.0009 are used"),
        ({"effort": 1e-3}, {}, "no configuration within the limits was found; of the nearest one"),
        ({}, {"boxes": {"nowhere": np.zeros((2, 3))}}, "no frame 'nowhere'"),
        ({}, {"boxes": {"LAST": np.zeros((2, 3))}}, "its least and its greatest x, y and z"),
        ({}, {"boxes": {"LAST": [[50.0, 0, 0], [51.0, 1, 1]]}}, "LAST is outside its box"),
        ({}, {"boxes": {"LAST": [[-np.inf, 0, 0], [51.0, 1, 1]]}}, "open to one side"),
        ({}, {"noise": [1.0, 2.0]}, "one for each of the 3 joints"),
        ({}, {"noise": [1.0, np.nan, 1.0]}, "noise is .*: it must be positive"),
        ({}, {"acceleration": {"nobody": 1.0}}, "no joint 'nobody'"),
        ({}, {"acceleration": {"A": "x"}}, "acceleration of 'A' has dtype"),
        ({}, {"noise": {"A": {}}}, "noise of 'A' is a dict"),
        ({}, {"joints": True}, "joints takes a list of names, not True"),
        ({}, {"criterion": {}}, "criterion is {}, it must be 'determinant' or 'condition'"),
        ({}, {"criterion": "size"}, "criterion is 'size'"),
        ({}, {"terms": ["stribeck"]}, "has no place in a plan"),
        ({}, {"terms": {"stribeck": None}}, "has no place in a plan"),
        ({}, {"terms": "friction"}, r"terms takes a list of names: \['friction'\]"),
        ({}, {"fraction": 1.5}, "fraction is 1.5"),
        ({}, {"period": 0.0}, "period is 0.0, it must be a positive number"),
        ({}, {"harmonics": 2.5}, "harmonics is 2.5, it must be an integer"),
        ({}, {"initial": "NAN"}, "initial is an Excitation or a Trajectory"),
        ({}, {"rate": 1.0}, "less than two of the fastest harmonic"),
        ({}, {"joints": []}, "no joint of one degree of freedom"),
        ({}, {"joints": "A"}, "joints takes a list"),
        ({}, {"joints": ["A", "Z"]}, "no joint 'Z'"),
        ({}, {"start": [0.0, np.nan, 0.0]}, "not finite"),
        ({}, {"start": [1.8, 0.25, 0.25]}, "A is at 1.8, -1.325 to 1.825 are used"),  # no motion about it has room
        ({}, {"initial": 3}, "initial is an Excitation or a Trajectory"),
        ({}, {"boxes": 3}, "boxes takes a dict of boxes"),
        ({}, {"free": 3}, "free takes a function of configurations"),
        ({}, {"iterations": -1}, "iterations is -1, it must be an integer ≥ 0"),
    ],
)
def test_what_cannot_be_is_said(arm: kt.Robot, changes: Any, options: Any, message: str) -> None:
    names = dict(zip("ABC", arm.joint_names, strict=True)) | {"LAST": arm.frame_names[-1]}

    def own(x: Any) -> Any:
        if isinstance(x, dict):
            return {names.get(key, key): own(value) for key, value in x.items()}
        return [own(y) for y in x] if isinstance(x, list) else names.get(x, x) if isinstance(x, str) else x

    for short, name in names.items():
        message = message.replace(f"'{short}'", f"'{name}'") if short != "LAST" else message.replace(short, name)
        message = message.replace(f"{short}:", f"{name}:").replace(f"{short} ", f"{name} ")
    robot = arm.with_limits(**own(changes)) if changes else arm
    if options.get("initial") == "NAN":
        options = {"initial": kt.Trajectory(arm, [0.0, 1.0], np.full((2, 3), np.nan), np.zeros((2, 3)))}
    given = {"terms": TERMS, **SHORT, "iterations": 0, **own(options)}
    with pytest.raises(kt.errors.ArgumentError, match=message):
        excite(robot, **given)


def test_other_words_and_a_missing_package_are_answered(arm: kt.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    for old, new in (("period", "series=kinetree.Series"), ("boxes", "limits=kinetree.MotionLimits")):
        with pytest.raises(kt.ArgumentError, match=re.escape(f"excite has no argument '{old}': write {new}({old}=…)")):
            arm.excite(TERMS, **{old: 1.0})
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(kt.errors.ArgumentError, match=r"excite needs SciPy: pip install scipy"):
        excite(arm, TERMS, **SHORT)


def test_a_plan_is_pickled_and_drawn(plan: Excitation) -> None:
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again.std, plan.std)
    np.testing.assert_array_equal(again.trajectory.q, plan.trajectory.q)
    assert repr(again) == repr(plan)
    with pytest.raises(kt.errors.ArgumentError, match="not a time"):
        again([0.0, np.nan])
    figure = plan.plot()
    assert [len(ax.lines) for ax in figure.axes] == [7, 7, 7, 2]
