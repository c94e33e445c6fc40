"""Steps with contacts of what cannot move, stops of joints, and rebound with friction: the pages over plain numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.constraints import to
from helpers.contact_robots import Array, floating, point_mass
from helpers.mechanisms import HINGE, at, bar, four_bar
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.algorithms import crba
from kinetree.algorithms.quantities import kinetic_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import contact_dynamics, contact_impulse, impulse
from kinetree.constraints.pages.equations import constraint_jacobian
from kinetree.constraints.pages.inverse import contact_inverse_dynamics
from kinetree.constraints.pages.steps import contact_step, step
from kinetree.errors import ArgumentError


def slider(placement: Array | None = None, **limits: float) -> kt.Robot:
    """Return a car of 2 kg on a rail along its z, which is the world's unless it has a placement."""
    own = {"placement": placement, "limits": kt.JointLimits(**limits)}
    car = kt.Inertia.from_com(2.0, (0, 0, 0), np.eye(3))
    return kt.Robot(toy(("slide rail car", kt.joints.Prismatic((0, 0, 1)), own), links={"car": car}))


@pytest.mark.parametrize("height", [0.0, 1e-5])
def test_rounding_along_a_normal_is_no_mobility(height: float) -> None:
    """A rail along the ground, but for the last digit, with a car that is on the ground or in it."""
    level = np.eye(4)
    level[:3, :3] = Rotation.from_rotvec([0.0, math.pi / 2, 0.0]).as_matrix()
    car = kt.Mechanism(slider(level), [kt.Contact("car", height=height)]).model
    assert 0.0 < level[2, 2] < 1e-15
    for tau in (5.0, -5.0):
        a, f, *_ = contact_dynamics(car, [0.0], [0.0], [tau])
        assert a == pytest.approx([tau / 2.0])
        assert f == [0.0, 0.0, 0.0]
        q, v, *_ = contact_step(car, [0.0], [0.0], [tau], 1e-3)
        assert q == pytest.approx([tau / 2.0 * 1e-6])
        assert v == pytest.approx([tau / 2.0 * 1e-3])


@pytest.mark.parametrize("height", [0.0, 1e-5])
def test_contacts_of_what_is_welded_bear_nothing(height: float) -> None:
    T, turn, point = np.eye(4), Rotation.from_rotvec([0.3, 0.5, -0.7]), np.array([0.1, 0.2, 0.3])
    T[:3, :3], T[:3, 3] = turn.as_matrix(), (0.1, 0.2, 0.3)
    ground = (T[:3, :3] @ point + T[:3, 3])[2] + height
    held = [kt.Weld("ball", placement=T), kt.Contact("ball", point=point, height=ground)]
    model = kt.Mechanism(floating({"ball": 3.0}, [0.01, 0.02, 0.03]), held).model
    q, rng = [*T[:3, 3].tolist(), *turn.as_quat().tolist()], np.random.default_rng(0)
    for _ in range(5):
        x = rng.normal(size=6, scale=30.0).tolist()
        a, f, *_ = contact_dynamics(model, q, [0.0] * 6, x)
        v, blow, *_ = contact_impulse(model, q, x)
        assert np.abs([a, v]).max() < 1e-11
        assert f[6:] == blow[6:] == [0.0, 0.0, 0.0]
        assert np.abs([f, blow]).max() < 300.0
        assert np.allclose(contact_step(model, q, [0.0] * 6, x, 1e-3)[0], q, rtol=0, atol=1e-12)


def test_what_is_switched_off_is_not_the_measure_of_what_has_penetrated() -> None:
    """A box of which one edge is some µm in the ground, with a higher step that does not count and a pit below."""
    ground = [
        c
        for height in (0.0, 5.0, -40.0)
        for c in kt.box_contacts("box", (0.3,) * 3, height=height, name=f"at_{height}")
    ]
    model = kt.Mechanism(floating({"box": 1.0}, [0.02, 0.03, 0.04]), ground).model
    q = [0.0, 0.0, 0.15 - 1e-6, 1e-5, 1e-6, 0.0, 1.0]
    q, *_ = contact_step(model, q, [0.0] * 6, [0.0] * 6, 1e-3, contacts=Given(active=[1.0] * 8 + [0.0] * 8 + [1.0] * 8))
    lowest = min(row.phi for c in ground[:8] for row in c.rows(model, q, [0.0] * 6)[2:])
    assert lowest > -1e-9


@pytest.mark.parametrize("push", [3.0, -3.0, 0.9])
def test_a_joint_with_friction_slides_to_its_stop_and_stays(push: float) -> None:
    rubbing = slider(lower=-0.1, upper=0.1).with_joint_physics(friction={"slide": 1.0}).with_friction(coulomb=True)
    car = kt.Mechanism(rubbing, [kt.Contact("car", height=-9.0)]).model
    q, v, slides = [0.0], [0.0], abs(push) > 1.0
    for k in range(500):
        q, v, *_ = contact_step(car, q, v, [push + 2.0 * 9.81], 1e-3, limits="position")
        if k < 400:
            assert v == pytest.approx([math.copysign(1e-3 * (k + 1), push) * slides], abs=1e-12)
    assert q == pytest.approx([math.copysign(0.1, push) * slides], abs=1e-12)
    assert v == pytest.approx([0.0], abs=1e-12)
    q, v, *_ = contact_step(car, [0.2], [0.0], [19.62], 1e-3, limits="position")  # from beyond it
    assert (q, v) == (pytest.approx([0.1], abs=1e-12), pytest.approx([0.0], abs=1e-12))


# -- rebound and friction together: impulses never add energy, where Newton's law of restitution alone would -----------


def double_pendulum() -> ConstrainedModel:
    """Return two bars of 1 m, the tip of which meets a plane: Kane and Levinson's paradox."""
    joints = ("shoulder ground upper", HINGE), ("elbow upper lower", HINGE, {"placement": at(1.0)})
    links = dict.fromkeys(("upper", "lower"), bar(1.0, (1.0, 0.0, 0.0)))
    tree = toy(*joints, links=links, frames=[("tip lower", at(1.0))])
    return constrained(tree, [kt.Contact("tip", friction=0.7, restitution=0.9)])


PENDULUM = double_pendulum()
RNG = np.random.default_rng(0)
STATES = list(zip(RNG.uniform(-3.0, 3.0, (40, 2)).tolist(), RNG.normal(size=(40, 2)).tolist(), strict=True))


def energy(q: list[float], v: list[float]) -> float:
    return float(kinetic_energy(PENDULUM, q, v))


def rows(q: list[float]) -> Array:
    return np.array(constraint_jacobian(PENDULUM, q))


def test_impacts_with_friction_and_rebound_add_no_energy() -> None:
    """Where Newton's law would, energy stays, and all else of the laws holds."""
    reduced = 0
    for q, v in STATES:
        after, blow, *_ = contact_impulse(PENDULUM, q, v, contacts=to(1e-12))
        assert energy(q, after) <= energy(q, v) * (1 + 1e-9)
        M, J = np.array(crba(PENDULUM, q)), rows(q)
        M = np.tril(M) + np.tril(M, -1).T
        np.testing.assert_allclose(M @ (np.array(after) - v), J.T @ blow, atol=1e-12)
        assert np.hypot(*blow[:2]) <= 0.7 * blow[2] + 1e-9
        approach, rebound = J[2] @ v, J[2] @ after
        if approach < 0.0:
            assert -1e-9 <= rebound <= -0.9 * approach + 1e-9 or blow[2] == pytest.approx(0.0, abs=1e-9)
            less = rebound < -0.9 * approach - 1e-6
            reduced += less
            if less:
                assert energy(q, after) == pytest.approx(energy(q, v), rel=1e-9)
        else:
            assert after == v
    assert reduced > 3


def test_steps_with_friction_and_rebound_add_no_energy() -> None:
    for q, v in STATES[:20]:
        above = float(rows(q)[2] @ v < 0.0)
        model = constrained(PENDULUM, [kt.Contact("tip", friction=0.7, restitution=0.9, height=height(q))])
        after = contact_step(model, q, v, [0.0] * 2, 1e-12)
        assert energy(q, list(after[1])) <= energy(q, v) * (1 + 1e-6)
        assert (max(after[2]) > 0.0) == above


def height(q: list[float]) -> float:
    """Return how high the tip is."""
    return float(-np.sin(q[0]) - np.sin(q[0] + q[1]))


def test_what_sticks_and_rebounds_adds_none_where_nothing_slid() -> None:
    """`impulse`, in which contacts stick: with one e, and no velocity along the plane before."""
    for q, v in STATES:
        along = max(rows(q)[:2], key=np.linalg.norm)
        straight = [v[0] * along[1], -v[0] * along[0]]
        after = impulse(PENDULUM, q, straight, contacts=Given(restitution=[0.9]))[0]
        assert energy(q, after) <= energy(q, straight) * (1 + 1e-12)
        assert rows(q)[2] @ after == pytest.approx(-0.9 * (rows(q)[2] @ straight), abs=1e-12)


@pytest.mark.parametrize("limits", ["none", "all"])
def test_a_loop_moves_alike_without_contacts_with_one_far_away_and_with_one_that_is_switched_off(limits: str) -> None:
    (mech, q), tau = four_bar(), np.array([1.0, 2.0, 3.0])
    touching = kt.Mechanism(mech.tree, [*mech.constraints, kt.Contact("coupler_tip", height=-100.0)])
    v, off = mech.complete_velocity(q, [0.5]), Given(active=[1.0, 0.0])
    for alone, beside in (
        (mech.contact_step(q, v, tau, 1e-3, limits=limits), touching.contact_step(q, v, tau, 1e-3, limits=limits)),
        (mech.contact_dynamics(q, v, tau), touching.contact_dynamics(q, v, tau, contacts=off)),
        (mech.contact_impulse(q, 2.0 * v + 1.0), touching.contact_impulse(q, 2.0 * v + 1.0, off)),
    ):
        for x, y in zip(alone[:3], beside[:3], strict=True):
            if x.ndim:
                assert np.allclose(x, y[: len(x)], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("limits", "height", "q", "v", "end"),
    [
        ((-0.1, 0.1), -9.0, -0.01, 150.0, 0.1),  # no stop is passed in one step, from its other half too
        ((-0.1, 0.1), -9.0, 0.01, -150.0, -0.1),
        ((-1.0, 1e-3), 1e-3, 0.0, 1.0, 1e-3),  # the ground moves it out, and its velocity to the same place
        ((0.0, 0.0), -9.0, 0.0, 0.0, 0.0),  # there is no range
    ],
)
def test_stops_hold(limits: tuple[float, float], height: float, q: float, v: float, end: float) -> None:
    car = kt.Mechanism(slider(lower=limits[0], upper=limits[1]), [kt.Contact("car", height=height)]).model
    at, after, *_ = contact_step(car, [q], [v], [0.0], 1e-3, limits="position")
    assert at == pytest.approx([end], abs=1e-12)
    if height < 0.0:
        at, after, *_ = contact_step(car, at, after, [0.0], 1e-3, limits="position")
        assert after == pytest.approx([0.0], abs=1e-12)


def test_odd_calls() -> None:
    still, mech = [0.0] * 3, kt.Mechanism(slider(), [kt.Contact("car")])
    for wrong in (-1.0, math.nan):
        assert np.isnan(contact_inverse_dynamics(point_mass().model, still, still, still, tau_max=[wrong] * 3)[0]).all()
    welded = kt.Mechanism(slider(), [kt.Weld("car")]).model
    assert step(welded, [0.0], [0.0], [5.0], 1e-3, contacts=Given(slots=[]))[0] == pytest.approx([0.0])
    for dt in (math.ulp(0.0), 1e-20):
        assert mech.contact_step([1.0], [0.5], [0.0], dt).q == pytest.approx([1.0])
    for dt in (0.0, -1e-3, math.inf):
        with pytest.raises(ArgumentError, match=r"dt .*must be a positive number"):
            mech.contact_step([1.0], [0.5], [0.0], dt)
    for point in ((0, 0), "abc", None):
        with pytest.raises(ArgumentError, match="the point of contact 'box_a' is"):
            kt.box_contacts("a", (1.0, 2.0, 3.0), point=point)  # type: ignore[arg-type]
    assert len(kt.box_contacts("a", (x for x in (1.0, 2.0, 3.0)))) == 8
