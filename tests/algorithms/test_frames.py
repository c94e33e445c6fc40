"""Placement, velocity and acceleration of frames."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.frames import REFERENCES, TREES, mimicking_tree, pose, pose_twist, tips
from helpers.trees import STEP, Array, moved, page, random_states
from kinetree.algorithms.kinematics.frames import frame_acceleration, frame_placement, frame_velocity
from kinetree.errors import ModelError
from kinetree.model import Model

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


@trees
def test_body_and_aligned_axes_differ_by_a_rotation(model: Model) -> None:
    q, v, a = random_states(model, 5)
    frame = tips(model)[0]
    R = page(frame_placement, model, q, frame=frame)[..., :3, :3]
    for kind in ("spatial", "classical"):
        body, aligned = (
            page(frame_acceleration, model, q, v, a, frame=frame, reference=r, kind=kind) for r in ("body", "aligned")
        )
        turned = [np.einsum("...ij,...j->...i", R, part) for part in (body[..., :3], body[..., 3:])]
        assert_close(aligned, np.concatenate(turned, axis=-1), ulps=100)


def test_a_frame_that_does_not_exist_is_named() -> None:
    with pytest.raises(ModelError, match="no frame 'linkk1', did you mean 'link1'"):
        frame_placement(TREES[0], [0.0] * TREES[0].nq, frame="linkk1")


def test_frames_of_the_world_stay_where_they_are() -> None:
    model = TREES[0]
    q, v, a = random_states(model, 6)
    assert not page(frame_velocity, model, q, v, frame="base").any()
    assert not page(frame_acceleration, model, q, v, a, frame="base", reference="world", kind="classical").any()
