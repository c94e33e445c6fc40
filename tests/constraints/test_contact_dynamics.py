"""Contacts that push, lift off and slide in a mechanism: their laws on random trees, and a block on a slope."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import made, near, to
from helpers.contacts import law_errors
from helpers.kernels import same_bits
from helpers.trees import Array, random_states, random_tree, toy
from kinetree import ContactInputs as Given
from kinetree.algorithms import aba, crba
from kinetree.algorithms.quantities import kinetic_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import contact_dynamics, contact_impulse, forward_dynamics, impulse
from kinetree.constraints.pages.equations import constraint_bias, constraint_jacobian
from kinetree.constraints.pages.inverse import contact_inverse_dynamics
from kinetree.constraints.types import Contact
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical

TREE = random_tree(5, n=6, joints=(FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1))))
Q = random_states(TREE, 2, 1)[0][0]
HELD = made("weld", TREE, Q, "world")
NAMES = [TREE.bodies[i].name for i in (0, 2, 4)]
CONTACTS = [
    Contact(NAMES[0], friction=0.4, normal=(0.1, 0.2, 1.0)),
    Contact(NAMES[1], friction=0.9, radius=0.1),
    Contact(NAMES[2], NAMES[0], friction=0.2, normal=(1.0, 0.0, 0.3), restitution=0.5),
]
MODEL = constrained(HELD, [CONTACTS[0], *HELD.constraints, CONTACTS[1], CONTACTS[2]])
ON_CONTACTS = np.r_[0:3, 9:15]
FRICTION = np.array([0.4, 0.9, 0.2])


def lists(*arrays: Array) -> list[list[float]]:
    return [np.asarray(x).tolist() for x in arrays]


def states(model: ConstrainedModel, seed: int, rest: bool = True) -> tuple[Array, Array, Array]:
    """Return a state and joint forces; at rest along all rows, if it is to be."""
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=model.nv), rng.normal(size=model.nv, scale=20.0)
    J = np.array(constraint_jacobian(MODEL, Q.tolist()))
    return Q, v - np.linalg.pinv(J) @ J @ v if rest else v, tau


def matrices(model: ConstrainedModel, q: Array, v: Array) -> tuple[Array, Array, Array]:
    """Return M, J and γ."""
    values = crba(model, q.tolist()), constraint_jacobian(model, q.tolist()), constraint_bias(model, *lists(q, v))
    M, J, gamma = map(np.array, values)
    return M, J, gamma


HOLDING = {
    ends: constrained(held := made("weld", TREE, Q, ends), [CONTACTS[0], *held.constraints, *CONTACTS[1:]])
    for ends in ("world", "ancestor", "cousin")
}
"""The weld is on another branch than the contacts, or where they push what it holds."""


@pytest.mark.parametrize(
    ("ends", "seed", "solver"),
    [("world", 0, "auto"), ("world", 1, "pgs"), ("world", 2, "admm"), ("ancestor", 0, "auto"), ("cousin", 0, "auto")],
)
def test_accelerations_obey_newton_and_all_constraints(ends: str, seed: int, solver: str) -> None:
    model = HOLDING[ends]
    q, v, tau = states(MODEL, seed)
    v = v if ends == "world" else 0.0 * v
    a, f, iterations, primal, dual, work = contact_dynamics(model, *lists(q, v, tau), contacts=to(1e-10, solver))
    M, J, gamma = matrices(model, q, v)
    free = np.array(aba(model, *lists(q, v, tau)))
    near(M @ (np.array(a) - free), J.T @ f, 1e-9)
    motion = J @ a + gamma
    held = np.setdiff1d(np.arange(len(f)), ON_CONTACTS)
    np.testing.assert_allclose(motion[held], 0.0, atol=1e-9 * max(np.abs(gamma).max(), np.abs(a).max()))
    force = np.array(f)[ON_CONTACTS]
    errors = law_errors(np.zeros((9, 9)), motion[ON_CONTACTS], force, FRICTION, np.zeros(0))
    assert errors[0] <= 1e-12 * np.abs(force).max()
    assert max(errors[1:]) <= 1e-7 * np.abs(free).max() * max(np.abs(force).max(), 1.0)
    assert 0.0 < iterations < 1000.0
    assert max(primal, dual, work) < 1e-6
    alone = np.linalg.solve(J[held] @ np.linalg.solve(M, J[held].T), -J[held] @ free)
    assert (np.abs(np.array(f)[held] - alone).max() > 0.1 * np.abs(alone).max()) or ends == "world"


def test_a_weld_twice_changes_nothing() -> None:
    twice = constrained(MODEL, [*MODEL.constraints, replace(HELD.constraints[0], name="again")])
    q, v, tau = states(MODEL, 0)
    a, f, *_ = contact_dynamics(MODEL, *lists(q, v, tau), contacts=to(1e-10))
    b, g, *_ = contact_dynamics(twice, *lists(q, v, tau), contacts=to(1e-10))
    near(b, a, 1e-8)
    near(2.0 * np.array(g[3:9]), np.array(f[3:9]), 1e-7)


def test_what_sticks_moves_as_in_forward_dynamics() -> None:
    """Where the bilateral forces happen to be within all cones."""
    q, v, tau = states(MODEL, 0)
    slack = np.array(forward_dynamics(MODEL, *lists(q, v, tau))[1])
    J = np.array(constraint_jacobian(MODEL, q.tolist()))
    pressed = tau - J.T @ (np.where(np.arange(15) % 3 == 2, 1.0, 0.0) * 100.0 * (np.isin(np.arange(15), ON_CONTACTS)))
    a, f = forward_dynamics(MODEL, *lists(q, v, pressed))
    assert (np.array(f)[[2, 11, 14]] > slack[[2, 11, 14]]).all()
    b, g, *_ = contact_dynamics(MODEL, *lists(q, v, pressed), contacts=to(1e-12, friction=[5.0] * 4))
    near(b, a, 1e-8)
    near(g, f, 1e-7)


def test_contacts_are_switched_off_in_one_function() -> None:
    q, v, tau = states(MODEL, 2)
    some = constrained(HELD, [*HELD.constraints, CONTACTS[2]])
    a, *_ = contact_dynamics(some, *lists(q, v, tau), contacts=to(1e-11))
    b, g, *_ = contact_dynamics(MODEL, *lists(q, v, tau), contacts=to(1e-11, active=[0.0, 1.0, 0.0, 1.0]))
    near(b, a, 1e-8)
    assert not any(g[:3] + g[9:12])
    none = contact_dynamics(MODEL, *lists(q, v, tau), contacts=Given(active=[0.0] * 4))
    near(np.array(none[0]), np.array(aba(MODEL, *lists(q, v, tau))), 1e-10)
    assert not any(none[1])


def test_compliance_friction_and_start_of_a_call() -> None:
    q, v, tau = states(MODEL, 1)
    given = lists(q, v, tau)
    f = contact_dynamics(MODEL, *given, contacts=to(1e-10))[1]
    smooth = contact_dynamics(MODEL, *given, contacts=Given(friction=[0.0] * 4))[1]
    assert not np.array(smooth)[[0, 1, 9, 10, 12, 13]].any()
    assert contact_dynamics(MODEL, *given, contacts=to(1e-9), f_start=f)[2] <= 2.0
    soft = np.array(contact_dynamics(MODEL, *given, compliance=[1e6] * 15)[1])
    assert np.abs(soft[ON_CONTACTS]).max() < 1e-3
    assert np.isnan(
        contact_dynamics(
            MODEL, *given, contacts=Given(friction=[-1.0] * 4, solver=kt.ContactSolver(max_iterations=10))
        )[3]
    )


@pytest.mark.parametrize("seed", range(3))
def test_impacts_obey_the_laws_and_lose_energy(seed: int) -> None:
    q, v, _ = states(MODEL, seed, rest=False)
    after, blow, *_ = contact_impulse(MODEL, *lists(q, v), contacts=to(1e-11, restitution=[0.0] * 4))
    M, J, _ = matrices(MODEL, q, v)
    near(M @ (np.array(after) - v), J.T @ blow, 1e-10)
    errors = law_errors(np.zeros((9, 9)), (J @ after)[ON_CONTACTS], np.array(blow)[ON_CONTACTS], FRICTION, np.zeros(0))
    assert max(errors) < 1e-8
    assert kinetic_energy(MODEL, *lists(q, after)) <= kinetic_energy(MODEL, *lists(q, v))


def test_only_what_approaches_rebounds() -> None:
    """One contact of the tree alone: v_n⁺ = −e v_n⁻ where it approaches, and nothing where it does not."""
    model = constrained(TREE, [replace(CONTACTS[2], friction=0.0)])
    _, v, _ = states(model, 3, rest=False)
    n = np.array(constraint_jacobian(model, Q.tolist()))[2]
    v = v if n @ v < 0.0 else -v
    after = np.array(contact_impulse(model, *lists(Q, v))[0])
    assert n @ after == pytest.approx(-0.5 * (n @ v), rel=1e-5)
    assert contact_impulse(model, *lists(Q, -v))[0] == (-v).tolist()
    elastic = contact_impulse(model, *lists(Q, v), contacts=to(1e-12, restitution=[1.0]))[0]
    assert kinetic_energy(model, *lists(Q, elastic)) == pytest.approx(kinetic_energy(model, *lists(Q, v)), rel=1e-9)


def test_without_contacts_nothing_is_iterated() -> None:
    q, v, tau = states(HELD, 0)
    a, _, iterations, *residuals = contact_dynamics(HELD, *lists(q, v, tau))
    near(np.array(a), np.array(forward_dynamics(HELD, *lists(q, v, tau))[0]), 1e-12)
    assert (iterations, *residuals) == (0.0,) * 4
    near(np.array(contact_impulse(HELD, *lists(q, v))[0]), np.array(impulse(HELD, *lists(q, v))[0]), 1e-12)


@pytest.fixture(scope="module")
def block() -> kt.Mechanism:
    """A block of 2 kg on four corners, on a plane that is tilted by 0.5 rad about the y axis."""
    inertia = kt.Inertia(2.0, [0, 0, 0], np.diag([0.02, 0.03, 0.04]))
    tree, normal = toy(("base world block", FreeFlyer()), links={"block": inertia}), (math.sin(0.5), 0, math.cos(0.5))
    corners = [(x, y, -0.01) for x in (-0.1, 0.1) for y in (-0.2, 0.2)]
    contacts = [kt.Contact("block", point=p, normal=normal, name=f"corner{k}") for k, p in enumerate(corners)]
    return kt.Mechanism(kt.Robot(tree), contacts)


def test_a_block_slides_down_a_slope(block: kt.Mechanism) -> None:
    """From tan θ = μ on, with g (sin θ − μ cos θ), and does not lift off; frictions of the states differ."""
    q = np.array([0.0, 0.0, 0.0, 0.0, math.sin(0.25), 0.0, math.cos(0.25)])
    mu = math.tan(0.5) + np.array([1e-6, -1e-6, -0.2, 0.5, -math.tan(0.5)])
    friction = np.repeat(mu[:, None], 4, axis=1)
    found = block.contact_dynamics(q, np.zeros(6), np.zeros(6), contacts=to(1e-11, friction=friction))
    expected = np.maximum(0.0, 9.81 * (math.sin(0.5) - mu * math.cos(0.5)))
    np.testing.assert_allclose(found.a[:, 3], expected, atol=1e-6)
    np.testing.assert_allclose(found.a[:, [0, 1, 2, 4, 5]], 0.0, atol=1e-7)
    np.testing.assert_allclose(found.f[:, 2::3].sum(axis=1), 2.0 * 9.81 * math.cos(0.5), rtol=1e-7)
    one = block.contact_dynamics(q, np.zeros(6), np.zeros(6), contacts=to(1e-11, friction=friction[2]))
    assert all(same_bits(x[2], y) for x, y in zip(found, one, strict=True))


def test_inverse_dynamics_has_the_same_bits_in_a_batch(block: kt.Mechanism) -> None:
    """It ends by a tolerance: its values are not compared with another arithmetic, as those of most functions are."""
    q, zero = np.array([0.0, 0.0, 0.0, 0.0, math.sin(0.25), 0.0, math.cos(0.25)]), np.zeros(6)
    a = np.random.default_rng(0).normal(size=(19, 6))
    batch = block.contact_inverse_dynamics(q, zero, a)
    for k in (0, 7, 18):
        assert all(
            same_bits(x[k], y) for x, y in zip(batch, block.contact_inverse_dynamics(q, zero, a[k]), strict=True)
        )
    assert np.ptp(batch.iterations) > 0


def test_what_slides_is_braked_against_its_velocity(block: kt.Mechanism) -> None:
    """In any direction, up the slope too, as soon as it moves; and what lifts off is free."""
    turn = np.array([[math.cos(0.5), 0.0, math.sin(0.5)], [0.0, 1.0, 0.0], [-math.sin(0.5), 0.0, math.cos(0.5)]])
    q = np.array([0.0, 0.0, 0.0, 0.0, math.sin(0.25), 0.0, math.cos(0.25)])
    angles, speeds = np.linspace(0.0, 6.0, 7), 10.0 ** np.arange(-5.0, 2.0)
    d = np.stack([np.cos(angles), np.sin(angles), np.zeros(7)], axis=1)
    v = np.concatenate([np.zeros((7, 3)), speeds[:, None] * d], axis=1)
    pull = turn.T @ [0.0, 0.0, -9.81]
    for solver in ("auto", "admm"):
        found = block.contact_dynamics(q, v, np.zeros(6), contacts=to(1e-10, solver))
        expected = pull * [1.0, 1.0, 0.0] + 0.7 * pull[2] * d
        np.testing.assert_allclose(found.a[:, 3:], expected, atol=1e-6)
        assert max(found.dual.max(), found.primal.max()) < 1e-8
    v[:, 5] = 0.1
    free = block.contact_dynamics(q, v, np.zeros(6), contacts=to(1e-10))
    assert not free.f.any()
    np.testing.assert_allclose(free.a[:, 3:], np.broadcast_to(pull, (7, 3)), atol=1e-9)


def test_friction_is_no_matter_where_contacts_stick() -> None:
    q, v, tau = states(MODEL, 0)
    other = constrained(HELD, [replace(c, friction=0.0) if isinstance(c, Contact) else c for c in MODEL.constraints])
    assert forward_dynamics(MODEL, *lists(q, v, tau)) == forward_dynamics(other, *lists(q, v, tau))


FEET = [TREE.bodies[i].name for i in (0, 1, 2, 3, 4, 5)]
WALKER = constrained(TREE, [Contact(name, friction=0.8, normal=(0, 0, 1)) for name in FEET])


def balanced(seed: int) -> tuple[Array, Array, Array]:
    """Return v, a and the forces in the middle of the cones that balance the unactuated joints of the walker."""
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(2, WALKER.nv))
    f = np.array([[*rng.uniform(-3, 3, 2), rng.uniform(20, 40)] for _ in FEET]).ravel()
    tau[[k for k in range(WALKER.nv) if k not in WALKER.actuated]] = 0.0
    M, J, _ = matrices(WALKER, Q, v)
    a = np.array(aba(WALKER, *lists(Q, v, 20.0 * tau))) + np.linalg.solve(M, J.T @ f)
    return v, a, f


@pytest.mark.parametrize("seed", range(2))
def test_forces_of_least_cost_balance_the_motion(seed: int) -> None:
    """Optimal: no other forces that balance it cost less to first order (others are optimal for other weights)."""
    v, a, known = balanced(seed)
    given, rng = lists(Q, v, a), np.random.default_rng(seed)
    M, J, _ = matrices(WALKER, Q, v)
    scale = np.abs(known).max()
    found = []
    for weights in (np.ones(18), *rng.uniform(0.2, 5.0, (3, 18))):
        tau, f, missing, iterations = contact_inverse_dynamics(WALKER, *given, force_weights=weights.tolist())
        assert iterations < 1000.0
        assert np.abs(missing).max() < 1e-5 * scale
        errors = law_errors(np.zeros((18, 18)), np.zeros(18), np.array(f), np.full(6, 0.8), np.zeros(0))
        assert errors[0] <= 1e-12 * scale
        c = M @ (a - np.array(aba(WALKER, *lists(Q, v, np.zeros(WALKER.nv)))))
        near(np.array(tau) + J.T @ f + missing, c, 1e-9)
        found.append((weights, np.array(f)))
    for weights, f in found:
        for _, other in [*found, (None, known)]:
            assert (weights * f) @ (other - f) >= -1e-5 * scale**2


def test_what_is_not_given_is_what_the_documentation_says() -> None:
    """Also of a motion that cannot be balanced, which takes all iterations."""
    v, a, _ = balanced(0)
    written = {"force_weights": [1.0] * 18, "torque_weight": 0.0, "tolerance": 1e-8, "max_iterations": 1000.0}
    for given in (lists(Q, v, a), lists(Q, v, a - 50.0)):
        default = contact_inverse_dynamics(WALKER, *given)
        for name, value in written.items():
            assert contact_inverse_dynamics(WALKER, *given, **{name: value}) == default
    assert default[3] == 1000.0


@pytest.mark.parametrize("seed", range(2))
def test_a_motion_under_contacts_lacks_nothing(seed: int) -> None:
    """What joint forces and contacts have made of the state, other joint forces and contacts can make of it."""
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(2, WALKER.nv))
    tau[[k for k in range(WALKER.nv) if k not in WALKER.actuated]] = 0.0
    a, f, *_ = contact_dynamics(WALKER, *lists(Q, v, 20.0 * tau), contacts=to(1e-12))
    _, g, missing, _ = contact_inverse_dynamics(WALKER, *lists(Q, v), a, contacts=Given(friction=[0.9] * 6))
    assert np.linalg.norm(g) < (1.0 + 1e-6) * np.linalg.norm(f)
    assert np.abs(missing).max() < 1e-5 * np.abs(f).max()


def test_least_normal_forces_torques_and_bounds() -> None:
    v, a, known = balanced(1)
    given, scale = lists(Q, v, a), np.abs(known).max()
    passive = [k for k in range(WALKER.nv) if k not in WALKER.actuated]
    _, plain, _, _ = contact_inverse_dynamics(WALKER, *given)
    tau, f, missing, _ = contact_inverse_dynamics(WALKER, *given, f_min=[15.0] * 6)
    assert np.array(plain)[2::3].min() < 15.0 - 1e-3
    assert np.array(f)[2::3].min() >= 15.0
    assert np.abs(missing).max() < 1e-5 * scale
    spared = contact_inverse_dynamics(WALKER, *given, torque_weight=10.0)[0]
    assert np.linalg.norm(spared) < np.linalg.norm(tau)
    most = 1.02 * np.abs(spared).max()
    bounded, _, missing, _ = contact_inverse_dynamics(WALKER, *given, tau_max=[most] * WALKER.nv)
    assert np.abs(bounded).max() <= most
    assert np.abs(missing).max() < 1e-5 * scale
    weak, _, missing, iterations = contact_inverse_dynamics(
        WALKER, *given, tau_max=[1e-3] * WALKER.nv, max_iterations=50.0
    )
    assert np.abs(weak).max() <= 1e-3
    assert np.abs(missing).max() > 1e-3
    assert iterations == 50.0
    off = contact_inverse_dynamics(
        WALKER, *given, contacts=Given(active=[0.0] * 6), f_min=[15.0] * 6, max_iterations=20.0
    )
    assert not any(off[1])
    assert np.abs(np.array(off[2])[passive]).max() > 1.0


@pytest.mark.parametrize("solver", [None, kt.GaussSeidel(), kt.ADMM()], ids=repr)
def test_a_contact_that_cannot_move_changes_nothing(solver: kt.ContactSolver | None) -> None:
    """It is on the hinge's axis: what would be motion without it is zero before anything is computed."""
    b = kt.ModelBuilder("pendulum")
    b.add_link("world")
    b.add_link("bar", kt.Inertia.from_com(1.0, (0.1, 0.0, 0.0), np.diag([0.01] * 3)))
    b.add_joint("hinge", parent="world", child="bar", joint=Revolute((0, 1, 0)))
    robot, given = kt.Robot(b.build()), Given(solver=solver)
    mech = kt.Mechanism(robot, [Contact("bar")])
    found = mech.contact_dynamics([0.2], [0.1], [0.3], contacts=given)
    np.testing.assert_allclose(found.a, robot.forward_dynamics([0.2], [0.1], [0.3]), rtol=1e-14)
    assert not found.f.any()
    assert mech.contact_impulse([0.2], [0.1], given).v_next == 0.1
