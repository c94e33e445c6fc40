"""The rate of the motion subspace, column by column, for every joint type."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.dense import assert_close
from helpers.joints import EXAMPLES
from helpers.trees import STEP, random_inertia, random_placement
from kinetree.algorithms.recursions.tree import subspace_rates
from kinetree.joints import Joint, Revolute
from kinetree.model import Model, ModelBuilder


def model_with(joint: Joint) -> Model:
    rng, builder = np.random.default_rng(1), ModelBuilder()
    builder.add_link("base")
    builder.add_link("link", random_inertia(rng))
    builder.add_joint("joint", parent="base", child="link", joint=Revolute(), placement=random_placement(rng).tolist())
    model = builder.build()
    own = {"q_index": tuple(range(joint.nq)), "v_index": tuple(range(joint.nv))}
    return replace(model, bodies=(replace(model.bodies[0], joint=joint, **own),), nq=joint.nq, nv=joint.nv)


@pytest.mark.parametrize("joint", [j for row in EXAMPLES.values() for j in row if j.nv], ids=repr)
def test_columns_against_a_complex_step(joint: Joint) -> None:
    rng = np.random.default_rng(2)
    model, q, v = model_with(joint), joint.random(rng).tolist(), rng.normal(size=joint.nv).tolist()
    ahead = joint.integrate([np.complex128(x) for x in q], [np.complex128(1j * STEP * x) for x in v])
    expected = np.array([list(S_k) for S_k in joint.jcalc(ahead, v).S]).imag / STEP
    got = np.array([list(c) for c in subspace_rates(model, 0, q, v)], dtype=float)
    assert_close(got, expected, ulps=32, scale=float(np.abs(v).max()))
    total = sum(x * column for x, column in zip(v, got, strict=True))
    assert_close(total, np.array(list(joint.jcalc(q, v).cJ), dtype=float), ulps=32, scale=float(np.abs(v).max() ** 2))
