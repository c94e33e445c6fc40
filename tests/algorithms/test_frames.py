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


def carriers(model: Model, frame: str) -> set[int]:
    i, found = model.frame(frame).body, set()
    while i != WORLD:
        found |= set(model.bodies[i].v_index)
        i = model.bodies[i].parent
    return found


@trees
@references
def test_motion_of_frames(model: Model, reference: str) -> None:
    """Velocities are those of the poses, and accelerations the rates of velocities.

    The rate of the six numbers is the spatial acceleration, or where the reference follows, the classical one.
    """
    q, v, a = random_states(model, 3)
    kinds = ("classical", "spatial") if reference == "aligned" else ("spatial", "classical")
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}

        def velocity(q: Array, v: Array, options: dict[str, str] = options) -> Array:
            return page(frame_velocity, model, q, v, **options)

        assert_close(page(frame_placement, model, q, frame=frame), pose(model, frame, q), ulps=50)
        V = velocity(q, v)
        assert_close(V, pose_twist(model, frame, q, v, reference), ulps=200)
        ahead = velocity(moved(model, q, 1j * STEP * v), v + 1j * STEP * a).imag / STEP
        found, other = (page(frame_acceleration, model, q, v, a, kind=kind, **options) for kind in kinds)
        assert_close(found, ahead, ulps=200)
        product = np.concatenate([np.zeros_like(V[..., :3]), np.cross(V[..., :3], V[..., 3:])], axis=-1)
        assert_close(other - found, product if kinds[0] == "spatial" else -product, ulps=100, scale=np.abs(found).max())


@trees
@references
def test_jacobians_of_frames(model: Model, reference: str) -> None:
    """Columns are the twists of unit velocities, exactly zero for other joints; rates and the bias are theirs."""
    q, v, _ = random_states(model, 2, size=5)
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}
        J, J_rate = page(jacobian, model, q, **options), page(jacobian_rate, model, q, v, **options)
        columns_of_J = pose_twist(model, frame, q, units(model, q), reference)
        assert_close(J, np.moveaxis(columns_of_J, 0, -1), ulps=100)
        expected = rate(lambda x, options=options: page(jacobian, model, x, **options), model, q, v)
        assert_close(J_rate, expected, ulps=200)
        bias = page(jacobian_bias, model, q, v, **options)
        assert_close(bias, times(J_rate, v), ulps=200, scale=float(np.abs(J_rate).max() * np.abs(v).max()))
        others = sorted(set(range(model.nv)) - carriers(model, frame))
        assert not J[..., others].any()
        assert not J_rate[..., others].any()


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
@pytest.mark.parametrize("reference", ["body", "relative_to", "aligned"])
def test_one_frame_in_another(model: Model, reference: str) -> None:
    """Its placement and the Jacobian of its twist; joints that carry both do not count."""
    q, v, _ = random_states(model, 6)
    for frame, other in pairs(model):

        def between(x: Array, frame: str = frame, other: str = other) -> Array:
            return page(relative_placement, model, x, frame=frame, relative_to=other)

        assert_close(between(q), rigid_inverse(pose(model, other, q)) @ pose(model, frame, q), ulps=100)
        expected = twist(between(q), rate(between, model, q, v), {"relative_to": "world"}.get(reference, reference))
        J = page(relative_jacobian, model, q, frame=frame, relative_to=other, reference=reference)
        assert_close(times(J, v), expected, ulps=200, scale=float(np.abs(J).max() * np.abs(v).max()))
        if model.name != "mimicking":  # a leader's coordinate counts for its followers
            assert not J[..., sorted(carriers(model, frame) & carriers(model, other))].any()


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
