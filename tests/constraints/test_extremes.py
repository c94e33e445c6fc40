"""Mechanisms of bodies a billion times heavier than others, rows that say nothing, and what `active` may be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.mechanisms import HINGE, at, four_bar
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.constraints.inputs import gathered
from kinetree.constraints.pages import assembly, dynamics, equations, inverse, steps
from kinetree.joints import FreeFlyer, Revolute
from kinetree.robot.mechanism_text import said

Array = np.ndarray[Any, Any]
BODY = kt.Inertia(1.0, [0.5, 0.0, 0.0], np.diag([0.1, 0.1, 0.1]))
LINKS = dict.fromkeys(("upper", "lower", "crank", "coupler", "rocker", "disk", "arm"), BODY)


@pytest.mark.parametrize("ratio", [1.0, 1e5, 1e11])
def test_heavy_and_light_linkages_in_one_tree_move_as_each_alone(ratio: float) -> None:
    """Under gravity alone no motion depends on how heavy everything is."""
    alone = four_bar()
    tree = alone.mech.tree
    light = tree.with_inertial_parameters(tree.inertial_parameters / ratio)
    loops = [kt.Loop(p + "coupler_tip", p + "rocker_tip", HINGE) for p in ("", "light_")]
    both = kt.Mechanism(tree.attach(light, "ground", prefix="light_"), loops).model
    q, v = alone.q.tolist(), equations.complete_velocity(alone.mech.model, alone.q.tolist(), [1.0])
    expected, force = dynamics.forward_dynamics(alone.mech.model, q, v, [0.0] * 3)
    a, f = dynamics.forward_dynamics(both, 2 * q, 2 * v, [0.0] * 6)
    np.testing.assert_allclose(a, 2 * expected, rtol=1e-12)
    np.testing.assert_allclose(f, [*force, *(x / ratio for x in force)], rtol=1e-11)
    inertia = np.array(equations.constraint_inertia(alone.mech.model, q), dtype=float)
    found = np.array(equations.constraint_inertia(both, 2 * q), dtype=float)
    np.testing.assert_allclose(found[:5, :5], inertia, rtol=1e-11)
    np.testing.assert_allclose(found[5:, 5:], inertia / ratio, rtol=1e-11)


def test_rows_that_are_nothing_but_rounding_do_nothing() -> None:
    """Two links with a rod from the first joint's axis to the first link: it holds nothing."""
    frames = ("pivot ground", at(0.3, 0.1, 0.7)), ("middle upper", at(0.6, 0.0, 0.3))
    shoulder = "shoulder ground upper", HINGE, {"placement": at(0.3, 0.1, 0.7)}
    tree = toy(shoulder, ("elbow upper lower", HINGE, {"placement": at(1.0)}), links=LINKS, frames=frames)
    rod = kt.Rod("middle", "pivot", length=np.hypot(0.6, 0.3))
    arm = kt.Mechanism(kt.Robot(tree), [rod], actuated=["elbow"])
    model, q, v = arm.model, [0.4, 0.2], [1.0, 0.5]
    assert 0.0 < np.abs(np.array(equations.constraint_jacobian(model, q), dtype=float)).max() < 1e-15
    a, f = dynamics.forward_dynamics(model, q, v, [0.0, 0.0])
    np.testing.assert_allclose(a, arm.tree.forward_dynamics(q, v, [0.0, 0.0]), rtol=1e-12)
    tau, g, missing = inverse.inverse_dynamics(model, q, v, [0.0, 0.0])
    np.testing.assert_allclose([missing[0], tau[1]], arm.tree.bias_forces(q, v), rtol=1e-12)
    assert max(abs(f[0]), abs(g[0])) < 1e-6
    assert dynamics.project_velocity(model, q, v) == pytest.approx(v)
    assert abs(equations.constraint_inertia(model, q)[0][0]) < 1e-9
    found = arm.mobility(q)
    assert (found.mobility, found.rank, found.immobile, arm.independent) == (2, 0, (), ("shoulder", "elbow"))
    assert str(found).splitlines()[-1].startswith("singular values: ")


def test_rows_that_are_zero_in_every_configuration() -> None:
    elbow = "elbow crank coupler", HINGE, {"placement": at(1.0), "mimic": ("motor", -1.0, 0.0)}
    pivot = "pivot ground rocker", HINGE, {"placement": at(0.7), "mimic": ("motor", 1.0, 0.0)}
    frames = ("tip coupler", at(0.7)), ("end rocker", at(1.0))
    tree = toy(("motor ground crank", HINGE), elbow, pivot, links=LINKS, frames=frames)
    mech = kt.Mechanism(kt.Robot(tree), [kt.Loop("tip", "end", HINGE)])
    assert not np.any(equations.constraint_inertia(mech.model, [0.0]))
    found = mech.mobility([0.0])
    assert (found.mobility, str(found).splitlines()[-1]) == (1, "singular values: 0")


def test_a_constraint_acts_where_active_is_above_one_half() -> None:
    """In functions that users compile, whose expressions nobody checks."""
    given = gathered({"active": [2.0, 0.51, 0.4, -1.0, math.nan]}).active
    np.testing.assert_array_equal(given, [1.0, 1.0, 0.0, 0.0, math.nan])


def test_with_no_constraint_that_acts_a_mechanism_moves_as_its_tree() -> None:
    (mech, q), v, tau = four_bar(), [0.3, -0.2, 0.1], [1.0, 2.0, 3.0]
    a, f = dynamics.forward_dynamics(mech.model, q.tolist(), v, tau, contacts=Given(active=[0.0]))
    np.testing.assert_allclose(a, mech.tree.forward_dynamics(q, v, tau), rtol=1e-12)
    assert not np.any(f)


def test_active_of_nan_is_nan_not_off() -> None:
    alone = four_bar()
    model, q, nan = alone.mech.model, alone.q.tolist(), [float("nan")]
    assert np.isnan(dynamics.forward_dynamics(model, q, q, q, contacts=Given(active=nan))[0]).all()
    _, converged, residual, _ = assembly.assemble(model, q, Given(active=nan))
    assert converged == 0.0
    assert np.isnan(residual).all()


@pytest.fixture(scope="module")
def ball() -> Any:
    """A sphere on the ground that could touch something else as well, with a state in which it lands."""
    ball = kt.Inertia(1.0, [0.0, 0.0, 0.0], np.diag([0.01] * 3))
    tree = kt.Robot(toy(("free ground ball", FreeFlyer()), links={"ball": ball}))
    q, v = tree.neutral(), [0.0, 0.0, 0.0, 0.5, 0.0, -1.0]
    q[2] = 0.1
    slot = kt.ContactSlot("something", "ball", friction=0.2)
    return kt.Mechanism(tree, [kt.Contact("ball", radius=0.1), slot]).model, q.tolist(), v


@pytest.mark.parametrize("what", ["friction", "f_start", "compliance", "f_min"])
def test_what_is_given_for_a_contact_that_is_switched_off_does_not_matter(ball: Any, what: str) -> None:
    """Even NaN: forces of others are as without, and so is the number of iterations."""
    model, q, v = ball
    rows = what in ("f_start", "compliance")
    there, nan = ([0.0] * 3, [float("nan")] * 3) if rows else ([0.5], [float("nan")])
    state, still = (q, v, [1.0, 2.0, 3.0] * 2), [0.0] * 6
    for page, arguments, takes in (
        (steps.contact_step, (*state, 1e-3), ("friction", "f_start")),
        (dynamics.contact_dynamics, state, ("friction", "f_start", "compliance")),
        (dynamics.contact_impulse, state[:2], ("friction", "f_start", "compliance")),
        (inverse.contact_inverse_dynamics, (q, still, still), ("friction", "f_min")),
    ):
        if what in takes:
            on, of_value = {"active": [1.0, 0.0]}, what == "friction"
            one, other = (
                page(model, *arguments, contacts=Given(**on, **given), **own)
                for x in (there, nan)
                for given, own in ([({what: there + x}, {})] if of_value else [({}, {what: there + x})])
            )
            assert one == other
            assert np.isfinite(list(one[0])).all()


def test_what_is_given_for_a_slot_that_is_switched_off_does_not_matter(ball: Any) -> None:
    model, q, v = ball
    rest, given = (q, v, [0.0] * 6, 1e-3), {"active": [1.0, 0.0], "slots": [[float("nan")] * 7]}
    expected = steps.contact_step(model, *rest)
    assert steps.contact_step(model, *rest, contacts=Given(**given)) == expected
    assert np.isnan(list(steps.contact_step(model, *rest, contacts=Given(**given | {"active": [1.0, 1.0]}))[1])).all()


def test_a_wheel_that_lies_flat_and_is_switched_off_is_not_there() -> None:
    tree = kt.Robot(toy(("free ground disk", FreeFlyer()), ("hinge disk arm", Revolute((1, 0, 0))), links=LINKS))
    mech = kt.Mechanism(tree, [kt.Wheel("disk", radius=0.3, axis=(0, 0, 1)), kt.Contact("arm")])
    model = mech.model
    q, v, off = tree.neutral().tolist(), [0.1] * tree.nv, [0.0, 1.0]
    expected, _ = dynamics.forward_dynamics(kt.Mechanism(tree, [kt.Contact("arm")]).model, q, v, [0.0] * tree.nv)
    a, f = dynamics.forward_dynamics(model, q, v, [0.0] * tree.nv, contacts=Given(active=off))
    np.testing.assert_allclose(a, expected, rtol=1e-12, atol=1e-12)
    assert not np.any(f[:3])
    assert not np.isnan(inverse.inverse_dynamics(model, q, v, a, contacts=Given(active=off))[0]).any()
    assert assembly.assemble(model, q, Given(active=off))[1] == 1.0
    assert mech.mobility(q, active=off).rank == 3
    with pytest.raises(kt.ArgumentError, match="no rows at this q of wheel_disk, such as a wheel that lies flat"):
        mech.mobility(q)
    assert said(mech, np.array(q)).startswith("mobility unknown: there are no rows")
    assert len(mech.independent) > 0
