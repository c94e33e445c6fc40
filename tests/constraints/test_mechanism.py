"""`Mechanism`: what users hold; its compiled functions, and what it says of input that makes no sense."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.kernels import same_bits
from kinetree import ContactInputs as Given
from kinetree.errors import ArgumentError
from kinetree.joints import FreeFlyer, Helical, Prismatic, Revolute, Spherical, Universal

Array = np.ndarray[Any, Any]
HINGE = Revolute((0, 1, 0))


def at(*r: float) -> Array:
    T = np.eye(4)
    T[:3, 3] = r
    return T


def four_bar(crank: float = 1.0, coupler: float = 2.0, rocker: float = 1.5, base: float = 2.2) -> kt.Robot:
    """Return the tree of a planar four-bar linkage, cut between coupler and rocker."""
    b = kt.ModelBuilder("four-bar")
    b.add_link("ground")
    for name, length in (("crank", crank), ("coupler", coupler), ("rocker", rocker)):
        I = length**2 / 12
        b.add_link(name, kt.Inertia.from_com(length, (length / 2, 0, 0), np.diag([1e-4, I, I]) * length))
    b.add_joint("shoulder", parent="ground", child="crank", joint=HINGE)
    b.add_joint("elbow", parent="crank", child="coupler", joint=HINGE, placement=at(crank, 0, 0))
    b.add_joint("pivot", parent="ground", child="rocker", joint=HINGE, placement=at(base, 0, 0))
    b.add_frame("coupler_tip", link="coupler", placement=at(coupler, 0, 0))
    b.add_frame("rocker_tip", link="rocker", placement=at(rocker, 0, 0))
    return kt.Robot(b.build())


def closed(q_crank: float, crank: float = 1.0, coupler: float = 2.0, rocker: float = 1.5, base: float = 2.2) -> Array:
    """Return a configuration in which the linkage closes: triangles, with angles about y that turn x towards −z."""
    elbow = crank * np.array([np.cos(q_crank), -np.sin(q_crank)])
    d = elbow - [base, 0.0]
    distance, direction = np.hypot(*d), np.arctan2(-d[1], d[0])
    at_pivot = np.arccos((rocker**2 + distance**2 - coupler**2) / (2 * rocker * distance))
    q_rocker = direction + at_pivot
    tip = np.array([base, 0.0]) + rocker * np.array([np.cos(q_rocker), -np.sin(q_rocker)]) - elbow
    return np.array([q_crank, np.arctan2(-tip[1], tip[0]) - q_crank, q_rocker])


@pytest.fixture(scope="module")
def linkage() -> kt.Mechanism:
    loop = kt.Loop("coupler_tip", "rocker_tip", HINGE)
    gear = kt.Gear({"shoulder": 1, "pivot": -2}, name="gear")
    return kt.Mechanism(four_bar(), [loop, gear])


@pytest.fixture(scope="module")
def states() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return np.array([closed(x) for x in rng.uniform(0.3, 2.5, 21)]), *rng.normal(size=(2, 21, 3))


def test_a_planar_loop_keeps_two_of_its_five_rows(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    q, v, tau = states
    J = linkage.constraint_jacobian(q)
    assert J.shape == (21, 6, 3)
    assert (np.abs(J).max(axis=(0, 2)) > 0).tolist() == [False, False, True, False, True, True]
    np.testing.assert_allclose(linkage.constraint_error(q)[:, :5], 0.0, atol=1e-14)
    assert not linkage.forward_dynamics(q, v, tau).f[:, [0, 1, 3]].any()
    mobile = kt.Mechanism(linkage.tree, linkage.constraints[:1]).delassus_matrix
    assert sum(mobile.op_count.values()) < 60


def test_the_crank_turns_as_a_mechanism_of_one_degree_of_freedom(states: tuple[Array, ...]) -> None:
    """With v = g u, the reduced equation is (gᵀ M g) u̇ + gᵀ (M ġ u + h) = gᵀ τ."""
    q, _, tau = states
    mech = kt.Mechanism(four_bar(), [kt.Loop("coupler_tip", "rocker_tip", HINGE)])
    robot = mech.tree
    a, _ = mech.forward_dynamics(q, 0 * q, tau)
    J = mech.constraint_jacobian(q)
    g = np.stack([np.linalg.svd(x)[2][-1] for x in J])
    M, h = robot.mass_matrix(q), robot.bias_forces(q, 0 * q)
    u = np.einsum("ni,ni->n", g, tau - h) / np.einsum("ni,nij,nj->n", g, M, g)
    np.testing.assert_allclose(a, g * u[:, None], atol=1e-12 * np.abs(a).max())


def test_the_same_bits_in_every_batch(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    active = np.random.default_rng(1).integers(0, 2, (21, 2)).astype(float)
    batch = linkage.forward_dynamics(*states, contacts=Given(active=active))
    for k in range(0, 21, 5):
        one = linkage.forward_dynamics(*(x[k] for x in states), contacts=Given(active=active[k]))
        assert all(same_bits(x[k], y) for x, y in zip(batch, one, strict=True))


@pytest.mark.parametrize("wrong", [0.5, -1.0, 2.0, math.nan])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_active_is_one_or_zero(
    linkage: kt.Mechanism, states: tuple[Array, ...], wrong: float, dtype: type[np.floating[Any]]
) -> None:
    """By the call glue and by the general path, for one state and for many, each with its own or all with one."""
    one, many = [[x[k].astype(dtype) for x in states] for k in (0, slice(3))]
    right = np.ones((3, 2), dtype)
    for given, on in ((one, right[0]), (many, right), (many, right[0])):
        bad = on.copy()
        bad.flat[-1] = wrong
        for active in (bad, bad.tolist(), np.asfortranarray(bad)):
            for _ in range(2):
                linkage.forward_dynamics(*given, contacts=Given(active=on))  # compiled, then called by the glue
                with pytest.raises(ArgumentError, match="forward_dynamics: active holds"):
                    linkage.forward_dynamics(*given, contacts=Given(active=active))


def test_active_in_a_function_of_the_user_is_one_or_zero(linkage: kt.Mechanism) -> None:
    with pytest.raises(ArgumentError, match=r"active holds 0\.5"):
        linkage.compile(lambda q, v, tau: linkage.forward_dynamics(q, v, tau, contacts=Given(active=[1.0, 0.5])).a)


CONTACT = {"friction": [-0.1, math.nan], "restitution": [-0.1, 1.5, math.nan], "dt": [0.0, -1e-3, math.nan, math.inf]}


@pytest.mark.parametrize(("name", "wrong"), [(name, x) for name, values in CONTACT.items() for x in values])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_contacts_are_checked_as_by_simulate(name: str, wrong: float, dtype: type[np.floating[Any]]) -> None:
    """By the call glue and by the general path, for one state and for many, each with its own or all with one."""
    mech = ball()
    right = {"friction": np.array([0.5], dtype), "restitution": np.array([0.0], dtype), "dt": np.array(1e-3, dtype)}
    for lead in ((), (3,)):
        state = [np.ones((*lead, n), dtype) * np.array(x, dtype) for n, x in ((7, Q), (6, [0] * 6), (6, [0] * 6))]
        for own in (True, False):
            values = {n: np.array(np.broadcast_to(x, (*lead, *x.shape)) if own else x) for n, x in right.items()}
            bad = values | {name: values[name].copy()}
            bad[name].flat[-1] = wrong
            for _ in range(2):
                contact_step(mech, state, values)  # compiled, then called by the glue
                with pytest.raises(ArgumentError, match=f"contact_step: {name} holds {wrong:.3g}"):
                    contact_step(mech, state, bad)


def test_numbers_of_contacts_are_checked_in_all_functions() -> None:
    mech = ball()
    state = [np.array(Q), np.zeros(6), np.zeros(6)]
    for call in (
        lambda: mech.contact_dynamics(*state, contacts=Given(friction=[-1.0])),
        lambda: mech.contact_inverse_dynamics(*state, contacts=Given(friction=[math.nan])),
        lambda: mech.contact_impulse(*state[:2], contacts=Given(friction=[-1.0])),
        lambda: mech.contact_impulse(*state[:2], contacts=Given(restitution=[1.5])),
        lambda: mech.impulse(*state[:2], contacts=Given(restitution=[math.nan])),
        lambda: mech.step(*state, 1e-3, contacts=Given(friction=[-1.0])),
        lambda: mech.compile(lambda q, v: mech.contact_impulse(q, v, contacts=Given(friction=[-1.0])).v_next),
    ):
        with pytest.raises(ArgumentError, match=r"(friction|restitution) holds"):
            call()


Q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]


def contact_step(mech: kt.Mechanism, state: list[Array], values: dict[str, Array]) -> Any:
    return mech.contact_step(
        *state, values["dt"], contacts=Given(friction=values["friction"], restitution=values["restitution"])
    )


@cache
def ball() -> kt.Mechanism:
    """Return a ball on a plane."""
    b = kt.ModelBuilder("ball")
    b.add_link("ground")
    b.add_link("ball", kt.Inertia.from_com(1.0, (0, 0, 0), np.eye(3) * 1e-2))
    b.add_joint("free", parent="ground", child="ball", joint=FreeFlyer())
    return kt.Mechanism(kt.Robot(b.build()), [kt.Contact("ball", radius=0.1, friction=0.5)])


def test_active_may_be_bools(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    on = np.random.default_rng(1).integers(0, 2, (21, 2)) == 1
    expected = linkage.forward_dynamics(*states, contacts=Given(active=on.astype(float)))
    assert all(map(same_bits, linkage.forward_dynamics(*states, contacts=Given(active=on)), expected))
    wide = linkage.inverse_dynamics(*(x[0] for x in states), contacts=Given(active=[1, 0]))
    narrow = [x[0].astype(np.float32) for x in states]
    for flags in ([True, False], [1, 0], (1.0, 0.0), np.array([1, 0])):  # which say nothing about the rest
        for _ in range(2):  # the second time by the call glue, if it takes them
            found = linkage.inverse_dynamics(*narrow, contacts=Given(active=flags))
            assert found.f.dtype == np.float32
            np.testing.assert_allclose(found.f, wide.f, rtol=1e-3, atol=1e-3)
    assert wide.f.dtype == np.float64
    assert linkage.mobility(states[0][0], active=[True, False]).rank == 2
    with pytest.raises(kt.ArgumentError, match="restitution has dtype bool, which is not a real number"):
        linkage.impulse(*states[:2], contacts=Given(restitution=on))


def test_nan_in_one_state_stays_there(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    q = states[0].copy()
    q[3, 1] = np.nan
    right, wrong = linkage.forward_dynamics(*states), linkage.forward_dynamics(q, *states[1:])
    assert np.isnan(wrong.a[3]).all()
    others = np.arange(21) != 3
    assert same_bits(right.a[others], wrong.a[others])
    assert same_bits(right.f[others], wrong.f[others])


def test_float32_with_redundant_rows(states: tuple[Array, ...]) -> None:
    loop = kt.Loop("coupler_tip", "rocker_tip", HINGE)
    twice = kt.Mechanism(four_bar(), [loop, kt.Loop("coupler_tip", "rocker_tip", HINGE, name="again")])
    right = twice.forward_dynamics(*states)
    got = twice.forward_dynamics(*(x.astype(np.float32) for x in states))
    assert got.a.dtype == np.float32
    for x, y in zip(got, right, strict=True):
        assert np.median(np.abs(x - y).max(axis=1) / np.abs(y).max(axis=1)) < 2e-5


def test_a_mechanism_is_a_value(linkage: kt.Mechanism) -> None:
    again = pickle.loads(pickle.dumps(linkage))
    assert again == linkage == copy.deepcopy(linkage)
    assert hash(again) == hash(linkage)
    assert again.tree == linkage.tree
    assert again.constraints == linkage.constraints
    assert again.stabilization == linkage.stabilization == 0.0
    assert linkage != kt.Mechanism(linkage.tree, linkage.constraints, stabilization=1.0)
    assert linkage != linkage.tree
    by_pivot = kt.Mechanism(linkage.tree, LOOPS, actuated=["pivot"], independent=["shoulder"])
    assert pickle.loads(pickle.dumps(by_pivot)) == by_pivot != kt.Mechanism(linkage.tree, LOOPS)
    assert (by_pivot.actuated, by_pivot.independent) == (("pivot",), ("shoulder",))
    assert pickle.loads(pickle.dumps(linkage.constraint_bias)).__name__ == "constraint_bias"
    assert linkage.row_slices == {"loop_coupler_tip_rocker_tip": slice(0, 5), "gear": slice(5, 6)}
    assert (linkage.nq, linkage.nv, linkage.nb, linkage.nrows) == (3, 3, 3, 6)
    with pytest.raises(AttributeError, match="a Mechanism does not change"):
        linkage.tree = linkage.tree  # type: ignore[misc]
    assert "forward_dynamics" in dir(linkage)
    assert "\n    forward_dynamics : " in (kt.Mechanism.__doc__ or "")


def test_what_is_the_trees_is_not_delegated(linkage: kt.Mechanism) -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'mass_matrix'; its robot has: mech\.tree\.mass_matrix"):
        linkage.mass_matrix  # noqa: B018  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="did you mean 'forward_dynamics'"):
        linkage.forward_dynamic  # noqa: B018  # type: ignore[attr-defined]


LOOP = kt.Loop("coupler_tip", "rocker_tip", HINGE)
LOOPS = [LOOP]

WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "frame": (
        lambda: [kt.Weld("coupler_tp")],
        "constraint 'weld_coupler_tp': no frame 'coupler_tp', did you mean 'cou",
    ),
    "other frame": (
        lambda: [kt.Rod("coupler_tip", "rocker_tp", 1.0)],
        "no frame 'rocker_tp', did you mean 'rocker_tip'",
    ),
    "joint": (lambda: [kt.Gear({"shoulder": 1, "elbw": 1})], "no joint 'elbw', did you mean 'elbow'"),
    "one body": (lambda: [kt.Weld("coupler", "coupler_tip")], "are both fixed to the body 'coupler'"),
    "both in the world": (lambda: [kt.Weld("ground")], "are both fixed to the world"),
    "length": (
        lambda: [kt.Rod("coupler_tip", "rocker_tip", -1.0)],
        "the length of rod .* is -1.0, it must be a positive",
    ),
    "no length": (lambda: [kt.Rod("coupler_tip", "rocker_tip", np.nan)], "is nan, it must be a positive number"),
    "radius": (lambda: [kt.Contact("coupler_tip", radius=-0.1)], "the radius of contact .* cannot be negative"),
    "height": (lambda: [kt.Contact("coupler_tip", height=np.inf)], "the height of contact .* give a finite number"),
    "normal": (lambda: [kt.Contact("coupler_tip", normal=(0, 0, 0))], "the normal of contact .* not zero"),
    "placement": (
        lambda: [kt.Weld("coupler_tip", placement=np.ones((4, 4)))],
        "the placement of weld .* is not a pose",
    ),
    "one joint": (lambda: [kt.Gear({"elbow": 1})], "a gear couples at least two joints"),
    "factor": (lambda: [kt.Gear({"elbow": 1, "shoulder": 0})], "with factors that are not zero"),
    "factor nan": (lambda: [kt.Gear({"elbow": 1, "shoulder": np.nan})], "the factor of 'shoulder' in a gear is nan"),
    "ratios": (lambda: [kt.Gear(["elbow", "shoulder"])], "the ratios of a gear are given as"),  # type: ignore[arg-type]
    "twice": (lambda: [LOOP, LOOP], "two constraints are called 'loop_coupler_tip_rocker_tip': .* name="),
    "universal": (
        lambda: [kt.Loop("coupler_tip", "rocker_tip", Universal())],
        "a Universal bears .* cut the loop at an",
    ),
    "helical": (
        lambda: [kt.Loop("coupler_tip", "rocker_tip", Helical((0, 0, 1), 0.1))],
        "a Helical couples .* cut the",
    ),
    "free": (lambda: [kt.Loop("coupler_tip", "rocker_tip", FreeFlyer())], "a FreeFlyer bears no force"),
    "no joint": (lambda: [kt.Loop("coupler_tip", "rocker_tip", "revolute")], "closes at a joint"),  # type: ignore[arg-type]
    "joint twice": (lambda: [kt.Gear((("elbow", 1), ("elbow", 2), ("pivot", 1)))], "name a joint twice"),
    "joint's number": (lambda: [kt.Gear({0: 1, 1: 2})], "the name of a joint is a str; 0 was given"),  # type: ignore[dict-item]
    "frame's number": (lambda: [kt.Rod(3, None, 1.0)], "the name of a frame is a str; 3 was given"),  # type: ignore[arg-type]
    "name": (lambda: [kt.Weld("coupler", name=3)], "the name of a constraint is a str; 3 was"),  # type: ignore[arg-type]
    "one": (lambda: LOOP, "a mechanism takes a sequence of constraints"),
    "nothing": (lambda: [], "at least one constraint"),
    "no constraint": (lambda: ["weld"], "a mechanism takes constraints such as kinetree.Weld; 'weld' was given"),
    "wheel": (lambda: [kt.Wheel("coupler", radius=0.0)], "the radius of wheel .* is 0.0, it must be a positive"),
    "wheel's axis": (lambda: [kt.Wheel("coupler", radius=1, axis=(0, 0, 0))], "the axis of wheel .* not zero"),
    "wheel's normal": (lambda: [kt.Wheel("coupler", radius=1, normal=(0, np.nan, 0))], "the normal of wheel .* finite"),
    "wheel's height": (lambda: [kt.Wheel("coupler", radius=1, height=True)], "the height of wheel .* finite number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_is_refused(name: str) -> None:
    make, message = WRONG[name]
    with pytest.raises(kt.KinetreeError, match=message):
        kt.Mechanism(four_bar(), make())


JOINTS: dict[str, tuple[dict[str, Any], str]] = {
    "actuated": ({"actuated": ["motor"]}, "actuated: no joint 'motor'"),
    "nearest": ({"actuated": ["sholder"]}, "actuated: no joint 'sholder', did you mean 'shoulder'"),
    "twice": ({"actuated": ["elbow", "elbow"]}, "actuated: 'elbow' is named twice"),
    "one str": ({"actuated": "elbow"}, "actuated is a sequence of names of joints; 'elbow' was given"),
    "number": ({"independent": 3}, "independent is a sequence of names of joints; 3 was given"),
    "numbers": ({"independent": [3]}, "independent: the name of a joint is a str; 3 was given"),
    "independent": ({"independent": ["elbw"]}, "independent: no joint 'elbw', did you mean 'elbow'"),
    "too many": (
        {"independent": ["shoulder", "pivot"]},
        "independent has 2 velocities, and the mobility of this mechanism is 1: take as many, for example shoulder",
    ),
    "none": ({"independent": []}, "independent has 0 velocities, and the mobility of this mechanism is 1"),
}


@pytest.mark.parametrize("name", JOINTS)
def test_joints_that_cannot_be_actuated_or_independent_are_refused(name: str) -> None:
    given, message = JOINTS[name]
    with pytest.raises(kt.ArgumentError, match=message):
        kt.Mechanism(four_bar(), LOOPS, **given)


def test_independent_velocities_that_depend_on_each_other_are_refused() -> None:
    gear = kt.Gear({"shoulder": 1, "elbow": -2})
    assert kt.Mechanism(four_bar(), [gear]).independent == ("shoulder", "pivot")
    with pytest.raises(kt.ArgumentError, match=r"shoulder, elbow depend on each other .* for example shoulder, pivot"):
        kt.Mechanism(four_bar(), [gear], independent=["elbow", "shoulder"])


def test_constraints_that_cannot_hold_all_at_once() -> None:
    """They may take turns, by `active`; what a user says is independent is not judged then."""
    apart = kt.Mechanism(four_bar(base=9.0), LOOPS)
    assert len(apart.independent) == 1
    assert not apart.model.reference.is_closed
    assert kt.Mechanism(four_bar(base=9.0), LOOPS, independent=["elbow", "pivot"]).independent == ("elbow", "pivot")


@pytest.mark.parametrize("omega", [-1.0, np.nan, np.inf, "1", True])
def test_a_stabilization_that_is_none_is_refused(omega: Any) -> None:
    with pytest.raises(kt.ArgumentError, match=r"stabilization is .* at least 0"):
        kt.Mechanism(four_bar(), [LOOP], stabilization=omega)


def test_a_mechanism_takes_a_robot() -> None:
    with pytest.raises(kt.ArgumentError, match=r"Mechanism takes a kinetree\.Robot, Model was given"):
        kt.Mechanism(four_bar().model, [LOOP])  # type: ignore[arg-type]
    lower = kt.robot.Robot(four_bar().model)
    with pytest.raises(kt.ArgumentError, match=r"takes a kinetree\.Robot, kinetree\.robot\.robot\.Robot was given"):
        kt.Mechanism(lower, [LOOP])
    with pytest.raises(AttributeError, match=r"has no 'simulate': use kinetree\.Robot"):
        getattr(lower, "simulate")  # noqa: B009  (mypy knows too)


def test_gears_and_mimic_joints() -> None:
    b = kt.ModelBuilder("follower")
    for name in ("base", "a", "b", "c"):
        b.add_link(name, kt.Inertia.from_com(1.0, (0, 0, 0.1), np.eye(3) * 0.1))
    b.add_joint("j1", parent="base", child="a", joint=HINGE)
    b.add_joint("j2", parent="a", child="b", joint=Prismatic((0, 0, 1)), mimic=("j1", 2.0, 0.0))
    b.add_joint("j3", parent="b", child="c", joint=Spherical())
    robot = kt.Robot(b.build())
    with pytest.raises(kt.ModelError, match="'j2' follows another joint"):
        kt.Mechanism(robot, [kt.Gear({"j1": 1, "j2": 1})])
    with pytest.raises(kt.ModelError, match="'j3' must have exactly one coordinate"):
        kt.Mechanism(robot, [kt.Gear({"j1": 1, "j3": 1})])


def test_wrong_shapes_name_constraints_and_rows(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    q, v, tau = (x[0] for x in states)
    with pytest.raises(kt.ArgumentError, match="each of the 2 constraints: loop_coupler_tip_rocker_tip, gear"):
        linkage.forward_dynamics(q, v, tau, contacts=Given(active=[1, 0, 1]))
    with pytest.raises(kt.ArgumentError, match="each of the 0 independent velocities"):
        linkage.complete_velocity(q, [1.0, 2.0])
    with pytest.raises(
        kt.ArgumentError, match=r"each of the 6 rows: loop_coupler_tip_rocker_tip \[0:5\], gear \[5:6\]"
    ):
        linkage.constraint_forces(q, [1.0])
