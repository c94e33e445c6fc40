"""Random trees built joint by joint in Pinocchio too: the same forces, accelerations, mass matrix and poses."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.frames import ANGULAR_FIRST, PIN_REFERENCE, REFERENCES, tips, with_frames
from helpers.pinocchio_oracle import SHARED, Oracle, build
from helpers.trees import Array, page, random_states, random_tree
from kinetree.algorithms import aba, crba, forward_kinematics, rnea
from kinetree.algorithms.kinematics.frames import (
    frame_acceleration,
    frame_placement,
    frame_placements,
    frame_velocity,
    jacobian,
    jacobian_rate,
)
from kinetree.algorithms.quantities import (
    center_of_mass,
    center_of_mass_acceleration,
    center_of_mass_jacobian,
    center_of_mass_velocity,
)

trees = pytest.mark.parametrize(
    "oracle",
    [build(random_tree(20 + s, n=len(SHARED) + 3, joints=SHARED)) for s in range(5)],
    ids=lambda o: o.ours.name,
)


@trees
def test_inverse_dynamics(oracle: Oracle) -> None:
    q, v, a = random_states(oracle.ours, 1, size=50)
    assert_close(page(rnea, oracle.ours, q, v, a), oracle.inverse_dynamics(q, v, a), ulps=100)


@trees
def test_mass_matrix(oracle: Oracle) -> None:
    q, _, _ = random_states(oracle.ours, 2, size=50)
    assert_close(page(crba, oracle.ours, q), oracle.mass_matrix(q), ulps=50)


@trees
def test_forward_dynamics(oracle: Oracle) -> None:
    q, v, tau = random_states(oracle.ours, 3, size=50)
    got, expected = page(aba, oracle.ours, q, v, tau), oracle.forward_dynamics(q, v, tau)
    # two right answers differ by rounding of the forces through the inverse of M
    condition = np.linalg.cond(page(crba, oracle.ours, q)).max()
    assert_close(got, expected, ulps=2 * condition)


@trees
def test_poses(oracle: Oracle) -> None:
    q, _, _ = random_states(oracle.ours, 4, size=50)
    assert_close(page(forward_kinematics, oracle.ours, q), oracle.poses(q), ulps=50)


# -- Kinematics of frames and of the centre of mass, against Pinocchio -----------------------------------------------


MODELS = [random_tree(30 + s, n=len(SHARED) + 2, joints=SHARED) for s in range(2)]
MODELS += [kt.load("panda").model, kt.load("g1").model]
robots = pytest.mark.parametrize("oracle", [with_frames(build(m)) for m in MODELS], ids=lambda o: o.ours.name)
references = pytest.mark.parametrize("reference", REFERENCES)
SIZE = 12


def each(oracle: Oracle, q: Array, *rates: Array) -> list[tuple[Array, ...]]:
    return list(zip(oracle.to_pin_q(q), *map(oracle.to_pin_v, rates), strict=True))


@robots
@references
def test_frame_motion(oracle: Oracle, reference: str) -> None:
    model, theirs, data = oracle.ours, oracle.theirs, oracle.data
    q, v, a = random_states(model, 1, size=SIZE)
    for frame in tips(model):
        k, axes = theirs.getFrameId(frame), PIN_REFERENCE[reference]
        found: list[list[Array]] = [[], [], [], []]
        for row in each(oracle, q, v, a):
            pin.forwardKinematics(theirs, data, *row)
            pin.updateFramePlacements(theirs, data)
            found[0].append(data.oMf[k].homogeneous.copy())
            for column, get in zip(
                found[1:],
                (pin.getFrameVelocity, pin.getFrameAcceleration, pin.getFrameClassicalAcceleration),
                strict=True,
            ):
                column.append(get(theirs, data, k, axes).vector[ANGULAR_FIRST])
        placement, velocity, spatial, classical = map(np.array, found)
        options = {"frame": frame, "reference": reference}
        assert_close(page(frame_placement, model, q, frame=frame), placement, ulps=50)
        assert_close(page(frame_velocity, model, q, v, **options), velocity, ulps=200)
        assert_close(page(frame_acceleration, model, q, v, a, **options), spatial, ulps=400)
        assert_close(page(frame_acceleration, model, q, v, a, kind="classical", **options), classical, ulps=400)


@robots
def test_placements_of_all_frames(oracle: Oracle) -> None:
    model, theirs, data = oracle.ours, oracle.theirs, oracle.data
    q, _, _ = random_states(model, 4, size=SIZE)
    found = []
    for (row,) in each(oracle, q):
        pin.forwardKinematics(theirs, data, row)
        pin.updateFramePlacements(theirs, data)
        found.append([data.oMf[theirs.getFrameId(name)].homogeneous.copy() for name in model.frame_names])
    assert_close(page(frame_placements, model, q), np.array(found), ulps=50)


@pytest.mark.parametrize("oracle", [build(kt.load(name).model) for name in ("panda", "g1")], ids=lambda o: o.ours.name)
@pytest.mark.parametrize("s", [0.0, 0.3, 1.0, 1.4])
def test_interpolation(oracle: Oracle, s: float) -> None:
    q0, q1 = (random_states(oracle.ours, seed, size=SIZE)[0] for seed in (5, 6))
    rows = zip(oracle.to_pin_q(q0), oracle.to_pin_q(q1), strict=True)
    theirs = np.array([pin.interpolate(oracle.theirs, a, b, s) for a, b in rows])
    ours = oracle.to_pin_q(kt.Robot(oracle.ours).interpolate(q0, q1, s))
    for a, b in zip(ours, theirs, strict=True):
        assert pin.isSameConfiguration(oracle.theirs, a, b, 1e-12)


@robots
@references
def test_jacobian_and_its_rate(oracle: Oracle, reference: str) -> None:
    model, theirs, data = oracle.ours, oracle.theirs, oracle.data
    q, v, _ = random_states(model, 2, size=SIZE)
    for frame in tips(model):
        k, axes = theirs.getFrameId(frame), PIN_REFERENCE[reference]
        J, J_rate = [], []
        for q_row, v_row in each(oracle, q, v):
            J.append(oracle.from_pin_v(pin.computeFrameJacobian(theirs, data, q_row, k, axes)[ANGULAR_FIRST]))
            pin.computeJointJacobiansTimeVariation(theirs, data, q_row, v_row)
            pin.updateFramePlacements(theirs, data)
            rate = pin.getFrameJacobianTimeVariation(theirs, data, k, axes)
            J_rate.append(oracle.from_pin_v(rate[ANGULAR_FIRST]))
        assert_close(page(jacobian, model, q, frame=frame, reference=reference), np.array(J), ulps=100)
        assert_close(page(jacobian_rate, model, q, v, frame=frame, reference=reference), np.array(J_rate), ulps=400)


@robots
def test_center_of_mass(oracle: Oracle) -> None:
    model, theirs, data = oracle.ours, oracle.theirs, oracle.data
    q, v, a = random_states(model, 3, size=SIZE)
    c, dc, ddc, J = [], [], [], []
    for row in each(oracle, q, v, a):
        pin.centerOfMass(theirs, data, *row)
        for found, here in zip((c, dc, ddc), (data.com, data.vcom, data.acom), strict=True):
            found.append(here[0].copy())
        J.append(oracle.from_pin_v(pin.jacobianCenterOfMass(theirs, data, row[0])))
    assert_close(page(center_of_mass, model, q), np.array(c), ulps=100)
    assert_close(page(center_of_mass_velocity, model, q, v), np.array(dc), ulps=200)
    assert_close(page(center_of_mass_acceleration, model, q, v, a), np.array(ddc), ulps=400)
    assert_close(page(center_of_mass_jacobian, model, q), np.array(J), ulps=100)
