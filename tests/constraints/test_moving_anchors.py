"""Anchors that move, in steps and where contacts are solved: belts, lifts, driven loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import to
from helpers.contact_robots import Array, point_mass, rolling, stack
from helpers.kernels import same_bits
from helpers.mechanisms import at, bar
from helpers.told import told
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import contact_dynamics, contact_impulse
from kinetree.constraints.pages.steps import contact_step
from kinetree.errors import ArgumentError
from kinetree.joints import Prismatic, Revolute

G, DT = 9.81, 1e-3
POINT = point_mass()


def belt(model: ConstrainedModel, speed: float) -> list[list[float]]:
    """Return the drift of ground that moves along x: the second direction of a contact on it is −x."""
    drift = np.zeros((3, model.nrows))
    drift[1, 1::3] = -speed
    return drift.tolist()


def carried(*rows: Array, model: ConstrainedModel) -> list[list[float]]:
    """Return the drift of all contacts with ground of which these are the position, velocity and acceleration."""
    drift = np.zeros((3, model.nrows))
    for constraint, its in zip(model.constraints, model.row_slices.values(), strict=True):
        if isinstance(constraint, kt.Contact):
            drift[:, its] = np.stack(rows) @ np.array([[*n] for n in constraint.directions]).T
    return drift.tolist()


def hopper() -> ConstrainedModel:
    """Return two legs under a trunk, geared to each other, which moves along x, y and z and turns."""
    turn, sides = Revolute((0, 1, 0)), {"left": at(0.2), "right": at(-0.2)}
    links = {
        k: kt.Inertia.from_com(3.0 if k == "trunk" else 0.5, (0.02, 0, 0.05), 0.05 * np.eye(3))
        for k in ["x", "y", "z", "trunk"]
    }
    links |= dict.fromkeys(sides, kt.Inertia.from_com(0.7, (0, 0, -0.2), 0.02 * np.eye(3)))
    slides = [
        (f"along_{b} {a} {b}", Prismatic(u))
        for a, b, u in zip(("world", "x", "y"), "xyz", np.eye(3).tolist(), strict=True)
    ]
    hips = [(f"{side}_hip trunk {side}", turn, {"placement": T}) for side, T in sides.items()]
    feet = [kt.Contact(x, point=(0, 0, -0.4), friction=0.4, restitution=0.3) for x in sides]
    tree = kt.Robot(toy(*slides, ("turn z trunk", turn), *hips, links=links))
    return kt.Mechanism(tree, [kt.Gear({"left_hip": 1, "right_hip": 1}), *feet]).model


HOPPER = hopper()
Q = [0.1, -0.2, 0.4, 0.03, 0.02, -0.02]


def boosted(x: Array, by: Array) -> list[float]:
    """Return coordinates, of which the first three are along x, y and z, with something added to these."""
    found: list[float] = [*(x[:3] + by).tolist(), *x[3:].tolist()]
    return found


def test_a_box_on_a_belt_slides_and_then_sticks() -> None:
    """It accelerates with μ g, until it has the belt's speed."""
    model = stack({"box": 2.0}).model
    q, v, force = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0] * 6, [0.0] * 12
    mu = [0.4] * 4
    for k in range(60):
        given = Given(friction=mu, row_motion=belt(model, 0.2))
        q, v, force, *_ = contact_step(model, q, v, [0.0] * 6, DT, None, given, force)
        assert v[3] == pytest.approx(min(0.4 * G * DT * (k + 1), 0.2), abs=1e-6)
    assert v == pytest.approx([0.0, 0.0, 0.0, 0.2, 0.0, 0.0], abs=1e-8)
    assert abs(np.reshape(force, (4, 3)).sum(axis=0) - [0.0, 0.0, 2.0 * G]).max() < 1e-5


def test_a_ball_on_a_belt_ends_rolling_at_two_sevenths_of_its_speed() -> None:
    model = rolling(0.4).model
    q, v = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0] * 6
    for _ in range(60):
        q, v, *_ = contact_step(model, q, v, [0.0] * 6, DT, contacts=Given(row_motion=belt(model, 0.5)))
    turned, rate = np.hypot(v[3], v[5]), v[1]
    assert turned == pytest.approx(2 / 7 * 0.5, rel=1e-9)
    assert rate == pytest.approx(-5 / 7 * 0.5 / 0.1, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_accelerations_on_ground_that_accelerates_are_those_under_another_gravity(seed: int) -> None:
    rng = np.random.default_rng(seed)
    u, a_ground, tau = rng.normal(size=3), rng.normal(size=3, scale=2.0), rng.normal(size=6, scale=5.0).tolist()
    v = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0]) if seed == 0 else np.array([0.3, 0.1, 0.0, 0.0, 0.0, 0.0])
    leaning = replace(HOPPER, gravity=HOPPER.gravity + -kt.spatial.Vec3(*a_ground))
    expected, f, *_ = contact_dynamics(leaning, Q, v.tolist(), tau, contacts=to(1e-12))
    drift = carried(np.zeros(3), u, a_ground, model=HOPPER)
    a, f_moving, *_ = contact_dynamics(HOPPER, Q, boosted(v, u), tau, contacts=to(1e-12, row_motion=drift))
    assert max(f[3::3]) > 1.0
    np.testing.assert_allclose(f_moving, f, atol=1e-9 * np.abs(f).max())
    np.testing.assert_allclose(a, boosted(np.array(expected), a_ground), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_impacts_and_steps_are_the_same_on_ground_that_moves_evenly(seed: int) -> None:
    """Galileo's principle, with friction, rebounds and what has penetrated."""
    rng = np.random.default_rng(seed)
    u, s, v = rng.normal(size=3), rng.normal(size=3), rng.normal(size=6)
    v[2] = -1.0
    drift = carried(np.zeros(3), u, np.zeros(3), model=HOPPER)
    expected, blow, *_ = contact_impulse(HOPPER, Q, v.tolist(), contacts=to(1e-12))
    after, blow_moving, *_ = contact_impulse(HOPPER, Q, boosted(v, u), contacts=to(1e-12, row_motion=drift))
    np.testing.assert_allclose(blow_moving, blow, atol=1e-9)
    np.testing.assert_allclose(after, boosted(np.array(expected), u), atol=1e-9)
    tau, low = rng.normal(size=6).tolist(), np.array([*Q[:2], Q[2] - 0.01 * seed, *Q[3:]])
    q_rest, v_rest, f_rest, *_ = contact_step(HOPPER, low.tolist(), v.tolist(), tau, DT)
    drift = carried(s, u, np.zeros(3), model=HOPPER)
    q, v_next, f, *_ = contact_step(HOPPER, boosted(low, s), boosted(v, u), tau, DT, contacts=Given(row_motion=drift))
    assert max(f[3::3]) > 1.0
    np.testing.assert_allclose(f, f_rest, atol=1e-5)
    np.testing.assert_allclose(v_next, boosted(np.array(v_rest), u), atol=1e-8)
    np.testing.assert_allclose(q, boosted(np.array(q_rest), s + DT * u), atol=1e-9)


def test_on_a_lift_a_robot_feels_its_acceleration() -> None:
    """Of any motion, given for each step: z = 0.05 (1 − cos ωt), with at most 6 m/s², where it does not lift off."""
    omega, n = 11.0, 600
    t = np.arange(n) * DT
    drift = np.zeros((n, 3, 3))
    drift[:, :, 2] = 0.05 * np.stack(
        [1 - np.cos(omega * t), omega * np.sin(omega * t), omega**2 * np.cos(omega * t)], 1
    )
    ride = POINT.simulate(np.zeros(3), contacts=kt.ContactInputs(row_motion=drift), record="f")
    felt = G + omega**2 * 0.05 * np.cos(omega * (t + 0.5 * DT))  # in the middle of the step
    assert abs(ride.f[2:, 2] / 2.0 - felt[1:]).max() < 0.05
    assert abs(ride.q[1:-1, 2] - drift[1:, 0, 2]).max() < 1e-7
    assert abs(ride.q[:, :2]).max() < 1e-12


def test_a_state_in_a_batch_is_as_alone_and_keeps_its_nan() -> None:
    rng = np.random.default_rng(0)
    v, drift = rng.normal(size=(3, 3)), rng.normal(size=(3, 3, 3))
    drift[1, 1, 0] = np.nan
    together = POINT.contact_step(np.zeros(3), v, np.zeros(3), DT, contacts=Given(row_motion=drift))
    for k in range(3):
        assert same_bits(
            POINT.contact_step(np.zeros(3), v[k], np.zeros(3), DT, contacts=Given(row_motion=drift[k])).v, together.v[k]
        )
    assert np.isnan(together.v).any(axis=1).tolist() == [False, True, False]
    off = POINT.contact_step(np.zeros(3), v, np.zeros(3), DT, contacts=Given(active=[0], row_motion=drift))
    assert np.isfinite(off.v).all()


def arm() -> kt.Mechanism:
    """Return an arm of two links, whose tip is held by a hinge."""
    turn, links = Revolute((0, 1, 0)), dict.fromkeys(("upper", "lower"), bar(2.0, (1.0, 0.0, 0.0)))
    joints = ("upper_joint ground upper", turn), ("lower_joint upper lower", turn, {"placement": at(1.0)})
    tree = toy(*joints, links=links, frames=[("tip lower", at(1.0)), ("anchor ground", at(0.0))])
    return kt.Mechanism(kt.Robot(tree), [kt.Loop("tip", "anchor", turn)])


def test_a_driven_loop_follows_its_anchor() -> None:
    """By the forces of inverse dynamics, and with the integrator's order."""
    mech = arm()
    q, n = np.array([0.4, 0.9]), 200
    tip = mech.tree.frame_placement(q, frame="tip")[:3, 3]
    motion = np.zeros((3, 5))
    motion[:, 2:] = tip, (0.3, 0.0, 0.2), (-0.4, 0.0, 1.0)  # position, velocity and acceleration
    v = np.linalg.lstsq(mech.constraint_jacobian(q), motion[1])[0]
    driven = mech.simulate(q, v, contacts=kt.ContactInputs(row_motion=motion), steps=n, integrator="rk4", record="f a")
    t = driven.t[:, None]
    expected = motion[0, 2:] + t * motion[1, 2:] + t**2 / 2 * motion[2, 2:]
    assert abs(mech.tree.frame_placement(driven.q, frame="tip")[:, :3, 3] - expected).max() < 1e-13
    J = mech.constraint_jacobian(driven.q)
    assert abs((J @ driven.v[..., None])[..., 0] - motion[1] - t * motion[2]).max() < 1e-11
    assert abs((J @ driven.a[..., None])[..., 0] + mech.constraint_bias(driven.q, driven.v) - motion[2]).max() < 1e-10
    torque = mech.tree.inverse_dynamics(driven.q, driven.v, driven.a)
    assert abs(torque - mech.constraint_forces(driven.q, driven.f)).max() < 1e-10
    moved = kt.ContactInputs(row_motion=motion)
    first = mech.simulate(q, v, contacts=moved, steps=80, integrator="rk4")
    assert same_bits(mech.simulate(first, contacts=moved, steps=n - 80, integrator="rk4").q[-1], driven.q[-1])


test_a_drift_that_makes_no_sense_is_refused = told(
    ArgumentError,
    (np.zeros((2, 5)), r"row_motion has shape \(2, 5\), .*: one number for each of the 5 rows: loop_tip_anchor"),
    (np.full((3, 5), np.nan), "row_motion holds a number that is not finite"),
    (np.zeros((3, 5)), "begins with 'loop_tip_anchor' open by"),
    of=lambda drift: arm().simulate([0.4, 0.9], steps=2, contacts=kt.ContactInputs(row_motion=drift)),
)
