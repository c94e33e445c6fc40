"""Every quantity that Pinocchio has too, on random trees with its joint types, on an arm and on a humanoid."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.frames import ANGULAR_FIRST, PIN_REFERENCE, REFERENCES, tips, with_frames
from helpers.pinocchio_oracle import SHARED, Oracle, build
from helpers.trees import Array, page, random_states, random_tree
from kinetree.algorithms import ALGORITHMS, crba
from kinetree.algorithms.kinematics.frames import (
    frame_acceleration,
    frame_placement,
    frame_velocity,
    jacobian,
    jacobian_rate,
)

NAMES = ("tree-0", "tree-1", "tree-2", "panda", "g1")
SIZE = 12
robots = pytest.mark.parametrize("name", NAMES)
references = pytest.mark.parametrize("reference", REFERENCES)


@lru_cache
def oracle(name: str) -> Oracle:
    kind, _, seed = name.partition("-")
    model = random_tree(60 + int(seed), n=len(SHARED) + 2, joints=SHARED) if kind == "tree" else kt.load(name).model
    return with_frames(build(model))


def each(their: Oracle, q: Array, *rates: Array) -> list[tuple[Array, ...]]:
    """Return our states as theirs."""
    return list(zip(their.to_pin_q(q), *map(their.to_pin_v, rates), strict=True))


def evaluate(their: Oracle, function: Callable[..., Any], *arrays: Array) -> Array:
    """Return ``function(model, data, q, v, …)`` of theirs for each of our states (q first), stacked and copied."""
    return np.array([np.array(function(their.theirs, their.data, *row)) for row in each(their, *arrays)])


def on_columns(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return what computes a matrix whose columns, or a vector whose entries, are velocities or forces."""
    return lambda their, *arrays: their.from_pin_v(evaluate(their, function, *arrays))


def on_both(function: Callable[..., Any]) -> Callable[..., Array]:
    """Return what computes a matrix of which the rows are forces too."""
    return lambda their, *arrays: on_rows(their, on_columns(function)(their, *arrays))


def on_rows(their: Oracle, X: Array) -> Array:
    return np.swapaxes(their.from_pin_v(np.swapaxes(X, -1, -2)), -1, -2)


def spatial(function: Callable[..., Any], of_map: bool = False) -> Callable[..., Array]:
    def found(their: Oracle, *arrays: Array) -> Array:
        X = evaluate(their, function if of_map else lambda *row: function(*row).np, *arrays)[:, ANGULAR_FIRST]
        return their.from_pin_v(X) if of_map else X

    return found


def regressor(function: Callable[..., Any], rows: bool = False) -> Callable[..., Array]:
    """Return what computes a regressor, its columns in our order of bodies."""

    def found(their: Oracle, *arrays: Array) -> Array:
        X, names = evaluate(their, function, *arrays), list(their.theirs.names)[1:]
        order = [names.index(body.joint_name) for body in their.ours.bodies]
        X = X.reshape(*X.shape[:-1], -1, 10)[..., order, :].reshape(X.shape)
        return on_rows(their, X) if rows else X.reshape(len(X), -1)

    return found


def kinetic_energy(their: Oracle, q: Array, v: Array) -> Array:
    """Return theirs without armature, of whose energy they count only part, and ours of the rotors."""
    bare = pin.Model(their.theirs)
    bare.armature = np.zeros(bare.nv)
    rotors = [
        0.5 * rotor * v[:, k] ** 2 for b in their.ours.bodies for k, rotor in zip(b.v_index, b.armature, strict=True)
    ]
    return evaluate(their, lambda _, data, *row: pin.computeKineticEnergy(bare, data, *row), q, v) + sum(rotors)


def reactions(their: Oracle, *arrays: Array) -> Array:
    theirs = list(their.theirs.names)

    def found(model: pin.Model, data: pin.Data, *state: Array) -> list[Array]:
        pin.rnea(model, data, *state)
        return [data.f[theirs.index(b.joint_name)].np[ANGULAR_FIRST] for b in their.ours.bodies]

    return evaluate(their, found, *arrays)


def placements(their: Oracle, q: Array) -> Array:
    def found(model: pin.Model, data: pin.Data, q: Array) -> list[Array]:
        pin.framesForwardKinematics(model, data, q)
        return [data.oMf[model.getFrameId(name)].homogeneous.copy() for name in their.ours.frame_names]

    return evaluate(their, found, q)


def of_mass(attribute: str) -> Callable[..., Array]:
    def found(model: pin.Model, data: pin.Data, *state: Array) -> Array:
        pin.centerOfMass(model, data, *state)
        return getattr(data, attribute)[0].copy()

    return lambda their, *arrays: evaluate(their, found, *arrays)


CONDITION = 0.0
"""Instead of ulps: two right answers differ by rounding through the inverse of M."""
QUANTITIES: dict[str, tuple[str, Callable[..., Array], float]] = {
    "inverse_dynamics": ("qva", Oracle.inverse_dynamics, 100),
    "forward_dynamics": ("qva", Oracle.forward_dynamics, CONDITION),
    "mass_matrix": ("q", Oracle.mass_matrix, 50),
    "mass_matrix_inverse": ("q", Oracle.mass_matrix_inverse, CONDITION),
    "forward_kinematics": ("q", Oracle.poses, 50),
    "frame_placements": ("q", placements, 50),
    "coriolis_matrix": ("qv", on_both(pin.computeCoriolisMatrix), 100),
    "joint_reactions": ("qva", reactions, 100),
    "kinetic_energy": ("qv", kinetic_energy, 100),
    "potential_energy": ("q", lambda their, q: evaluate(their, pin.computePotentialEnergy, q), 100),
    "centroidal_momentum": ("qv", spatial(pin.computeCentroidalMomentum), 100),
    "centroidal_momentum_rate": ("qva", spatial(pin.computeCentroidalMomentumTimeVariation), 100),
    "centroidal_momentum_matrix": ("q", spatial(pin.computeCentroidalMap, of_map=True), 100),
    "centroidal_momentum_matrix_rate": ("qv", spatial(pin.dccrba, of_map=True), 100),
    "center_of_mass": ("q", of_mass("com"), 100),
    "center_of_mass_velocity": ("qv", of_mass("vcom"), 200),
    "center_of_mass_acceleration": ("qva", of_mass("acom"), 400),
    "center_of_mass_jacobian": ("q", on_columns(pin.jacobianCenterOfMass), 100),
    "joint_torque_regressor": ("qva", regressor(pin.computeJointTorqueRegressor, rows=True), 100),
    "kinetic_energy_regressor": ("qv", regressor(pin.computeKineticEnergyRegressor), 100),
    "potential_energy_regressor": ("q", regressor(pin.computePotentialEnergyRegressor), 100),
}


@robots
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_quantities(quantity: str, name: str) -> None:
    (given, theirs, ulps), their = QUANTITIES[quantity], oracle(name)
    state = random_states(their.ours, 1, size=SIZE)[: len(given)]
    bound = ulps or 2 * np.linalg.cond(page(crba, their.ours, state[0])).max()
    assert_close(page(ALGORITHMS[quantity].function, their.ours, *state), theirs(their, *state), ulps=bound)


@robots
@references
def test_frame_motion(name: str, reference: str) -> None:
    their = oracle(name)
    model, theirs, data = their.ours, their.theirs, their.data
    q, v, a = random_states(model, 1, size=SIZE)
    options = {"reference": reference}
    for frame in tips(model):
        k, axes = theirs.getFrameId(frame), PIN_REFERENCE[reference]
        found: list[list[Array]] = [[], [], [], [], [], []]
        for row in each(their, q, v, a):
            pin.forwardKinematics(theirs, data, *row)
            pin.updateFramePlacements(theirs, data)
            found[0].append(data.oMf[k].homogeneous.copy())
            motions = (pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration)
            for column, get in zip(found[1:], motions, strict=False):
                column.append(get(theirs, data, k, axes).vector[ANGULAR_FIRST])
            found[4].append(their.from_pin_v(pin.computeFrameJacobian(theirs, data, row[0], k, axes)[ANGULAR_FIRST]))
            pin.computeJointJacobiansTimeVariation(theirs, data, *row[:2])
            pin.updateFramePlacements(theirs, data)
            rate = pin.getFrameJacobianTimeVariation(theirs, data, k, axes)
            found[5].append(their.from_pin_v(rate[ANGULAR_FIRST]))
        placement, velocity, spatial, classical, J, J_rate = map(np.array, found)
        options = {"frame": frame, "reference": reference}
        assert_close(page(frame_placement, model, q, frame=frame), placement, ulps=50)
        assert_close(page(frame_velocity, model, q, v, **options), velocity, ulps=200)
        assert_close(page(frame_acceleration, model, q, v, a, **options), spatial, ulps=400)
        assert_close(page(frame_acceleration, model, q, v, a, kind="classical", **options), classical, ulps=400)
        assert_close(page(jacobian, model, q, **options), J, ulps=100)
        assert_close(page(jacobian_rate, model, q, v, **options), J_rate, ulps=400)


@references
def test_a_point_of_a_frame(reference: str) -> None:
    robot, point = kt.load("panda"), np.array([0.3, -0.2, 0.5])
    q, v, _ = robot.random_state(seed=1)
    their = with_frames(build(robot.model))
    theirs = their.theirs
    hand = theirs.frames[theirs.getFrameId("panda_hand")]
    placement = hand.placement * pin.SE3(np.eye(3), point)
    there = theirs.addFrame(pin.Frame("there", hand.parentJoint, 0, placement, pin.FrameType.OP_FRAME))
    data = theirs.createData()
    J = pin.computeFrameJacobian(theirs, data, their.to_pin_q(q), there, PIN_REFERENCE[reference])[ANGULAR_FIRST]
    got = robot.jacobian(q, point, frame="panda_hand", reference=reference)
    np.testing.assert_allclose(got @ v, J @ their.to_pin_v(v), rtol=0, atol=1e-13)
    F = np.random.default_rng(0).normal(size=6)
    tau = robot.wrench_forces(q, F, point, frame="panda_hand", reference=reference)
    np.testing.assert_allclose(tau, their.from_pin_v(J.T @ F), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["panda", "g1"])
@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 1.4])
def test_interpolation(name: str, s: float) -> None:
    their = oracle(name)
    q0, q1 = (random_states(their.ours, seed, size=SIZE)[0] for seed in (5, 6))
    rows = zip(their.to_pin_q(q0), their.to_pin_q(q1), strict=True)
    theirs = np.array([pin.interpolate(their.theirs, a, b, s) for a, b in rows])
    ours = their.to_pin_q(kt.Robot(their.ours).interpolate(q0, q1, s))
    for a, b in zip(ours, theirs, strict=True):
        assert pin.isSameConfiguration(their.theirs, a, b, 1e-12)
