"""Jacobians of frames, their rates, and the Jacobian between two frames."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.frames import REFERENCES, TREES, mimicking_tree, pose, pose_twist, times, tips, twist
from helpers.trees import Array, page, random_states, rate, units
from kinetree.algorithms.kinematics.frames import (
    jacobian,
    jacobian_bias,
    jacobian_rate,
    relative_jacobian,
    relative_placement,
)
from kinetree.model import WORLD, Model

MODELS = [*TREES, mimicking_tree()]
trees = pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
references = pytest.mark.parametrize("reference", REFERENCES)


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


def test_against_the_world_it_is_the_jacobian() -> None:
    model = mimicking_tree()
    q, _, _ = random_states(model, 8)
    for ours, theirs in (("body", "body"), ("world", "relative_to"), ("aligned", "aligned")):
        got = page(relative_jacobian, model, q, frame="link3", relative_to="link0", reference=theirs)
        np.testing.assert_array_equal(got, page(jacobian, model, q, frame="link3", reference=ours))
