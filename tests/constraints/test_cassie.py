"""Cassie: a biped with four closed loops, from the SDF file of its maker."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.constraints import null_space_dynamics, pose
from kinetree.algorithms import crba, rnea
from kinetree.constraints.model import ConstrainedModel, constrained
from kinetree.constraints.pages.assembly import assemble
from kinetree.constraints.pages.dynamics import forward_dynamics
from robots import erd_sdf

Array = np.ndarray[Any, Any]
FILE = erd_sdf("cassie_v2.sdf")
MOTORS = [f"{side}-{joint}-op" for side in ("left", "right") for joint in ("roll", "yaw", "pitch", "knee", "foot")]


@pytest.fixture(scope="module")
def cassie() -> kt.Mechanism:
    return kt.load_mechanism(FILE)


@pytest.fixture(scope="module")
def crouched(cassie: kt.Mechanism) -> Array:
    """Bent knees, all loops closed."""
    q = cassie.tree.neutral()
    for name, angle in {"knee-op": -0.6, "pitch-op": 0.3, "foot-op": -0.9, "tarsus-crank-joint": -0.9}.items():
        for side in ("left", "right"):
            q[cassie.tree.joint(f"{side}-{name}").q_slice] = angle
    found, converged, _, _ = assemble(cassie.model, q.tolist())
    assert converged == 1.0
    return np.array(found, dtype=float)


def in_file(tree: ET.ElementTree, tag: str) -> dict[str, ET.Element]:
    return {str(element.get("name")): element for element in tree.iter(tag)}


def matrix(element: ET.Element) -> Array:
    """Return the pose that an element has in its model or link."""
    T, text = np.eye(4), element.findtext("pose")
    if text:
        numbers = np.array(text.split(), dtype=float)
        T[:3, :3], T[:3, 3] = Rotation.from_euler("xyz", numbers[3:]).as_matrix(), numbers[:3]
    return T


def test_what_it_is_made_of(cassie: kt.Mechanism) -> None:
    kinds = [element.get("type") for element in in_file(ET.parse(FILE), "joint").values()]
    assert (kinds.count("revolute"), kinds.count("ball")) == (22, 4)
    assert len(cassie.tree.joint_names) == 23  # with the floating base
    rods = ("left-pitch-rod-joint", "right-pitch-rod-joint", "right-plantar-foot-joint", "left-plantar-foot-joint")
    assert cassie.constraint_names == rods
    assert (cassie.nv, cassie.nrows) == (28, 12)
    springs = {b.joint_name: b.spring.stiffness for b in cassie.tree.model.bodies if b.spring.stiffness}
    assert springs == {
        f"{s}-{j}": k
        for s in ("left", "right")
        for j, k in (("knee-shin-joint", 1500.0), ("tarsus-spring-joint", 1250.0))
    }
    masses = [float(element.text or 0) for element in ET.parse(FILE).iter("mass")]
    np.testing.assert_allclose(cassie.tree.mass, sum(masses), rtol=1e-14)


def test_links_and_loops_are_where_the_file_has_them(cassie: kt.Mechanism) -> None:
    """At zero each link has the pose that is written, and both sides of a cut joint are at its place."""
    file, q = ET.parse(FILE), cassie.tree.neutral()
    links, joints, model = in_file(file, "link"), in_file(file, "joint"), cassie.tree.model
    base = matrix(links["pelvis"])
    for name, link in links.items():
        np.testing.assert_allclose(base @ pose(model, q, name), matrix(link), atol=1e-13, err_msg=name)
    for name in cassie.constraint_names:
        expected = matrix(links[str(joints[name].findtext("child"))]) @ matrix(joints[name])
        for side in ("child", "parent"):
            np.testing.assert_allclose(base @ pose(model, q, f"{name}.{side}"), expected, atol=1e-13)
    np.testing.assert_allclose(
        [float(row.phi or 0.0) for row in cassie.model.constraint_rows(q.tolist())], 0.0, atol=1e-13
    )


def test_the_loops_close_where_knees_are_bent(cassie: kt.Mechanism, crouched: Array) -> None:
    """The rods keep their length: the points that the file gives coincide, computed from the poses of links alone."""
    file, model = ET.parse(FILE), cassie.tree.model
    links, joints = in_file(file, "link"), in_file(file, "joint")
    knees = [cassie.tree.joint(f"{side}-knee-op").q_slice.start for side in ("left", "right")]
    assert np.all(crouched[knees] < -0.2)
    for name in cassie.constraint_names:
        ends = [str(joints[name].findtext(tag)) for tag in ("parent", "child")]
        at_zero = matrix(links[ends[1]]) @ matrix(joints[name])
        places = [pose(model, crouched, end) @ np.linalg.inv(matrix(links[end])) @ at_zero for end in ends]
        np.testing.assert_allclose(places[0][:3, 3], places[1][:3, 3], atol=1e-12, err_msg=name)


def standing(cassie: kt.Mechanism, q: Array) -> ConstrainedModel:
    """Return the mechanism with both feet held where they are at q."""
    tree = cassie.tree.model
    feet = [kt.Weld(f"{side}-foot", placement=pose(tree, q, f"{side}-foot")) for side in ("left", "right")]
    return constrained(tree, [*cassie.constraints, *feet])


def test_forward_dynamics_of_loops_and_feet(cassie: kt.Mechanism, crouched: Array) -> None:
    """Against the null space of the constraints, at rest, with random torques."""
    model, zero = standing(cassie, crouched), [0.0] * cassie.nv
    q, tau = crouched.tolist(), np.random.default_rng(0).normal(size=cassie.nv)
    a, _ = forward_dynamics(model, q, zero, tau.tolist())
    M, h = np.array(crba(model, q), dtype=float), np.array(rnea(model, q, zero, zero), dtype=float)
    M = np.tril(M) + np.tril(M, -1).T
    rows = model.constraint_rows(q)
    J, gamma = np.array([row.J for row in rows], dtype=float), np.array([row.gamma for row in rows], dtype=float)
    expected, _ = null_space_dynamics(M, h, J, gamma, tau)
    np.testing.assert_allclose(np.array(a, dtype=float), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(J @ np.array(a, dtype=float), 0.0, atol=1e-9 * np.abs(expected).max())


def test_it_stands(cassie: kt.Mechanism, crouched: Array) -> None:
    """On two feet, with torques of its ten motors alone: the forces of loops and ground are what balances the rest."""
    model, zero = standing(cassie, crouched), [0.0] * cassie.nv
    q = crouched.tolist()
    held = np.array(rnea(model, q, zero, zero), dtype=float)
    driven = np.array([model.v_names.index(name) for name in MOTORS])
    J = np.array([row.J for row in model.constraint_rows(q)], dtype=float)
    drives = np.eye(cassie.nv)[driven]
    forces = np.linalg.lstsq(np.vstack([drives, J]).T, held, rcond=1e-9)[0]
    tau = np.zeros(cassie.nv)
    tau[driven] = forces[: len(driven)]
    balance = np.vstack([drives, J]).T @ forces - held
    np.testing.assert_allclose(balance, 0.0, atol=1e-9)
    a, f = forward_dynamics(model, q, zero, tau.tolist())
    np.testing.assert_allclose(np.array(a, dtype=float), 0.0, atol=1e-7)
    fallen, _ = forward_dynamics(model, q, zero, zero)
    assert np.abs(np.array(fallen, dtype=float)).max() > 1.0  # without torques it sinks
    weight = np.zeros(3)
    for side in ("left", "right"):  # a weld's forces are in the axes of its frame
        force = np.array(f[model.row_slices[f"weld_{side}-foot"]][3:], dtype=float)
        weight += pose(cassie.tree.model, crouched, f"{side}-foot")[:3, :3] @ force
    np.testing.assert_allclose(weight, [0.0, 0.0, 9.81 * cassie.tree.mass], atol=1e-6)


def test_without_floating_base(cassie: kt.Mechanism) -> None:
    held = kt.load_mechanism(FILE, floating_base=False)
    assert (held.nv, held.tree.model.root) == (22, "pelvis")
    assert pose(held.tree.model, held.tree.neutral(), "pelvis")[2, 3] == 1.01
