"""`Mechanism`: what users hold, its compiled functions, what it leaves free, and what it says of wrong input."""

from __future__ import annotations

import copy
import io
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import kinetree as kt
from helpers.contact_robots import rolling
from helpers.kernels import same_bits
from helpers.mechanisms import HINGE, Closed, bricard, delta, five_bar_leg, four_bar, n_four_bar, slider_crank, stewart
from helpers.told import told
from helpers.trees import toy
from kinetree import ContactInputs as Given
from kinetree.constraints.types import Row
from kinetree.errors import ArgumentError
from kinetree.joints import FreeFlyer, Helical, Prismatic, Spherical, Universal
from kinetree.model import Model
from kinetree.robot.mechanism_text import facts, print_mechanism
from kinetree.robot.mobility import pivots

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


def test_the_same_bits_in_every_batch_with_nan_in_one_state(linkage: kt.Mechanism, states: tuple[Array, ...]) -> None:
    active = np.random.default_rng(1).integers(0, 2, (21, 2)).astype(float)
    q = states[0].copy()
    q[3, 1] = np.nan
    batch = linkage.forward_dynamics(q, *states[1:], contacts=Given(active=active))
    assert np.isnan(batch.a[3]).all()
    for k in (0, 2, 4, 10, 20):
        one = linkage.forward_dynamics(*(x[k] for x in states), contacts=Given(active=active[k]))
        assert all(same_bits(x[k], y) for x, y in zip(batch, one, strict=True))


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


def mechanism(*constraints: Any, **given: Any) -> Callable[[], Any]:
    return lambda: kt.Mechanism(TREE, list(constraints), **given)


def gears(joint: str) -> Callable[[], Any]:
    """Return what makes a gear of the first joint and a follower, or a joint with three coordinates."""
    following = "j2 a b", Prismatic((0, 0, 1)), {"mimic": ("j1", 2.0, 0.0)}
    robot = kt.Robot(toy(("j1 base a", HINGE), following, ("j3 b c", Spherical())))
    return lambda: kt.Mechanism(robot, [kt.Gear({"j1": 1, joint: 1})])


def on(call: Callable[[kt.Mechanism, Array], Any]) -> Callable[[], Any]:
    """Return a call of the linkage with a gear, and three numbers."""
    return lambda: call(kt.Mechanism(TREE, [*LOOPS, kt.Gear({"motor": 1, "pivot": -2}, name="gear")]), np.zeros(3))


END, START = "coupler_tip", "rocker_tip"
WRONG: list[tuple[Callable[[], Any], str]] = [
    *(
        ((lambda make=make: mechanism(make())()), message)
        for make, message in (
            (lambda: kt.Weld("coupler_tp"), "constraint 'weld_coupler_tp': no frame 'coupler_tp', did you mean 'cou"),
            (lambda: kt.Rod(END, "rocker_tp", 1.0), "no frame 'rocker_tp', did you mean 'rocker_tip'"),
            (lambda: kt.Weld("coupler", END), "are both fixed to the body 'coupler'"),
            (lambda: kt.Weld("ground"), "are both fixed to the world"),
            (lambda: kt.Rod(END, START, -1.0), "the length of rod .* is -1.0, it must be a positive"),
            (lambda: kt.Weld(END, placement=np.ones((4, 4))), "the placement of weld .* is not a pose"),
            (lambda: kt.Gear({"elbow": 1}), "a gear couples at least two joints"),
            (lambda: kt.Gear({"elbow": 1, "motor": 0}), "with factors that are not zero"),
            (lambda: kt.Gear({"elbow": 1, "motor": np.nan}), "the factor of 'motor' in a gear is nan"),
            (lambda: kt.Loop(END, START, Universal()), "a Universal bears .* cut the loop at an"),
            (lambda: kt.Loop(END, START, Helical((0, 0, 1), 0.1)), "a Helical couples .* cut the"),
            (lambda: kt.Loop(END, START, FreeFlyer()), "a FreeFlyer bears no force"),
            (lambda: kt.Loop(END, START, "revolute"), "closes at a joint"),  # type: ignore[arg-type]
            (lambda: kt.Gear((("elbow", 1), ("elbow", 2), ("pivot", 1))), "name a joint twice"),
            (lambda: "weld", "a mechanism takes constraints such as kinetree.Weld; 'weld' was given"),
        )
    ),
    (mechanism(*LOOPS, *LOOPS), "two constraints are called 'loop_coupler_tip_rocker_tip': .* name="),
    (mechanism(), "at least one constraint"),
    (lambda: kt.Mechanism(TREE, LOOPS[0]), "a mechanism takes a sequence of constraints"),  # type: ignore[arg-type]
    *(
        (mechanism(*LOOPS, **given), message)
        for given, message in (({"actuated": ["moter"]}, "actuated: no joint 'moter', did you mean 'motor'"),)
    ),
    (
        mechanism(kt.Gear({"motor": 1, "elbow": -2}), independent=["elbow", "motor"]),
        r"motor, elbow depend on each other .* for example motor, pivot",
    ),
    (lambda: kt.Mechanism(TREE.model, LOOPS), r"Mechanism takes a kinetree\.Robot, Model was given"),  # type: ignore[arg-type]
    (
        lambda: kt.Mechanism(kt.robot.Robot(TREE.model), LOOPS),  # type: ignore[arg-type]
        r"takes a kinetree\.Robot, kinetree\.robot\.robot\.Robot was given",
    ),
    (lambda: getattr(kt.robot.Robot(TREE.model), "simulate"), r"has no 'simulate': use kinetree\.Robot"),  # noqa: B009
    (gears("j2"), "'j2' follows another joint"),
    (gears("j3"), "'j3' must have exactly one coordinate"),
    (
        on(lambda m, x: m.forward_dynamics(x, x, x, contacts=Given(active=[1, 0, 1]))),
        "each of the 2 constraints: loop_coupler_tip_rocker_tip, gear",
    ),
    (on(lambda m, x: m.complete_velocity(x, [1.0, 2.0])), "each of the 0 independent velocities"),
    (
        on(lambda m, x: m.constraint_forces(x, [1.0])),
        r"each of the 6 rows: loop_coupler_tip_rocker_tip \[0:5\], gear \[5:6\]",
    ),
    (on(lambda m, x: m.compile("delassus")), "no function 'delassus', did you mean 'delassus_matrix'"),
    (on(lambda m, x: m.mass_matrix), r"no attribute 'mass_matrix'; its robot has: mech\.tree\.mass_matrix"),
    (on(lambda m, x: m.forward_dynamic), "did you mean 'forward_dynamics'"),
]


test_what_makes_no_sense_is_refused = told((kt.KinetreeError, AttributeError), *WRONG)


def test_constraints_that_cannot_hold_all_at_once() -> None:
    """They may take turns, by `active`; what a user says is independent is not judged then."""
    with np.errstate(invalid="ignore"):
        long = four_bar(ground=9.0).mech.tree
    apart = kt.Mechanism(long, LOOPS)
    assert len(apart.independent) == 1
    assert not apart.model.reference.is_closed
    assert kt.Mechanism(long, LOOPS, independent=["elbow", "pivot"]).independent == ("elbow", "pivot")


# -- further inputs, users' functions, constraint types of a user ------------------------------------------------------


def test_inputs_count_in_functions_of_the_mechanism_and_of_its_tree() -> None:
    (mech, q), tree, v = four_bar(), TREE, np.zeros(3)

    @mech.compile(inputs=[kt.payload("coupler", name="load")])
    def held(q: kt.Array, v: kt.Array) -> kt.Array:
        return mech.forward_dynamics(q, v, tree.gravity_forces(q)).a

    np.testing.assert_allclose(held(q, v, BOX), 0.0, atol=1e-12)
    loaded = kt.Mechanism(tree.attach(BOX, "coupler"), mech.constraints)
    meets = kt.compile(mech, "delassus_matrix", inputs=[kt.payload("coupler", name="load")])
    np.testing.assert_array_equal(meets(q, BOX), loaded.delassus_matrix(q))


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


# -- mobility ---------------------------------------------------------------------------------------------------------

CASES: dict[str, tuple[Closed, int, int]] = {
    "four-bar": (four_bar(), 1, -2),
    "slider-crank": (slider_crank(), 1, -2),
    "two four-bars": (n_four_bar(2), 1, -5),
    "two four-bars in a line": (n_four_bar(2, motor=0.0), 3, -5),
    "Bricard": (bricard(), 1, 0),
    "Stewart": (stewart(), 6, 6),
    "delta": (delta(), 3, 3),
    "leg": (five_bar_leg(), 2, -1),
    "floating leg": (five_bar_leg(floating=True), 8, 5),
}


@pytest.mark.parametrize("name", CASES)
def test_freedoms_and_the_choice_of_rows_and_joints(name: str) -> None:
    """By singular value decompositions; independent are those of the mechanism, as they are given to it too."""
    (mech, q), freedoms, counted = CASES[name]
    found = mech.mobility(q)
    assert (found.mobility, found.gruebler, found.rank) == (freedoms, counted, mech.nv - freedoms)
    rows = mech.model.constraint_rows(q.tolist())
    np.testing.assert_allclose([row.phi for row in rows], 0.0, atol=1e-15)
    J = np.array([list(row.J) for row in rows], dtype=float)
    np.testing.assert_allclose(J @ found.motions.T, 0.0, atol=1e-12)
    angles = found.motions / np.where(mech.model.turning, 1.0, mech.length)
    np.testing.assert_allclose(angles @ angles.T, np.eye(freedoms), atol=1e-12)
    names = mech.tree.v_names
    assert sorted((*found.dependent, *found.independent)) == sorted(names)
    dependent = [names.index(name) for name in found.dependent]
    assert np.linalg.cond(found.motions[:, [names.index(x) for x in found.independent]]) < 1e3
    implied = [mech.row_slices[name].start + i for name, some in found.redundant.items() for i in some]
    assert len(implied) == mech.nrows - found.rank
    kept = np.delete(J, implied, axis=0)[:, dependent]
    assert np.linalg.svd(kept, compute_uv=False)[-1] > 1e-3 * np.abs(J).max()
    if name in ("four-bar", "Bricard", "Stewart", "delta"):
        assert found.independent == mech.independent
    if name in ("four-bar", "Bricard"):
        other = kt.Mechanism(mech.tree, mech.constraints, independent=[names[-1]])
        assert other.mobility(q).independent == other.independent == (names[-1],)


def test_a_second_weld_is_redundant_row_by_row_and_switched_off_is_not_there() -> None:
    mech, q = four_bar()
    twice = kt.Mechanism(mech.tree, [*mech.constraints, kt.Rod("coupler_tip", "ground", length=1.9, name="rod")])
    found = twice.mobility(q)
    assert found.mobility == 0
    assert found.immobile == ("motor", "elbow", "pivot")
    assert found.motions.shape == (0, 3)
    without = twice.mobility(q, active=[1, 0])
    assert (without.mobility, without.nrows) == (1, 5)
    none = twice.mobility(q, active=[0, 0])
    assert (none.mobility, none.nrows, none.redundant, none.dependent) == (3, 0, {}, ())
    assert "singular values: none" in str(none)


def test_pivots_take_early_columns_of_similar_size() -> None:
    assert pivots(np.array([[1.0, 1.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1e-3]]), 2) == [0, 3]
    assert pivots(np.array([[1.0, 5.0, 0.0], [0.0, 0.0, 3.0]]), 2) == [0, 2]
    assert pivots(np.array([[0.01, 5.0, 0.0], [0.0, 0.0, 3.0]]), 2) == [1, 2]
    assert pivots(np.zeros((2, 0)), 0) == []


def test_a_mechanism_as_text_and_as_json() -> None:
    mech = four_bar().mech
    print_mechanism(Console(file=io.StringIO(), width=50), mech)
    found = facts(mech)
    assert found["closed"]
    assert found["constraints"][0]["rows"] == 5  # type: ignore[index]
    assert found["mobility"]["redundant"] == {"loop_coupler_tip_rocker_tip": [0, 1, 3]}  # type: ignore[index]
    open_one = kt.Mechanism(mech.tree, [kt.Rod("coupler_tip", "ground", length=9.0)])
    assert "it does not close, by 6" in str(open_one)
    many = kt.Mechanism(mech.tree, [kt.Weld("coupler_tip", "rocker_tip", name=f"weld {k}") for k in range(7)])
    assert "42 rows are unrolled in compiled code" in str(many)
    assert "unrolled" not in str(kt.Mechanism(mech.tree, many.constraints[:6]))
