"""Damping, friction and armature of the joints as arguments: the robots that `with_joint_physics` makes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import ArgumentError

ALL = [kt.joint_damping, kt.joint_friction, kt.joint_armature]


def gripper() -> kt.Robot:
    """Return an arm on a floating base with a joint that follows another, all of which have figures of their own."""
    builder = kt.ModelBuilder("gripper")
    inertias = [kt.Inertia(1.0 + k, [0.1, 0.02, 0.03], 0.02 * np.eye(3)) for k in range(4)]
    for link, inertia in zip(("base", "arm", "finger", "thumb"), inertias, strict=True):
        builder.add_link(link, inertia)
    figures = {"damping": 0.3, "friction": 0.2, "armature": 0.1, "joint": kt.joints.Revolute((0.0, 0.6, 0.8))}
    X = np.eye(4)
    X[:3, 3] = 0.1, 0.2, 0.0
    builder.add_joint("arm_joint", parent="base", child="arm", placement=X, **figures)
    builder.add_joint("finger_joint", parent="arm", child="finger", placement=X, **figures)
    builder.add_joint("thumb_joint", parent="arm", child="thumb", mimic=("finger_joint", -2.0, 0.0), **figures)
    return kt.Robot(builder.build(floating_base=True))


ROBOT = gripper()
Q, V, A = ROBOT.random_state(seed=1, size=5)
FIGURES = np.random.default_rng(2).uniform(0.1, 1.0, (3, 5, ROBOT.nv))


def made(k: int) -> kt.Robot:
    """Return the robot with the figures of state k."""
    damping, friction, armature = FIGURES[:, k]
    return ROBOT.with_joint_physics(damping=damping, friction=friction, armature=armature).with_friction()


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "kinetic_energy"])
def test_figures_as_arguments_are_those_of_a_robot_made_with_them(name):
    first = 0 if "dynamics" in name else 2  # friction has no part in the others
    function = kt.compile(ROBOT, name, inputs=ALL[first:])
    states = (Q, V, A)[: len(getattr(ROBOT, name).spec.required)]
    results = np.asarray(function(*states, *FIGURES[first:]))
    for k in range(5):
        expected = getattr(made(k), name)(*(x[k] for x in states))
        assert np.allclose(results[k], expected, rtol=1e-12, atol=1e-12)


def test_what_is_given_counts_and_what_is_not_does_not():
    damped = kt.compile(ROBOT, "inverse_dynamics", inputs=[kt.joint_damping])
    resistance = damped(Q, V, A, FIGURES[0]) - ROBOT.inverse_dynamics(Q, V, A)
    assert np.allclose(resistance, FIGURES[0] * V, atol=1e-12)  # the robot's own Coulomb friction is off
    rubbing = ROBOT.with_friction(smoothing=0.5)
    rubbed = kt.compile(rubbing, "inverse_dynamics", inputs=[kt.joint_friction])
    resistance = rubbed(Q, V, A, FIGURES[1]) - ROBOT.inverse_dynamics(Q, V, A)
    expected = FIGURES[1] * V / np.sqrt(V**2 + 0.25) + rubbing.damping * V  # and here its damping is on
    assert np.allclose(resistance, expected, atol=1e-12)


def test_in_a_function_of_ones_own_and_in_a_pickle():
    @kt.compile(ROBOT, inputs=[kt.joint_armature, kt.gravity])
    def both(q, v, a):
        return ROBOT.inverse_dynamics(q, v, a)

    expected = ROBOT.with_joint_physics(armature=FIGURES[2, 0]).with_gravity((0, 0, -1.0)).inverse_dynamics(Q, V, A)
    assert np.allclose(both(Q, V, A, FIGURES[2, 0], (0, 0, -1.0)), expected, rtol=1e-12, atol=1e-12)
    again = pickle.loads(pickle.dumps(kt.compile(ROBOT, "mass_matrix", inputs=[kt.joint_armature])))
    assert np.allclose(again(Q, FIGURES[2])[3], made(3).mass_matrix(Q[3]), atol=1e-12)


def test_a_wrong_shape_says_what_the_argument_is():
    damped = kt.compile(ROBOT, "inverse_dynamics", inputs=[kt.joint_damping])
    with pytest.raises(ArgumentError, match=r"joint_damping has shape \(3,\), one state has shape \(8,\)"):
        damped(Q, V, A, [1.0, 2.0, 3.0])


def test_what_changes_nothing_is_an_error():
    for name, given in (("mass_matrix", kt.gravity), ("center_of_mass", kt.joint_damping)):
        with pytest.raises(ArgumentError, match=f"{name} does not depend on {given.name}: leave it out"):
            _ = kt.compile(ROBOT, name, inputs=[given]).op_count
