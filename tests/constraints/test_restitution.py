"""Rebound and friction together: impulses never add energy, where Newton's law of restitution alone would."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers.constraints import to
from helpers.mechanisms import HINGE, Array, at, bar
from kinetree import ContactInputs as Given
from kinetree.algorithms import crba
from kinetree.algorithms.quantities import kinetic_energy
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.contacts import contact_impulse
from kinetree.constraints.pages.dynamics import impulse
from kinetree.constraints.pages.rows import constraint_jacobian
from kinetree.constraints.pages.steps import contact_step


def double_pendulum() -> ConstrainedModel:
    """Return two bars of 1 m, the tip of which meets a plane: Kane and Levinson's paradox."""
    b = kt.ModelBuilder("double pendulum")
    b.add_link("ground")
    for name, parent, x in (("upper", "ground", 0.0), ("lower", "upper", 1.0)):
        b.add_link(name, bar(1.0, (1.0, 0.0, 0.0)))
        b.add_joint(f"{name} hinge", parent=parent, child=name, joint=HINGE, placement=at(x))
    b.add_frame("tip", link="lower", placement=at(1.0))
    return constrained(b.build(), [kt.Contact("tip", friction=0.7, restitution=0.9)])


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
