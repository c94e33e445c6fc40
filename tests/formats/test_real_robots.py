"""Every URDF of example-robot-data that Pinocchio loads is loaded, and says the same."""

from __future__ import annotations

import functools
import warnings
import xml.etree.ElementTree as ET

import numpy as np
import pinocchio as pin
import pytest

from kinetree.errors import FormatError
from kinetree.formats import NonPhysicalInertiaWarning, load_model, read_graph
from kinetree.joints import Continuous, FreeFlyer, Prismatic, Revolute
from kinetree.model import WORLD
from robots import erd_urdf, erd_urdfs

ULP = 2.0**-52
FILES = erd_urdfs()
BROKEN = {"ur3.urdf"}  # an empty robot; Pinocchio refuses it too


@functools.cache
def loaded(path, floating: bool):
    """Return our model, Pinocchio's, and the warnings of ours."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_model(path, floating_base=floating, mimic="independent")
    base = [pin.JointModelFreeFlyer()] if floating else []
    return model, pin.buildModelFromUrdf(str(path), *base), caught


good_file = pytest.mark.parametrize("path", [p for p in FILES if p.name not in BROKEN], ids=lambda p: p.name)
either_base = pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])


def test_there_are_robots():
    assert len(FILES) >= 60
    assert any(isinstance(b.joint, Prismatic) for b in loaded(erd_urdf("panda.urdf"), False)[0].bodies)


@pytest.mark.parametrize("name", sorted(BROKEN))
def test_broken_files_are_refused_by_both(name):
    path = erd_urdf(name)
    with pytest.raises(ValueError):  # noqa: PT011  Pinocchio says no more
        pin.buildModelFromUrdf(str(path))
    with pytest.raises(FormatError, match="there are no links"):
        load_model(path)


@good_file
@either_base
def test_all_that_pinocchio_says_of_a_robot(path, floating):
    model, oracle, _ = loaded(path, floating)
    in_file = [j.get("name") for j in ET.parse(path).getroot().findall("joint") if j.get("type") != "fixed"]
    continuous = sum(isinstance(body.joint, Continuous) for body in model.bodies)
    assert list(model.joint_names) == ["root_joint"] * floating + in_file
    assert set(model.joint_names) == set(oracle.names[1:])
    assert (model.nv, model.nq) == (oracle.nv, oracle.nq - continuous)
    for frame in model.frames:
        other = oracle.frames[oracle.getFrameId(frame.name, pin.FrameType.BODY)]
        carrier = "universe" if frame.body == WORLD else model.bodies[frame.body].joint_name
        assert oracle.names[other.parentJoint] == carrier
        np.testing.assert_allclose(frame.X.placement, other.placement.homogeneous, rtol=0, atol=40 * ULP)
    assert sum(b.inertia.m for b in model.bodies) == pytest.approx(pin.computeTotalMass(oracle), rel=1e-14)
    for body in model.bodies:
        k = oracle.getJointId(body.joint_name)
        parent = "universe" if body.parent == WORLD else model.bodies[body.parent].joint_name
        assert oracle.names[oracle.parents[k]] == parent
        ten = oracle.inertias[k].toDynamicParameters()
        np.testing.assert_allclose(list(body.inertia), ten, rtol=0, atol=40 * ULP * max(abs(ten)))
        placement = oracle.jointPlacements[k].homogeneous
        np.testing.assert_allclose(body.X_T.placement, placement, rtol=0, atol=8 * ULP * max(1, abs(placement).max()))
        i = oracle.joints[k].idx_v
        if isinstance(body.joint, FreeFlyer):
            assert oracle.joints[k].nv == 6
            continue
        np.testing.assert_allclose(motion_subspace(body.joint), joint_axis(oracle, k), rtol=0, atol=4 * ULP)
        assert body.limits.effort == oracle.effortLimit[i]
        assert body.limits.velocity == oracle.velocityLimit[i]
        assert (body.damping[0], body.friction[0]) == (oracle.damping[i], oracle.friction[i])
        if not isinstance(body.joint, Continuous) and body.limits.upper != np.inf:
            j = oracle.joints[k].idx_q
            given = (oracle.lowerPositionLimit[j], oracle.upperPositionLimit[j])
            assert (body.limits.lower, body.limits.upper) == given


def motion_subspace(joint):
    """Return S of a joint with an axis, angular part first."""
    zero = (0.0, 0.0, 0.0)
    return np.array(joint.axis + zero if isinstance(joint, Revolute) else zero + joint.axis)


def joint_axis(oracle, k):
    """Return Pinocchio's S, whose linear part comes first, with the angular part first."""
    S = oracle.joints[k].createData().S.reshape(6)
    return np.concatenate([S[3:], S[:3]])


@good_file
def test_warnings_name_the_links_that_have_no_body(path):
    """Those on moving bodies; where a body has several links, a point mass or a rod may be one of them."""
    model, _, caught = loaded(path, False)
    links, odd, impossible = read_graph(path)[0].links, set(), set()
    for link in links:
        if link.inertial is not None:
            m, (xx, xy, xz, yy, yz, zz) = link.inertial.mass, link.inertial.moments
            J = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            if any((xx, xy, xz, yy, yz, zz)) if m == 0 else J[0] <= 0 or J[0] + J[1] < J[2] * (1 - 1e-6):
                odd.add(link.name)
            if J[0] < -1e-9 * J[2] or J[0] + J[1] < J[2] * (1 - 1e-5):
                impossible.add(link.name)
    carrier = {frame.name: frame.body for frame in model.frames if frame.body != WORLD}
    heavy = [carrier.get(link.name) for link in links if link.inertial is not None]
    may = odd & carrier.keys()
    must = {name for name in may if name in impossible or heavy.count(carrier[name]) == 1}
    told = [str(w.message) for w in caught if w.category is NonPhysicalInertiaWarning]
    words = set("".join(told).rpartition("given.")[2].replace(",", " ").replace(";", " ").split())
    named = words & {link.name for link in links}
    assert len(told) == bool(named)
    assert named <= may
    assert must <= named or "more" in words


def test_few_of_the_real_robots_have_such_links():
    good = [loaded(path, False)[2] for path in FILES if path.name not in BROKEN]
    odd = [caught for caught in good if any(w.category is NonPhysicalInertiaWarning for w in caught)]
    assert 0.05 < len(odd) / len(good) < 0.2  # a third, before it was asked where they are
