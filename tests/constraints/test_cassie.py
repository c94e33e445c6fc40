"""Cassie: a biped with four closed loops, from the SDF file of its maker."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import newton
from scipy.spatial.transform import Rotation

import kinetree as kt
from helpers.constraints import pose
from kinetree.algorithms import rnea
from kinetree.constraints.builder import constrained
from kinetree.constraints.model import ConstrainedModel
from kinetree.constraints.pages.assembly import assemble
from kinetree.constraints.pages.dynamics import forward_dynamics
from kinetree.constraints.pages.inverse import inverse_dynamics
from kinetree.model import JointSpring
from robots import erd_sdf, erd_srdfs

Array = np.ndarray[Any, Any]
FILE = erd_sdf("cassie_v2.sdf")
MOTORS = [f"{side}-{joint}-op" for side in ("left", "right") for joint in ("roll", "yaw", "pitch", "knee", "foot")]


@pytest.fixture(scope="module")
def cassie() -> kt.Mechanism:
    return kt.load_mechanism(FILE)


def bent(cassie: kt.Mechanism, **angles: float) -> Array:
    """Return the configuration with these joints of both legs at these angles, the base at zero, all loops closed."""
    q, fixed = cassie.tree.neutral(), ["root_joint"]
    for name, angle in angles.items():
        for side in ("left", "right"):
            q[cassie.tree.joint(f"{side}-{name.replace('_', '-')}").q_slice] = angle
            fixed.append(f"{side}-{name.replace('_', '-')}")
    found, converged, _, _ = assemble(cassie.model, q.tolist(), fixed=fixed)
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


def test_the_loops_close_where_knees_are_bent(cassie: kt.Mechanism) -> None:
    """The rods keep their length: the points that the file gives coincide, computed from the poses of links alone."""
    file, model = ET.parse(FILE), cassie.tree.model
    crouched = bent(cassie, knee_op=-0.1, foot_op=-0.3)
    links, joints = in_file(file, "link"), in_file(file, "joint")
    knees = [cassie.tree.joint(f"{side}-knee-op").q_slice.start for side in ("left", "right")]
    assert crouched[knees].tolist() == [-0.1, -0.1]
    for name in cassie.constraint_names:
        ends = [str(joints[name].findtext(tag)) for tag in ("parent", "child")]
        at_zero = matrix(links[ends[1]]) @ matrix(joints[name])
        places = [pose(model, crouched, end) @ np.linalg.inv(matrix(links[end])) @ at_zero for end in ends]
        np.testing.assert_allclose(places[0][:3, 3], places[1][:3, 3], atol=1e-12, err_msg=name)


def standing(cassie: kt.Mechanism, q: Array) -> ConstrainedModel:
    """Return the mechanism with both feet held where they are at q."""
    tree = cassie.tree.model
    feet = [kt.Weld(f"{side}-foot", placement=pose(tree, q, f"{side}-foot")) for side in ("left", "right")]
    return constrained(tree, [*cassie.constraints, *feet], actuated=MOTORS)


def unbalanced(model: ConstrainedModel, q: Array) -> Array:
    """Return what the ten motors and all constraints leave of the forces that hold the robot at rest."""
    zero = [0.0] * model.nv
    J = np.array([row.J for row in model.constraint_rows(q.tolist())], dtype=float)
    A = np.vstack([np.eye(model.nv)[[model.v_names.index(name) for name in MOTORS]], J]).T
    held = np.array(rnea(model, q.tolist(), zero, zero), dtype=float)
    return held - A @ np.linalg.lstsq(A, held, rcond=1e-5)[0]


def test_it_stands(cassie: kt.Mechanism) -> None:
    """On two feet, its knees as in the file, by ten motors; its springs give until they carry their part."""
    spring = cassie.tree.joint("left-achilles-spring-joint").v_slice.start

    def missing(angle: float) -> float:
        q = bent(cassie, knee_op=0.0, foot_op=0.0, knee_shin_joint=angle)
        return float(unbalanced(standing(cassie, q), q)[spring])

    angle = newton(missing, -0.003, x1=-0.0025, tol=1e-14)
    q, zero = bent(cassie, knee_op=0.0, foot_op=0.0, knee_shin_joint=angle), [0.0] * cassie.nv
    model = standing(cassie, q)
    tau, _, missing = (np.array(x, dtype=float) for x in inverse_dynamics(model, q.tolist(), zero, zero))
    np.testing.assert_allclose(missing, 0.0, atol=1e-8)
    assert {name for name, force in zip(model.v_names, tau, strict=True) if force} == {*MOTORS}
    stiff = replace(model, bodies=tuple(replace(b, spring=JointSpring()) for b in model.bodies))
    without = inverse_dynamics(stiff, q.tolist(), zero, zero)[2]
    assert np.abs(np.array(without, dtype=float)).max() > 1.0  # the springs carry their part
    assert 10.0 < np.abs(tau).max() < 100.0
    a, f = forward_dynamics(model, q.tolist(), zero, tau.tolist())
    np.testing.assert_allclose(np.array(a, dtype=float), 0.0, atol=1e-5)
    weight = np.zeros(3)
    for side in ("left", "right"):  # a weld's forces are in the axes of its frame
        force = np.array(f[model.row_slices[f"weld_{side}-foot"]][3:], dtype=float)
        weight += pose(cassie.tree.model, q, f"{side}-foot")[:3, :3] @ force
    np.testing.assert_allclose(weight, [0.0, 0.0, 9.81 * cassie.tree.mass], atol=1e-5)


def test_configurations_of_its_srdf_and_without_floating_base() -> None:
    """A file beside it has one in which the loops are closed to a centimetre."""
    (srdf,) = (path for path in erd_srdfs() if path.name == "cassie_v2.srdf")
    with pytest.warns(kt.FormatWarning, match="the robot has no moving joints of these names"):
        mech = kt.load_mechanism(FILE, srdf=srdf)
    q = mech.tree.configurations["standing"]
    assert q.shape == (29,)
    assert max(abs(float(row.phi or 0.0)) for row in mech.model.constraint_rows(q.tolist())) < 0.02
    held = kt.load_mechanism(FILE, floating_base=False)
    assert (held.nv, held.tree.model.root) == (22, "pelvis")
    assert pose(held.tree.model, held.tree.neutral(), "pelvis")[2, 3] == 1.01
