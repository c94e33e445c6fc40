"""Bodies whose mass is within boxes and ellipsoids."""

from __future__ import annotations

import numpy as np
import pytest

import kinetree as kt
from helpers import semidefinite
from helpers.small_arm import bare_arm
from helpers.trees import Array
from kinetree.identification import Bodies, bodies
from kinetree.identification.bodies import inequalities
from kinetree.identification.newton import inertial_of, pseudo_inertia

BOX = np.array([[-0.1, 0.2, -0.4], [0.3, 0.5, -0.2]])
CENTRE, AXES = np.array([0.3, -0.1, 0.2]), np.array([0.2, 0.5, 0.1])
P = np.diag(AXES**-2)
ELLIPSOID = np.block([[-P, (P @ CENTRE)[:, None]], [P @ CENTRE, 1.0 - CENTRE @ P @ CENTRE]])


def bounds(arm: kt.Robot) -> dict[str, Array]:
    return dict(zip(arm.body_names, (BOX, ELLIPSOID, BOX), strict=True))


def masses_in(kind: str, rng: np.random.Generator, count: int = 12) -> Array:
    """Return the inertial parameters of some point masses within."""
    if kind == "box":
        points = rng.uniform(*BOX, size=(count, 3))
    else:
        directions = rng.normal(size=(count, 3))
        directions *= (rng.random((count, 1)) ** (1 / 3)) / np.linalg.norm(directions, axis=1, keepdims=True)
        points = CENTRE + directions * AXES
    at = np.column_stack([points, np.ones(count)])
    return inertial_of((at.T * rng.random(count)) @ at)


def test_all_that_is_within_fulfils_the_inequalities(arm: kt.Robot) -> None:
    rng, there = np.random.default_rng(1), bounds(arm)
    C, inside = inequalities(arm, there, arm.inertial_parameters.reshape(-1, 10))
    assert C.shape == (15 + 1 + 15, 30)
    for _ in range(100):
        x = np.concatenate([masses_in(kind, rng, 4) for kind in ("box", "ellipsoid", "box")])
        assert (C @ x >= -1e-12).all()
    aside = np.eye(4)
    aside[0, 3] = 1.0
    outside = np.array([inertial_of(aside @ J @ aside.T) for J in pseudo_inertia(inside)])
    assert (C @ outside.ravel()).min() < 0.0, "a metre aside"
    _, moved = inequalities(arm, there, outside)
    assert (C @ moved.ravel()).min() > 0.0
    np.testing.assert_allclose(moved[:, 0], inside[:, 0])
    assert np.linalg.eigvalsh(pseudo_inertia(moved)).min() > 0.0


def test_estimates_are_within(arm: kt.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    q, v, a = arm.random_state(0, 60)
    tau = arm.inverse_dynamics(q, v, a)
    there = bounds(arm)
    C, _ = inequalities(arm, there, arm.inertial_parameters.reshape(-1, 10))
    guess = arm.with_inertial_parameters(np.tile(np.array(kt.Inertia(4.0, [0, 0, 0], np.eye(3) * 0.2)), 3))
    exact = guess.identify((q, v, a, tau), [], bodies=Bodies(bounds=there))
    np.testing.assert_allclose(exact.predict(q, v, a), tau, atol=1e-6)
    worst = 0.0
    for seed in range(5):
        noisy = q, v, a, tau + 3.0 * np.random.default_rng(seed).normal(size=tau.shape)
        fit = guess.identify(noisy, [], bodies=Bodies(spread=2.0, bounds=there))
        assert (C @ fit.parameters[:30]).min() > 0.0
        assert np.linalg.eigvalsh(pseudo_inertia(fit.parameters[:30].reshape(-1, 10))).min() > 0.0
        worst = min(worst, (C @ guess.identify(noisy, [], bodies=Bodies(spread=2.0)).parameters[:30]).min())
    assert worst < -0.1, "without bounds mass is outside"
    monkeypatch.setattr(bodies, "newton", semidefinite.solve)
    theirs = guess.identify(noisy, [], bodies=Bodies(spread=2.0, bounds=there))
    np.testing.assert_allclose(fit.parameters, theirs.parameters, rtol=1e-3, atol=1e-4)


def test_what_is_refused(arm: kt.Robot) -> None:
    q, v, a = arm.random_state(0, 60)
    log = q, v, a, arm.inverse_dynamics(q, v, a)
    link = arm.body_names[0]
    for wrong, message in [
        ({"nobody": BOX}, "nobody"),
        ({link: BOX[::-1]}, "has to be a box"),
        ({link: [1.0, 2.0]}, "has to be a box"),
        ({link: -ELLIPSOID}, "has to be a box"),
        ({link: BOX * np.nan}, "has to be a box"),
        ({link: BOX * [1.0, 0.0, 1.0]}, "has to be a box"),  # flat
        ({link: np.diag([-1.0, -1.0, -1.0, 0.0])}, "has to be a box"),  # a point
        ({link: np.diag([-1.0, -1.0, -1.0, -1.0])}, "has to be a box"),  # nothing is inside
    ]:
        with pytest.raises(kt.ArgumentError, match=message):
            arm.identify(log, [], bodies=Bodies(bounds=wrong))


@pytest.fixture(scope="module")
def arm() -> kt.Robot:
    """Return an arm whose links are boxes, and an ellipsoid."""
    rng = np.random.default_rng(0)
    return bare_arm().with_inertial_parameters(np.ravel([masses_in(k, rng) for k in ("box", "ellipsoid", "box")]))
