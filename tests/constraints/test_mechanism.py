"""`Mechanism`: what users hold; its compiled functions, and what it says of input that makes no sense."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

import kinetree as kt
from helpers.contact_robots import rolling
from helpers.kernels import same_bits
from helpers.mechanisms import HINGE, four_bar
from kinetree import ContactInputs as Given
from kinetree.constraints.types import Row
from kinetree.errors import ArgumentError
from kinetree.joints import FreeFlyer, Helical, Prismatic, Spherical, Universal
from kinetree.model import Model

Array = np.ndarray[Any, Any]
LOOPS = four_bar().mech.constraints
TREE = four_bar().mech.tree
BOX = kt.Inertia(1.0, [0.1, 0.0, 0.0], np.eye(3) * 0.01)


@pytest.fixture(scope="module")
def linkage() -> kt.Mechanism:
    return kt.Mechanism(TREE, [*LOOPS, kt.Gear({"motor": 1, "pivot": -2}, name="gear")])


@pytest.fixture(scope="module")
def states() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    return np.array([four_bar(motor=-x).q for x in rng.uniform(0.3, 2.5, 21)]), *rng.normal(size=(2, 21, 3))


def test_a_planar_loop_keeps_two_of_its_five_rows(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    q, v, tau = states
    J = linkage.constraint_jacobian(q)
    assert J.shape == (21, 6, 3)
    assert (np.abs(J).max(axis=(0, 2)) > 0).tolist() == [False, False, True, False, True, True]
    np.testing.assert_allclose(linkage.constraint_error(q)[:, :5], 0.0, atol=1e-14)
    assert not linkage.forward_dynamics(q, v, tau).f[:, [0, 1, 3]].any()
    mobile = kt.Mechanism(linkage.tree, linkage.constraints[:1]).delassus_matrix
    assert sum(mobile.op_count.values()) < 60


def test_the_same_bits_in_every_batch(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    active = np.random.default_rng(1).integers(0, 2, (21, 2)).astype(float)
    batch = linkage.forward_dynamics(*states, contacts=Given(active=active))
    for k in range(0, 21, 5):
        one = linkage.forward_dynamics(*(x[k] for x in states), contacts=Given(active=active[k]))
        assert all(same_bits(x[k], y) for x, y in zip(batch, one, strict=True))


WRONG_NUMBERS = {
    "active": [0.5, -1.0, 2.0, math.nan],
    "friction": [-0.1, math.nan],
    "restitution": [-0.1, 1.5, math.nan],
    "dt": [0.0, -1e-3, math.nan, math.inf],
}


@pytest.mark.parametrize(("name", "wrong"), [(name, x) for name, values in WRONG_NUMBERS.items() for x in values])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_are_checked_as_by_simulate(name: str, wrong: float, dtype: type[np.floating[Any]]) -> None:
    """By the call glue and by the general path, for one state and for many, each with its own or all with one."""
    right = {name: np.array([x], dtype) for name, x in (("active", 1.0), ("friction", 0.5), ("restitution", 0.0))}
    right["dt"] = np.array(1e-3, dtype)

    def step(dt: Any, **given: Any) -> None:
        ball().contact_step(*state, dt, contacts=Given(**given))

    for lead in ((), (3,)):
        state = [np.ones((*lead, n), dtype) * np.array(x, dtype) for n, x in ((7, Q), (6, [0] * 6), (6, [0] * 6))]
        for own in (True, False):
            values = {n: np.array(np.broadcast_to(x, (*lead, *x.shape)) if own else x) for n, x in right.items()}
            bad = values[name].copy()
            bad.flat[-1] = wrong
            for given in (bad, bad.tolist(), np.asfortranarray(bad)):
                for _ in range(2):
                    step(**values)  # compiled, then called by the glue
                    with pytest.raises(ArgumentError, match=f"contact_step: {name} holds {wrong:.3g}"):
                        step(**values | {name: given})


def test_numbers_of_contacts_are_checked_in_all_functions() -> None:
    mech = ball()
    state = [np.array(Q), np.zeros(6), np.zeros(6)]
    for call in (
        lambda: mech.forward_dynamics(*state, contacts=Given(active=[0.5])),
        lambda: mech.compile(lambda q, v: mech.impulse(q, v, contacts=Given(active=[0.5])).v_next),
        lambda: mech.contact_dynamics(*state, contacts=Given(friction=[-1.0])),
        lambda: mech.contact_inverse_dynamics(*state, contacts=Given(friction=[math.nan])),
        lambda: mech.contact_impulse(*state[:2], contacts=Given(friction=[-1.0])),
        lambda: mech.contact_impulse(*state[:2], contacts=Given(restitution=[1.5])),
        lambda: mech.impulse(*state[:2], contacts=Given(restitution=[math.nan])),
        lambda: mech.step(*state, 1e-3, contacts=Given(friction=[-1.0])),
        lambda: mech.compile(lambda q, v: mech.contact_impulse(q, v, contacts=Given(friction=[-1.0])).v_next),
    ):
        with pytest.raises(ArgumentError, match=r"(active|friction|restitution) holds"):
            call()


Q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]


@cache
def ball() -> kt.Mechanism:
    return rolling(0.4)


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
    twice = kt.Mechanism(TREE, [*LOOPS, replace(*LOOPS, name="again")])
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
    by_pivot = kt.Mechanism(linkage.tree, LOOPS, actuated=["pivot"], independent=["motor"])
    assert pickle.loads(pickle.dumps(by_pivot)) == by_pivot != kt.Mechanism(linkage.tree, LOOPS)
    assert (by_pivot.actuated, by_pivot.independent) == (("pivot",), ("motor",))
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


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: [kt.Weld("coupler_tp")], "constraint 'weld_coupler_tp': no frame 'coupler_tp', did you mean 'cou"),
    (lambda: [kt.Rod("coupler_tip", "rocker_tp", 1.0)], "no frame 'rocker_tp', did you mean 'rocker_tip'"),
    (lambda: [kt.Gear({"motor": 1, "elbw": 1})], "no joint 'elbw', did you mean 'elbow'"),
    (lambda: [kt.Weld("coupler", "coupler_tip")], "are both fixed to the body 'coupler'"),
    (lambda: [kt.Weld("ground")], "are both fixed to the world"),
    (lambda: [kt.Rod("coupler_tip", "rocker_tip", -1.0)], "the length of rod .* is -1.0, it must be a positive"),
    (lambda: [kt.Rod("coupler_tip", "rocker_tip", np.nan)], "is nan, it must be a positive number"),
    (lambda: [kt.Contact("coupler_tip", radius=-0.1)], "the radius of contact .* cannot be negative"),
    (lambda: [kt.Contact("coupler_tip", height=np.inf)], "the height of contact .* give a finite number"),
    (lambda: [kt.Contact("coupler_tip", normal=(0, 0, 0))], "the normal of contact .* not zero"),
    (lambda: [kt.Weld("coupler_tip", placement=np.ones((4, 4)))], "the placement of weld .* is not a pose"),
    (lambda: [kt.Gear({"elbow": 1})], "a gear couples at least two joints"),
    (lambda: [kt.Gear({"elbow": 1, "motor": 0})], "with factors that are not zero"),
    (lambda: [kt.Gear({"elbow": 1, "motor": np.nan})], "the factor of 'motor' in a gear is nan"),
    (lambda: [kt.Gear(["elbow", "motor"])], "the ratios of a gear are given as"),  # type: ignore[arg-type]
    (lambda: [*LOOPS, *LOOPS], "two constraints are called 'loop_coupler_tip_rocker_tip': .* name="),
    (lambda: [kt.Loop("coupler_tip", "rocker_tip", Universal())], "a Universal bears .* cut the loop at an"),
    (lambda: [kt.Loop("coupler_tip", "rocker_tip", Helical((0, 0, 1), 0.1))], "a Helical couples .* cut the"),
    (lambda: [kt.Loop("coupler_tip", "rocker_tip", FreeFlyer())], "a FreeFlyer bears no force"),
    (lambda: [kt.Loop("coupler_tip", "rocker_tip", "revolute")], "closes at a joint"),  # type: ignore[arg-type]
    (lambda: [kt.Gear((("elbow", 1), ("elbow", 2), ("pivot", 1)))], "name a joint twice"),
    (lambda: [kt.Gear({0: 1, 1: 2})], "the name of a joint is a str; 0 was given"),  # type: ignore[dict-item]
    (lambda: [kt.Rod(3, None, 1.0)], "the name of a frame is a str; 3 was given"),  # type: ignore[arg-type]
    (lambda: [kt.Weld("coupler", name=3)], "the name of a constraint is a str; 3 was"),  # type: ignore[arg-type]
    (lambda: LOOPS[0], "a mechanism takes a sequence of constraints"),
    (lambda: [], "at least one constraint"),
    (lambda: ["weld"], "a mechanism takes constraints such as kinetree.Weld; 'weld' was given"),
    (lambda: [kt.Wheel("coupler", radius=0.0)], "the radius of wheel .* is 0.0, it must be a positive"),
    (lambda: [kt.Wheel("coupler", radius=1, axis=(0, 0, 0))], "the axis of wheel .* not zero"),
    (lambda: [kt.Wheel("coupler", radius=1, normal=(0, np.nan, 0))], "the normal of wheel .* finite"),
    (lambda: [kt.Wheel("coupler", radius=1, height=True)], "the height of wheel .* finite number"),
]


@pytest.mark.parametrize(("make", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_makes_no_sense_is_refused(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(kt.KinetreeError, match=message):
        kt.Mechanism(TREE, make())


JOINTS: list[tuple[dict[str, Any], str]] = [
    ({"actuated": ["engine"]}, "actuated: no joint 'engine'"),
    ({"actuated": ["moter"]}, "actuated: no joint 'moter', did you mean 'motor'"),
    ({"actuated": ["elbow", "elbow"]}, "actuated: 'elbow' is named twice"),
    ({"actuated": "elbow"}, "actuated is a sequence of names of joints; 'elbow' was given"),
    ({"independent": 3}, "independent is a sequence of names of joints; 3 was given"),
    ({"independent": [3]}, "independent: the name of a joint is a str; 3 was given"),
    ({"independent": ["elbw"]}, "independent: no joint 'elbw', did you mean 'elbow'"),
    (
        {"independent": ["motor", "pivot"]},
        "independent has 2 velocities, and the mobility of this mechanism is 1: take as many, for example motor",
    ),
    ({"independent": []}, "independent has 0 velocities, and the mobility of this mechanism is 1"),
]


@pytest.mark.parametrize(("given", "message"), JOINTS, ids=[message for _, message in JOINTS])
def test_joints_that_cannot_be_actuated_or_independent_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(kt.ArgumentError, match=message):
        kt.Mechanism(TREE, LOOPS, **given)


def test_independent_velocities_that_depend_on_each_other_are_refused() -> None:
    gear = kt.Gear({"motor": 1, "elbow": -2})
    assert kt.Mechanism(TREE, [gear]).independent == ("motor", "pivot")
    with pytest.raises(kt.ArgumentError, match=r"motor, elbow depend on each other .* for example motor, pivot"):
        kt.Mechanism(TREE, [gear], independent=["elbow", "motor"])


def test_constraints_that_cannot_hold_all_at_once() -> None:
    """They may take turns, by `active`; what a user says is independent is not judged then."""
    with np.errstate(invalid="ignore"):
        long = four_bar(ground=9.0).mech.tree
    apart = kt.Mechanism(long, LOOPS)
    assert len(apart.independent) == 1
    assert not apart.model.reference.is_closed
    assert kt.Mechanism(long, LOOPS, independent=["elbow", "pivot"]).independent == ("elbow", "pivot")


@pytest.mark.parametrize("omega", [-1.0, np.nan, np.inf, "1", True])
def test_a_stabilization_that_is_none_is_refused(omega: Any) -> None:
    with pytest.raises(kt.ArgumentError, match=r"stabilization is .* at least 0"):
        kt.Mechanism(TREE, LOOPS, stabilization=omega)


def test_a_mechanism_takes_a_robot() -> None:
    with pytest.raises(kt.ArgumentError, match=r"Mechanism takes a kinetree\.Robot, Model was given"):
        kt.Mechanism(TREE.model, LOOPS)  # type: ignore[arg-type]
    lower = kt.robot.Robot(TREE.model)
    with pytest.raises(kt.ArgumentError, match=r"takes a kinetree\.Robot, kinetree\.robot\.robot\.Robot was given"):
        kt.Mechanism(lower, LOOPS)
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


# -- further inputs, users' functions, constraint types of a user ------------------------------------------------------


def test_inputs_count_in_functions_of_the_mechanism_and_of_its_tree() -> None:
    (mech, q), tree, v = four_bar(), TREE, np.zeros(3)

    @mech.compile(inputs=[kt.payload("coupler", name="load")])
    def held(q: kt.Array, v: kt.Array) -> kt.Array:
        return mech.forward_dynamics(q, v, tree.gravity_forces(q)).a

    np.testing.assert_allclose(held(q, v, BOX), 0.0, atol=1e-12)


def test_functions_by_their_names() -> None:
    mech, q = four_bar()
    loaded = kt.Mechanism(mech.tree.attach(BOX, "coupler"), mech.constraints)
    meets = kt.compile(mech, "delassus_matrix", inputs=[kt.payload("coupler", name="load")])
    np.testing.assert_array_equal(meets(q, BOX), loaded.delassus_matrix(q))
    with pytest.raises(kt.ArgumentError, match="no function 'delassus', did you mean 'delassus_matrix'"):
        mech.compile("delassus")


def hold(factor: float, entries: int = 3) -> type[kt.Constraint]:
    """Return a user's constraint type, ``factor · q_0 = 0``, with this many entries of J."""

    @dataclass(frozen=True)
    class Hold(kt.Constraint):
        size = 1

        def check(self, model: Model) -> None: ...

        def rows(self, model: Model, q: Any, v: Any) -> list[Row]:
            return [Row([factor, *[0.0] * (entries - 1)], 0.0, q[0] * factor)]

    del kt.Constraint.registry["Hold"]
    return Hold


def test_a_users_constraint_that_changes_meets_no_old_code() -> None:
    first, second = (kt.Mechanism(TREE, [hold(factor)()]) for factor in (2.0, 3.0))
    assert first.model.digest == second.model.digest  # types have no number that would tell them apart
    assert [m.constraint_jacobian(four_bar().q)[0, 0] for m in (first, second)] == [2.0, 3.0]


def test_a_users_constraint_of_another_shape_is_told() -> None:
    mech = kt.Mechanism(TREE, [hold(1.0, entries=2)(name="mine")])
    message = r"constraint 'mine' gives 1 rows with \[2\] entries in J; its size is 1, and nv = 3"
    with pytest.raises(kt.ModelError, match=message):
        mech.forward_dynamics(four_bar().q, np.zeros(3), np.zeros(3))
