"""Assembly: mechanisms closed from anywhere, flipped welds, joints that stay, and what cannot be closed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import same_bits
from helpers.mechanisms import at, bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.constraints.pages.assembly import assemble
from kinetree.joints import FreeFlyer, Revolute

Array = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def linkage() -> kt.Mechanism:
    return four_bar().mech


@pytest.fixture(scope="module")
def body() -> kt.Robot:
    return kt.Robot(toy(("root ground body", FreeFlyer())))


def closed_from(mech: kt.Mechanism, q: Array, **options: Any) -> tuple[Array, Array]:
    """Return the configuration and the residuals that the page finds over floats: nothing is compiled."""
    found, converged, residual, _ = assemble(mech.model, q.tolist(), **options)
    assert converged == 1.0
    return np.array(found), np.array(residual)


@pytest.mark.parametrize("make", [slider_crank, bricard, stewart, delta, five_bar_leg])
def test_mechanisms_close_from_far_away(make: Any) -> None:
    mech, q = make()
    rng = np.random.default_rng(0)
    start = q.copy()
    for body in mech.tree.model.leading:  # without the compiled `integrate`
        step = rng.normal(size=len(body.v_index), scale=0.7).tolist()
        start[list(body.q_index)] = body.joint.integrate(q[list(body.q_index)].tolist(), step)
    found, residual = closed_from(mech, start)
    np.testing.assert_allclose(residual, 0.0, atol=1e-13)
    rows = mech.model.constraint_rows(found.tolist())
    np.testing.assert_allclose([row.phi for row in rows], 0.0, atol=1e-13)


def test_all_bars_in_a_line_or_ends_at_one_place_are_no_dead_end(linkage: kt.Mechanism, body: kt.Robot) -> None:
    """There the rows are dependent and the error is along none of them: other starts beside it do."""
    stuck = linkage.assemble(np.zeros(3), restarts=0)
    assert stuck.converged == 0.0
    assert abs(stuck.residual[0] - 0.7) < 1e-12  # as it is: the crank and the coupler are longer than base and rocker
    assert linkage.assemble(np.zeros(3)).converged
    closed_from(n_four_bar(2).mech, np.array([0.3, 0.0, 0.0, 0.1, 0.2]))
    closed_from(kt.Mechanism(body, [kt.Rod("body", "ground", length=0.3)]), np.array([0.0] * 6 + [1.0]))


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.36, 0.48, -0.8)])
def test_what_is_flipped_by_half_a_turn_turns_back(body: kt.Robot, axis: tuple[float, float, float]) -> None:
    q = np.array([0.3, -0.2, 0.1, *axis, 0.0])
    weld = kt.Mechanism(body, [kt.Weld("body", placement=at(1.0, 2.0, 3.0))])
    rows = weld.model.constraint_rows(q.tolist())
    np.testing.assert_allclose([row.phi for row in rows[:3]], 0.0, atol=1e-15)  # φ does not see it
    found, _ = closed_from(weld, q)
    np.testing.assert_allclose(found[:6], [1.0, 2.0, 3.0, 0.0, 0.0, 0.0], atol=1e-12)
    if axis[2] == 0:  # the axis of the hinge is turned to its opposite
        found, _ = closed_from(kt.Mechanism(body, [kt.Loop("body", "ground", Revolute((0, 0, 1)))]), q)
        np.testing.assert_allclose(found[:5], 0.0, atol=1e-12)


def test_it_ends_at_once_where_it_arrives(linkage: kt.Mechanism) -> None:
    q = np.random.default_rng(2).normal(size=(20, 3))
    alone, helped = linkage.assemble(q, restarts=0), linkage.assemble(q)
    assert alone.iterations.max() < 100
    arrived = alone.converged == 1.0
    assert arrived.sum() > 15
    assert same_bits(alone.q[arrived], helped.q[arrived])
    few = linkage.assemble(q, max_iterations=3, restarts=2)
    assert (few.iterations <= 9).all()
    assert (few.converged == 0.0).any()
    for limit in ("tolerance", "max_iterations", "restarts"):
        assert linkage.assemble(q, **{limit: np.nan}).iterations.max() < 1200


def test_joints_that_are_fixed_stay_to_the_last_bit(linkage: kt.Mechanism, body: kt.Robot) -> None:
    found = linkage.assemble([0.1, 0.5, -2.0], fixed=["motor"])
    assert found.converged == 1.0
    assert found.q[0] == 0.1
    nothing = linkage.assemble([0.1, 0.5, -2.0], fixed=["motor", "elbow", "pivot"])
    assert nothing.converged == 0.0
    np.testing.assert_array_equal(nothing.q, [0.1, 0.5, -2.0])
    with pytest.raises(kt.ArgumentError, match="no joint 'moter', did you mean 'motor'"):
        linkage.assemble([0.1, 0.5, -2.0], fixed=["moter"])
    weld = kt.Mechanism(body, [kt.Weld("body")])
    q, *_ = assemble(weld.model, [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8], fixed=("root",))
    assert q == [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8]


def test_what_cannot_close_says_how_far_it_is_open(linkage: kt.Mechanism) -> None:
    far = kt.Mechanism(linkage.tree, [*linkage.constraints, kt.Rod("coupler_tip", "ground", length=4.0, name="rod")])
    found, converged, residual, _ = assemble(far.model, four_bar().q.tolist())
    assert converged == 0.0
    assert max(residual) > 0.3
    tip = far.tree.frame_placement(found, frame="coupler_tip")[:3, 3]
    assert abs(abs(np.linalg.norm(tip) - 4.0) - residual[1]) < 1e-12
    assert assemble(far.model, four_bar().q.tolist(), contacts=Given(active=[1.0, 0.0]))[1:3] == (1.0, [0.0, 0.0])
    q, converged, _, steps = assemble(far.model, [0.1, 0.2, 0.3], max_iterations=0.0, restarts=0.0)
    assert (q, converged, steps) == ([0.1, 0.2, 0.3], 0.0, 0.0)


def test_the_same_bits_in_a_batch_with_nan_in_one_state_and_float32(linkage: kt.Mechanism) -> None:
    q = np.random.default_rng(0).normal(size=(19, 3))
    q[4, 1] = np.nan
    found = linkage.assemble(q)
    assert np.flatnonzero(found.converged == 0.0).tolist() == [4]
    assert np.isnan(found.residual[4]).all()
    assert len(set(found.iterations.tolist())) > 3
    for k in range(0, 19, 3):
        assert all(same_bits(1.0 * x[k], 1.0 * y) for x, y in zip(found, linkage.assemble(q[k]), strict=True))
    single = linkage.assemble(q[5:9].astype(np.float32))
    assert single.q.dtype == np.float32
    assert single.converged.all()


def test_converged_is_a_bool() -> None:
    linkage = four_bar().mech
    q = np.array([[0.1, 0.5, -2.0], [1.0, 0.0, 0.0]])
    for _ in range(3):
        assert linkage.assemble(q[0]).converged is np.True_
        found = linkage.assemble(q, fixed=["motor", "elbow"]).converged
        assert found.dtype == bool
        assert not found.any()

    @linkage.compile
    def half(q):  # type: ignore[no-untyped-def]
        return 0.5 * linkage.assemble(q).converged

    assert half(q[0]) == 0.5


def test_without_rows_of_positions_it_stays(body: kt.Robot) -> None:
    mech, q = kt.Mechanism(body, [kt.ContactSlot("s", "body")]), body.random_configuration(1)
    found = mech.assemble(q)
    assert found.converged
    assert np.allclose(found.q, q, rtol=0, atol=1e-15)
