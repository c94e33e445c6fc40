"""Contacts in time: bounces, slopes, rolling, stacks, and what impulses do to energy."""

import numpy as np
import pytest

import kinetree as kt
from helpers.contact_robots import point_mass, rolling, stack
from helpers.mechanisms import five_bar_leg
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.errors import KinetreeError
from kinetree.joints import Prismatic

G = 9.81
POINT = point_mass()
LEG = five_bar_leg(floating=True)


def tilted(angles):
    """Return gravity for ground that falls towards x at these angles."""
    return {kt.gravity: G * np.stack([np.sin(angles), np.zeros_like(angles), -np.cos(angles)], axis=-1)}


@pytest.fixture(scope="module")
def leg():
    """A leg with a closed loop, whose foot and body touch the ground."""
    tree = LEG.mech.tree
    touching = [kt.Contact("front_foot", radius=0.01, friction=0.6), *kt.capsule_contacts("body", 0.1, 0.04)]
    return kt.Mechanism(tree, [*LEG.mech.constraints, *touching])


def test_bounces_lose_height_by_the_square_of_the_restitution():
    e, h, dt = np.array([0.0, 0.5, 0.8, 1.0]), 0.2, 1e-4
    fall = POINT.simulate([0.0, 0.0, h], np.zeros((4, 3)), duration=1.2, dt=dt, contacts=Given(restitution=e[:, None]))
    z, energy = fall.q[..., 2], fall.mechanical_energy
    for k, factor in enumerate(e):
        rises = np.flatnonzero((fall.v[k, :-1, 2] > 0) & (fall.v[k, 1:, 2] <= 0))
        for n, top in enumerate(rises[:2], 1):
            assert z[k, top] == pytest.approx(factor ** (2 * n) * h, rel=1e-2)  # of the order of v dt
        assert len(rises) >= 2 or factor == 0.0
    assert z.min() > -1e-12
    assert np.diff(energy, axis=-1).max() < 1e-12
    assert abs(z[0, -1]) < 1e-12
    assert abs(fall.v[0, -1]).max() < 1e-10
    two = Given(restitution=[0.5], solver=kt.ContactSolver(max_iterations=2))
    few = POINT.simulate([0.0, 0.0, 0.01], [1.0, 0.0, -1.0], steps=30, contacts=two)
    assert few.counts["unsolved"] == 0  # impact and rebound take one iteration each


def test_it_sticks_and_slides_on_slopes_at_the_angle_of_friction():
    mu = np.repeat([0.2, 0.5, 1.0], 4)
    factors = np.tile([0.5, 1 - 1e-6, 1 + 1e-6, 1.4], 3)
    angles = np.arctan(mu * factors)
    slide = POINT.simulate(
        np.zeros(3),
        np.zeros((12, 3)),
        duration=0.5,
        contacts=Given(friction=mu[:, None], solver=kt.ContactSolver(tolerance=1e-12)),
        inputs=tilted(angles),
    )
    expected = np.maximum(0.0, G * (np.sin(angles) - mu * np.cos(angles))) * 0.5
    assert np.allclose(slide.v[:, -1, 0], expected, rtol=1e-9, atol=1e-10)
    assert (slide.v[factors > 1, -1, 0] > 5e-7).all()
    assert abs(slide.q[..., 2]).max() < 1e-12
    assert not slide.counts["unsolved"].any()


def test_wheels_roll_down_a_slope_and_slide_where_it_is_too_steep():
    disk = rolling(0.5)
    angles = np.array([0.1, 0.3, 0.5, 1.3])  # friction holds up to tan θ = 3 μ
    start = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
    roll = disk.simulate(start, np.zeros((4, 6)), duration=0.5, inputs=tilted(angles), record="f")
    speed = np.linalg.norm(roll.v[:, -1, 3:], axis=-1)
    assert np.allclose(speed[:3], 2 / 3 * G * np.sin(angles[:3]) * 0.5, rtol=1e-6)
    assert np.isclose(speed[3], G * (np.sin(1.3) - 0.4 * np.cos(1.3)) * 0.5, rtol=1e-6)
    assert np.allclose(roll.f[:, -1, 2], 3.0 * G * np.cos(angles), rtol=1e-6)
    assert np.allclose(np.hypot(*roll.f[:3, -1, :2].T), 3.0 * G * np.sin(angles[:3]) / 3, rtol=1e-5)
    assert abs(roll.q[..., 2] - 0.1).max() < 1e-9


def test_a_sliding_sphere_ends_rolling_at_five_sevenths_of_its_speed():
    ball = rolling(0.4)
    slide = ball.simulate([0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], duration=1.0)
    speed = np.linalg.norm(slide.v[:, 3:], axis=1)
    assert speed[-1] == pytest.approx(5 / 7, rel=1e-6)
    assert slide.v[-1, 1] == pytest.approx(5 / 7 / 0.1, rel=1e-6)
    rolls = np.flatnonzero(speed < 5 / 7 + 1e-6)[0] * 1e-3
    assert rolls == pytest.approx(2 / 7 / (0.4 * G), abs=2e-3)
    assert np.diff(slide.mechanical_energy).max() < 1e-12


def test_stacks_stand_and_carry_their_weights():
    cubes = stack({"low": 1.0, "high": 4.0})
    q = cubes.tree.neutral()
    q[[2, 9]] = 0.1, 0.3
    rough = Given(friction=np.full(8, 0.5))
    stand = cubes.simulate(q, duration=0.3, record="f", contacts=rough)
    normal = stand.f[-1, 2::3]
    assert normal[:4].sum() == pytest.approx(5.0 * G, rel=1e-4)
    assert normal[4:].sum() == pytest.approx(4.0 * G, rel=1e-4)
    assert abs(stand.q - q).max() < 1e-6
    pushed = np.zeros((2, 6))
    pushed[1, 3] = 0.4 * 4.0 * G  # friction holds it, and the lower one on the ground
    leaning = cubes.simulate(q, duration=0.1, forces=kt.Forces(f_ext=pushed), contacts=rough)
    assert abs(leaning.q - q).max() < 1e-5


def test_impulses_add_no_energy(leg):
    """Right at an impact, with the base in any pose."""
    q, v, _ = leg.tree.random_state(seed=1, size=100)
    q[:, 7:] = LEG.q[7:]
    q[:, 2] -= leg.constraint_error(q)[:, 7::3].min(axis=1) + 1e-9  # touches
    v = leg.project_velocity(q, 0.1 * v, contacts=Given(active=[1, 0, 0, 0]))
    before = leg.tree.kinetic_energy(q, v)
    after = leg.contact_step(q, v, np.zeros(leg.nv), 1e-12)
    now = leg.tree.kinetic_energy(q, after.v)
    assert (now <= before * (1 + 1e-6)).all()
    assert np.count_nonzero(now < 0.9 * before) > 10
    assert (after.f[:, 7::3] >= 0.0).all()


def test_a_leg_with_a_closed_loop_lands(leg):
    q = LEG.q.copy()
    q[2] = 0.4
    land = leg.simulate(q, duration=0.22, record="f")
    error = leg.constraint_error(land.q)
    assert abs(error[:, :5]).max() < 1e-12
    assert error[:, 7::3].min() > -1e-4  # of the order of (v dt)²
    assert abs(error[180:, 7]).max() < 1e-4  # the foot is on the ground, and the body still falls
    assert (land.f[180:, 7] > 0.0).all()
    assert not land.f[:170, 5:].any()
    assert np.diff(land.mechanical_energy).max() < 1e-3
    free = leg.simulate(q, duration=0.22, contacts=Given(active=[1, 0, 0, 0]))
    assert free.q[-1, 2] == pytest.approx(0.4 - G * 0.22**2 / 2, rel=1e-2)
    assert land.counts["unsolved"] == 0
    assert land.counts["worst_residual"] < 1e-4


def test_a_rod_that_jams_stays_bounded():
    """Painlevé's rod: with so much friction accelerations have no solution while its tip slides; impulses have."""
    bar = kt.Inertia.from_com(1.0, (0, 0, 0), np.diag([1e-3, 1 / 3, 1 / 3]))
    along = ("along_x ground x", Prismatic((1, 0, 0))), ("along_z x z", Prismatic((0, 0, 1)))
    links = {"x": kt.Inertia.zero(), "z": kt.Inertia.zero(), "rod": bar}
    tree = toy(*along, ("turn z rod", kt.joints.Revolute((0, 1, 0))), links=links)
    rod = kt.Mechanism(kt.Robot(tree), [kt.Contact("rod", point=(1.0, 0.0, 0.0), friction=2.5)])
    angles = np.linspace(0.3, 1.4, 12)  # the tip is below and ahead, and slides forwards
    q = np.stack([0 * angles, np.sin(angles), angles], axis=1)
    jam = rod.simulate(q, np.tile([2.0, 0.0, 0.0], (12, 1)), duration=0.5, record="f")
    assert not jam.counts["unsolved"].any()
    assert jam.counts["worst_residual"].max() < 1e-5
    energy = jam.mechanical_energy
    assert (energy.max(axis=1) < energy[:, 0] + 0.05).all()
    assert jam.f[..., 2].max() > 100.0  # it is stopped within a step


def test_penetration_is_taken_away_without_speed():
    deep = POINT.simulate([0.0, 0.0, -0.05], steps=3)
    assert np.allclose(deep.q[:, 2], [-0.05, 0.0, 0.0, 0.0], rtol=0, atol=1e-6)
    assert abs(deep.v).max() < 1e-12


def test_a_step_is_one_of_a_simulation(leg):
    q = LEG.q.copy()
    q[2] = 0.0
    still, none = np.zeros(leg.nv), np.zeros(leg.nv)
    motion = leg.simulate(q, steps=2, record="f")
    first = leg.contact_step(q, still, none, 1e-3)
    second = leg.contact_step(first.q, first.v, none, 1e-3, f_start=first.f)
    assert np.allclose(motion.q[1:], [first.q, second.q], rtol=0, atol=1e-14)
    assert np.allclose(motion.f[1:], [first.f, second.f], rtol=0, atol=1e-9)
    assert not motion.f[0].any()
    assert np.allclose(leg.step(q, still, none, 1e-3).v, first.v, rtol=0, atol=1e-14)


def test_slots_take_their_contacts_at_run_time():
    """A sphere against tilted ground, as a contact of its own and as a point, a normal and a gap from outside."""
    tree = rolling(0.4).tree
    normal = np.array([0.2, -0.1, 0.9]) / np.linalg.norm([0.2, -0.1, 0.9])
    own = kt.Mechanism(tree, [kt.Contact("ball", normal=normal, radius=0.1, friction=0.3, restitution=0.5)])
    slot = kt.Mechanism(tree, [kt.ContactSlot("hit", "ball", friction=0.3, restitution=0.5)])
    q, v = np.array([0.0, 0.0, 0.12, 0.0, 0.0, 0.0, 1.0]), np.array([1.0, 2.0, 0.0, 0.5, 0.0, -1.0])
    x, y, none = (q, v), (q, v), np.zeros(6)
    for _ in range(60):
        centre = y[0][:3]
        found = slot.slots({"hit": (centre - 0.1 * normal, normal, normal @ centre - 0.1)})
        x, after = (
            own.contact_step(*x, none, 1e-3)[:2],
            slot.contact_step(*y, none, 1e-3, contacts=Given(slots=found)),
        )
        y = after[:2]
        assert np.allclose(y[0], x[0], rtol=0, atol=1e-9)
        assert np.allclose(y[1], x[1], rtol=0, atol=1e-7)
    longer = found * [1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 1.0]  # a normal need not be of length 1
    assert np.allclose(
        slot.contact_step(*y, none, 1e-3, contacts=Given(slots=longer)).v,
        slot.contact_step(*y, none, 1e-3, contacts=Given(slots=found)).v,
    )
    assert np.allclose(slot.contact_step(q, v, none, 1e-3).v, slot.tree.step(q, v, none, 1e-3).v, atol=1e-2)
    assert not slot.contact_step(q, v, none, 1e-3).f.any()
    over_time = np.stack([slot.slots({})] * 3)
    assert slot.simulate(q, v, contacts=Given(slots=over_time)).q.shape == (4, 7)


@pytest.mark.parametrize("joint", [kt.joints.FreeFlyer(), kt.joints.Planar((0.0, 1.0, 0.0))])
def test_what_flies_keeps_its_speed_and_direction(joint):
    """However fast it spins: along a straight line without gravity."""
    ball = {"top": kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3) * 0.01)}
    robot = kt.Robot(toy(("free ground top", joint), links=ball, gravity=(0.0, 0.0, 0.0)))
    top = kt.Mechanism(robot, [kt.Contact("top", height=-50.0)])
    start = robot.neutral()
    v = np.array([0.0, 20.0, 0.0, 1.0, 0.0, 0.5]) if robot.nv == 6 else np.array([1.0, 0.5, 20.0])
    flight = top.simulate(start, v, duration=1.0)
    way = flight.frame_placement(frame="top")[:, :3, 3]
    first = robot.frame_velocity(start, v, frame="top", reference="aligned")[3:]
    last = robot.frame_velocity(flight.q[-1], flight.v[-1], frame="top", reference="aligned")[3:]
    assert np.allclose(last, first, rtol=0, atol=1e-11)
    assert np.allclose(way[-1], first, rtol=1e-4)  # the way of a step is exact to second order


def test_stiff_joints_take_implicit_steps():
    """A point that a damper drags down: with a step of a millisecond the explicit method diverges."""
    stiff = {kt.joint_damping: [0.0, 0.0, 1e4]}
    drag = POINT.simulate([0.0, 0.0, 0.01], duration=1.0, inputs=stiff, integrator="implicit_euler", record="f")
    assert drag.v[500, 2] == pytest.approx(-2.0 * G / 1e4, rel=1e-6)
    slow = POINT.simulate([0.0, 0.0, 1e-4], duration=1.0, inputs=stiff, integrator="implicit_euler", record="f")
    assert slow.f[-1, 2] == pytest.approx(2.0 * G)
    assert abs(slow.q[-1]).max() < 1e-12


def test_shapes_and_numbers_without_meaning():
    sticks = POINT.simulate([0.0, 0.0, 0.0], [1.0, 0.0, 0.0], steps=3, contacts=Given(stick=True), integrator="rk4")
    assert abs(sticks.v[-1]).max() < 1e-12
    nan = POINT.simulate(np.zeros((2, 3)), steps=3, forces=[[[0.0] * 3] * 3, [[0.0, 0.0, 1e308]] * 3], dt=1.0)
    assert nan.reasons.tolist() == [None, "not finite"]
    corners = kt.box_contacts("at_z", (0.2, 0.4, 0.6), point=(1.0, 0.0, 0.0), friction=0.3, name="crate")
    assert len({c.point for c in corners}) == 8
    assert np.allclose(np.abs([np.array(c.point) - [1.0, 0.0, 0.0] for c in corners]), [0.1, 0.2, 0.3])
    assert {c.friction for c in corners} == {0.3}
    assert kt.Mechanism(POINT.tree, corners).constraint_names[0] == "crate_0"
    mech = kt.Mechanism(POINT.tree, [kt.ContactSlot("a", "at_z"), kt.ContactSlot("b", "at_z")])
    up, zero = (0.0, 0.0, 1.0), np.zeros(3)
    assert mech.slots({"b": (up, up, 0.5)})[0, 6] > 100.0
    assert not mech.forward_dynamics(zero, zero, zero).f.any()
    for call, match in (
        *(
            (lambda given=given: POINT.simulate(zero, steps=3, **given), match)
            for given, match in (
                ({"integrator": "rk4"}, r"'rk4' is for smooth motions: choose semi_implicit_euler or implicit_euler"),
                ({"record": "a"}, "velocities jump"),
                ({"contacts": Given(friction=[-0.1])}, "friction holds -0.1: it cannot be negative"),
                ({"contacts": "stick"}, r"contacts is 'stick': write contacts=kinetree.ContactInputs\(stick=True\)"),
                ({"contacts": Given(solver=kt.GaussSeidel(), stick=True)}, "solver is for contacts that are solved"),
            )
        ),
        *(
            (lambda given=given: POINT.tree.simulate(zero, steps=3, contacts=given), "contacts is for the constraints")
            for given in (Given(friction=[0.1]), Given(solver=kt.ContactSolver(tolerance=1e-9)))
        ),
        *(
            (lambda given=given: mech.slots(given), match)
            for given, match in (
                ({"c": (up, up, 0.1)}, "no contact slot 'c'"),
                ({"a": 1.0}, "the contact in slot 'a' is not"),
                (5, "slots takes a dict of a point, a normal and a gap"),
            )
        ),
        (lambda: mech.contact_step(zero, zero, zero, 1e-3, contacts=Given(slots=np.zeros((3, 7)))), "slots has shape"),
        (
            lambda: mech.simulate(zero, steps=3, contacts=Given(slots=mech.slots({}), stick=True)),
            "contacts in slots do not stick",
        ),
    ):
        with pytest.raises(KinetreeError, match=match):
            call()
