"""Errors of goals and their rotation vectors, the bound of what least squares leave out, and rest out of reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.exact_trees import exact_tree, one_of_each
from helpers.mechanisms import at
from helpers.trees import columns, moved, random_states, stacked, toy
from kinetree.algorithms.inverse_kinematics.goals import PARTS, Goal
from kinetree.algorithms.inverse_kinematics.problem import Problem
from kinetree.inverse_kinematics.compiled import STEP_DEFAULTS
from kinetree.joints import Prismatic, Revolute
from kinetree.model import Model
from kinetree.spatial.rotation import rotation_vector, turn_between
from kinetree.spatial.vector import Mat3, Vec3

H = 1e-5
UR5 = kt.load("ur5")
AXES = np.random.default_rng(0).normal(size=(200, 3))
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)


def vectors(matrices: np.ndarray) -> np.ndarray:
    return np.array([list(rotation_vector(Mat3.of(R.tolist()))[0]) for R in matrices])


@pytest.mark.parametrize("angle", [0.0, 1e-160, 1e-12, 1e-5, 0.3, 1.0, 2.0, 3.0, np.pi - 1e-6])
def test_rotation_vectors_and_half_the_angle_times_its_cotangent(angle: float) -> None:
    matrices = Rotation.from_rotvec(angle * AXES).as_matrix()
    assert np.abs(vectors(matrices) - angle * AXES).max() <= 1e-15 + 1e-15 * angle
    wanted = 0.5 * angle / np.tan(0.5 * angle) if angle else 1.0
    for R in matrices[:20]:
        assert rotation_vector(Mat3.of(R.tolist()))[1] == pytest.approx(wanted, abs=1e-14)


def test_half_a_turn_about_any_axis() -> None:
    R = 2 * AXES[:, :, None] * AXES[:, None, :] - np.eye(3)
    found = vectors(R)
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.pi, abs=1e-15)
    assert np.abs(np.cross(found, AXES)).max() <= 1e-14


def test_the_short_way_from_one_direction_to_another() -> None:
    """Also to the opposite one, by half a turn about an axis across."""
    others = np.roll(AXES, 1, axis=0)
    for a, b in [
        *zip(AXES, others, strict=True),
        *zip(AXES, -AXES, strict=True),
        *zip(np.eye(3), -np.eye(3), strict=True),
    ]:
        turn = np.array([*turn_between(Vec3(*a.tolist()), Vec3(*b.tolist()))])
        assert Rotation.from_rotvec(turn).apply(a) == pytest.approx(b, abs=1e-15)
        assert turn @ a == pytest.approx(0.0, abs=1e-14)
        assert np.linalg.norm(turn) <= np.pi + 1e-15


def target_of(kind: str, rng: np.random.Generator, frame: str = "tip") -> list:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.random(random_state=rng).as_matrix(), 2.0 * rng.normal(size=3)
    targets = {"pose": pose, "orientation": pose[:3, :3], "position": pose[:3, 3]}
    targets["look_at"] = np.array([pose[:3, 3], rng.normal(size=3)])
    return Goal(frame, kind).prepared(targets[kind].tolist())


def errors(kind: str, q: np.ndarray, target: list, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the weighted error of an arm's tool and its Jacobian."""
    problem = Problem(UR5.model, (Goal("tool0", kind),))
    found = problem.errors(q.tolist(), [target], None if weights is None else [weights.tolist()])
    return np.array(found.weighted), np.array(problem.rows(found.jacobian))


@pytest.mark.parametrize("kind", list(PARTS))
@pytest.mark.parametrize("own_axes", [False, True])
def test_the_jacobian_is_the_rate_of_the_error(kind: str, own_axes: bool) -> None:
    """In the axes of the target it is exact; else its product with the error, which is the gradient."""
    rng = np.random.default_rng(0)
    for q in UR5.random_configuration(rng, 20):
        target, v = target_of(kind, rng, "tool0"), rng.normal(size=6)
        weights = rng.uniform(0.5, 2.0, 3 * len(PARTS[kind])) if own_axes and kind != "look_at" else None
        e, J = errors(kind, q, target, weights)
        ahead, behind = (errors(kind, q + s * 1e-6 * v, target, weights)[0] for s in (1, -1))
        rate = (ahead - behind) / 2e-6
        assert e @ (rate + J @ v) == pytest.approx(0.0, abs=1e-7)
        if weights is not None or kind == "position":
            assert np.abs(rate + J @ v).max() < 1e-7


def test_an_axis_that_points_away_turns_half_round() -> None:
    q = UR5.random_configuration(0)
    T = UR5.frame_placement(q, frame="tool0")
    for axis in np.eye(3):
        e, _ = errors("look_at", q, [(T[:3, 3] - T[:3, :3] @ axis).tolist(), axis.tolist()], None)
        assert np.linalg.norm(e) == pytest.approx(np.pi, abs=1e-7)
        assert e @ (T[:3, :3] @ axis) == pytest.approx(0.0, abs=1e-7)


def missing(problem: Problem, target: list, weights: list | None, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of what JᵀJ lacks of the second derivative of ``½ e·e``, and their bounds."""
    model, n = problem.model, len(problem.entries)

    def at(q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = problem.errors(columns(q), [target], weights)
        J, e = stacked(problem.rows(found.jacobian), q.shape[:-1]), stacked(found.weighted, q.shape[:-1])
        return J, np.einsum("...ij,...i->...j", J, e), np.asarray(found.bend(found.weighted))

    steps = H * np.eye(model.nv)[problem.entries][:, None]
    J, _, bound = at(q)
    rate = (at(moved(model, q, -steps))[1] - at(moved(model, q, steps))[1]) / (2 * H)  # (n, states, n)
    lacking = rate.transpose(1, 0, 2) - np.einsum("sij,sik->sjk", J, J)
    assert lacking.shape[1:] == (n, n)
    return np.linalg.eigvalsh(0.5 * (lacking + lacking.transpose(0, 2, 1)))[:, -1], bound


def models() -> list[Model]:
    """Return chains of joints of all kinds, with joints that follow others."""
    kinds = one_of_each(0)
    groups: list[Sequence] = [[*kinds[k : k + 3], Revolute((0, 1, 0)), Prismatic((1, 0, 0))] for k in (0, 3, 6)]
    return [exact_tree(f"mixed{k}", k, joints, followers=2, straight=1.0) for k, joints in enumerate(groups)]


@pytest.mark.parametrize("kind", list(PARTS))
@pytest.mark.parametrize("weighted", [False, True])
def test_the_bound_holds_for_joints_of_all_kinds(kind: str, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    for model in models():
        for fixed in ((), model.joint_names[:1]):
            problem = Problem(model, (Goal("tip", kind),), tuple(fixed))
            size = 3 * len(PARTS[kind])
            weights = [10.0 ** rng.uniform(-1, 1, 1 if kind == "look_at" else size)] if weighted else None
            weights = weights and [np.broadcast_to(weights[0], size).tolist()]
            lacking, bound = missing(problem, target_of(kind, rng), weights, random_states(model, 1, 20)[0])
            assert (lacking <= bound * (1.0 + 1e-7) + 1e-5).all()
            assert (bound > 0.0).all()


def planar(n: int, *, together: bool = False) -> kt.Robot:
    """Return an arm of n links in a plane, a metre long in all; its joints may all follow the first."""
    own: dict[str, object] = {"limits": kt.JointLimits(lower=-3.0, upper=3.0, velocity=2.0)}
    joints = [("joint0 link0 link1", Revolute((0, 0, 1)), own)]
    own = own | {"placement": at(1.0 / n)} | ({"mimic": ("joint0", 1.0, 0.0)} if together else {})
    joints += [(f"joint{k} link{k} link{k + 1}", Revolute((0, 0, 1)), own) for k in range(1, n)]
    return kt.Robot(toy(*joints, frames=[(f"tip link{n}", at(1.0 / n))]))


@pytest.mark.parametrize(
    ("n", "together", "least"),
    [(1, False, 0.98), (2, False, 0.98), (6, False, 0.98), (15, False, 0.98), (2, True, 0.9)],
)
def test_of_a_stretched_arm_the_bound_is_hardly_too_large(n: int, together: bool, least: float) -> None:
    """Also where the joints follow the first."""
    problem = Problem(planar(n, together=together).model, (Goal("tip", "position"),))
    (lacking,), (bound,) = missing(problem, [5.0, 0.0, 0.0], None, np.zeros((1, len(problem.entries))))
    assert least * bound < lacking < 1.000001 * bound


def at_rest(step, q: np.ndarray, targets: Sequence[np.ndarray], dt: float, steps: int, **options) -> np.ndarray:
    """Return whether no joint of the last of many steps turns back."""
    v = []
    for k in range(steps):
        found = step(q, *targets, dt, **options)
        q = found.q
        if k >= steps - 20:
            v.append(found.v)
    v = np.array(v)
    assert np.isfinite(v).all()
    return ~((v[1:] * v[:-1] < 0.0) & (np.abs(v[1:]) > 0.01)).any(axis=(0, 2))


def test_far_positions_bring_an_arm_of_many_joints_to_rest() -> None:
    robot = planar(6)
    step = robot.differential_inverse_kinematics({"tip": "position"})
    q = np.random.default_rng(0).uniform(-1.5, 1.5, (80, 6))
    angles, distances = np.linspace(-2, 2, 80), np.tile([2.0, 3.0, 5.0, 20.0], 20)
    target = np.stack([distances * np.cos(angles), distances * np.sin(angles), 0 * angles], 1)
    for dt in (0.01, 1.0):
        assert at_rest(step, q, [target], dt, 600).all()
    assert not at_rest(step, q, [target], 0.01, 600, error_damping=0.4).all()  # half of the bound is what it takes
    assert STEP_DEFAULTS["error_damping"] > 0.5


@pytest.mark.parametrize(("distance", "damping"), [(1.5, 3e-3), (1.5, 1e-2), (6.0, 1e-6), (6.0, 0.1)])
def test_with_a_posture_too_far_positions_bring_it_to_rest(distance: float, damping: float) -> None:
    """Whatever the damping, by which the posture has its weight."""
    step = UR5.differential_inverse_kinematics({"tool0": "position"})
    q, posture = (UR5.random_configuration(seed, 60) for seed in (1, 2))
    way = np.random.default_rng(0).normal(size=(60, 3))
    way[:, 2] = np.abs(way[:, 2])  # above the ground
    target = np.array([0.0, 0.0, 0.09]) + distance * way / np.linalg.norm(way, axis=1)[:, None]
    assert at_rest(step, q, [target], 0.005, 1200, posture=posture, damping=damping).all()


def nearly(rotation: list[list[float]]) -> np.ndarray:
    U, _, V = np.linalg.svd(rotation)
    return U @ V


@pytest.mark.parametrize(
    ("name", "goal", "target", "q", "posture", "options"),
    [
        # What is left free is so curved that a tenth of the way to the posture passes the nearest place to it.
        (
            "ur5",
            {"tool0": "orientation"},
            nearly([[0.545, 0.7819, -0.3026], [-0.1599, -0.2573, -0.953], [-0.823, 0.5678, -0.0152]]),
            [-2.493, 0.34, -0.34, 1.338, 0.879, 2.845],
            [0.841, 0.873, 2.528, 2.135, -2.732, -2.053],
            {},
        ),
        # It keeps the position from its target by a part of the damping: where the errors lie changes with every step.
        (
            "panda",
            {"panda_hand": "position"},
            np.array([0.23, 0.26, 0.33]),
            [-2.28, -1.23, 2.73, -2.44, -1.69, 1.39, -0.53],
            [-2.59, 0.79, -2.5, -1.33, 0.49, 0.32, 2.11],
            {"damping": 0.01},
        ),
    ],
)
def test_a_posture_beside_the_target_comes_to_rest(
    name: str, goal: dict, target: np.ndarray, q: list[float], posture: list[float], options: dict
) -> None:
    step = kt.load(name).differential_inverse_kinematics(goal)
    assert at_rest(step, np.array([q]), [target], 0.002, 2000, posture=np.array(posture), **options).all()
