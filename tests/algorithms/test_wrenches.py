"""Wrenches on frames."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.frames import REFERENCES, TREES, mimicking_tree, times, tips
from helpers.trees import Array, columns, page, random_states, stacked
from kinetree.algorithms import rnea
from kinetree.algorithms.dynamics.task_space import external_wrench, wrench_forces
from kinetree.algorithms.kinematics.frames import jacobian
from kinetree.model import WORLD, Model

trees = pytest.mark.parametrize("model", [*TREES, mimicking_tree()], ids=lambda m: m.name)
references = pytest.mark.parametrize("reference", REFERENCES)


def wrench(size: int = 16) -> Array:
    return np.random.default_rng(1).normal(size=(size, 6))


@trees
@references
def test_joint_forces_are_the_transposed_jacobian_times_the_wrench(model: Model, reference: str) -> None:
    q, F = random_states(model, 2)[0], wrench()
    for frame in tips(model):
        J = page(jacobian, model, q, frame=frame, reference=reference)
        got = page(wrench_forces, model, q, F, frame=frame, reference=reference)
        assert_close(got, times(np.swapaxes(J, -1, -2), F), ulps=200, scale=float(np.abs(J).max()))


@trees
@references
def test_inverse_dynamics_is_relieved_by_them(model: Model, reference: str) -> None:
    q, v, a = random_states(model, 3)
    F, free = wrench(), page(rnea, model, q, v, a)
    for frame in tips(model):
        options = {"frame": frame, "reference": reference}
        f_ext = stacked(external_wrench(model, columns(q), columns(F), **options), q.shape[:-1])
        tau = page(rnea, model, q, v, a, f_ext=f_ext)
        expected = page(wrench_forces, model, q, F, **options)
        assert_close(free - tau, expected, ulps=200, scale=float(np.abs(free).max()))


def test_only_the_body_that_carries_the_frame_feels_it() -> None:
    model = TREES[0]
    q, F = random_states(model, 4)[0], wrench()
    for frame in tips(model):
        f_ext = stacked(external_wrench(model, columns(q), columns(F), frame=frame, reference="world"), q.shape[:-1])
        felt = {int(i) for i in np.flatnonzero(np.abs(f_ext).max(axis=(0, 2)))}
        assert felt == {model.frame(frame).body} - {WORLD}
