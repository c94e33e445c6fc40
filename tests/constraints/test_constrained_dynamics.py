"""Forward dynamics and impulses with constraints: dense linear algebra, Pinocchio, and what they mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.constraints import (
    MAKERS,
    by_null_space,
    doubled,
    held_at,
    made,
    near,
    pose,
    several,
)
from helpers.dense import assert_close
from helpers.frames import times
from helpers.pinocchio_oracle import build, constrained_dynamics, rigid
from helpers.trees import Array, columns, page, random_states, random_tree, stacked
from kinetree import ContactInputs as Given
from kinetree.algorithms import aba, crba
from kinetree.algorithms.quantities import kinetic_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics, impulse, project_velocity
from kinetree.constraints.pages.equations import constraint_bias, constraint_error, constraint_jacobian, delassus_matrix
from kinetree.constraints.types import Constraint, Contact, Weld
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.model import Model

TREE = random_tree(5, n=7, joints=(FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1))))
N = 4


def states(model: Model, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return N states at one configuration, random velocities and forces."""
    q, _, _ = random_states(TREE, 2, 1)
    rng = np.random.default_rng(seed)
    return np.repeat(q, N, axis=0), rng.normal(size=(N, model.nv)), rng.normal(size=(N, model.nv), scale=20.0)


def start() -> Array:
    return random_states(TREE, 2, 1)[0][0]


def combined() -> ConstrainedModel:
    """Return a tree with three different constraints, a weld, a sphere in contact and a gear, which do not conflict."""
    model = made("weld", TREE, start(), "cousin")
    sphere = Contact(model.bodies[-1].name, normal=(0.3, -0.2, 0.9), radius=0.1)
    gear = made("gear", TREE, start(), "world").constraints
    return constrained(model, [*model.constraints, sphere, *gear])


def gripped() -> ConstrainedModel:
    """Return a body welded at two places: six of twelve rows are redundant without being equal."""
    body, model, welds = TREE.nb - 1, TREE, []
    for k, shift in enumerate(((0.0, 0.0, 0.0), (0.3, -0.2, 0.1))):
        place = pose(TREE, start(), TREE.bodies[body].name)
        place[:3, 3] += shift
        model = held_at(model, start(), body, place, f"grip{k}")
        welds.append(Weld(f"grip{k}", placement=place))
    return constrained(model, welds)


MECHANISMS: dict[str, ConstrainedModel] = {
    **{kind: made(kind, TREE, start(), "world" if kind in ("weld", "rod") else "cousin") for kind in MAKERS},
    "three": combined(),
    "weld twice": doubled(made("weld", TREE, start(), "cousin")),
    "three twice": doubled(combined()),
    "two grips": gripped(),
}

every = pytest.mark.parametrize("model", MECHANISMS.values(), ids=list(MECHANISMS))


@every
def test_forward_dynamics_by_the_null_space_method(model: ConstrainedModel) -> None:
    q, v, tau = states(model)
    v = page(project_velocity, model, q, v)  # or rows that are redundant would contradict each other
    a, f = several(forward_dynamics, model, q, v, tau)
    expected = [by_null_space(model, *state) for state in zip(q, v, tau, strict=True)]
    # measured, ten seeds: 2e-13 and 2e-13 where the rows are independent, 2e-14 and 3e-11 where they are not
    near(a, np.stack([x for x, _ in expected]), 1e-11)
    near(f, np.stack([x for _, x in expected]), 1e-10)


@every
def test_constraints_that_are_switched_off_are_not_there(model: ConstrainedModel) -> None:
    q, v, tau = states(model)
    off = np.zeros(model.nconstraints)
    a, f = several(forward_dynamics, model, q, v, tau, contacts=Given(active=off))
    np.testing.assert_array_equal(f, np.zeros_like(f))
    assert_close(a, page(aba, model, q, v, tau), ulps=5000)
    first = off.copy()
    first[0] = 1.0
    unknown = np.where(first[list(model.constraint_of_row)] > 0.0, 0.0, np.nan)
    given = Given(active=first, row_motion=np.broadcast_to(unknown, (3, model.nrows)))
    a, f = several(forward_dynamics, model, q, v, tau, contacts=given)
    alone_a, alone_f = several(forward_dynamics, constrained(model, model.constraints[:1]), q, v, tau)
    np.testing.assert_array_equal(f[:, alone_f.shape[1] :], 0.0)
    near(a, alone_a, 1e-12)
    near(f[:, : alone_f.shape[1]], alone_f, 1e-12)


def test_switches_cost_next_to_nothing() -> None:
    """Measured: 0.9 %; a hand of Panda welded 1.1 %, two feet of G1 0.4 %, a Stewart platform 1.1 %."""
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    mech = kt.Mechanism(kt.load("go2"), [kt.Contact(foot) for foot in feet])
    all_on = mech.compile(lambda q, v, tau: mech.forward_dynamics(q, v, tau).a, name="all_on")
    some_on = mech.compile(
        lambda q, v, tau, on: mech.forward_dynamics(q, v, tau, contacts=Given(active=on)).a,
        shapes={"on": (4,)},
        name="some_on",
    )
    counts = [sum(function.op_count.values()) for function in (all_on, some_on)]
    assert counts[0] < counts[1] < 1.01 * counts[0]


@every
def test_an_impulse_stops_or_reverses_and_takes_energy(model: ConstrainedModel) -> None:
    q, v, _ = states(model)
    J, M = page(constraint_jacobian, model, q), page(crba, model, q)
    e = np.full(model.nconstraints, 0.6)
    scale = float(np.abs(J).max() * np.abs(v).max())
    rebounds = [row.rebounds for row in model.constraint_rows(q[0].tolist())]
    for restitution in ({}, {"restitution": e}):
        after, blow = several(impulse, model, q, v, contacts=Given(**restitution))
        wanted = np.where(rebounds, -0.6, 0.0) * times(J, v) if restitution else 0.0 * times(J, v)
        np.testing.assert_allclose(times(J, after), wanted, rtol=0.0, atol=1e-11 * scale)
        np.testing.assert_allclose(
            times(M, after - v), times(np.swapaxes(J, 1, 2), blow), rtol=0.0, atol=1e-11 * np.abs(blow).max()
        )
        assert (page(kinetic_energy, model, q, after) <= page(kinetic_energy, model, q, v) * (1 + 1e-12)).all()
    again = page(project_velocity, model, q, page(project_velocity, model, q, v))
    np.testing.assert_allclose(again, page(project_velocity, model, q, v), rtol=0.0, atol=1e-11 * np.abs(v).max())


@pytest.mark.parametrize("kind", ["weld", "rod", "sphere", "gear"])
def test_errors_decay_where_stabilization_is_asked_for(kind: str) -> None:
    omega = 7.0
    model = replace(made(kind, TREE, start(), "world"), stabilization=omega)
    q, v, tau = random_states(model, 9, N)[0], *states(model)[1:]  # anywhere, so that the errors are large
    a, _ = several(forward_dynamics, model, q, v, tau)
    J, gamma, phi = (
        page(constraint_jacobian, model, q),
        page(constraint_bias, model, q, v),
        page(constraint_error, model, q),
    )
    assert np.abs(phi).max() > 0.1
    rest = times(J, a) + gamma + 2 * omega * times(J, v) + omega**2 * phi
    assert_close(rest, np.zeros_like(rest), ulps=1e5, scale=float(omega**2 * np.abs(phi).max()))


def test_rows_that_contradict_each_other_compromise() -> None:
    """Two welds of one frame, 2 δ apart, pull with stabilization, together as one half way between does."""
    q, v, tau = states(TREE)
    end = TREE.bodies[-1].name
    place, omega, delta = pose(TREE, q[0], end), 10.0, 1e-3
    apart = [place.copy(), place.copy()]
    apart[0][0, 3] += delta
    apart[1][0, 3] -= delta
    two = constrained(TREE, [Weld(end, placement=T, name=str(k)) for k, T in enumerate(apart)], omega)
    a, f = several(forward_dynamics, two, q, v, tau)
    middle, force = several(forward_dynamics, constrained(TREE, [Weld(end, placement=place)], omega), q, v, tau)
    contradiction = omega**2 * delta
    np.testing.assert_allclose(a, middle, rtol=0.0, atol=1e-5 * contradiction)  # measured: 1e-6 of it
    near(f[:, :6] + f[:, 6:], force, 1e-5)


@every
def test_the_delassus_matrix(model: ConstrainedModel) -> None:
    q, _, _ = states(model)
    J, M = page(constraint_jacobian, model, q), page(crba, model, q)
    G = page(delassus_matrix, model, q)
    np.testing.assert_array_equal(G, np.swapaxes(G, 1, 2))
    expected = J @ np.linalg.solve(M, np.swapaxes(J, 1, 2))
    assert_close(G, expected, ulps=1000)


# -- Pinocchio, for the types that both have: 6 and 3 rows, to the world -----------------------------------------------


FEET = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
ANKLES = ("left_ankle_roll_link", "right_ankle_roll_link")
CASES = {"panda": (pin.ContactType.CONTACT_6D, ("panda_hand",)), "go2": (pin.ContactType.CONTACT_3D, FEET)}
CASES["g1"] = (pin.ContactType.CONTACT_6D, ANKLES)


def ours(robot: str, q: Array) -> ConstrainedModel:
    """Return the model with its frames held where they are at q."""
    model = kt.load(robot).model
    kind, frames = CASES[robot]
    held: list[Constraint] = [Contact(frame) for frame in frames]
    if kind == pin.ContactType.CONTACT_6D:
        held = [Weld(frame, placement=pose(model, q, frame)) for frame in frames]
    return constrained(model, held)


@pytest.mark.parametrize("robot", CASES)
def test_the_same_accelerations_and_forces_as_pinocchio(robot: str) -> None:
    q, v, tau = random_states(kt.load(robot).model, 3, 1)
    model = ours(robot, q[0])
    v = page(project_velocity, model, q, v)
    oracle = build(kt.load(robot).model)
    kind, frames = CASES[robot]
    expected, data = constrained_dynamics(oracle, kind, [[frame] for frame in frames], q[0], v[0], tau[0])
    a, f = (stacked(x, (1,))[0] for x in forward_dynamics(model, *map(columns, (q, v, tau))))
    near(a, expected, 1e-9)
    theirs = [np.r_[x.contact_force.angular, x.contact_force.linear] for x in data]
    for name, wrench in zip(model.row_slices, theirs, strict=True):
        mine, wrench = f[model.row_slices[name]], wrench[-(len(f) // len(frames)) :]
        for part in (slice(-3, None), slice(-6, -3)):  # theirs are in the axes of the frame, ours in those of the world
            np.testing.assert_allclose(np.linalg.norm(mine[part]), np.linalg.norm(wrench[part]), rtol=1e-8, atol=1e-8)


def test_the_same_delassus_matrix_as_pinocchio() -> None:
    q, _, _ = random_states(kt.load("go2").model, 4, 1)
    oracle = build(kt.load("go2").model)
    held, data = rigid(oracle, CASES["go2"][0], [[foot] for foot in FEET])
    pin.computeAllTerms(oracle.theirs, oracle.data, oracle.to_pin_q(q)[0], np.zeros(oracle.theirs.nv))
    theirs = pin.computeDelassusMatrix(oracle.theirs, oracle.data, oracle.to_pin_q(q)[0], held, data)
    mine = page(delassus_matrix, ours("go2", q[0]), q)[0]
    np.testing.assert_allclose(np.linalg.eigvalsh(mine), np.linalg.eigvalsh(theirs), rtol=1e-9)
