"""The forces in the joints."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.dense import assert_close
from helpers.energy import poses
from helpers.joints import MOVING
from helpers.pinocchio_quantities import ANGULAR_FIRST, NAMES, evaluate, oracle
from helpers.trees import Array, columns, page, random_states, random_tree
from kinetree.algorithms import rnea
from kinetree.algorithms.dynamics.rnea import joint_reactions
from kinetree.joints import Revolute
from kinetree.model import Model, ModelBuilder
from kinetree.spatial import Inertia

trees = pytest.mark.parametrize("model", [random_tree(s, n=len(MOVING)) for s in range(4)], ids=lambda m: m.name)


def wrenches(model: Model, size: int = 16) -> Array:
    return np.random.default_rng(0).normal(scale=3.0, size=(size, model.nb, 6))


@trees
def test_along_the_joints_they_are_the_joint_forces(model: Model) -> None:
    q, v, a = random_states(model, 1)
    f_ext = wrenches(model)
    f = page(joint_reactions, model, q, v, a, f_ext=f_ext)
    expected = page(rnea, model, q, v, a, f_ext=f_ext)
    got = np.zeros_like(v)
    for i, body in enumerate(model.bodies):
        S = model.jcalc(i, columns(q)).S
        for k, S_k, rotor in zip(body.v_index, S, body.armature, strict=True):
            got[:, k] = sum(s * f[:, i, j] for j, s in enumerate(S_k)) + rotor * a[:, k]
    assert_close(got, expected, ulps=20, scale=np.abs(f).max())


def in_world(P: Array, f: Array) -> Array:
    """Return wrenches in body axes about the bodies' origins in world axes about the world's origin."""
    n, lin = (np.einsum("...bij,...bj->...bi", P[..., :3, :3], part) for part in (f[..., :3], f[..., 3:]))
    return np.concatenate([n + np.cross(P[..., :3, 3], lin), lin], axis=-1)


@trees
def test_at_rest_what_holds_a_body_balances_what_it_carries(model: Model) -> None:
    """Statics, body by body in the world: the joint's wrench, those of the children, the weight and f_ext are zero."""
    q, _, _ = random_states(model, 2)
    f_ext = wrenches(model)
    zero = np.zeros((len(q), model.nv))
    P = poses(model, q)
    f = in_world(P, page(joint_reactions, model, q, zero, zero, f_ext=f_ext))
    total = f + in_world(P, f_ext)
    g = np.array(list(model.gravity))
    for i, body in enumerate(model.bodies):
        m, c = body.inertia.m, P[:, i, :3, 3]
        moment = P[:, i, :3, :3] @ np.array(list(body.inertia.h)) + m * c
        total[:, i] += np.concatenate([np.cross(moment, g), np.broadcast_to(m * g, c.shape)], axis=-1)
        if body.parent >= 0:
            total[:, body.parent] -= f[:, i]
    assert_close(total, np.zeros_like(total), ulps=100, scale=np.abs(f).max())


@trees
def test_external_forces_in_world_axes(model: Model) -> None:
    q, v, a = random_states(model, 3)
    f_ext = wrenches(model)
    body = page(joint_reactions, model, q, v, a, f_ext=f_ext)
    world = page(joint_reactions, model, q, v, a, f_ext=in_world(poses(model, q), f_ext), f_ext_frame="world")
    assert_close(world, body, ulps=100)


def test_a_turning_pendulum_is_held_by_its_centripetal_force() -> None:
    b = ModelBuilder("pendulum")
    b.add_link("base")
    b.add_link("bob", Inertia.from_com(2.0, (0.0, 0.0, -0.5), np.zeros((3, 3)).tolist()))
    b.add_joint("pivot", parent="base", child="bob", joint=Revolute((0, 1, 0)))
    (f,) = joint_reactions(b.build(), [0.0], [3.0], [0.0])
    # hanging and passing its lowest point: weight and m ω² l, upwards
    assert_close(f, [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * 9.81 + 2.0 * 9.0 * 0.5], ulps=2)


@pytest.mark.parametrize("name", NAMES)
def test_they_are_pinocchios(name: str) -> None:
    their = oracle(name)
    q, v, a = random_states(their.ours, 4, size=6)
    theirs = list(their.theirs.names)

    def reactions(model: pin.Model, data: pin.Data, *state: Array) -> list[Array]:
        pin.rnea(model, data, *state)
        return [data.f[theirs.index(b.joint_name)].np[ANGULAR_FIRST] for b in their.ours.bodies]

    assert_close(page(joint_reactions, their.ours, q, v, a), evaluate(their, reactions, q, v, a), ulps=100)


def test_compiled() -> None:
    robot = kt.load("panda")
    q, v, a = robot.random_state(seed=0, size=5)
    assert_close(robot.joint_reactions(q, v, a), page(joint_reactions, robot.model, q, v, a), ulps=50)
