"""Forward dynamics and impulses with constraints, against dense linear algebra and against what they mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import (
    MAKERS,
    by_null_space,
    carriers,
    doubled,
    held_at,
    made,
    near,
    pose,
    several,
)
from helpers.dense import assert_close
from helpers.frames import times
from helpers.trees import Array, page, random_states, random_tree
from kinetree import ContactInputs as Given
from kinetree.algorithms import aba, crba
from kinetree.algorithms.quantities import kinetic_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics, impulse, project_velocity
from kinetree.constraints.pages.equations import constraint_bias, constraint_error, constraint_jacobian, delassus_matrix
from kinetree.constraints.types import Contact, Weld
from kinetree.joints import FreeFlyer, Prismatic, Revolute, Spherical
from kinetree.model import Model
from kinetree.spatial import Inertia, Transform

TREE = random_tree(5, n=7, joints=(FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical(), Prismatic((0, 0, 1))))
N = 4


def states(model: Model, seed: int = 0) -> tuple[Array, Array, Array]:
    """Return N states at one configuration, random velocities and forces."""
    q, _, _ = random_states(TREE, 2, 1)
    rng = np.random.default_rng(seed)
    return np.repeat(q, N, axis=0), rng.normal(size=(N, model.nv)), rng.normal(size=(N, model.nv), scale=20.0)


def floating_end(model: Model) -> str:
    """Return the body farthest from the base of those that a floating base carries."""
    paths = [carriers(model, i) for i in range(model.nb)]
    floating = [p for p in paths if any(isinstance(model.bodies[i].joint, FreeFlyer) for i in p)]
    return model.bodies[max(floating, key=len)[-1]].name


def start() -> Array:
    return random_states(TREE, 2, 1)[0][0]


def combined() -> ConstrainedModel:
    """Return a tree with three different constraints, a weld, a sphere in contact and a gear, which do not conflict."""
    model = made("weld", TREE, start(), "cousin")
    sphere = Contact(model.bodies[-1].name, normal=(0.3, -0.2, 0.9), radius=0.1)
    gear = made("gear", TREE, start(), "world").constraints
    return constrained(model, [*model.constraints, sphere, *gear])


MECHANISMS: dict[str, ConstrainedModel] = {
    **{kind: made(kind, TREE, start(), "world" if kind in ("weld", "rod") else "cousin") for kind in MAKERS},
    "three": combined(),
    "weld twice": doubled(made("weld", TREE, start(), "cousin")),
    "three twice": doubled(combined()),
}

every = pytest.mark.parametrize("model", MECHANISMS.values(), ids=list(MECHANISMS))


def solved(model: ConstrainedModel, *states: Array) -> list[Array]:
    """Return a and f of the null-space method."""
    return [
        np.stack(x) for x in zip(*(by_null_space(model, *state) for state in zip(*states, strict=True)), strict=True)
    ]


@every
def test_forward_dynamics_by_the_null_space_method(model: ConstrainedModel) -> None:
    q, v, tau = states(model)
    a, f = several(forward_dynamics, model, q, v, tau)
    expected_a, expected_f = solved(model, q, v, tau)
    # measured, ten seeds: 2e-13 and 2e-13 where the rows are independent, 2e-14 and 3e-11 where they are not
    near(a, expected_a, 1e-11)
    near(f, expected_f, 1e-10)


def test_a_body_welded_at_two_places_shares_the_force() -> None:
    """Six of twelve rows are redundant without being equal: positions and velocities that hold make them consistent."""
    q, v, tau = states(TREE)
    body = TREE.nb - 1
    model, welds = TREE, []
    for k, shift in enumerate(((0.0, 0.0, 0.0), (0.3, -0.2, 0.1))):
        place = pose(TREE, q[0], TREE.bodies[body].name)
        place[:3, 3] += shift
        model = held_at(model, q[0], body, place, f"grip{k}")
        welds.append(Weld(f"grip{k}", placement=place))
    mech = constrained(model, welds)
    assert np.linalg.matrix_rank(page(constraint_jacobian, mech, q)[0], tol=1e-9) == 6
    v = page(project_velocity, mech, q, v)
    a, f = several(forward_dynamics, mech, q, v, tau)
    expected_a, expected_f = solved(mech, q, v, tau)
    near(a, expected_a, 1e-9)
    near(f, expected_f, 1e-9)


@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_robots_of_a_millimetre_and_of_a_kilometre(size: float) -> None:
    """Moments and forces are then of very different size, and one μ serves both."""

    def longer(X: Transform) -> Transform:
        return Transform(X.E, X.r * size)

    def larger(I: Inertia) -> Inertia:
        return Inertia.about_origin(I.m, I.h * size, type(I.I)(*(x * size * size for x in I.I)))

    joints = (FreeFlyer(), Revolute((0.6, -0.3, 0.7)), Spherical())
    small = random_tree(5, n=7, joints=joints, armature=False)
    bodies = tuple(replace(b, X_T=longer(b.X_T), inertia=larger(b.inertia)) for b in small.bodies)
    scaled = replace(small, bodies=bodies, frames=tuple(replace(f, X=longer(f.X)) for f in small.frames))
    q, v, tau = random_states(scaled, 1, N)
    mech = constrained(scaled, [Weld(floating_end(scaled))])
    a, _ = several(forward_dynamics, mech, q, v, tau * size**2)
    expected, _ = solved(mech, q, v, tau * size**2)
    near(a, expected, 1e-7)  # M itself has cond 8e8


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
    """One function with feet that are on or off has hardly more operations than that in which all are on.

    Measured: 0.9 %; a hand of Panda welded 1.1 %, two feet of G1 0.4 %, a Stewart platform 1.1 %.
    """
    feet = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    mech = kt.Mechanism(kt.load("go2"), [kt.Contact(foot) for foot in feet])

    @kt.compile(mech)
    def all_on(q: Array, v: Array, tau: Array) -> Array:
        return mech.forward_dynamics(q, v, tau).a

    @kt.compile(mech, shapes={"on": (4,)})
    def some_on(q: Array, v: Array, tau: Array, on: Array) -> Array:
        return mech.forward_dynamics(q, v, tau, contacts=Given(active=on)).a

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
