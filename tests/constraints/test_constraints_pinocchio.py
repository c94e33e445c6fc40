"""Forward dynamics with constraints against Pinocchio, for the types that both have: 6 and 3 rows, to the world."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import kinetree as kt
from helpers.constraints import near, pose
from helpers.pinocchio_oracle import build, constrained_dynamics, rigid
from helpers.trees import Array, columns, page, random_states, stacked
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.dynamics import forward_dynamics, project_velocity
from kinetree.constraints.pages.equations import delassus_matrix
from kinetree.constraints.types import Constraint, Contact, Weld

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
