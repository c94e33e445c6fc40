"""The reader of SDFormat: what it says of good files, against what Drake says, and of features one by one."""

from __future__ import annotations

import json
import math
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from helpers.constraints import pose
from kinetree import FormatWarning, joints, load_mechanism
from kinetree.algorithms import crba, rnea
from kinetree.embedded import EMBEDDED, embedded_text
from kinetree.formats import load_model
from kinetree.model import JointLimits, JointSpring, Model
from robots import erd_sdf

HERE = Path(__file__).parent
EVERYTHING = HERE / "everything.sdf"
DRAKE = json.loads((HERE / "sdf_drake.json").read_text())  # made by record_sdf.py


def sdf(body: str, version: str = "1.9", attributes: str = "") -> str:
    """Return a file with these elements in its model."""
    return f"<sdf version='{version}'><model name='m' {attributes}>{body}</model></sdf>"


def link(name: str, more: str = "") -> str:
    inertial = "<inertial><mass>1</mass><inertia><ixx>1</ixx><iyy>1</iyy><izz>1</izz></inertia></inertial>"
    return f"<link name='{name}'>{inertial}{more}</link>"


def joint(kind: str = "revolute", more: str = "<axis/>", parent: str = "a", child: str = "b", name: str = "j") -> str:
    return f"<joint name='{name}' type='{kind}'><parent>{parent}</parent><child>{child}</child>{more}</joint>"


def two(more: str, version: str = "1.9") -> str:
    """Return a file with two links, and these elements."""
    return sdf(link("a") + link("b", "<pose>0 0 1 0 0 0</pose>") + more, version)


def placed(model: Model, frame: str) -> list[float]:
    """Return where a frame stands in the world while all joints are at zero."""
    q = np.array([x for body in model.leading for x in body.joint.neutral()])
    return pose(model, q, frame)[:3, 3].tolist()


@pytest.mark.filterwarnings("ignore:.*links without <inertial>")
@pytest.mark.parametrize("name", DRAKE)
def test_the_same_robot_as_drake(name: str) -> None:
    said = DRAKE[name]
    if name == EVERYTHING.name:
        model = load_model(EVERYTHING, floating_base=False)
    else:  # Drake reads no loops: those of Cassie are open in what it says
        model = load_mechanism(erd_sdf(name), floating_base=False).tree.model
    bodies = {body.joint_name: body for body in model.bodies}
    assert [n for n in model.joint_names if len(bodies[n].v_index) == 1] == said["joints"]
    q: list[Any] = [x for body in model.leading for x in body.joint.neutral()]
    for k, n in enumerate(said["joints"]):
        q[bodies[n].q_index[0]] = 0.1 * (k + 1)
    for frame, expected in said["poses"].items():
        np.testing.assert_allclose(pose(model, np.array(q), frame)[:3], expected, rtol=0, atol=2e-13, err_msg=frame)
    at, zero = [bodies[n].v_index[0] for n in said["joints"]], [0.0] * model.nv
    np.testing.assert_allclose(np.array(crba(model, q), dtype=float)[np.ix_(at, at)], said["M"], rtol=0, atol=2e-13)
    springs = [b.spring.stiffness * (q[b.q_index[0]] - b.spring.rest) for b in (bodies[n] for n in said["joints"])]
    held = np.array(rnea(model, q, zero, zero), dtype=float)[at] - springs  # Drake's gravity forces are without them
    np.testing.assert_allclose(held, said["gravity_forces"], rtol=0, atol=1e-12)
    assert math.isclose(model.base_inertia.m + sum(body.inertia.m for body in model.bodies), said["mass"])


@pytest.mark.filterwarnings("ignore:.*links without <inertial>")
def test_what_the_joints_of_a_file_are() -> None:
    model = load_model(EVERYTHING)
    shoulder = model.bodies[model.body_of_joint("shoulder")]
    assert shoulder.limits == JointLimits(-1.0, 2.0, 3.0, 50.0)
    assert (shoulder.damping, shoulder.friction, shoulder.spring) == ((0.5,), (0.2,), JointSpring(7.0, 0.1))
    kinds = {body.joint_name: type(body.joint).__name__ for body in model.bodies}
    assert kinds == {
        "root_joint": "FreeFlyer",
        "shoulder": "Revolute",
        "rail": "Prismatic",
        "screw": "Helical",
        "cardan": "Universal",
        "socket": "Spherical",
    }
    assert {"mount", "eye", "tool::point", "tool::tip"} < set(model.frame_names)
    assert model.bodies[model.body_of_joint("rail")].limits == JointLimits()


@pytest.mark.parametrize(
    ("floating", "body", "nv", "root"),
    [
        (None, link("a"), 6, "a"),
        (False, link("a"), 0, "a"),
        (None, link("a") + joint(parent="world", child="a"), 1, "world"),
        (None, link("a") + joint(parent="world", child="a", kind="fixed"), 0, "world"),
        (None, link("a") + "<static>true</static>", 0, "world"),
        (None, link("a") + link("b") + joint() + "<static>1</static>", 0, "world"),
    ],
)
def test_what_floats(floating: bool | None, body: str, nv: int, root: str) -> None:
    model = load_model(sdf(body), floating_base=floating)
    assert (model.nv, model.root) == (nv, root)


def test_the_world_carries_what_is_written_to_carry_it() -> None:
    moves = "<pose relative_to='a'/><axis><xyz>1 0 0</xyz></axis>"
    text = sdf(link("a", "<pose>0 0 1 0 0 0</pose>") + joint("prismatic", moves, parent="a", child="world"))
    model = load_model(text)
    assert (model.root, model.nv, model.bodies[0].joint) == ("world", 1, joints.Prismatic((-1, 0, 0)))
    assert pose(model, np.array([0.25]), "a")[:3, 3].tolist() == [-0.25, 0.0, 1.0]


def test_a_fixed_base_stands_where_the_file_has_it() -> None:
    text = sdf("<pose>1 2 3 0 0 0</pose>" + link("a", "<pose>0 0 1 0 0 0</pose>"))
    assert placed(load_model(text, floating_base=False), "a") == [1.0, 2.0, 4.0]
    assert placed(load_model(text, floating_base=False, base_pose=np.eye(4)), "a") == [0.0, 0.0, 0.0]
    assert placed(load_model(text), "a") == [0.0, 0.0, 0.0]  # it floats, and where it is, is in q


@pytest.mark.parametrize(
    ("axis", "direction"),
    [
        ("", (0, 0, 1)),
        ("<xyz>1 0 0</xyz>", (1, 0, 0)),
        ("<xyz expressed_in='b'>1 0 0</xyz>", (0, 1, 0)),
        ("<xyz expressed_in='__model__'>1 0 0</xyz>", (0, 1, 0)),
        ("<xyz>1 0 0</xyz><use_parent_model_frame>true</use_parent_model_frame>", (0, 1, 0)),
        ("<xyz>0 0 1e-300</xyz>", (0, 0, 1)),
    ],
)
def test_axes(axis: str, direction: tuple[float, ...]) -> None:
    quarter = "<pose>0 0 0 0 0 -1.5707963267948966</pose>"
    model = load_model(two(joint(more=f"{quarter}<axis>{axis}</axis>")))
    assert model.bodies[1].joint == joints.Revolute(direction)


@pytest.mark.parametrize(
    "thread", ["<screw_thread_pitch>0.5</screw_thread_pitch>", "<thread_pitch>-12.566370614359172</thread_pitch>"]
)
def test_the_pitch_of_a_screw_is_a_length_a_turn(thread: str) -> None:
    screw = load_model(two(joint("screw", f"<axis/>{thread}"))).bodies[1].joint
    assert isinstance(screw, joints.Helical)
    assert math.isclose(screw.pitch, 0.5 / (2 * math.pi))


def test_endless_limits() -> None:
    limit = "<limit><lower>-1e16</lower><upper>inf</upper><effort>-1</effort><velocity>-1</velocity></limit>"
    assert load_model(two(joint(more=f"<axis>{limit}</axis>"))).bodies[1].limits == JointLimits()


def test_a_joint_mimics_another() -> None:
    mimic = "<mimic joint='j'><multiplier>2</multiplier><offset>1</offset><reference>0.25</reference></mimic>"
    text = sdf(
        link("a")
        + link("b")
        + link("c")
        + joint()
        + joint(parent="b", child="c", name="k", more=f"<axis>{mimic}</axis>")
    )
    model = load_model(text, floating_base=False)
    assert (model.nq, model.bodies[1].joint) == (1, joints.Mimic(joints.Revolute(), 2.0, 0.5))
    assert load_model(text, floating_base=False, mimic="independent").nq == 2


def test_revolute2_is_a_universal_joint() -> None:
    axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>"
    assert load_model(two(joint("revolute2", axes))).bodies[1].joint == joints.Universal()


def test_frames_of_older_files() -> None:
    text = two(joint(more="<pose frame='a'>0 0 0.25 0 0 0</pose><axis/>"), version="1.6")
    assert load_model(text, floating_base=False).bodies[0].X_T.r.z == 0.25


def test_a_link_may_have_the_name_of_a_joint() -> None:
    assert load_model(two(joint(name="b"), version="1.6")).joint_names == ("root_joint", "b")


@pytest.mark.filterwarnings("ignore:.*what else stands in the world")
def test_the_model_of_a_world() -> None:
    ground = "<model name='ground'><static>1</static><link name='plane'/></model>"
    text = f"<sdf version='1.6'><world name='w'>{ground}<model name='r'>{link('a')}</model></world></sdf>"
    with pytest.warns(FormatWarning, match="what else stands in the world is passed over: ground"):
        assert load_model(text).name == "r"


@pytest.mark.parametrize("gravity", ["0 0 -1.6", "0 0 9.81", "0 0 -9.9", "0 0 -9.7", "0.1 0 -9.81", "0 -0.1 -9.81"])
def test_another_gravity_of_the_world_is_passed_over_with_a_warning(gravity: str) -> None:
    text = f"<world name='w'><gravity>{gravity}</gravity><model name='r'>{link('a')}</model></world>"
    with pytest.warns(FormatWarning, match="gravity is an argument"):
        load_model(f"<sdf version='1.6'>{text}</sdf>")


@pytest.mark.parametrize("gravity", ["0 0 -9.8", "0 0 -9.81", "0.01 0 -9.80665"])
def test_the_gravity_of_the_earth_needs_no_warning(gravity: str) -> None:
    text = f"<world name='w'><gravity>{gravity}</gravity><model name='r'>{link('a')}</model></world>"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        load_model(f"<sdf version='1.6'>{text}</sdf>")


def test_links_without_inertia_have_what_sdformat_gives_them() -> None:
    with pytest.warns(FormatWarning, match=r"links without <inertial> have 1 kg and 1 kg·m², as SDFormat says: a"):
        model = load_model(sdf("<link name='a'/>"))
    assert list(model.bodies[0].inertia) == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0]


def test_canonical_links_carry_the_frames_of_their_models() -> None:
    nested = (
        f"<model name='n' canonical_link='d'>{link('c')}{link('d')}{joint(parent='c', child='d', name='k')}</model>"
    )
    frame = "<frame name='f' attached_to='n'/>"
    model = load_model(sdf(link("a") + nested + frame + joint(child="n::c")), floating_base=False)
    assert model.frame("f").body == model.frame("n::d").body == 1


def as_sdf(name: str) -> str:
    """Return an embedded robot as a file in which all poses are in the model, as ``gz sdf -p`` writes them."""
    urdf, model = ET.fromstring(embedded_text(name)), load_model(name, floating_base=False)
    q = np.array([x for body in model.leading for x in body.joint.neutral()])
    elements = []
    for link in urdf.iter("link"):
        T = pose(model, q, str(link.get("name")))
        at = [*T[:3, 3].tolist(), *Rotation.from_matrix(T[:3, :3]).as_euler("xyz").tolist()]
        text, inertial = f"<pose>{' '.join(map(repr, at))}</pose>", link.find("inertial")
        zero = {"xyz": "0 0 0", "rpy": "0 0 0"}
        if inertial is None:
            text += "<inertial><mass>0</mass><inertia><ixx>0</ixx><iyy>0</iyy><izz>0</izz></inertia></inertial>"
        else:
            origin = zero | (inertial.find("origin").attrib if inertial.find("origin") is not None else {})
            moments = "".join(f"<{key}>{value}</{key}>" for key, value in inertial.find("inertia").attrib.items())
            mass = inertial.find("mass").attrib["value"]
            at_com = f"<pose>{origin['xyz']} {origin['rpy']}</pose>"
            text += f"<inertial>{at_com}<mass>{mass}</mass><inertia>{moments}</inertia></inertial>"
        elements.append(f"<link name='{link.get('name')}'>{text}</link>")
    for element in urdf.iter("joint"):
        ends = "".join(f"<{tag}>{element.find(tag).attrib['link']}</{tag}>" for tag in ("parent", "child"))
        limit, direction = element.find("limit"), element.find("axis")
        limits = "" if limit is None else "".join(f"<{key}>{value}</{key}>" for key, value in limit.attrib.items())
        axis = "" if direction is None else f"<axis><xyz>{direction.attrib['xyz']}</xyz><limit>{limits}</limit></axis>"
        elements.append(f"<joint name='{element.get('name')}' type='{element.get('type')}'>{ends}{axis}</joint>")
    return f"<sdf version='1.11'><model name='{name}'>{''.join(elements)}</model></sdf>"


@pytest.mark.filterwarnings("ignore::kinetree.FormatWarning")
@pytest.mark.parametrize("name", EMBEDDED)
def test_the_same_robot_as_its_urdf(name: str) -> None:
    ours, theirs = load_model(as_sdf(name), floating_base=True), load_model(name, floating_base=True)
    assert (ours.joint_names, ours.frame_names, ours.root) == (theirs.joint_names, theirs.frame_names, theirs.root)
    for a, b in zip(ours.bodies, theirs.bodies, strict=True):
        assert (a.name, a.parent, a.joint, a.limits) == (b.name, b.parent, b.joint, b.limits)
        np.testing.assert_allclose(list(a.inertia), list(b.inertia), rtol=0, atol=1e-14)
        np.testing.assert_allclose(a.X_T.placement, b.X_T.placement, rtol=0, atol=4e-15)
        zeros = [x == 0.0 for row in a.X_T.placement for x in row]  # what is zero in a URDF is so here
        assert zeros == [x == 0.0 for row in b.X_T.placement for x in row]
