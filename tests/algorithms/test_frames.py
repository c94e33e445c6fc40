"""Placement, velocity and acceleration of frames and of points fixed to them, and their Jacobians."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.compiler import ALGORITHMS, Algorithm, shape_of, uses
from helpers.dense import assert_close
from helpers.frames import (
    REFERENCES,
    TREES,
    mimicking_tree,
    pose,
    pose_twist,
    times,
    tips,
    twist,
)
from helpers.trees import STEP, Array, columns, moved, page, random_states, rate, stacked, units
from kinetree.algorithms.kinematics.frames import (
    frame_acceleration,
    frame_placement,
    frame_velocity,
    jacobian,
    jacobian_bias,
    jacobian_rate,
    relative_jacobian,
    relative_placement,
)
from kinetree.model import WORLD, Model

trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)
references = pytest.mark.parametrize("reference", REFERENCES)


@trees
def test_placement(model: Model) -> None:
    q, _, _ = random_states(model, 1)
    for frame in tips(model):
        assert_close(page(frame_placement, model, q, frame=frame), pose(model, frame, q), ulps=50)


@trees
@references
def test_velocity_is_that_of_the_pose(model: Model, reference: str) -> None:
    q, v, _ = random_states(model, 2)
    for frame in tips(model):
        got = page(frame_velocity, model, q, v, frame=frame, reference=reference)
        assert_close(got, pose_twist(model, frame, q, v, reference), ulps=200)


def rate_of_velocity(model: Model, q: Array, v: Array, a: Array, **options: str) -> Array:
    return page(frame_velocity, model, moved(model, q, 1j * STEP * v), v + 1j * STEP * a, **options).imag / STEP


@trees
@references
def test_acceleration_is_the_rate_of_the_velocity(model: Model, reference: str) -> None:
    """The rate of the six numbers is the spatial acceleration, or where the reference follows, the classical one."""
    q, v, a = random_states(model, 3)
    kind = "classical" if reference == "aligned" else "spatial"
    for frame in tips(model):
        got = page(frame_acceleration, model, q, v, a, frame=frame, reference=reference, kind=kind)
        assert_close(got, rate_of_velocity(model, q, v, a, frame=frame, reference=reference), ulps=200)


@trees
@references
def test_the_two_kinds_differ_by_the_velocity_product(model: Model, reference: str) -> None:
    q, v, a = random_states(model, 4)
    frame = tips(model)[0]
    V = page(frame_velocity, model, q, v, frame=frame, reference=reference)
    spatial, classical = (
        page(frame_acceleration, model, q, v, a, frame=frame, reference=reference, kind=k)
        for k in ("spatial", "classical")
    )
    product = np.concatenate([np.zeros_like(V[..., :3]), np.cross(V[..., :3], V[..., 3:])], axis=-1)
    assert_close(classical, spatial + product, ulps=100)


# -- Jacobians of frames, their rates, and the Jacobian between two frames -------------------------------------------


@trees
@references
def test_columns_are_the_twists_of_unit_velocities(model: Model, reference: str) -> None:
    q, _, _ = random_states(model, 1, size=5)
    for frame in tips(model):
        expected = np.moveaxis(pose_twist(model, frame, q, units(model, q), reference), 0, -1)
        assert_close(page(jacobian, model, q, frame=frame, reference=reference), expected, ulps=100)


@trees
@references
def test_rate(model: Model, reference: str) -> None:
    q, v, _ = random_states(model, 2)
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}
        expected = rate(lambda x, options=options: page(jacobian, model, x, **options), model, q, v)
        assert_close(page(jacobian_rate, model, q, v, **options), expected, ulps=200)


@trees
@references
def test_bias_is_the_rate_times_the_velocity(model: Model, reference: str) -> None:
    q, v, _ = random_states(model, 3)
    for frame in tips(model):
        rates = page(jacobian_rate, model, q, v, frame=frame, reference=reference)
        got = page(jacobian_bias, model, q, v, frame=frame, reference=reference)
        assert_close(got, times(rates, v), ulps=200, scale=float(np.abs(rates).max() * np.abs(v).max()))


def carriers(model: Model, frame: str) -> set[int]:
    i, found = model.frame(frame).body, set()
    while i != WORLD:
        found |= set(model.bodies[i].v_index)
        i = model.bodies[i].parent
    return found


@trees
def test_columns_of_other_joints_are_exactly_zero(model: Model) -> None:
    q, v, _ = random_states(model, 4)
    for frame in tips(model):
        others = sorted(set(range(model.nv)) - carriers(model, frame))
        assert not page(jacobian, model, q, frame=frame)[..., others].any()
        assert not page(jacobian_rate, model, q, v, frame=frame)[..., others].any()


# -- between two frames ---------------------------------------------------------------------------------------------


def rigid_inverse(P: Array) -> Array:
    out = P.copy()
    R_T = np.swapaxes(P[..., :3, :3], -1, -2)
    out[..., :3, :3], out[..., :3, 3] = R_T, -times(R_T, P[..., :3, 3])
    return out


def pairs(model: Model) -> list[tuple[str, str]]:
    """Return pairs of frames: on two branches, on one body or its child, and with one that is fixed to the world."""
    ours, leaf = tips(model)[0], next(f.name for f in model.frames if f.body != WORLD)
    other = max(model.frames, key=lambda f: len(carriers(model, f.name) - carriers(model, ours))).name
    return [(ours, other), (other, ours), (ours, leaf), ("base" if "base" in model.frame_names else "link0", ours)]


@trees
def test_relative_placement(model: Model) -> None:
    q, _, _ = random_states(model, 5)
    for frame, other in pairs(model):
        expected = rigid_inverse(pose(model, other, q)) @ pose(model, frame, q)
        assert_close(page(relative_placement, model, q, frame=frame, relative_to=other), expected, ulps=100)


@trees
@pytest.mark.parametrize("reference", ["body", "relative_to", "aligned"])
def test_relative_jacobian_gives_the_twist_of_one_frame_in_the_other(model: Model, reference: str) -> None:
    q, v, _ = random_states(model, 6)
    for frame, other in pairs(model):

        def between(x: Array, frame: str = frame, other: str = other) -> Array:
            return page(relative_placement, model, x, frame=frame, relative_to=other)

        expected = twist(between(q), rate(between, model, q, v), {"relative_to": "world"}.get(reference, reference))
        J = page(relative_jacobian, model, q, frame=frame, relative_to=other, reference=reference)
        assert_close(times(J, v), expected, ulps=200, scale=float(np.abs(J).max() * np.abs(v).max()))


@pytest.mark.parametrize("model", TREES, ids=lambda m: m.name)  # (a leader's coordinate counts for its followers)
def test_joints_that_carry_both_frames_do_not_count(model: Model) -> None:
    q, _, _ = random_states(model, 7)
    for frame, other in pairs(model):
        common = sorted(carriers(model, frame) & carriers(model, other))
        assert not page(relative_jacobian, model, q, frame=frame, relative_to=other)[..., common].any()


# -- Quantities of a frame at a point fixed to it: those of a frame that was put there -------------------------------


AT_A_POINT = [a for a in ALGORITHMS.values() if "point" in a.optional]
POINT = np.array([0.3, -0.2, 0.5])
HERE = np.block([[np.eye(3), POINT[:, None]], [np.zeros(3), 1.0]])
SIZE = 4

algorithms = pytest.mark.parametrize("algorithm", AT_A_POINT, ids=lambda a: a.name)


def arguments(model: Model, algorithm: Algorithm) -> list[Array]:
    q, rng = random_states(model, 3, size=SIZE)[0], np.random.default_rng(4)
    return [q if name == "q" else rng.normal(size=(SIZE, *shape_of(x, model))) for name, x in algorithm.inputs.items()]


def results(model: Model, algorithm: Algorithm, arrays: list[Array], options: dict[str, Any]) -> Array:
    return stacked(algorithm.function(model, *map(columns, arrays), **options), (SIZE,))


def test_every_function_of_a_frame_that_moves_with_it_takes_a_point() -> None:
    names = {"jacobian", "jacobian_rate", "jacobian_bias", "frame_placement", "frame_velocity", "frame_acceleration"}
    names |= {"relative_jacobian", "relative_placement", "external_wrench", "wrench_forces"}
    assert {a.name for a in AT_A_POINT} == names


@algorithms
@pytest.mark.parametrize("model", [TREES[0], mimicking_tree()], ids=lambda m: m.name)
def test_a_point_is_a_frame_put_there(model: Model, algorithm: Algorithm) -> None:
    arrays = arguments(model, algorithm)
    point = np.broadcast_to(POINT, (SIZE, 3))
    for frame in tips(model):
        there = kt.Robot(model).with_frame("there", on=frame, placement=HERE).model
        for use in uses(algorithm, (frame, model.frame_names[1]), model.joint_names[0]):
            got = results(model, algorithm, arrays, {**use.options, "point": columns(point)})
            expected = results(there, algorithm, arrays, {**use.options, "frame": "there"})
            assert_close(got, expected, ulps=100, scale=float(np.abs(expected).max()) or 1.0)
